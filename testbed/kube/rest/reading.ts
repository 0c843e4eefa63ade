/** get, list and watch. */
import { badRequest, invalid, notFound, StatusError } from "../errors.js";
import { jsonProblem } from "../json.js";
import type { KubeObject } from "../objects.js";
import { apiVersionOf, type ResourceInfo } from "../resources.js";
import type { ApiResponse } from "./http.js";
import { answer, type Call } from "./router.js";
import { matcher } from "./selection.js";
import { makeTable, partial } from "./table.js";
import { watch } from "./watch.js";

/** The stored object that the path names. @throws StatusError 404 */
export function existing(call: Call): KubeObject {
  const { info, namespace, name } = call.target;
  const object = call.server.store.get(info.key, namespace, name!);
  if (object === undefined) throw notFound(info, name!);
  return object;
}

/** An object as the version asked for. */
export function convert(info: ResourceInfo, object: KubeObject): any {
  return info.fromStorage ? info.fromStorage(object) : object;
}

/** One object, in the form asked for. */
export function show(call: Call, object: KubeObject, status = 200): ApiResponse {
  const { negotiated, server, request } = call;
  const { info } = call.target;
  if (negotiated.form === "table") {
    const include = request.query.get("includeObject") ?? "Metadata";
    const meta = { resourceVersion: object.metadata.resourceVersion };
    return answer(
      call,
      makeTable(info, [object], server.clock.now(), include, meta, (o) => convert(info, o)),
      status,
    );
  }
  if (negotiated.form === "partial") return answer(call, partial(object), status);
  return answer(call, convert(info, object), status);
}

export function list(call: Call): ApiResponse {
  const { server, negotiated, request } = call;
  const { info, namespace } = call.target;
  const { query } = request;
  const matches = matcher(info, query);
  let objects = server.store.list(info.key, namespace).filter(matches);
  let version = String(server.store.revision);
  const exact = query.get("resourceVersion");
  if (exact && !/^\d+$/.test(exact)) throw badRequest(`invalid resource version: ${unreadableVersion(exact)}`);
  const match = query.get("resourceVersionMatch");
  if (match !== null && (exact === null || exact === "")) {
    throw invalidList(
      "resourceVersionMatch",
      "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
      "FieldValueForbidden",
    );
  }
  if (match === "Exact" && exact === "0") {
    throw invalidList(
      "resourceVersionMatch",
      'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
      "FieldValueForbidden",
    );
  }
  if (exact && Number(exact) > server.store.revision) {
    throw new StatusError(504, "Timeout", `Too large resource version: ${exact}, current: ${server.store.revision}`, {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    });
  }
  const meta: Record<string, unknown> = {};
  const limit = wholeNumber(query, "limit");
  const token = query.get("continue");
  if (token) {
    const start = readToken(token);
    version = start.rv;
    objects = objects.filter((o) => keyOf(o) > start.after);
  }
  if (limit > 0 && objects.length > limit) {
    const left = objects.length - limit;
    objects = objects.slice(0, limit);
    meta.continue = Buffer.from(
      JSON.stringify({ v: "meta.k8s.io/v1", rv: Number(version), start: keyOf(objects.at(-1)!) }),
    ).toString("base64url");
    if (!query.get("labelSelector") && !query.get("fieldSelector")) meta.remainingItemCount = left;
  }
  meta.resourceVersion = version;
  if (negotiated.form === "table") {
    const include = query.get("includeObject") ?? "Metadata";
    return answer(
      call,
      makeTable(info, objects, server.clock.now(), include, meta, (o) => convert(info, o)),
    );
  }
  if (negotiated.form === "partial" || negotiated.form === "partial-list") {
    return answer(call, {
      kind: "PartialObjectMetadataList",
      apiVersion: "meta.k8s.io/v1",
      metadata: meta,
      items: objects.map(partial),
    });
  }
  const head = { kind: `${info.kind}List`, apiVersion: apiVersionOf(info), metadata: meta };
  if (negotiated.yaml) return answer(call, { ...head, items: objects.map((o) => convert(info, o)) });
  const items = objects.map((o) => itemText(info, o)).join(",");
  const text = JSON.stringify(head);
  return answer(call, `${text.slice(0, -1)},"items":[${items}]}\n`);
}

/** JSON of stored objects, which never change; items of a list leave kind and version to the list. */
const texts = new WeakMap<KubeObject, string>();

function itemText(info: ResourceInfo, object: KubeObject): string {
  if (info.fromStorage) {
    const { kind: _k, apiVersion: _v, ...rest } = info.fromStorage(object);
    return JSON.stringify(rest);
  }
  let text = texts.get(object);
  if (text === undefined) {
    const { kind: _k, apiVersion: _v, ...rest } = object;
    text = JSON.stringify(info.definition ? object : rest);
    texts.set(object, text);
  }
  return text;
}

const keyOf = (object: KubeObject) => `${object.metadata.namespace ?? ""} ${object.metadata.name}`;

function readToken(token: string): { rv: string; after: string } {
  try {
    const { v, rv, start } = JSON.parse(Buffer.from(token, "base64url").toString());
    if (v !== "meta.k8s.io/v1" || typeof start !== "string") throw new Error();
    return { rv: String(rv), after: start };
  } catch {
    throw badRequest(
      `invalid continue token: continue key is not valid: ${jsonProblem(undefined, Buffer.from(token, "base64url").toString("latin1"))}`,
    );
  }
}

const unreadableVersion = (version: string) =>
  `resourceVersion: Invalid value: "${version}": strconv.ParseUint: parsing "${version}": invalid syntax`;

/** A parameter that must be a whole number; 0 when it is missing. @throws StatusError 400 */
function wholeNumber(query: URLSearchParams, name: string): number {
  const text = query.get(name) || "0";
  if (!/^[-+]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

function invalidList(field: string, message: string, type: "FieldValueForbidden"): StatusError {
  return invalid("meta.k8s.io", "ListOptions", "", [{ type, field, message }]);
}

export function watchList(call: Call): ApiResponse {
  const { server, request, negotiated } = call;
  const { info, namespace, name } = call.target;
  const { query } = request;
  const base = matcher(info, query);
  const version = query.get("resourceVersion");
  if (version && !/^\d+$/.test(version)) {
    throw new StatusError(500, undefined, unreadableVersion(version));
  }
  const include = query.get("includeObject") ?? "Metadata";
  const timeout = wholeNumber(query, "timeoutSeconds");
  const response = watch(server, info, {
    ...(namespace !== undefined ? { namespace } : {}),
    ...(version !== null ? { resourceVersion: version } : {}),
    bookmarks: query.get("allowWatchBookmarks") === "true",
    sendInitialEvents: query.get("sendInitialEvents") === "true",
    ...(timeout > 0 ? { timeoutSeconds: timeout } : {}),
    matches: name === undefined ? base : (o) => o.metadata.name === name && base(o),
    show(object, first) {
      if (negotiated.form === "table") {
        const meta = { resourceVersion: object.metadata.resourceVersion };
        return makeTable(info, [object], server.clock.now(), include, meta, (o) => convert(info, o), first);
      }
      if (negotiated.form === "partial") return partial(object);
      return convert(info, object);
    },
  });
  return call.warnings.length > 0 ? { ...response, warnings: call.warnings } : response;
}
