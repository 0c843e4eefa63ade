/** Custom resources: a CustomResourceDefinition in the store makes the server serve its kind, by its schema. */
import { type FieldError, invalidValue, notSupported, required as requiredField } from "./errors.js";
import { equal } from "./json.js";
import { type KubeObject, timestamp } from "./objects.js";
import type { ResourceInfo } from "./resources.js";
import { schemaTable } from "./schema/table.js";
import type { Field, Type } from "./schema/types.js";
import type { ApiServer } from "./server.js";
import { updateObject } from "./writes.js";

export const DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io";
const VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/** Keeps the served resources in step with the definitions in the store. */
export function followDefinitions(server: ApiServer): void {
  server.watch(DEFINITIONS, (event) => {
    const { spec } = event.object;
    if (event.type === "DELETED") {
      const key = `${spec.names.plural}.${spec.group}`;
      server.registry.remove(spec.group, spec.names.plural);
      for (const object of [...server.list(key)]) {
        server.store.remove(key, {
          ...object,
          metadata: { ...object.metadata, resourceVersion: String(server.store.nextRevision) },
        });
      }
      return;
    }
    if (event.previous && equal(event.previous.spec, spec)) return;
    register(server, event.object);
    // Establishing happens a moment later, as seen from outside: the status is another write.
    server.clock.after(0, () => establish(server, event.object.metadata.name));
  });
}

function establish(server: ApiServer, name: string): void {
  const definition = server.get(DEFINITIONS, undefined, name);
  if (definition === undefined) return;
  const info = server.registry.stored(DEFINITIONS)!;
  const now = timestamp(server.clock.now());
  const condition = (type: string, reason: string, message: string) => ({
    type,
    status: "True",
    lastTransitionTime: now,
    reason,
    message,
  });
  const status = {
    conditions: [
      condition("NamesAccepted", "NoConflicts", "no conflicts found"),
      condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
    ],
    acceptedNames: definition.spec.names,
    storedVersions: definition.spec.versions.filter((v: any) => v.storage).map((v: any) => v.name),
  };
  const before = definition.status?.conditions;
  if (Array.isArray(before) && before.length > 0) return;
  updateObject(
    server,
    info,
    definition,
    { ...definition, status },
    {
      manager: "kube-apiserver",
      subresource: "status",
      internal: true,
    },
  );
}

function register(server: ApiServer, definition: KubeObject): void {
  const { group, names, versions, scope } = definition.spec;
  server.registry.remove(group, names.plural);
  for (const version of versions) {
    if (version.served === false) continue;
    const subresources: ResourceInfo["subresources"] = new Map();
    if (version.subresources?.status) {
      subresources.set("status", {
        name: "status",
        verbs: ["get", "patch", "update"],
        kind: [group, version.name, names.kind],
      });
    }
    if (version.subresources?.scale) {
      subresources.set("scale", {
        name: "scale",
        verbs: ["get", "patch", "update"],
        kind: ["autoscaling", "v1", "Scale"],
      });
    }
    const info: ResourceInfo = {
      group,
      version: version.name,
      resource: names.plural,
      kind: names.kind,
      singular: names.singular ?? names.kind.toLowerCase(),
      namespaced: scope === "Namespaced",
      verbs: VERBS,
      shortNames: names.shortNames ?? [],
      categories: names.categories ?? [],
      subresources,
      key: `${names.plural}.${group}`,
      type: customType(version.schema?.openAPIV3Schema ?? {}),
      rules: {
        generation: "spec",
        conditionalUpdate: true,
        defaults: (object) => fillDefaults(object, version.schema?.openAPIV3Schema ?? {}),
        validate: (object) => checkSchema(object, version.schema?.openAPIV3Schema ?? {}, ""),
      },
      definition,
      definedVersion: version,
      // One object serves all versions: only its apiVersion differs (conversion strategy None).
      ...(version.storage
        ? {}
        : {
            toStorage: (o: any) => ({ ...o, apiVersion: `${group}/${versions.find((v: any) => v.storage).name}` }),
            fromStorage: (o: any) => ({ ...o, apiVersion: `${group}/${version.name}` }),
          }),
    };
    server.registry.add(info, version.storage === true);
  }
}

/** Compiles a structural schema. */
function customType(schema: any): Type {
  const root = compile(schema);
  if (root.kind !== "struct") {
    root.kind = "struct";
    root.fields = new Map();
    root.preserve = true;
  }
  const meta = schemaTable().type("apimachinery.pkg.apis.meta.v1.ObjectMeta");
  const fixed = (name: string, type: Type): void => {
    root.fields!.set(name, field(name, type, false, name === "metadata"));
  };
  fixed("apiVersion", { kind: "string" });
  fixed("kind", { kind: "string" });
  fixed("metadata", meta);
  return root;
}

