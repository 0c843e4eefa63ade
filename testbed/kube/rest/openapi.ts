/**
 * OpenAPI documents made from the schema table: enough for kubectl's validation, patches and `explain`. Descriptions are
 * not part of the table.
 */
import { createHash } from "node:crypto";
import type { ResourceInfo } from "../resources.js";
import { type SchemaTable, schemaTable, type TableField, type TableType } from "../schema/table.js";
import type { ApiServer } from "../server.js";

const PREFIX = "io.k8s.";
const V3 = "#/components/schemas/";
const V2 = "#/definitions/";

/** Schemas are built once a version of the registry, since definitions of custom resources can change them. */
interface Documents {
  revision: number;
  byVersion: Map<string, string>;
  index?: string;
  v2?: string;
}
const cache = new WeakMap<ApiServer, Documents>();

function documents(server: ApiServer): Documents {
  let known = cache.get(server);
  if (known === undefined || known.revision !== server.registry.revision) {
    known = { revision: server.registry.revision, byVersion: new Map() };
    cache.set(server, known);
  }
  return known;
}

/** Places of the group versions: `api/v1`, `apis/apps/v1`. */
function places(server: ApiServer): Map<string, ResourceInfo[]> {
  const out = new Map<string, ResourceInfo[]>();
  for (const info of server.registry.all()) {
    if (info.group === "metrics.k8s.io" && server.usage === undefined) continue;
    const place = info.group === "" ? `api/${info.version}` : `apis/${info.group}/${info.version}`;
    const list = out.get(place);
    if (list) list.push(info);
    else out.set(place, [info]);
  }
  return out;
}

/** GET /openapi/v3 */
export function openApiIndex(server: ApiServer): string {
  const docs = documents(server);
  docs.index ??= JSON.stringify({
    paths: Object.fromEntries(
      [...places(server).keys()].map((place) => {
        const hash = createHash("sha512").update(openApiV3(server, place)!).digest("hex").toUpperCase();
        return [place, { serverRelativeURL: `/openapi/v3/${place}?hash=${hash}` }];
      }),
    ),
  });
  return docs.index;
}

/** GET /openapi/v3/PLACE; undefined when there is no such group version. */
export function openApiV3(server: ApiServer, place: string): string | undefined {
  const docs = documents(server);
  let text = docs.byVersion.get(place);
  if (text === undefined) {
    const resources = places(server).get(place);
    if (resources === undefined) return undefined;
    const table = schemaTable();
    const schemas: Record<string, unknown> = {};
    const paths: Record<string, unknown> = { [`/${place}/`]: {} };
    for (const info of resources) {
      const ref = schemaRef(info, table, schemas);
      Object.assign(paths, pathsOf(info, place, ref));
    }
    for (const name of ["DeleteOptions", "Status", "Patch"])
      collect(`apimachinery.pkg.apis.meta.v1.${name}`, table, schemas, V3);
    text = JSON.stringify({
      openapi: "3.0.0",
      info: { title: "Kubernetes", version: server.version },
      paths,
      components: { schemas },
    });
    docs.byVersion.set(place, text);
  }
  return text;
}

/** GET /openapi/v2 */
export function openApiV2(server: ApiServer): string {
  const docs = documents(server);
  if (docs.v2 === undefined) {
    const table = schemaTable();
    const definitions: Record<string, unknown> = {};
    for (const name of Object.keys(table.types)) collect(name, table, definitions, V2);
    docs.v2 = JSON.stringify({
      swagger: "2.0",
      info: { title: "Kubernetes", version: server.version },
      paths: {},
      definitions,
    });
  }
  return docs.v2;
}

export const OPENAPI_V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/**
 * GET /openapi/v2 as protobuf: version and title only. kubectl asks for it when v3 does not know a kind, and finds that
 * v2 does not either. All lengths are below 128, so that the bytes are ASCII.
 */
export function openApiV2Protobuf(server: ApiServer): string {
  const text = (number: number, value: string) =>
    `${String.fromCharCode((number << 3) | 2)}${String.fromCharCode(value.length)}${value}`;
  return text(1, "2.0") + text(2, text(1, "Kubernetes") + text(2, server.version));
}

