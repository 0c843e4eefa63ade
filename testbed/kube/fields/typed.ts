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
  descend(left, right, type, out);
  return out;
}

function emptyValue(value: any): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== "object") return false;
  return Array.isArray(value) ? value.length === 0 : isEmpty(value);
}

/** Compares a child that stands at `element` and notes the differences under that name. */
function walk(left: any, right: any, type: Type | undefined, element: string, out: Comparison): void {
  if (left === right) return;
  if (left === undefined) out.added[element] = whole(right, type);
  else if (right === undefined) out.removed[element] = whole(left, type);
  else if (isLeaf(type, right) || (emptyValue(left) && emptyValue(right))) {
    if (!equal(left, right)) out.modified[element] = {};
  } else {
    const inner: Comparison = { added: {}, modified: {}, removed: {} };
    descend(left, right, type!, inner);
    if (!isEmpty(inner.added)) out.added[element] = inner.added;
    if (!isEmpty(inner.modified)) out.modified[element] = inner.modified;
    if (!isEmpty(inner.removed)) out.removed[element] = inner.removed;
  }
}

function descend(left: any, right: any, type: Type, out: Comparison): void {
  if (type.kind === "list") {
    const others = new Map<string, any>();
    for (const item of left ?? []) others.set(itemElement(item, type), item);
    for (const item of right ?? []) {
      const element = itemElement(item, type);
      walk(others.get(element), item, type.element, element, out);
      others.delete(element);
    }
    for (const [element, item] of others) walk(item, undefined, type.element, element, out);
    return;
  }
  for (const key in right) {
    if (right[key] !== undefined) walk(left?.[key], right[key], childType(type, key), `f:${key}`, out);
  }
  for (const key in left) {
    if (left[key] !== undefined && right?.[key] === undefined) {
      walk(left[key], undefined, childType(type, key), `f:${key}`, out);
    }
  }
}

/** A value that came or went as a whole: its node is a member, and so is all that is in it. */
function whole(value: any, type: Type | undefined): FieldSet {
  if (isLeaf(type, value) || emptyValue(value)) return {};
  const node: FieldSet = { ".": {} };
  if (type!.kind === "list") {
    for (const item of value) node[itemElement(item, type!)] = whole(item, type!.element);
  } else {
    for (const key in value) {
      if (value[key] !== undefined) node[`f:${key}`] = whole(value[key], childType(type!, key));
    }
  }
  return node;
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
