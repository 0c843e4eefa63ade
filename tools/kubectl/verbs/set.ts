/** `kubectl set image|env|resources|selector|serviceaccount`. */

import { resourcePath } from "../client/discovery.js";
import { MERGE_PATCH, STRATEGIC_PATCH } from "../client/rest.js";
import type { Found } from "../client/select.js";
import type { Context, Verb } from "../context.js";
import { ApiError, KubectlError, usageError } from "../errors.js";
import { FILENAME, OUTPUT, SELECTOR, WRITING } from "./flag-sets.js";
import { dryRun, eachObject, patchObject, printOutcome, sameObject, targetsOf } from "./writing.js";

const COMMON = {
  ...SELECTOR,
  ...FILENAME,
  ...OUTPUT,
  ...WRITING,
  all: { type: "bool" },
  local: { type: "bool" },
} as const;

/** Where the pod's spec stands in an object of a kind. */
function podSpecPath(kind: string): string[] | undefined {
  if (kind === "Pod") return ["spec"];
  if (kind === "CronJob") return ["spec", "jobTemplate", "spec", "template", "spec"];
  return ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController"].includes(kind)
    ? ["spec", "template", "spec"]
    : undefined;
}

function podSpec(item: Found): { spec: any; wrap(body: unknown): unknown } {
  const path = podSpecPath(item.object.kind);
  if (!path)
    throw usageError(
      `${item.resource.name}/${item.object.metadata.name} the object is not a pod or does not have a pod template: *${item.resource.version}.${item.object.kind}`,
    );
  return {
    spec: path.reduce((at, key) => at?.[key], item.object) ?? {},
    wrap: (body) => path.reduceRight((inner, key) => ({ [key]: inner }), body),
  };
}

/** `*` and `app-*` match container names as kubectl has it. */
function matches(pattern: string, name: string): boolean {
  if (pattern === "*") return true;
  if (pattern.includes("*"))
    return new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*")}$`).test(name);
  return pattern === name;
}

/** Resource arguments first; from the first one with `=` (or a closing `-`) on, changes. */
function split(args: readonly string[]): { resources: string[]; changes: string[] } {
  const at = args.findIndex((arg) => arg.includes("=") || (/^[A-Za-z_][\w.-]*-$/.test(arg) && !arg.includes("/")));
  return at < 0 ? { resources: [...args], changes: [] } : { resources: args.slice(0, at), changes: args.slice(at) };
}

/** Sends a strategic patch of containers, unless nothing would change. */
async function update(
  context: Context,
  item: Found,
  what: string,
  patches: { field: "containers" | "initContainers"; entries: any[] }[],
  extra: any,
  done: string,
): Promise<void> {
  const { wrap } = podSpec(item);
  const body: any = { ...extra };
  for (const { field, entries } of patches) if (entries.length > 0) body[field] = entries;
  if (Object.keys(body).length === 0) return;
  try {
    const after = await patchObject(context, item, {
      body: wrap(body),
      contentType: STRATEGIC_PATCH,
      manager: "kubectl-set",
    });
    printOutcome(context, item.resource, after, done);
  } catch (error) {
    if (error instanceof ApiError)
      throw new KubectlError(`error: failed to patch ${what} update to pod template: ${error.message}`);
    throw error;
  }
}

const BOTH = ["containers", "initContainers"] as const;

const image: Verb = {
  name: ["set", "image"],
  access: "write",
  flags: COMMON,
  async run(context) {
    const { resources, changes } = split(context.args);
    const images = changes.map((change) => {
      const equals = change.indexOf("=");
      return { name: change.slice(0, equals), image: change.slice(equals + 1) };
    });
    if (resources.length === 0 && context.flags.list("filename").length === 0)
      throw usageError("one or more resources must be specified as <resource> <name> or <resource>/<name>");
    if (images.length === 0) throw usageError("at least one image update is required");
    if (images.length > 1 && images.some((i) => i.name === "*"))
      throw usageError(
        "all containers are already specified by *, but saw more than one container_name=container_image pairs",
      );
    const { found, errors } = await targetsOf(context, resources);
    await eachObject(context, found, errors, async (item) => {
      const { spec } = podSpec(item);
      const missing = images.filter(
        ({ name }) => !BOTH.some((field) => (spec[field] ?? []).some((c: any) => matches(name, c.name))),
      );
      for (const { name } of missing) context.fail(usageError(`unable to find container named "${name}"`));
      const patches = BOTH.map((field) => ({
        field,
        entries: (spec[field] ?? []).flatMap((c: any) => {
          const change = images.filter(({ name }) => matches(name, c.name)).at(-1);
          return change && change.image !== c.image ? [{ name: c.name, image: change.image }] : [];
        }),
      }));
      await update(context, item, "image", patches, {}, "image updated");
    });
  },
};

