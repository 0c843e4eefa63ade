/** Is a configuration to apply of the schema's types? The words are those of structured-merge-diff. */
import type { Type } from "../schema/types.js";
import { itemElement } from "./typed.js";

/** What is wrong with `value` first, with the place, e.g. `.spec.replicas: expected numeric (int or float), got string`. */
export function typeProblem(value: any, type: Type | undefined, path = ""): string | undefined {
  if (value === null || value === undefined || type === undefined) return undefined;
  switch (type.kind) {
    case "any":
    case "intOrString":
    case "quantity":
      return undefined;
    case "integer":
    case "number":
      return typeof value === "number" ? undefined : `${path}: expected numeric (int or float), got ${shown(value)}`;
    case "boolean":
      return typeof value === "boolean" ? undefined : `${path}: expected boolean, got ${shown(value)}`;
    case "map":
    case "struct":
      return structProblem(value, type, path);
    case "list":
      return listProblem(value, type, path);
    default:
      return typeof value === "string" ? undefined : `${path}: expected string, got ${wrapped(value)}`;
  }
}

function structProblem(value: any, type: Type, path: string): string | undefined {
  if (typeof value !== "object" || Array.isArray(value)) return `${path}: expected map, got ${wrapped(value)}`;
  for (const key of Object.keys(value)) {
    const here = `${path}.${key}`;
    const child = type.kind === "map" ? type.element : type.fields?.get(key)?.type;
    if (child === undefined && type.kind === "struct" && !type.preserve) return `${here}: field not declared in schema`;
    const problem = typeProblem(value[key], child, here);
    if (problem) return problem;
  }
  return undefined;
}

function listProblem(value: any, type: Type, path: string): string | undefined {
  if (!Array.isArray(value)) return `${path}: expected list, got ${wrapped(value)}`;
  const seen = new Set<string>();
  const associative = type.listType === "map" || type.listType === "set";
  for (let i = 0; i < value.length; i++) {
    const item = value[i];
    const element = associative ? itemElement(item, type) : "";
    const id = associative ? itemPath(element) : `[${i}]`;
    if (associative && seen.has(element)) {
      return `${path}: duplicate entries for key ${id}`;
    }
    seen.add(element);
    const problem = typeProblem(item, type.element, `${path}${id}`);
    if (problem) return problem;
  }
  return undefined;
}

/** `[name="a"]`, or `[="a"]` in a set. */
function itemPath(element: string): string {
  const value = JSON.parse(element.slice(2));
  if (element.startsWith("v:")) return `[=${JSON.stringify(value)}]`;
  const keys = Object.keys(value).sort();
  return `[${keys.map((key) => `${key}=${JSON.stringify(value[key])}`).join(",")}]`;
}

function shown(value: unknown): string {
  return typeof value === "string" ? "string" : wrapped(value);
}

function wrapped(value: unknown): string {
  return `&value.valueUnstructured{Value:${goValue(value)}}`;
}

/** A value as Go's `%#v` prints it, or `%v` inside of a map. */
function goValue(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goValue).join(", ")}}`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `map[string]interface {}{${entries.map(([k, v]) => `${JSON.stringify(k)}:${goValue(v)}`).join(", ")}}`;
  }
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
