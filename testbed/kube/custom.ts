/** Custom resources: a CustomResourceDefinition in the store makes the server serve its kind, by its schema. */
import { validateCustom } from "./custom-validation.js";
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
        validate: (object) =>
          validateCustom(object, version.schema?.openAPIV3Schema ?? {}, version.subresources?.scale),
        ...(version.deprecated
          ? { warning: version.deprecationWarning ?? `${group}/${version.name} ${names.kind} is deprecated` }
          : {}),
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

/** Values of custom resources are kept as they come: what is of the wrong type is validation's to tell. */
function compile(schema: any): Type {
  return { ...compileShape(schema), lenient: true };
}

function compileShape(schema: any): Type {
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
