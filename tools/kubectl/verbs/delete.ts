/** `kubectl delete`. */
import { kindPrefix, qualifiedName, type Resource, resourcePath } from "../client/discovery.js";
import { loadManifests } from "../client/manifest.js";
import { hasSelector, listObjects, pathOf, selectTargets } from "../client/select.js";
import type { Context, Verb } from "../context.js";
import { ApiError, usageError } from "../errors.js";
import { ALL_NAMESPACES, FILENAME, SELECTOR } from "./flag-sets.js";
import { dryRun } from "./writing.js";

/** kubectl waits for ever; an agent's step must end. */
const LONGEST_WAIT_SECONDS = 60;

interface Victim {
  resource: Resource;
  path: string;
  name: string;
}

async function victims(context: Context): Promise<{ list: Victim[]; errors: unknown[] }> {
  const list: Victim[] = [];
  const errors: unknown[] = [];
  if (context.flags.list("filename").length > 0) {
    for (const { resource, namespace, object } of await loadManifests(context)) {
      const name = object.metadata?.name;
      if (!name) throw usageError("resource name may not be empty");
      list.push({ resource, name, path: resourcePath(resource, namespace, name) });
    }
    return { list, errors };
  }
  const [first] = context.args;
  if (first === undefined)
    throw usageError(
      "You must provide one or more resources by argument or filename.\nExample resource specifications include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> <name>'\n   '<resource>'",
    );
  for (const target of await selectTargets(context, context.args, { needName: true })) {
    try {
      if (target.name !== undefined) {
        const path = pathOf(context, target);
        await context.client.json({ path });
        list.push({ resource: target.resource, name: target.name, path });
      } else
        for (const object of await listObjects(context, target.resource))
          list.push({
            resource: target.resource,
            name: object.metadata.name,
            path: resourcePath(target.resource, object.metadata.namespace, object.metadata.name),
          });
    } catch (error) {
      errors.push(error);
    }
  }
  return { list, errors };
}

export const remove: Verb = {
  name: ["delete"],
  access: "write",
  flags: {
    ...SELECTOR,
    ...ALL_NAMESPACES,
    ...FILENAME,
    "field-selector": { type: "string" },
    all: { type: "bool" },
    force: { type: "bool" },
    now: { type: "bool" },
    "grace-period": { type: "int", default: -1 },
    cascade: { type: "string", bare: "background", default: "background" },
    wait: { type: "bool", default: true },
    timeout: { type: "duration", default: "0s" },
    "ignore-not-found": { type: "bool" },
    output: { type: "string", short: "o" },
    "dry-run": { type: "string", bare: "unchanged", default: "none" },
    interactive: { type: "bool", short: "i", forbidden: "nobody is there to ask: leave this flag out" },
    raw: { type: "string" },
  },
  async run(context) {
    const { flags } = context;
    const policy = (
      {
        background: "Background",
        true: "Background",
        foreground: "Foreground",
        orphan: "Orphan",
        false: "Orphan",
      } as Record<string, string>
    )[flags.string("cascade")];
    if (!policy)
      throw usageError(
        `invalid cascade value (${flags.string("cascade")}). Must be "background", "foreground", or "orphan"`,
      );
    if (flags.string("output") && flags.string("output") !== "name")
      throw usageError(`unexpected -o output mode: ${flags.string("output")}. We only support '-o name'`);
    let grace = flags.int("grace-period");
    if (flags.bool("now")) grace = 1;
    if (grace === 0 && !flags.bool("force")) grace = 1;
    if (flags.bool("force") && grace < 0) grace = 0;
    if (grace === 0)
      context.err(
        "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.\n",
      );
    const { list, errors } = await victims(context);
    const mode = dryRun(context);
    const deleted: Victim[] = [];
    for (const victim of list) {
      try {
        if (mode !== "client")
          await context.client.text({
            method: "DELETE",
            path: victim.path,
            body: {
              kind: "DeleteOptions",
              apiVersion: "v1",
              propagationPolicy: policy,
              ...(grace >= 0 ? { gracePeriodSeconds: grace } : {}),
              ...(mode === "server" ? { dryRun: ["All"] } : {}),
            },
          });
        deleted.push(victim);
        const { resource, name } = victim;
        if (flags.string("output") === "name") context.out(`${kindPrefix(resource)}/${name}\n`);
        else
          context.out(
            `${kindPrefix(resource)} "${name}" ${grace === 0 ? "force deleted" : "deleted"}${mode === "client" ? " (dry run)" : mode === "server" ? " (server dry run)" : ""}\n`,
          );
      } catch (error) {
        if (error instanceof ApiError && flags.list("filename").length > 0)
          error.prefix ||= `error when deleting "STDIN": `;
        errors.push(error);
      }
    }
    const kept = errors.filter(
      (e) => !((flags.bool("ignore-not-found") || hasSelector(context)) && e instanceof ApiError && e.notFound),
    );
    if (list.length === 0 && kept.length === 0 && !flags.bool("ignore-not-found")) context.out("No resources found\n");
    if (mode === "none" && flags.bool("wait") && grace !== 0) await gone(context, deleted);
    for (const error of kept) context.fail(error);
  },
};

async function gone(context: Context, list: readonly Victim[]): Promise<void> {
  const limit = context.flags.duration("timeout") || LONGEST_WAIT_SECONDS;
  let waited = 0;
  for (const victim of list)
    for (;;) {
      const there = await context.client.json({ path: victim.path }).then(
        () => true,
        (error) => !(error instanceof ApiError && error.notFound),
      );
      if (!there) break;
      if (waited >= limit) {
        if (context.flags.duration("timeout") > 0)
          throw usageError(
            `timed out waiting for the condition on ${qualifiedName(victim.resource).split(".")[0]}/${victim.name}`,
          );
        return;
      }
      await context.sleep(1);
      waited++;
    }
}
