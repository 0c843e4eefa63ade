/** From an HTTP request to an answer: who, what, may they, and which handler. */
import { stringify as toYaml } from "yaml";
import { badRequest, internalError, methodNotAllowed, pathNotFound, StatusError } from "../errors.js";
import type { ResourceInfo } from "../resources.js";
import type { ApiServer } from "../server.js";
import type { Attributes, Identity } from "./access.js";
import { aggregatedDiscovery, coreVersions, groupList, groupOf, resourceList } from "./discovery.js";
import { type ApiRequest, type ApiResponse, type Negotiated, negotiate } from "./http.js";
import { OPENAPI_V2_PROTOBUF, openApiIndex, openApiV2, openApiV2Protobuf, openApiV3 } from "./openapi.js";
import { decodeProtobuf, PROTOBUF } from "./protobuf.js";
import { handleResource } from "./resource.js";

/** A request for a resource, taken apart. */
export interface Target {
  info: ResourceInfo;
  namespace?: string;
  name?: string;
  subresource?: string;
  /** What follows the subresource. */
  rest?: string;
}

/** A request whose body, if any, is text. */
export type TextRequest = ApiRequest & { body?: string };

/** A request on its way. */
export interface Call {
  server: ApiServer;
  request: TextRequest;
  identity: Identity;
  negotiated: Negotiated;
  target: Target;
  /** Filled by handlers, sent as Warning headers. */
  warnings: string[];
}