/** The reference to a resource's schema, put among `schemas` with all that it needs. */
function schemaRef(info: ResourceInfo, table: SchemaTable, schemas: Record<string, unknown>): string {
  if (info.definition) {
    const name = `${info.group.split(".").reverse().join(".")}.${info.version}.${info.kind}`;
    const meta = "apimachinery.pkg.apis.meta.v1.ObjectMeta";
    collect(meta, table, schemas, V3);
    const own = info.definedVersion.schema?.openAPIV3Schema ?? { type: "object" };
    schemas[name] = {
      ...own,
      properties: {
        ...own.properties,
        apiVersion: { type: "string" },
        kind: { type: "string" },
        metadata: { allOf: [{ $ref: V3 + PREFIX + meta }] },
      },
      "x-kubernetes-group-version-kind": [{ group: info.group, kind: info.kind, version: info.version }],
    };
    return V3 + name;
  }
  const name = info.type.name!;
  collect(name, table, schemas, V3);
  const list = {
    type: "object",
    required: ["items"],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { allOf: [{ $ref: `${V3}${PREFIX}apimachinery.pkg.apis.meta.v1.ListMeta` }] },
      items: { type: "array", items: { $ref: V3 + PREFIX + name } },
    },
    "x-kubernetes-group-version-kind": [{ group: info.group, kind: `${info.kind}List`, version: info.version }],
  };
  schemas[`${PREFIX}${name}List`] = list;
  collect("apimachinery.pkg.apis.meta.v1.ListMeta", table, schemas, V3);
  return V3 + PREFIX + name;
}

function collect(name: string, table: SchemaTable, schemas: Record<string, unknown>, base: string): void {
  const full = PREFIX + name;
  const type = table.types[name];
  if (type === undefined || schemas[full] !== undefined) return;
  schemas[full] = definition(type, base);
  const visit = (f: TableField): void => {
    if (f.r) collect(f.r, table, schemas, base);
    if (f.i) visit(f.i);
    if (f.v) visit(f.v);
  };
  visit(type);
  for (const f of Object.values(type.p ?? {})) visit(f);
}

function definition(type: TableType, base: string): object {
  return {
    ...field(type, base),
    ...(type.required ? { required: type.required } : {}),
    ...(type.p
      ? { type: "object", properties: Object.fromEntries(Object.entries(type.p).map(([k, f]) => [k, field(f, base)])) }
      : {}),
    ...(type.gvk
      ? { "x-kubernetes-group-version-kind": [{ group: type.gvk[0], kind: type.gvk[2], version: type.gvk[1] }] }
      : {}),
  };
}

function field(f: TableField, base: string): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  if (f.r) {
    if (base === V3 && f.d !== undefined) out.allOf = [{ $ref: base + PREFIX + f.r }];
    else if (base === V3) out.allOf = [{ $ref: base + PREFIX + f.r }];
    else out.$ref = base + PREFIX + f.r;
  } else if (f.t) out.type = f.t;
  if (f.f) out.format = f.f;
  if (f.d !== undefined && base === V3) out.default = f.d;
  if (f.e) out.enum = f.e;
  if (f.i) out.items = field(f.i, base);
  if (f.v) out.additionalProperties = field(f.v, base);
  if (f.lt) out["x-kubernetes-list-type"] = f.lt;
  if (f.lk) out["x-kubernetes-list-map-keys"] = f.lk;
  if (f.mt) out["x-kubernetes-map-type"] = f.mt;
  if (f.ps) out["x-kubernetes-patch-strategy"] = f.ps;
  if (f.pk) out["x-kubernetes-patch-merge-key"] = f.pk;
  return out;
}

const query = (...names: string[]) =>
  names.map((name) => ({ name, in: "query", schema: { type: "string", uniqueItems: true } }));

/** The paths of a resource, with the parameters that clients look for. */
function pathsOf(info: ResourceInfo, place: string, ref: string): Record<string, unknown> {
  const gvk = { group: info.group, version: info.version, kind: info.kind };
  const content = { "application/json": { schema: { $ref: ref } } };
  const operation = (action: string, parameters: object[], body?: object) => ({
    parameters,
    ...(body ? { requestBody: { content: body, required: true } } : {}),
    responses: { "200": { content } },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": gvk,
  });
  const write = query("dryRun", "fieldManager", "fieldValidation");
  const any = { "*/*": { schema: { $ref: ref } } };
  const patches = Object.fromEntries(
    [
      "application/apply-patch+yaml",
      "application/json-patch+json",
      "application/merge-patch+json",
      ...(info.definition ? [] : ["application/strategic-merge-patch+json"]),
    ].map((type) => [type, { schema: { $ref: `${V3}${PREFIX}apimachinery.pkg.apis.meta.v1.Patch` } }]),
  );
  const can = (verb: string) => info.verbs.includes(verb);
  const item: Record<string, unknown> = {};
  if (can("get")) item.get = operation("get", []);
  if (can("update")) item.put = operation("put", write, any);
  if (can("patch")) item.patch = operation("patch", [...write, ...query("force")], patches);
  if (can("delete")) item.delete = operation("delete", query("dryRun", "gracePeriodSeconds", "propagationPolicy"));
  const list: Record<string, unknown> = {};
  if (can("list")) list.get = operation("list", query("limit", "continue", "labelSelector", "fieldSelector", "watch"));
  if (can("create")) list.post = operation("post", write, any);
  if (can("deletecollection")) list.delete = operation("deletecollection", query("labelSelector", "fieldSelector"));
  const home = info.namespaced ? `/${place}/namespaces/{namespace}/${info.resource}` : `/${place}/${info.resource}`;
  return { [home]: list, [`${home}/{name}`]: item };
}
