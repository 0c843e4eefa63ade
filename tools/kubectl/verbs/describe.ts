/** `kubectl describe`. */
import { loadManifests } from "../client/manifest.js";
import { type Found, fetchObjects, listObjects, scopeOf, selectTargets, type Target } from "../client/select.js";
import type { Context, Verb } from "../context.js";
import { describeObject } from "../describe/index.js";
import { ApiError, KubectlError } from "../errors.js";
import { ALL_NAMESPACES, FILENAME, SELECTOR } from "./flag-sets.js";

/** kubectl takes a name that does not exist as the beginning of names. */
async function byPrefix(context: Context, target: Target): Promise<Found[]> {
  const all = await listObjects(context, target.resource, {}, scopeOf(context, target.resource));
  return all
    .filter((o) => o.metadata.name.startsWith(target.name))
    .map((object) => ({ resource: target.resource, object }));
}

export const describe: Verb = {
  name: ["describe"],
  access: "read",
  flags: {
    ...SELECTOR,
    ...ALL_NAMESPACES,
    ...FILENAME,
    "show-events": { type: "bool", default: true },
    "chunk-size": { type: "int", default: 500 },
  },
  async run(context) {
    if (context.args.length === 0 && context.flags.list("filename").length === 0)
      throw new KubectlError(
        'error: You must specify the type of resource to describe. Use "kubectl api-resources" for a complete list of supported resources.\n',
      );
    const targets: Target[] =
      context.flags.list("filename").length > 0
        ? (await loadManifests(context)).map((m) => ({ resource: m.resource, name: m.object.metadata?.name }))
        : await selectTargets(context, context.args);
    const texts: string[] = [];
    let tail = "";
    const errors: unknown[] = [];
    for (const target of targets) {
      const got = await fetchObjects(context, [target]);
      let { found } = got;
      const [error] = got.errors;
      if (error instanceof ApiError && error.notFound && target.name !== undefined) {
        found = await byPrefix(context, target);
        if (found.length === 0) errors.push(error);
        else tail = "\n";
      } else if (error) errors.push(error);
      for (const { object } of found) texts.push(await describeObject(context, object));
    }
    // With `type/name` words kubectl describes all of them or none.
    if (errors.length > 0 && targets.length > 1 && context.args.some((arg) => arg.includes("/"))) texts.length = 0;
    context.out(texts.join(tail || "\n\n") + tail);
    if (texts.length === 0 && errors.length === 0) {
      const scoped = !context.allNamespaces && targets.every((t) => t.resource.namespaced);
      context.err(scoped ? `No resources found in ${context.namespace} namespace.\n` : "No resources found\n");
    }
    for (const error of errors) context.fail(error);
  },
};