/** No field of any kind; as a key it would change what objects of this process inherit. */
const PROTOTYPE_KEY = /(?:^|[{,\s])["']?__proto__["']?\s*:/;
/** What a server tells those who have not said who they are. */
const PUBLIC = new Set(["/version", "/version/", "/healthz", "/livez", "/readyz"]);

export async function handleRequest(server: ApiServer, request: ApiRequest): Promise<ApiResponse> {
  try {
    // What an earlier request set off and needs no time has happened before this one is looked at.
    server.clock.settle();
    const readableRequest = readable(request);
    if (PROTOTYPE_KEY.test(readableRequest.body ?? "")) throw badRequest('unknown field "__proto__"');
    return route(server, readableRequest);
  } catch (error) {
    // A document that is nested deeper than the stack allows.
    return failure(error instanceof RangeError ? badRequest("exceeded max depth") : error);
  }
}

/** The request with its body as JSON or YAML text. @throws StatusError 400 */
function readable(request: ApiRequest): TextRequest {
  const { body } = request;
  if (body === undefined || typeof body === "string") return request as TextRequest;
  if (!(request.headers["content-type"] ?? "").startsWith(PROTOBUF))
    return { ...request, body: Buffer.from(body).toString() };
  try {
    const headers = { ...request.headers, "content-type": "application/json" };
    return { ...request, headers, body: JSON.stringify(decodeProtobuf(body)) };
  } catch (error) {
    throw badRequest(error instanceof Error ? error.message : String(error));
  }
}

/** A refusal as an answer. */
export function failure(error: unknown): ApiResponse {
  const known =
    error instanceof StatusError ? error : internalError(error instanceof Error ? error.message : String(error));
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (known.code === 429) headers["retry-after"] = String(known.details?.retryAfterSeconds ?? 10);
  return { status: known.code, headers, body: JSON.stringify(known.status()) };
}

export function json(body: unknown, status = 200, contentType = "application/json"): ApiResponse {
  return {
    status,
    headers: { "content-type": contentType },
    body: typeof body === "string" ? body : `${JSON.stringify(body)}\n`,
  };
}

/** An object in the form that was asked for. */
export function answer(call: Call, body: unknown, status = 200): ApiResponse {
  const response = call.negotiated.yaml
    ? { status, headers: { "content-type": "application/yaml" }, body: toYaml(body) }
    : json(body, status, call.negotiated.contentType);
  return call.warnings.length > 0 ? { ...response, warnings: call.warnings } : response;
}

function route(server: ApiServer, request: TextRequest): ApiResponse {
  const identity = server.access.identify(request.headers);
  const { path } = request;
  const parts = path.split("/").filter((p) => p !== "");
  const [first, second, third] = parts;
  if (first === "api" && parts.length > 2 && second === "v1")
    return resource(server, request, identity, "", "v1", parts.slice(2));
  if (first === "apis" && parts.length > 3) return resource(server, request, identity, second!, third!, parts.slice(3));
  const open = request.method === "GET" && PUBLIC.has(path);
  if (!open) server.access.require(identity, { verb: request.method.toLowerCase(), path });
  const negotiated = negotiate(request.headers.accept);
  switch (first) {
    case "version":
      if (request.method !== "GET") throw methodNotAllowed();
      return json(versionDocument(server.version));
    case "healthz":
    case "livez":
    case "readyz":
      return { status: 200, headers: { "content-type": "text/plain; charset=utf-8" }, body: health(request) };
    case "api":
      if (parts.length === 1) {
        return negotiated?.aggregated
          ? json(aggregatedDiscovery(server, true), 200, negotiated.contentType)
          : json(coreVersions());
      }
      return second === "v1" ? found(resourceList(server, "", second)) : failure(pathNotFound());
    case "apis":
      if (parts.length === 1) {
        return negotiated?.aggregated
          ? json(aggregatedDiscovery(server, false), 200, negotiated.contentType)
          : json(groupList(server));
      }
      return found(parts.length === 2 ? groupOf(server, second!) : resourceList(server, second!, third!));
    case "openapi":
      return openApi(server, request, parts);
    case undefined:
      return json({ paths: rootPaths(server) });
    default:
      return notFoundPage();
  }
}

function openApi(server: ApiServer, request: ApiRequest, parts: string[]): ApiResponse {
  if (parts[1] === "v3") {
    if (parts.length === 2) return json(openApiIndex(server));
    const document = openApiV3(server, parts.slice(2).join("/"));
    return document === undefined ? { ...notFoundPage(), body: "" } : json(document);
  }
  if (parts[1] !== "v2") return notFoundPage();
  // kubectl turns to v2 for what v3 does not know, and asks for protobuf only.
  if (negotiate(request.headers.accept) === undefined) {
    return { status: 200, headers: { "content-type": OPENAPI_V2_PROTOBUF }, body: openApiV2Protobuf(server) };
  }
  return json(openApiV2(server));
}

function found(document: object | undefined): ApiResponse {
  return document === undefined ? notFoundPage() : json(document);
}

/** What a server that knows nothing of a version answers: a Status below `/api/`, and for groups that it knows. */
function unknownVersion(server: ApiServer, group: string): ApiResponse {
  const known = group === "" || server.registry.all().some((i) => i.group === group && i.definition === undefined);
  return known ? failure(pathNotFound()) : notFoundPage();
}

function notFoundPage(): ApiResponse {
  return { status: 404, headers: { "content-type": "text/plain; charset=utf-8" }, body: "404 page not found\n" };
}

function health({ path, query }: ApiRequest): string {
  if (!query.has("verbose")) return "ok";
  const kind = path.split("/")[1];
  return `[+]ping ok\n[+]log ok\n[+]etcd ok\n${kind} check passed\n`;
}

function versionDocument(version: string): object {
  const [, major = "1", minor = "34"] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: version,
    gitCommit: "",
    gitTreeState: "clean",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "",
    compiler: "gc",
    platform: "linux/amd64",
  };
}

function rootPaths(server: ApiServer): string[] {
  const places = new Set(["/api", "/api/v1", "/apis"]);
  for (const info of server.registry.all()) {
    if (info.group === "") continue;
    places.add(`/apis/${info.group}`);
    places.add(`/apis/${info.group}/${info.version}`);
  }
  for (const p of ["/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"]) places.add(p);
  return [...places].sort();
}

/** Verb of the request, as authorization knows it. */
function verbOf(method: string, named: boolean, query: URLSearchParams): string {
  switch (method) {
    case "GET":
      if (query.get("watch") === "true" || query.get("watch") === "1") return "watch";
      return named ? "get" : "list";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return named ? "delete" : "deletecollection";
    default:
      throw methodNotAllowed();
  }
}

function resource(
  server: ApiServer,
  request: TextRequest,
  identity: Identity,
  group: string,
  version: string,
  parts: string[],
): ApiResponse {
  let namespace: string | undefined;
  let rest = parts;
  let watching = false;
  if (rest[0] === "watch") {
    // The old form of watches: /api/v1/watch/...
    watching = true;
    rest = rest.slice(1);
  }
  if (
    rest[0] === "namespaces" &&
    rest.length > 2 &&
    !(rest.length === 3 && ["status", "finalize"].includes(rest[2]!))
  ) {
    namespace = rest[1];
    rest = rest.slice(2);
  }
  const [plural, name, subresource, ...tail] = rest;
  const info = server.registry.byPath(group, version, plural ?? "");
  const attributes: Attributes = {
    verb: watching ? "watch" : verbOf(request.method, name !== undefined, request.query),
    group,
    resource: plural ?? "",
    ...(namespace !== undefined ? { namespace } : {}),
    ...(name !== undefined ? { name } : {}),
    ...(subresource !== undefined ? { subresource } : {}),
  };
  // A namespace is in itself, for those who may act in it.
  if (plural === "namespaces" && name !== undefined) attributes.namespace = name;
  server.access.require(identity, attributes);
  if (info === undefined)
    return server.registry.hasVersion(group, version) ? failure(pathNotFound()) : unknownVersion(server, group);
  if (info.namespaced && namespace === undefined && name !== undefined) return failure(pathNotFound());
  if (!info.namespaced && namespace !== undefined) return failure(pathNotFound());
  const negotiated = negotiate(request.headers.accept);
  if (negotiated === undefined && subresource !== "log") {
    throw new StatusError(
      406,
      "NotAcceptable",
      "only the following media types are accepted: application/json, application/yaml",
    );
  }
  const call: Call = {
    server,
    request,
    identity,
    negotiated: negotiated ?? negotiate(undefined)!,
    target: {
      info,
      ...(namespace !== undefined ? { namespace } : {}),
      ...(name !== undefined ? { name } : {}),
      ...(subresource !== undefined ? { subresource } : {}),
      ...(tail.length > 0 ? { rest: tail.join("/") } : {}),
    },
    warnings: info.rules.warning ? [info.rules.warning] : [],
  };
  if (subresource !== undefined && !info.subresources.has(subresource)) throw pathNotFound();
  return handleResource(call, attributes.verb);
}
