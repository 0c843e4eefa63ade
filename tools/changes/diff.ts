/** The difference of two JSON documents, one line a leaf. */

export interface Difference {
  path: string;
  /** Undefined where the path was not there. */
  before?: unknown;
  after?: unknown;
}

/** What differs; items of lists are matched by their `name` (or another key that they all have), else by place. */
export function differences(before: unknown, after: unknown, path = ""): Difference[] {
  if (same(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) return listDifferences(before, after, path);
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return keys.flatMap((key) => differences(before[key], after[key], path === "" ? key : path + member(key)));
  }
  return [{ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
}

const KEYS = ["name", "containerPort", "mountPath", "key", "port", "ip"];

function listDifferences(before: unknown[], after: unknown[], path: string): Difference[] {
  const key = KEYS.find((one) => {
    const all = [...before, ...after];
    return all.every((item) => isObject(item) && item[one] !== undefined) && unique(before, one) && unique(after, one);
  });
  if (key === undefined) {
    const plain = [...before, ...after].every((item) => !isObject(item) && !Array.isArray(item));
    if (plain) return [{ path, before, after }];
    return Array.from({ length: Math.max(before.length, after.length) }, (_, i) => i).flatMap((i) =>
      differences(before[i], after[i], `${path}[${i}]`),
    );
  }
  const pick = (list: unknown[]) => new Map(list.map((item) => [String((item as any)[key]), item]));
  const [old, current] = [pick(before), pick(after)];
  return [...new Set([...old.keys(), ...current.keys()])].flatMap((name) =>
    differences(old.get(name), current.get(name), `${path}[${name}]`),
  );
}

function unique(list: unknown[], key: string): boolean {
  return new Set(list.map((item) => (item as any)[key])).size === list.length;
}

function member(key: string): string {
  return /^[\w-]+$/.test(key) ? `.${key}` : `[${key}]`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => same(item, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => same(a[key], b[key]));
}
