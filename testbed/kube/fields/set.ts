/**
 * Sets of fields in the form in which managedFields carries them (fieldsV1): nested objects whose keys are path
 * elements, `f:name`, `k:{"key":"value"}` or `v:value`; an empty object is a member, `"."` marks a member with children.
 */
export type FieldSet = { [element: string]: FieldSet };

export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** Is the node itself (not only something below it) in the set? */
function isMember(node: FieldSet): boolean {
  return isEmpty(node) || "." in node;
}

/** Adds `path` to `set`. */
export function insert(set: FieldSet, path: readonly string[]): void {
  let here = set;
  for (let i = 0; i < path.length; i++) {
    const element = path[i]!;
    let next = here[element];
    if (next === undefined) {
      next = {};
      here[element] = next;
      // A fresh node is a member only at the end of the path; on the way it must get a child at once.
      if (i === path.length - 1) return;
    } else if (isEmpty(next) && i < path.length - 1) {
      next["."] = {};
    } else if (i === path.length - 1 && !isMember(next)) next["."] = {};
    here = next;
  }
}

export function has(set: FieldSet, path: readonly string[]): boolean {
  let here: FieldSet | undefined = set;
  for (const element of path) {
    here = here[element];
    if (here === undefined) return false;
  }
  return isMember(here);
}

/** A node with members on and below it, or undefined when it holds none. */
function node(member: boolean, children: FieldSet): FieldSet | undefined {
  if (isEmpty(children)) return member ? children : undefined;
  return member ? { ".": {}, ...children } : children;
}

function combine(
  a: FieldSet | undefined,
  b: FieldSet | undefined,
  keep: (inA: boolean, inB: boolean) => boolean,
): FieldSet | undefined {
  const member = keep(a !== undefined && isMember(a), b !== undefined && isMember(b));
  return node(member, children(a, b, keep));
}

function children(
  a: FieldSet | undefined,
  b: FieldSet | undefined,
  keep: (inA: boolean, inB: boolean) => boolean,
): FieldSet {
  const out: FieldSet = {};
  if (a) {
    for (const element in a) {
      if (element === ".") continue;
      const made = combine(a[element], b?.[element], keep);
      if (made) out[element] = made;
    }
  }
  if (b) {
    for (const element in b) {
      if (element === "." || (a && element in a)) continue;
      const made = combine(undefined, b[element], keep);
      if (made) out[element] = made;
    }
  }
  return out;
}

export const union = (a: FieldSet, b: FieldSet): FieldSet =>
  isEmpty(b) ? a : isEmpty(a) ? b : children(a, b, (x, y) => x || y);
export const difference = (a: FieldSet, b: FieldSet): FieldSet =>
  isEmpty(b) || isEmpty(a) ? a : children(a, b, (x, y) => x && !y);
export const intersection = (a: FieldSet, b: FieldSet): FieldSet =>
  isEmpty(a) || isEmpty(b) ? {} : children(a, b, (x, y) => x && y);

/** `a` without the members of `b` and everything below them. */
export function withoutSubtrees(a: FieldSet, b: FieldSet): FieldSet {
  const out: FieldSet = {};
  for (const element in a) {
    const other = b[element];
    if (other === undefined || element === ".") out[element] = a[element]!;
    else if (!isMember(other)) {
      const inner = withoutSubtrees(a[element]!, other);
      if (!isEmpty(inner)) out[element] = inner;
    }
  }
  return out;
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  let count = 0;
  for (const element in a) {
    const other = b[element];
    if (other === undefined || !equalSets(a[element]!, other)) return false;
    count++;
  }
  for (const _ in b) count--;
  return count === 0;
}

/** All members, as paths: at each level first what is a member itself, then what is below. */
export function members(set: FieldSet, prefix: string[] = []): string[][] {
  const elements = Object.keys(set)
    .filter((element) => element !== ".")
    .sort();
  return [
    ...elements.filter((element) => isMember(set[element]!)).map((element) => [...prefix, element]),
    ...elements.flatMap((element) => members(set[element]!, [...prefix, element])),
  ];
}

/** A path as the server prints it: `.spec.template.spec.containers[name="nginx"].image`. */
export function printPath(path: readonly string[]): string {
  return path
    .map((element) => {
      if (element.startsWith("f:")) return `.${element.slice(2)}`;
      if (element.startsWith("v:")) return `[=${element.slice(2)}]`;
      if (element.startsWith("k:")) {
        const keys = JSON.parse(element.slice(2)) as Record<string, unknown>;
        return `[${Object.keys(keys)
          .sort()
          .map((k) => `${k}=${JSON.stringify(keys[k])}`)
          .join(",")}]`;
      }
      return `[${element.slice(2)}]`;
    })
    .join("");
}
