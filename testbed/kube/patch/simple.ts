/** JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7386). */
import { clone, equal, isObject } from "../json.js";

/** A patch that cannot be applied to this object. */
export class PatchError extends Error {}

/** `target` after the merge patch; neither is changed. */
export function mergePatch(target: any, patch: any): any {
  if (!isObject(patch)) return clone(patch);
  const out: Record<string, any> = isObject(target) ? { ...target } : {};
  for (const key of Object.keys(patch)) {
    if (key === "__proto__") throw new PatchError("no such field: __proto__");
    if (patch[key] === null) delete out[key];
    else out[key] = mergePatch(own(out, key), patch[key]);
  }
  return out;
}

interface Operation {
  op: string;
  path: string;
  from?: string;
  value?: any;
}

/** A copy of `target` after the operations. @throws PatchError */
export function jsonPatch(target: any, operations: Operation[]): any {
  let doc = clone(target);
  for (const operation of operations) doc = applyOne(doc, operation);
  return doc;
}

function applyOne(doc: any, { op, path, from, value }: Operation): any {
  switch (op) {
    case "add":
      return set(doc, path, clone(value), "add");
    case "replace":
      return set(doc, path, clone(value), "replace");
    case "remove":
      return remove(doc, path);
    case "test":
      if (!equal(find(doc, path) ?? null, value ?? null)) throw new PatchError(`testing value ${path} failed`);
      return doc;
    case "move": {
      const moved = find(doc, from ?? "");
      if (moved === undefined) throw new PatchError(`move operation: missing ${from}`);
      return set(remove(doc, from ?? ""), path, moved, "add");
    }
    case "copy": {
      const copied = find(doc, from ?? "");
      if (copied === undefined) throw new PatchError(`copy operation: missing ${from}`);
      return set(doc, path, clone(copied), "add");
    }
    default:
      throw new PatchError(`Unexpected kind: ${op}`);
  }
}

function split(path: string): string[] {
  if (path === "") return [];
  // As a real server does: what stands before the first slash is not looked at.
  return path
    .split("/")
    .slice(1)
    .map((part) => part.replace(/~1/g, "/").replace(/~0/g, "~"));
}

function find(doc: any, path: string): any {
  let here = doc;
  for (const part of split(path)) {
    if (typeof here !== "object" || here === null) return undefined;
    here = Array.isArray(here) ? here[index(here, part, false)] : own(here, part);
  }
  return here;
}

function parent(doc: any, parts: string[], path: string): any {
  let here = doc;
  for (const part of parts) {
    if (typeof here !== "object" || here === null) throw new PatchError(`doc is missing path: ${path}`);
    here = Array.isArray(here) ? here[index(here, part, false)] : own(here, part);
  }
  if (typeof here !== "object" || here === null) throw new PatchError(`doc is missing path: ${path}`);
  return here;
}

/** Only what the document itself holds: a path must never lead to what every object inherits. */
function own(object: Record<string, any>, key: string): any {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function index(list: any[], part: string, appending: boolean): number {
  if (part === "-" && appending) return list.length;
  const i = /^-?\d+$/.test(part) ? Number(part) : Number.NaN;
  const at = i < 0 ? i + list.length : i;
  if (Number.isNaN(at) || at < 0 || at > list.length || (at === list.length && !appending)) {
    throw new PatchError(`invalid index ${part}`);
  }
  return at;
}

function set(doc: any, path: string, value: any, how: "add" | "replace"): any {
  const parts = split(path);
  const last = parts.pop();
  if (last === undefined) throw new PatchError(`${how} operation does not apply: the whole document: ${path}`);
  const holder = parent(doc, parts, path);
  if (Array.isArray(holder)) {
    if (how === "add") holder.splice(index(holder, last, true), 0, value);
    else holder[index(holder, last, false)] = value;
  } else {
    // As a real server does: replacing a key that is not there adds it.
    if (last === "__proto__") throw new PatchError(`${how} operation does not apply: no such field: ${path}`);
    holder[last] = value;
  }
  return doc;
}

function remove(doc: any, path: string): any {
  const parts = split(path);
  const last = parts.pop();
  if (last === undefined) throw new PatchError("cannot remove the whole document");
  const holder = parent(doc, parts, path);
  if (Array.isArray(holder)) holder.splice(index(holder, last, false), 1);
  else if (own(holder, last) === undefined)
    throw new PatchError(`remove operation does not apply: doc is missing key: ${path}`);
  else delete holder[last];
  return doc;
}