function compile(schema: any): Type {
  if (schema["x-kubernetes-int-or-string"]) return { kind: "intOrString" };
  const preserve = schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (schema["x-kubernetes-embedded-resource"]) return { kind: "any" };
  switch (schema.type) {
    case "object": {
      if (schema.properties) {
        const required = new Set<string>(schema.required ?? []);
        const fields = new Map<string, Field>();
        for (const [name, s] of Object.entries(schema.properties as Record<string, any>)) {
          fields.set(name, field(name, compile(s), required.has(name), false));
        }
        return { kind: "struct", fields, preserve, atomic: schema["x-kubernetes-map-type"] === "atomic" };
      }
      if (schema.additionalProperties && typeof schema.additionalProperties === "object") {
        return {
          kind: "map",
          element: compile(schema.additionalProperties),
          keepEmpty: true,
          atomic: schema["x-kubernetes-map-type"] === "atomic",
        };
      }
      return preserve || schema.additionalProperties === true
        ? { kind: "any" }
        : { kind: "struct", fields: new Map(), preserve };
    }
    case "array":
      return {
        kind: "list",
        element: compile(schema.items ?? {}),
        listType: schema["x-kubernetes-list-type"] ?? "atomic",
        keys: schema["x-kubernetes-list-map-keys"],
        keepEmpty: true,
      };
    case "string":
      return { kind: "string" };
    case "integer":
      return { kind: "integer", format: schema.format ?? "int64" };
    case "number":
      return { kind: "number", format: "double" };
    case "boolean":
      return { kind: "boolean" };
    default:
      return { kind: "any" };
  }
}

function field(name: string, type: Type, required: boolean, embedded: boolean): Field {
  return { name, type, required, embedded, zero: undefined, nullable: false, omitZero: false };
}

function fillDefaults(value: any, schema: any): void {
  if (value === null || typeof value !== "object") return;
  if (Array.isArray(value)) {
    if (schema.items) for (const item of value) fillDefaults(item, schema.items);
    return;
  }
  for (const [name, s] of Object.entries((schema.properties ?? {}) as Record<string, any>)) {
    if (value[name] === undefined && s.default !== undefined) value[name] = structuredClone(s.default);
    if (value[name] !== undefined) fillDefaults(value[name], s);
  }
  if (typeof schema.additionalProperties === "object") {
    for (const key in value) fillDefaults(value[key], schema.additionalProperties);
  }
}

/** The rules of a structural schema that decoding does not check. */
function checkSchema(value: any, schema: any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (value === undefined || value === null) return errors;
  const here = path || "<nil>";
  if (schema.enum && !schema.enum.some((e: unknown) => equal(e, value))) {
    errors.push(notSupported(here, value, schema.enum.map(String)));
  }
  if (typeof value === "number") {
    if (schema.minimum !== undefined && value < schema.minimum) {
      errors.push(invalidValue(here, value, `${path} in body should be greater than or equal to ${schema.minimum}`));
    }
    if (schema.maximum !== undefined && value > schema.maximum) {
      errors.push(invalidValue(here, value, `${path} in body should be less than or equal to ${schema.maximum}`));
    }
  }
  if (typeof value === "string") {
    if (schema.pattern && !new RegExp(schema.pattern).test(value)) {
      errors.push(invalidValue(here, value, `${path} in body should match '${schema.pattern}'`));
    }
    if (schema.maxLength !== undefined && value.length > schema.maxLength) {
      errors.push(invalidValue(here, value, `${path} in body should be at most ${schema.maxLength} chars long`));
    }
    if (schema.minLength !== undefined && value.length < schema.minLength) {
      errors.push(invalidValue(here, value, `${path} in body should be at least ${schema.minLength} chars long`));
    }
  }
  if (Array.isArray(value)) {
    if (schema.minItems !== undefined && value.length < schema.minItems) {
      errors.push(invalidValue(here, value.length, `${path} in body should have at least ${schema.minItems} items`));
    }
    for (let i = 0; i < value.length; i++) errors.push(...checkSchema(value[i], schema.items ?? {}, `${path}[${i}]`));
  } else if (typeof value === "object") {
    for (const name of schema.required ?? []) {
      if (value[name] === undefined) errors.push(requiredField(path ? `${path}.${name}` : name));
    }
    for (const [name, s] of Object.entries((schema.properties ?? {}) as Record<string, any>)) {
      if (name === "metadata" && path === "") continue;
      errors.push(...checkSchema(value[name], s, path ? `${path}.${name}` : name));
    }
    if (typeof schema.additionalProperties === "object") {
      for (const key in value) errors.push(...checkSchema(value[key], schema.additionalProperties, `${path}.${key}`));
    }
  }
  return errors;
}