function envFlags(context: Context, changes: readonly string[]): { set: Map<string, any>; remove: string[] } {
  const set = new Map<string, any>();
  const remove: string[] = [];
  for (const change of changes) {
    const equals = change.indexOf("=");
    if (equals > 0)
      set.set(change.slice(0, equals), { name: change.slice(0, equals), value: change.slice(equals + 1) });
    else if (change.endsWith("-")) remove.push(change.slice(0, -1));
    else throw usageError(`environment variables must be of the form key=value`);
  }
  for (const entry of context.flags.list("env")) {
    const equals = entry.indexOf("=");
    if (equals > 0) set.set(entry.slice(0, equals), { name: entry.slice(0, equals), value: entry.slice(equals + 1) });
  }
  return { set, remove };
}

/** Variables from `--from configmap/x` or `secret/x`, as references to each key. */
async function envFrom(context: Context): Promise<any[]> {
  const from = context.flags.string("from");
  if (!from) return [];
  const [type = "", name = ""] = from.split("/");
  const resource = await context.discovery.resolve(type);
  const object = await context.client.json({ path: resourcePath(resource, context.namespace, name) });
  const ref = resource.kind === "Secret" ? "secretKeyRef" : "configMapKeyRef";
  const keys = context.flags.list("keys");
  return Object.keys(object.data ?? {})
    .filter((key) => keys.length === 0 || keys.includes(key))
    .sort()
    .map((key) => {
      const name = key.toUpperCase().replace(/[^A-Z0-9_]/g, "_");
      if (name !== key) context.err(`Warning: key ${key} transferred to ${name}\n`);
      return {
        name: `${context.flags.string("prefix")}${name}`,
        valueFrom: { [ref]: { name: object.metadata.name, key } },
      };
    });
}

const env: Verb = {
  name: ["set", "env"],
  access: "write",
  flags: {
    ...COMMON,
    containers: { type: "string", short: "c", default: "*" },
    env: { type: "list", short: "e" },
    from: { type: "string" },
    keys: { type: "csv" },
    prefix: { type: "string" },
    list: { type: "bool" },
    overwrite: { type: "bool", default: true },
    resolve: { type: "bool" },
  },
  async run(context) {
    const { flags } = context;
    const { resources, changes } = split(context.args);
    const { set, remove } = envFlags(context, changes);
    if (resources.length === 0 && flags.list("filename").length === 0)
      throw usageError("one or more resources must be specified as <resource> <name> or <resource>/<name>");
    const references = await envFrom(context);
    for (const reference of references) set.set(reference.name, reference);
    const { found, errors } = await targetsOf(context, resources);
    await eachObject(context, found, errors, async (item) => {
      const { spec } = podSpec(item);
      const pattern = flags.string("containers");
      if (flags.bool("list")) {
        for (const field of BOTH)
          for (const c of spec[field] ?? []) {
            if (!matches(pattern, c.name)) continue;
            context.out(`# ${item.object.kind} ${item.object.metadata.name}, container ${c.name}\n`);
            for (const e of c.env ?? []) context.out(`${envText(e)}\n`);
          }
        return;
      }
      const all = BOTH.flatMap((field) => spec[field] ?? []);
      if (!all.some((c: any) => matches(pattern, c.name))) {
        context.err(
          `Warning: ${item.object.kind}/${item.object.metadata.name} does not have any containers matching "${pattern}"\n`,
        );
        return;
      }
      const patches = BOTH.map((field) => ({
        field,
        entries: (spec[field] ?? []).flatMap((c: any) => {
          if (!matches(pattern, c.name)) return [];
          const entries: any[] = [];
          for (const [name, value] of set) {
            const old = (c.env ?? []).find((e: any) => e.name === name);
            if (old && !flags.bool("overwrite"))
              throw usageError(
                `${item.resource.name}/${item.object.metadata.name} '${name}' already has a value (${old.value ?? ""}), and --overwrite is false`,
              );
            // A value takes the place of a reference, and the other way round.
            const entry = value.valueFrom
              ? old?.value !== undefined
                ? { ...value, value: null }
                : value
              : old?.valueFrom
                ? { ...value, valueFrom: null }
                : value;
            if (!old || !sameObject(old, entry)) entries.push(entry);
          }
          for (const name of remove)
            if ((c.env ?? []).some((e: any) => e.name === name)) entries.push({ name, $patch: "delete" });
          if (entries.length === 0) return [];
          const names = new Set(
            [...(c.env ?? []).map((e: any) => e.name), ...set.keys()].filter((n) => !remove.includes(n)),
          );
          return [{ name: c.name, env: entries, "$setElementOrder/env": [...names].map((n) => ({ name: n })) }];
        }),
      }));
      await update(context, item, "env", patches, {}, "env updated");
    });
  },
};

