/** Compiled schema: what decoding, defaulting, merging and field ownership need to know of a type. */

export type ListType = "atomic" | "set" | "map";

export interface Type {
  kind:
    | "string"
    | "integer"
    | "number"
    | "boolean"
    | "bytes"
    | "quantity"
    | "intOrString"
    | "time"
    | "microTime"
    | "struct"
    | "map"
    | "list"
    /** Free JSON, kept as it is. */
    | "any";
  /** Name of the definition it comes from, e.g. `api.core.v1.PodSpec`. */
  name?: string;
  format?: string;
  /** Of a struct. */
  fields?: Map<string, Field>;
  /** Of a map or list. */
  element?: Type;
  listType?: ListType;
  /** Keys that tell the items of a map-like list apart. */
  keys?: string[];
  /** A struct or map that has one owner and merges as a whole. */
  atomic?: boolean;
  /** A struct that keeps fields which it does not know (custom resources may). */
  preserve?: boolean;
  /** A value of another type is kept as it is (custom resources: their validation tells). */
  lenient?: boolean;
  /** A list or map in custom resources stays although it is empty. */
  keepEmpty?: boolean;
}

export interface Field {
  name: string;
  type: Type;
  required: boolean;
  /** A struct by value: it is always there, if need be as `{}`. */
  embedded: boolean;
  /** What stands for a missing value of a field that is always written: "", 0, false or null; undefined: nothing. */
  zero: unknown;
  /** Written as null when unset. */
  nullable: boolean;
  /** 0, false and "" count as unset. */
  omitZero: boolean;
  enum?: string[];
  patchStrategy?: string;
  mergeKey?: string;
  /** A default that the schema itself states. */
  defaultValue?: unknown;
}

/** Go's name of a type in a decoding error. */
export function goTypeName(type: Type): string {
  switch (type.kind) {
    case "integer":
      return type.format ?? "int64";
    case "number":
      return "float64";
    case "boolean":
      return "bool";
    case "bytes":
      return "[]uint8";
    case "list":
      return `[]${goTypeName(type.element!)}`;
    case "map":
      return `map[string]${goTypeName(type.element!)}`;
    case "struct":
      return type.name?.replace(/^.*?([^.]+)\.([^.]+)$/, "$1.$2") ?? "struct";
    default:
      return "string";
  }
}
