/**
 * The patches that `kubectl apply` computes: what the manifest changed since it was last applied, as a strategic merge
 * patch where the server's OpenAPI says how lists merge, as a JSON merge patch elsewhere.
 */

import type { Context } from "../context.js";
import { compactJson } from "../printers/json.js";
import { groupVersion, type Resource } from "./discovery.js";

/** A view on OpenAPI schemas; undefined members mean: unknown, treat as plain JSON. */
export interface MergeSchema {
  field(name: string): MergeSchema | undefined;
  items(): MergeSchema | undefined;
  mergeKey?: string;
  strategy: string[];
}

interface Documents {
  schemas: Record<string, any>;
}

function view(schema: any, documents: Documents): MergeSchema {
  const resolve = (s: any): any => {
    const ref = s?.$ref ?? s?.allOf?.[0]?.$ref;
    return ref ? documents.schemas[String(ref).split("/").at(-1) as string] : s;
  };
  const own = resolve(schema) ?? {};
  const result: MergeSchema = {
    field(name) {
      const found =
        own.properties?.[name] ?? (typeof own.additionalProperties === "object" ? own.additionalProperties : undefined);
      return found ? view(found, documents) : undefined;
    },
    items: () => (own.items ? view(own.items, documents) : undefined),
    strategy: String(schema?.["x-kubernetes-patch-strategy"] ?? "")
      .split(",")
      .filter(Boolean),
  };
  if (schema?.["x-kubernetes-patch-merge-key"]) result.mergeKey = schema["x-kubernetes-patch-merge-key"];
  return result;
}

/** The merge schema of a kind; undefined for kinds that the OpenAPI does not tell (custom resources). */
export async function mergeSchema(context: Context, resource: Resource): Promise<MergeSchema | undefined> {
  if (resource.group.includes(".") && !resource.group.endsWith(".k8s.io")) return undefined;
  const path = `/openapi/v3/${resource.group ? `apis/${groupVersion(resource)}` : `api/${resource.version}`}`;
  const document = await context.client.json({ path }).catch(() => undefined);
  const schemas: Record<string, any> = document?.components?.schemas ?? {};
  const own = Object.values(schemas).find((s) =>
    (s["x-kubernetes-group-version-kind"] ?? []).some(
      (g: any) => g.group === resource.group && g.version === resource.version && g.kind === resource.kind,
    ),
  );
  return own ? view(own, { schemas }) : undefined;
}

interface DiffMode {
  /** Leave out what was added or changed. */
  onlyDeletions: boolean;
  /** Leave out what was removed. */
  noDeletions: boolean;
}

function isMap(value: unknown): value is Record<string, any> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function equal(a: unknown, b: unknown): boolean {
  return compactJson(a) === compactJson(b);
}

function diffMap(from: any, to: any, schema: MergeSchema | undefined, mode: DiffMode): Record<string, any> {
  const patch: Record<string, any> = {};
  for (const key of Object.keys(from)) {
    if (!(key in to) || to[key] === null) {
      if (!mode.noDeletions && from[key] !== null) patch[key] = null;
      continue;
    }
    const [a, b] = [from[key], to[key]];
    const field = schema?.field(key);
    if (isMap(a) && isMap(b)) {
      const inner = field?.strategy.includes("replace") ? (equal(a, b) ? {} : b) : diffMap(a, b, field, mode);
      if (Object.keys(inner).length > 0) {
        if (schema && field?.strategy.includes("retainKeys") && !mode.onlyDeletions)
          inner.$retainKeys = Object.keys(b)
            .filter((k) => b[k] !== null)
            .sort();
        patch[key] = inner;
      }
    } else if (Array.isArray(a) && Array.isArray(b)) diffList(patch, key, a, b, field, schema !== undefined, mode);
    else if (!equal(a, b) && !mode.onlyDeletions) patch[key] = b;
  }
  if (!mode.onlyDeletions)
    for (const key of Object.keys(to)) if (!(key in from) && to[key] !== null) patch[key] = to[key];
  return patch;
}

function diffList(
  patch: Record<string, any>,
  key: string,
  a: any[],
  b: any[],
  field: MergeSchema | undefined,
  strategic: boolean,
  mode: DiffMode,
): void {
  const merges = strategic && field?.strategy.includes("merge");
  const mergeKey = field?.mergeKey;
  if (merges && mergeKey && [...a, ...b].every((item) => isMap(item) && item[mergeKey] !== undefined)) {
    const items = field?.items();
    const entries: any[] = [];
    for (const item of b) {
      const old = a.find((o) => equal(o[mergeKey], item[mergeKey]));
      if (!old) {
        if (!mode.onlyDeletions) entries.push(item);
        continue;
      }
      const inner = diffMap(old, item, items, mode);
      if (Object.keys(inner).length > 0) entries.push({ ...inner, [mergeKey]: item[mergeKey] });
    }
    if (!mode.noDeletions)
      for (const old of a)
        if (!b.some((item) => equal(item[mergeKey], old[mergeKey])))
          entries.push({ $patch: "delete", [mergeKey]: old[mergeKey] });
    if (entries.length > 0) {
      patch[key] = entries;
      if (!mode.onlyDeletions) patch[`$setElementOrder/${key}`] = b.map((item) => ({ [mergeKey]: item[mergeKey] }));
    }
    return;
  }
  if (merges && !mergeKey) {
    const added = b.filter((item) => !a.includes(item));
    const removed = a.filter((item) => !b.includes(item));
    if (!mode.onlyDeletions && added.length > 0) {
      patch[key] = added;
      patch[`$setElementOrder/${key}`] = b;
    }
    if (!mode.noDeletions && removed.length > 0) patch[`$deleteFromPrimitiveList/${key}`] = removed;
    return;
  }
  if (!equal(a, b) && !mode.onlyDeletions) patch[key] = b;
}

/** Lays the deletions and the changes over each other. */
function combine(deletions: any, changes: any): any {
  const out: Record<string, any> = { ...deletions };
  for (const [key, value] of Object.entries(changes)) {
    const other = out[key];
    if (isMap(other) && isMap(value)) out[key] = combine(other, value);
    else if (Array.isArray(other) && Array.isArray(value) && !key.startsWith("$"))
      out[key] = combineLists(other, value);
    else out[key] = value;
  }
  return out;
}

function combineLists(deletions: any[], changes: any[]): any[] {
  const out = [...changes];
  for (const item of deletions) {
    // Entries of one element (same merge key, the field both share and that is no directive) become one.
    const twin = isMap(item) && item.$patch === undefined ? out.findIndex((o) => isMap(o) && sameElement(o, item)) : -1;
    if (twin >= 0) out[twin] = combine(item, out[twin]);
    else out.push(item);
  }
  return out;
}

const MERGE_KEYS = [
  "name",
  "containerPort",
  "port",
  "mountPath",
  "devicePath",
  "ip",
  "key",
  "topologyKey",
  "type",
  "uid",
];

function sameElement(a: any, b: any): boolean {
  const key = MERGE_KEYS.find((k) => a[k] !== undefined && a[k] !== null && b[k] !== undefined && b[k] !== null);
  return key !== undefined && a[key] === b[key];
}

/**
 * The three-way patch of apply.
 *
 * @param original what was applied last; @param modified the manifest now; @param current the live object
 */
export function threeWayPatch(
  original: any,
  modified: any,
  current: any,
  schema: MergeSchema | undefined,
): Record<string, any> {
  const changes = diffMap(current, modified, schema, { onlyDeletions: false, noDeletions: true });
  const deletions = diffMap(original, modified, schema, { onlyDeletions: true, noDeletions: false });
  return combine(deletions, changes);
}