function envText(e: any): string {
  const from = e.valueFrom;
  if (!from) return `${e.name}=${e.value ?? ""}`;
  if (from.secretKeyRef) return `# ${e.name} from secret ${from.secretKeyRef.name}, key ${from.secretKeyRef.key}`;
  if (from.configMapKeyRef)
    return `# ${e.name} from configmap ${from.configMapKeyRef.name}, key ${from.configMapKeyRef.key}`;
  if (from.fieldRef) return `# ${e.name} from field path ${from.fieldRef.fieldPath}`;
  if (from.resourceFieldRef) return `# ${e.name} from resource field ${from.resourceFieldRef.resource}`;
  return `# ${e.name} (unknown)`;
}

function quantities(text: string): Record<string, string> {
  const out: Record<string, string> = {};
  for (const part of text.split(",").filter(Boolean)) {
    const [name = "", value] = part.split("=");
    if (value === undefined || part.split("=").length !== 2)
      throw usageError(`Invalid argument syntax ${part}, expected <resource>=<value>`);
    if (!/^[+-]?[0-9.]+(?:[eE][-+]?\d+|[KMGTPE]i|[numkMGTPE])?$/.test(value))
      throw usageError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    out[name] = value;
  }
  return out;
}

const resources: Verb = {
  name: ["set", "resources"],
  access: "write",
  flags: {
    ...COMMON,
    containers: { type: "string", short: "c", default: "*" },
    limits: { type: "string" },
    requests: { type: "string" },
  },
  async run(context) {
    const { flags } = context;
    const limits = quantities(flags.string("limits"));
    const requests = quantities(flags.string("requests"));
    if (Object.keys(limits).length + Object.keys(requests).length === 0)
      throw usageError("you must specify an update to requests or limits (in the form of --requests/--limits)");
    const { found, errors } = await targetsOf(context, context.args);
    await eachObject(context, found, errors, async (item) => {
      const { spec } = podSpec(item);
      const change = (c: any) => ({
        name: c.name,
        resources: { ...(flags.has("limits") ? { limits } : {}), ...(flags.has("requests") ? { requests } : {}) },
      });
      const patches = BOTH.map((field) => ({
        field,
        entries: (spec[field] ?? [])
          .filter((c: any) => matches(flags.string("containers"), c.name))
          .flatMap((c: any) => {
            const old = c.resources ?? {};
            const changed = (["limits", "requests"] as const).some((f) =>
              Object.entries(f === "limits" ? limits : requests).some(([name, value]) => old[f]?.[name] !== value),
            );
            return changed ? [change(c)] : [];
          }),
      }));
      await update(context, item, "resources", patches, {}, "resource requirements updated");
    });
  },
};

const selector: Verb = {
  name: ["set", "selector"],
  access: "write",
  flags: { ...COMMON, "resource-version": { type: "string" } },
  async run(context) {
    const words = context.args;
    const at = words.findIndex((w) => w.includes("="));
    if (at < 1)
      throw usageError(
        "one or more resources must be specified as <resource> <name> or <resource>/<name>, and the selector as <key>=<value>",
      );
    const next: Record<string, string> = {};
    for (const part of words.slice(at).join(",").split(",")) {
      const match = /^([^=!<>\s]+)==?([^=]*)$/.exec(part);
      if (!match) throw usageError(`unable to parse requirement: ${part}: only equality-based selectors are supported`);
      next[match[1] as string] = match[2] as string;
    }
    const { found, errors } = await targetsOf(context, words.slice(0, at));
    await eachObject(context, found, errors, async (item) => {
      if (item.object.kind !== "Service") throw usageError(`setting a selector is only supported for Services`);
      const removed = Object.fromEntries(
        Object.keys(item.object.spec?.selector ?? {})
          .filter((key) => !(key in next))
          .map((key) => [key, null]),
      );
      const after = await patchObject(context, item, {
        body: { spec: { selector: { ...removed, ...next } } },
        contentType: MERGE_PATCH,
        manager: "kubectl-set",
      });
      printOutcome(context, item.resource, after, "selector updated");
    });
  },
};

const serviceAccount: Verb = {
  name: ["set", "serviceaccount"],
  access: "write",
  flags: COMMON,
  async run(context) {
    const words = context.args;
    if (words.length < 2) throw usageError("serviceaccount is required");
    const name = words.at(-1) as string;
    const { found, errors } = await targetsOf(context, words.slice(0, -1));
    await eachObject(context, found, errors, async (item) => {
      const { wrap } = podSpec(item);
      const after =
        dryRun(context) === "client"
          ? item.object
          : await patchObject(context, item, {
              body: wrap({ serviceAccountName: name, serviceAccount: name }),
              contentType: STRATEGIC_PATCH,
              manager: "kubectl-set",
            });
      printOutcome(context, item.resource, after, "serviceaccount updated");
    });
  },
};

export const setVerbs: readonly Verb[] = [
  image,
  env,
  resources,
  selector,
  serviceAccount,
  { ...serviceAccount, name: ["set", "sa"] },
];
