/** `--sort-by`: orders objects by a JSONPath, quantities and times by their value. */
import { KubectlError } from "../errors.js";
import { JsonPath, JsonPathError, relaxed } from "./jsonpath.js";
import { parseQuantity } from "./quantity.js";

function isQuantity(text: string): boolean {
  return /^[+-]?[0-9.]+(?:[eE][-+]?\d+|[KMGTPE]i|[numkMGTPE])?$/.test(text);
}

function compareText(a: string, b: string): number {
  // kubectl orders strings "naturally": runs of digits by their number.
  const x = a.match(/\d+|\D+/g) ?? [];
  const y = b.match(/\d+|\D+/g) ?? [];
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const [p, q] = [x[i] as string, y[i] as string];
    if (p === q) continue;
    if (/^\d/.test(p) && /^\d/.test(q)) {
      const difference = Number(p) - Number(q);
      if (difference !== 0) return difference;
    }
    return p < q ? -1 : 1;
  }
  return x.length - y.length;
}

function compare(a: unknown, b: unknown): number {
  if (a === undefined || a === null) return b === undefined || b === null ? 0 : -1;
  if (b === undefined || b === null) return 1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") {
    if (isQuantity(a) && isQuantity(b)) return (parseQuantity(a) ?? 0) - (parseQuantity(b) ?? 0);
    return compareText(a, b);
  }
  return compareText(String(a), String(b));
}

/** Does any object have the field that `path` names? */
export function sortable<T>(items: readonly T[], path: string, object: (item: T) => any): boolean {
  try {
    const query = new JsonPath(relaxed(path), { allowMissing: true });
    return items.some((item) => (query.values(object(item))[0] ?? null) !== null);
  } catch {
    return true;
  }
}

/** A stable order of `items` by `path`; each item's object is given by `object`. */
export function sortBy<T>(items: readonly T[], path: string, object: (item: T) => any): T[] {
  let query: JsonPath;
  try {
    query = new JsonPath(relaxed(path), { allowMissing: true });
  } catch (error) {
    if (error instanceof JsonPathError) throw new KubectlError(`error: ${error.message}`);
    throw error;
  }
  const keyed = items.map((item) => ({ item, key: query.values(object(item))[0] }));
  if (items.length > 0 && keyed.every(({ key }) => key === undefined || key === null))
    throw new KubectlError(`error: couldn't find any field with path "${relaxed(path)}" in the list of objects`);
  const bad = keyed.find(({ key }) => key !== null && typeof key === "object");
  if (bad) throw new KubectlError(`error: unsortable type: ${Array.isArray(bad.key) ? "slice" : "map"}`);
  return keyed.sort((a, b) => compare(a.key, b.key)).map(({ item }) => item);
}
