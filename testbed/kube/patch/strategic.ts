/**
 * Strategic merge patch: a merge patch that knows, from the schema, which lists merge item by item and by which key, with
 * the directives `$patch`, `$setElementOrder/x`, `$deleteFromPrimitiveList/x` and `$retainKeys`.
 */
import { clone, equal, isObject } from "../json.js";
import type { Field, Type } from "../schema/types.js";
import { PatchError } from "./simple.js";

const ORDER = "$setElementOrder/";
const DELETE = "$deleteFromPrimitiveList/";
const RETAIN = "$retainKeys";
const PATCH = "$patch";

/** `original` after `patch`; neither is changed. @throws PatchError */
export function strategicPatch(original: any, patch: any, type: Type): any {
  return mergeMap(original ?? {}, patch, type);
}

function childField(
  type: Type | undefined,
  key: string,
): Pick<Field, "type" | "patchStrategy" | "mergeKey"> | undefined {
  if (type?.kind === "struct") return type.fields?.get(key);
  if (type?.kind === "map") return { type: type.element! };
  return undefined;
}

function mergeMap(original: any, patch: any, type: Type | undefined): any {
  const directive = patch[PATCH];
  if (directive !== undefined) {
    const { [PATCH]: _, ...rest } = patch;
    if (directive === "replace") return clone(rest);
    if (directive === "delete") return {};
    if (directive !== "merge") throw new PatchError(`Unknown patch type found: ${directive}`);
    return mergeMap(original, rest, type);
  }
  const out: Record<string, any> = { ...original };
  const retain: string[] | undefined = patch[RETAIN];
  if (retain) for (const key in out) if (!retain.includes(key)) delete out[key];
  for (const key in patch) {
    if (key === RETAIN) continue;
    if (key.startsWith(DELETE)) {
      const name = key.slice(DELETE.length);
      const gone: unknown[] = patch[key] ?? [];
      if (Array.isArray(out[name])) out[name] = out[name].filter((item: unknown) => !gone.some((g) => equal(g, item)));
      continue;
    }
    if (key.startsWith(ORDER)) {
      const name = key.slice(ORDER.length);
      // Where the list itself is in the patch, the order is applied with it.
      if (patch[name] === undefined && Array.isArray(out[name])) {
        const field = childField(type, name);
        out[name] = arrange(out[name], out[name], patch[key], mergeKeyOf(field, out[name]));
      }
      continue;
    }
    const value = patch[key];
    if (value === null) {
      delete out[key];
      continue;
    }
    const field = childField(type, key);
    const before = out[key];
    if (isObject(value)) {
      const replace = field?.patchStrategy?.split(",").includes("replace");
      out[key] = replace ? clone(stripDirectives(value)) : mergeMap(isObject(before) ? before : {}, value, field?.type);
    } else if (Array.isArray(value)) {
      // A list that is not there yet is taken from the patch as it stands, items with the same key included.
      out[key] = Array.isArray(before)
        ? mergeList(before, value, field, patch[ORDER + key])
        : fresh(value, field?.type);
    } else out[key] = value;
  }
  return out;
}

/** The items of a list that the object does not have yet, without directives. */
function fresh(list: any[], type: Type | undefined): any[] {
  return list
    .filter((item) => !isObject(item) || (item[PATCH] !== "delete" && Object.keys(item).some((key) => key !== PATCH)))
    .map((item) => (isObject(item) ? mergeMap({}, stripDirectives(item), type?.element) : clone(item)));
}

/** As Go prints a map: `map[a:1 b:2]`. */
export function goMap(value: any): string {
  if (Array.isArray(value)) return `[${value.map(goMap).join(" ")}]`;
  if (!isObject(value)) return value === null ? "<nil>" : String(value);
  const parts = Object.keys(value)
    .sort()
    .map((key) => `${key}:${goMap(value[key])}`);
  return `map[${parts.join(" ")}]`;
}

function stripDirectives(value: any): any {
  if (!isObject(value)) return value;
  const { [PATCH]: _p, [RETAIN]: _r, ...rest } = value;
  return rest;
}

function mergeKeyOf(field: Pick<Field, "mergeKey"> | undefined, list: any[]): string | undefined {
  return list.some(isObject) ? field?.mergeKey : undefined;
}

function mergeList(
  original: any[],
  patch: any[],
  field: Pick<Field, "type" | "patchStrategy" | "mergeKey"> | undefined,
  order: any[] | undefined,
): any[] {
  const merges = field?.patchStrategy?.split(",").includes("merge");
  if (!merges) {
    return patch.filter((item) => !(isObject(item) && item[PATCH] !== undefined)).map(clone);
  }
  const key = field?.mergeKey;
  const objects = patch.some(isObject) || original.some(isObject);
  let merged: any[];
  if (!objects || key === undefined) {
    merged = [...original];
    for (const item of patch) if (!merged.some((m) => equal(m, item))) merged.push(item);
  } else {
    const element = field?.type.element;
    const replaces = patch.some((item) => item?.[PATCH] === "replace" && Object.keys(item).length === 1);
    if (replaces) return patch.filter((item) => item[PATCH] === undefined).map(clone);
    merged = [...original];
    for (const item of patch) {
      const directive = item[PATCH];
      if (directive !== undefined && !["delete", "replace", "merge"].includes(directive)) {
        throw new PatchError(`unknown patch type: ${directive} in map: ${goMap(item)}`);
      }
      if (directive === "delete") {
        requireKey(item, key);
        merged = merged.filter((m) => !equal(m[key], item[key]));
        continue;
      }
      const value = requireKey(item, key);
      const at = merged.findIndex((m) => equal(m[key], value));
      if (item[PATCH] === "replace") {
        const fresh = stripDirectives(item);
        if (at >= 0) merged[at] = fresh;
        else merged.push(fresh);
      } else if (at >= 0) merged[at] = mergeMap(merged[at], item, element);
      else merged.push(mergeMap({}, item, element));
    }
  }
  // Without an order of its own, the patch's items keep the order in which the patch lists them.
  const listed = order ?? patch.filter((item) => !isObject(item) || item[PATCH] === undefined);
  return arrange(merged, original, listed, objects ? key : undefined);
}

function requireKey(item: any, key: string): unknown {
  if (!isObject(item) || item[key] === undefined) {
    throw new PatchError(`map: ${goMap(item)} does not contain declared merge key: ${key}`);
  }
  return item[key];
}

/** Puts `list` into the order that the patch asks for; items which it does not name stay where the server had them. */
function arrange(list: any[], server: any[], order: any[], key: string | undefined): any[] {
  const id = (item: any) => (key === undefined ? item : item?.[key]);
  const wanted = order.map(id);
  const place = (item: any) => wanted.findIndex((w) => equal(w, id(item)));
  const rank = (item: any) => server.findIndex((s) => equal(id(s), id(item)));
  const named = list.filter((item) => place(item) >= 0).sort((a, b) => place(a) - place(b));
  const others = list.filter((item) => place(item) < 0).sort((a, b) => rank(a) - rank(b));
  const out: any[] = [];
  let i = 0;
  let j = 0;
  while (i < others.length && j < named.length) {
    const left = rank(others[i]);
    const right = rank(named[j]);
    if (left >= 0 && right >= 0 && left < right) out.push(others[i++]);
    else out.push(named[j++]);
  }
  return [...out, ...others.slice(i), ...named.slice(j)];
}
