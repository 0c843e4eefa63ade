/** Typed values: which fields they set, how two differ, and how one merges into another (server-side apply). */
import { equal } from "../json.js";
import type { Type } from "../schema/types.js";
import { type FieldSet, has, insert, isEmpty } from "./set.js";

/** How the items of a list or the entries of an object are told apart. */
export function itemElement(item: any, list: Type): string {
  if (list.listType === "set") return `v:${JSON.stringify(item)}`;
  const keys: Record<string, unknown> = {};
  for (const key of [...(list.keys ?? [])].sort()) {
    const value = item?.[key] ?? list.element?.fields?.get(key)?.defaultValue;
    if (value !== undefined) keys[key] = value;
  }
  return `k:${JSON.stringify(keys)}`;
}

function isLeaf(type: Type | undefined, value: unknown): boolean {
  if (type === undefined) return true;
  switch (type.kind) {
    case "struct":
    case "map":
      return type.atomic === true || typeof value !== "object";
    case "list":
      return (type.listType ?? "atomic") === "atomic";
    default:
      return true;
  }
}

function childType(type: Type, key: string): Type | undefined {
  return type.kind === "map" ? type.element : type.fields?.get(key)?.type;
}

/** The fields that `value` sets. */
export function fieldSet(value: any, type: Type): FieldSet {
  const set: FieldSet = {};
  collect(value, type, [], set);
  return set;
}

function collect(value: any, type: Type | undefined, path: string[], set: FieldSet): void {
  if (isLeaf(type, value)) {
    insert(set, path);
    return;
  }
  if (value === null || value === undefined) return;
  if (type!.kind === "list") {
    for (const item of value) {
      const here = [...path, itemElement(item, type!)];
      collect(item, type!.element, here, set);
      insert(set, here);
    }
    return;
  }
  for (const key in value) {
    const item = value[key];
    if (item === undefined) continue;
    const here = [...path, `f:${key}`];
    collect(item, childType(type!, key), here, set);
    const empty = item === null || (typeof item === "object" && !Array.isArray(item) && isEmpty(item));
    if (empty || type!.kind === "map") insert(set, here);
  }
}

export interface Comparison {
  added: FieldSet;
  modified: FieldSet;
  removed: FieldSet;
}

/** How `right` differs from `left`. */
export function compare(left: any, right: any, type: Type): Comparison {
  const out: Comparison = { added: {}, modified: {}, removed: {} };
  walk(left, right, type, [], out);
  return out;
}

const emptyValue = (value: any) =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) ? value.length === 0 : typeof value === "object" && isEmpty(value));

function walk(left: any, right: any, type: Type | undefined, path: string[], out: Comparison): void {
  if (left === right) return;
  if (left === undefined && right === undefined) return;
  if (isLeaf(type, right ?? left) || (emptyValue(left) && emptyValue(right))) {
    if (left === undefined) insert(out.added, path);
    else if (right === undefined) insert(out.removed, path);
    else if (!equal(left, right)) insert(out.modified, path);
    return;
  }
  if (type!.kind === "list") {
    const others = new Map<string, any>();
    for (const item of left ?? []) others.set(itemElement(item, type!), item);
    for (const item of right ?? []) {
      const element = itemElement(item, type!);
      path.push(element);
      walk(others.get(element), item, type!.element, path, out);
      path.pop();
      others.delete(element);
    }
    for (const [element, item] of others) {
      path.push(element);
      walk(item, undefined, type!.element, path, out);
      path.pop();
    }
  } else {
    if (right) {
      for (const key in right) {
        path.push(`f:${key}`);
        walk(left?.[key], right[key], childType(type!, key), path, out);
        path.pop();
      }
    }
    if (left) {
      for (const key in left) {
        if (right && right[key] !== undefined) continue;
        path.push(`f:${key}`);
        walk(left[key], undefined, childType(type!, key), path, out);
        path.pop();
      }
    }
  }
  if (path.length === 0) return;
  if (left === undefined) insert(out.added, path);
  else if (right === undefined) insert(out.removed, path);
}

/** `right` merged into `left`: what `right` does not mention stays. Neither is changed. */
export function merge(left: any, right: any, type: Type | undefined): any {
  if (right === undefined) return left;
  if (left === undefined || left === null || right === null || isLeaf(type, right)) return right;
  if (type!.kind === "list") return mergeLists(left, right, type!);
  const out = { ...left };
  for (const key in right) out[key] = merge(left[key], right[key], childType(type!, key));
  return out;
}

/** Keeps the order of `left`, puts what only `right` has where `right` has it. */
function mergeLists(left: any[], right: any[], type: Type): any[] {
  const lefts = left.map((item) => itemElement(item, type));
  const rights = right.map((item) => itemElement(item, type));
  const byLeft = new Map(lefts.map((element, i) => [element, left[i]]));
  const inRight = new Set(rights);
  const shared = rights.filter((element) => byLeft.has(element));
  const merged = new Set<string>();
  const out: any[] = [];
  let l = 0;
  let r = 0;
  let next = 0;
  const both = (a: any, b: any) => (type.listType === "set" ? b : merge(a, b, type.element));
  while (l < left.length || r < right.length) {
    if (l < left.length && r < right.length) {
      if (lefts[l] === rights[r]) {
        merged.add(lefts[l]!);
        out.push(both(left[l++], right[r++]));
        next++;
        continue;
      }
      if (inRight.has(lefts[l]!) && next < shared.length && shared[next] !== lefts[l]) {
        l++;
        continue;
      }
    }
    if (l < left.length) {
      if (!inRight.has(lefts[l]!)) {
        out.push(left[l++]);
        continue;
      }
      if (merged.has(lefts[l]!)) l++;
    }
    if (r < right.length) {
      const element = rights[r]!;
      if (merged.has(element)) {
        r++;
        continue;
      }
      merged.add(element);
      out.push(byLeft.has(element) ? both(byLeft.get(element), right[r]) : right[r]);
      r++;
      if (shared[next] === element) next++;
    }
  }
  return out;
}

/** `value` without the fields that `gone` names and `kept` does not; items and maps go when nothing in them is kept. */
export function removeFields(value: any, type: Type | undefined, gone: FieldSet, kept: FieldSet): any {
  if (value === null || value === undefined || isLeaf(type, value)) return value;
  const visit = (item: any, child: Type | undefined, element: string): any => {
    const lost = gone[element];
    if (lost === undefined) return item;
    const owned = kept[element];
    const itself = has(gone, [element]);
    if (itself && owned === undefined) return undefined;
    return removeFields(item, child, lost, owned ?? {});
  };
  if (type!.kind === "list") {
    const out: any[] = [];
    for (const item of value) {
      const left = visit(item, type!.element, itemElement(item, type!));
      if (left !== undefined) out.push(left);
    }
    return out;
  }
  const out: Record<string, any> = {};
  for (const key in value) {
    const child = childType(type!, key);
    const left = visit(value[key], child, `f:${key}`);
    if (left === undefined) continue;
    // A map or list that had only given-up members is given up itself.
    if (emptyValue(left) && !emptyValue(value[key]) && kept[`f:${key}`] === undefined && child?.kind !== "struct")
      continue;
    out[key] = left;
  }
  return out;
}
