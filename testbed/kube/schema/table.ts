/** Reads the schema table: which resources a server has and how the objects of each kind are built. */
import { readFileSync } from "node:fs";
import { packageFile } from "../../../paths.js";
import type { Field, ListType, Type } from "./types.js";

/** A field as the table writes it; `scripts/build-schema-table.mjs` says what the letters mean. */
export interface TableField {
  t?: string;
  f?: string;
  r?: string;
  d?: unknown;
  e?: string[];
  i?: TableField;
  v?: TableField;
  lt?: ListType;
  lk?: string[];
  mt?: "atomic" | "granular";
  ps?: string;
  pk?: string;
  n?: 1;
  o?: 1;
  z?: 1;
}
export interface TableType extends TableField {
  required?: string[];
  p?: Record<string, TableField>;
  gvk?: [group: string, version: string, kind: string];
}
export interface TableResource {
  group: string;
  version: string;
  resource: string;
  kind: string;
  singular: string;
  namespaced?: boolean;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
  subresources?: { name: string; verbs: string[]; kind: [group: string, version: string, kind: string] }[];
}
export interface SchemaTable {
  types: Record<string, TableType>;
  resources: TableResource[];
  /** Type name of a kind: `apps/v1/Deployment` -> `api.apps.v1.Deployment`. */
  byKind: Map<string, string>;
  /** The compiled type of a type name; recursive types are one object. */
  type(name: string): Type;
  /** The compiled type of a kind, undefined when the table has none. */
  kind(group: string, version: string, kind: string): Type | undefined;
}

const SCALARS: Record<string, Type["kind"]> = {
  "apimachinery.pkg.api.resource.Quantity": "quantity",
  "apimachinery.pkg.util.intstr.IntOrString": "intOrString",
  "apimachinery.pkg.apis.meta.v1.Time": "time",
  "apimachinery.pkg.apis.meta.v1.MicroTime": "microTime",
};

let shared: SchemaTable | undefined;

/** The table of the package. It never changes, so that all servers of a process share one. */
export function schemaTable(): SchemaTable {
  shared ??= compile(JSON.parse(readFileSync(packageFile("testbed", "kube", "schema", "table.json"), "utf8")));
  return shared;
}

function compile(raw: { types: Record<string, TableType>; resources: TableResource[] }): SchemaTable {
  const compiled = new Map<string, Type>();
  const byKind = new Map<string, string>();
  for (const [name, type] of Object.entries(raw.types)) if (type.gvk) byKind.set(type.gvk.join("/"), name);

  function type(name: string): Type {
    const known = compiled.get(name);
    if (known) return known;
    const source = raw.types[name];
    const made: Type = { kind: SCALARS[name] ?? "any", name };
    compiled.set(name, made);
    if (made.kind !== "any" || source === undefined) return made;
    if (source.p) {
      made.kind = "struct";
      made.atomic = source.mt === "atomic";
      const required = new Set(source.required);
      made.fields = new Map(Object.entries(source.p).map(([key, f]) => [key, field(key, f, required.has(key))]));
    } else if (source.t === "object" && source.v) {
      Object.assign(made, anonymous(source));
    } else if (source.t !== undefined && source.t !== "object") {
      Object.assign(made, anonymous(source));
    }
    return made;
  }

  function anonymous(f: TableField): Type {
    if (f.r) {
      const target = type(f.r);
      // A reference may narrow how its target merges.
      return f.mt === "atomic" && target.kind === "struct"
        ? Object.create(target, { atomic: { value: true } })
        : target;
    }
    switch (f.t) {
      case "array":
        return { kind: "list", element: anonymous(f.i ?? {}), listType: f.lt ?? "atomic", keys: f.lk };
      case "object":
        return f.v ? { kind: "map", element: anonymous(f.v), atomic: f.mt === "atomic" } : { kind: "any" };
      case "string":
        if (f.f === "byte") return { kind: "bytes" };
        if (f.f === "date-time") return { kind: "time" };
        return { kind: "string" };
      case "integer":
        return { kind: "integer", format: f.f ?? "int64" };
      case "number":
        return { kind: "number", format: f.f ?? "double" };
      case "boolean":
        return { kind: "boolean" };
      default:
        return { kind: "any" };
    }
  }

  function field(name: string, f: TableField, required: boolean): Field {
    const t = anonymous(f);
    return {
      name,
      type: t,
      required,
      embedded: t.kind === "struct" && f.d !== undefined,
      zero: required || f.d !== undefined ? zeroOf(t, f) : undefined,
      nullable: f.n === 1,
      omitZero: f.o === 1 || (t.kind === "string" && f.d !== "" && f.z !== 1),
      enum: f.e,
      patchStrategy: f.ps,
      mergeKey: f.pk,
      defaultValue: f.d === "" || f.d === 0 || f.d === false || typeof f.d === "object" ? undefined : f.d,
    };
  }

  function zeroOf(t: Type, f: TableField): unknown {
    if (t.kind === "list" || t.kind === "map") return null;
    return f.d === "" || f.d === 0 || f.d === false ? f.d : undefined;
  }

  return {
    ...raw,
    byKind,
    type,
    kind(group, version, kind) {
      const name = byKind.get(`${group}/${version}/${kind}`);
      return name === undefined ? undefined : type(name);
    },
  };
}
