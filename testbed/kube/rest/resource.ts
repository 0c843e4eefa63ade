/** Verbs on resources: get, list, watch, create, update, patch, delete, deletecollection, and the subresources. */
import { parse as parseYaml } from "yaml";
import { badRequest, conflict, invalid, methodNotAllowed, notFound, required, StatusError } from "../errors.js";
import { type KubeObject, timestamp } from "../objects.js";
import { apiVersionOf, type ResourceInfo } from "../resources.js";
import { duplicateFields } from "../schema/decode.js";
import { type FieldTerm, parseFieldSelector, parseSelector } from "../selectors.js";
import { createObject, type DeleteRequest, deleteObject, updateObject, type WriteRequest } from "../writes.js";
import type { ApiResponse } from "./http.js";
import { podLog } from "./logs.js";
import { patchObject } from "./patches.js";
import { review } from "./reviews.js";
import { answer, type Call, jsonProblem } from "./router.js";
import { getScale, putScale } from "./scale.js";
import { makeTable, partial, scaleTable } from "./table.js";
import { isUsage, usageOf } from "./usage.js";
import { watch } from "./watch.js";

export function handleResource(call: Call, verb: string): ApiResponse {
  const { info, name, subresource } = call.target;
  if (subresource !== undefined) return handleSubresource(call, verb, subresource);
  if (isUsage(info)) return usage(call, verb);
  if (!info.verbs.includes(verb)) throw methodNotAllowed();
  switch (verb) {
    case "get":
      return show(call, existing(call));
    case "list":
      return list(call);
    case "watch":
      return watchList(call);
    case "create":
      return create(call);
    case "update":
      return put(call);
    case "patch":
      return patch(call);
    case "delete":
      return remove(call);
    case "deletecollection":
      return removeAll(call);
    default:
      throw new StatusError(405, "MethodNotAllowed", `unsupported verb ${verb} on ${name}`);
  }
}

function usage(call: Call, verb: string): ApiResponse {
  const { info, namespace, name } = call.target;
  if (verb !== "get" && verb !== "list") throw methodNotAllowed();
  const matches = matcher(call.server.registry.stored(info.resource)!, call.request.query);
  return answer(call, usageOf(call.server, info, namespace, name, matches));
}

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

const METADATA_FIELDS: Record<string, (o: KubeObject) => string> = {
  "metadata.name": (o) => o.metadata.name,
  "metadata.namespace": (o) => o.metadata.namespace ?? "",
};

/** Which objects the query's selectors pick. @throws StatusError 400 */
export function matcher(info: ResourceInfo, query: URLSearchParams): (object: KubeObject) => boolean {
  const labelText = query.get("labelSelector") ?? "";
  const fieldText = query.get("fieldSelector") ?? "";
  const tests: ((object: KubeObject) => boolean)[] = [];
  if (labelText !== "") {
    const match = parseSelector(labelText);
    tests.push((object) => match(object.metadata.labels ?? {}));
  }
  if (fieldText !== "") for (const term of parseFieldSelector(fieldText)) tests.push(fieldTest(info, term));
  if (tests.length === 0) return () => true;
  return (object) => tests.every((test) => test(object));
}

function fieldTest(info: ResourceInfo, term: FieldTerm): (object: KubeObject) => boolean {
  const read = METADATA_FIELDS[term.field];
  if (read && (term.field !== "metadata.namespace" || info.namespaced)) {
    return (object) => (read(object) === term.value) !== term.negative;
  }
  const selectable: string[] | undefined = info.definedVersion?.selectableFields?.map((f: any) =>
    f.jsonPath.replace(/^\./, ""),
  );
  if (selectable?.includes(term.field)) {
    const path = term.field.split(".");
    return (object) => {
      let here: any = object;
      for (const part of path) here = here?.[part];
      return (String(here ?? "") === term.value) !== term.negative;
    };
  }
  if (!info.rules.fields?.includes(term.field)) {
    throw badRequest(`field label not supported: ${term.field}`);
  }
  return (object) => (info.rules.fieldValue!(object, term.field) === term.value) !== term.negative;
}

function list(call: Call): ApiResponse {
  const { server, negotiated, request } = call;
  const { info, namespace } = call.target;
  const { query } = request;
  const matches = matcher(info, query);
  let objects = server.store.list(info.key, namespace).filter(matches);
  let version = String(server.store.revision);
  const exact = query.get("resourceVersion");
  const match = query.get("resourceVersionMatch");
  if (match !== null && (exact === null || exact === "")) {
    throw invalidList(
      "resourceVersionMatch",
      "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
      "FieldValueForbidden",
    );
  }
  if (exact && /^\d+$/.test(exact) && Number(exact) > server.store.revision) {
    throw new StatusError(504, "Timeout", `Too large resource version: ${exact}, current: ${server.store.revision}`, {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    });
  }
  const meta: Record<string, unknown> = {};
  const limit = Number(query.get("limit") ?? 0);
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
    throw badRequest("continue key is not valid: invalid character");
  }
}

function invalidList(field: string, message: string, type: "FieldValueForbidden"): StatusError {
  return invalid("meta.k8s.io", "ListOptions", "", [{ type, field, message }]);
}

function watchList(call: Call): ApiResponse {
  const { server, request, negotiated } = call;
  const { info, namespace, name } = call.target;
  const { query } = request;
  const base = matcher(info, query);
  const version = query.get("resourceVersion");
  if (version && !/^\d+$/.test(version)) {
    throw invalid("meta.k8s.io", "ListOptions", "", [
      {
        type: "FieldValueInvalid",
        field: "resourceVersion",
        message: `Invalid value: "${version}": strconv.ParseUint: parsing "${version}": invalid syntax`,
      },
    ]);
  }
  const include = query.get("includeObject") ?? "Metadata";
  const timeout = Number(query.get("timeoutSeconds") ?? 0);
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

/** Who writes: the fieldManager parameter, or the first word of the User-Agent. */
export function managerOf(call: Call): string {
  const given = call.request.query.get("fieldManager");
  if (given) {
    if (given.length > 128) {
      throw invalid("meta.k8s.io", "CreateOptions", "", [
        { type: "FieldValueTooLong", field: "fieldManager", message: "Too long: may not be more than 128 bytes" },
      ]);
    }
    return given;
  }
  return (call.request.headers["user-agent"] ?? "unknown").split("/")[0]!.slice(0, 128);
}

/** What holds for all writes of a request. @throws StatusError */
export function writeRequest(call: Call, refuse: (findings: string[]) => StatusError): WriteRequest {
  const { query } = call.request;
  const dryRun = query.getAll("dryRun").filter((v) => v !== "");
  if (dryRun.some((v) => v !== "All")) {
    throw invalid("meta.k8s.io", "CreateOptions", "", [
      {
        type: "FieldValueNotSupported",
        field: "dryRun",
        message: `Unsupported value: ${JSON.stringify(dryRun)}: supported values: "All"`,
      },
    ]);
  }
  const mode = query.get("fieldValidation") || "Warn";
  if (!["Strict", "Warn", "Ignore"].includes(mode)) {
    throw invalid("meta.k8s.io", "CreateOptions", "", [
      {
        type: "FieldValueNotSupported",
        field: "fieldValidation",
        message: `Unsupported value: "${mode}": supported values: "", "Ignore", "Strict", "Warn"`,
      },
    ]);
  }
  return {
    manager: managerOf(call),
    ...(dryRun.length > 0 ? { dryRun: true } : {}),
    ...(call.target.subresource ? { subresource: call.target.subresource } : {}),
    user: call.identity.name,
    warn: (warnings) => call.warnings.push(...warnings),
    onUnknown(findings) {
      if (mode === "Strict") throw refuse(findings);
      if (mode === "Warn") call.warnings.push(...findings);
    },
  };
}

/** The object in the body, of the version that the path names. @throws StatusError 400 */
export function bodyObject(call: Call, request: WriteRequest): any {
  const { info } = call.target;
  const text = call.request.body ?? "";
  const type = (call.request.headers["content-type"] ?? "application/json").split(";")[0]!.trim();
  let body: any;
  if (type === "application/yaml") body = parseYaml(text);
  else if (type === "application/json" || type === "") {
    try {
      body = JSON.parse(text);
    } catch (error) {
      throw badRequest(
        `${info.kind} in version "${info.version}" cannot be handled as a ${info.kind}: ${text.trim() === "" ? "unexpected end of JSON input" : `json: ${jsonProblem(error, text)}`}`,
      );
    }
    const twice = duplicateFields(text);
    if (twice.length > 0) request.onUnknown?.(twice);
  } else {
    throw new StatusError(
      415,
      "UnsupportedMediaType",
      "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    );
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw badRequest(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${Array.isArray(body) ? "array" : typeof body} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    );
  }
  const expected = apiVersionOf(info);
  if ((body.apiVersion && body.apiVersion !== expected) || (body.kind && body.kind !== info.kind)) {
    const [group, version] = String(body.apiVersion ?? expected).includes("/")
      ? String(body.apiVersion ?? expected).split("/")
      : ["", String(body.apiVersion ?? expected)];
    throw badRequest(
      `${body.kind ?? info.kind} in version "${version}" cannot be handled as a ${info.kind}: no kind "${body.kind ?? info.kind}" is registered for version "${group ? `${group}/` : ""}${version}" in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"`,
    );
  }
  return body;
}

/** Strict findings of a body, as a refusal. */
export function strictBody(info: ResourceInfo): (findings: string[]) => StatusError {
  return (findings) =>
    badRequest(
      `${info.kind} in version "${info.version}" cannot be handled as a ${info.kind}: strict decoding error: ${findings.join(", ")}`,
    );
}

/** What is stored of an object that came in another version. */
export function storageForm(call: Call, object: any): { info: ResourceInfo; object: any } {
  const { info } = call.target;
  const stored = call.server.registry.stored(info.key)!;
  return info.toStorage ? { info: stored, object: info.toStorage(object) } : { info, object };
}

function create(call: Call): ApiResponse {
  const { server, identity } = call;
  const { info, namespace } = call.target;
  const request = writeRequest(call, strictBody(info));
  const body = bodyObject(call, request);
  const instant = review(server, info, identity, namespace, body);
  if (instant !== undefined) return answer(call, instant, 201);
  if (info.resource === "bindings") return bind(call, body.metadata?.name, body);
  const form = storageForm(call, body);
  return show(call, createObject(server, form.info, namespace, form.object, request), 201);
}

/** PUT; a few kinds are created by it. */
function put(call: Call): ApiResponse {
  const { info, namespace, name } = call.target;
  if (info.rules.createOnUpdate && call.server.store.get(info.key, namespace, name!) === undefined) return create(call);
  return show(call, update(call));
}

function update(call: Call): KubeObject {
  const { server } = call;
  const { info, name } = call.target;
  const request = writeRequest(call, strictBody(info));
  const body = bodyObject(call, request);
  if (body.metadata?.name !== undefined && body.metadata.name !== name) {
    throw badRequest(`the name of the object (${body.metadata.name}) does not match the name on the URL (${name})`);
  }
  if (!body.metadata?.name) throw badRequest("name must be provided");
  const old = existing(call);
  if (info.rules.conditionalUpdate && !body.metadata.resourceVersion) {
    throw invalid(info.group, info.kind, name!, [
      {
        type: "FieldValueInvalid",
        field: "metadata.resourceVersion",
        message: "Invalid value: 0x0: must be specified for an update",
      },
    ]);
  }
  const form = storageForm(call, body);
  if (call.target.namespace && body.metadata.namespace && body.metadata.namespace !== call.target.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  return updateObject(server, form.info, old, form.object, request);
}

function patch(call: Call): ApiResponse {
  const { object, created } = patchObject(call);
  return show(call, object, created ? 201 : 200);
}

function deleteRequest(call: Call): DeleteRequest {
  const { query, body } = call.request;
  const text = (body ?? "").trim();
  let options: any = {};
  if (text !== "") {
    try {
      options = JSON.parse(text) ?? {};
    } catch {
      options = parseYaml(text) ?? {};
    }
  }
  const number = query.get("gracePeriodSeconds");
  const grace = options.gracePeriodSeconds ?? (number === null ? undefined : Number(number));
  const orphan =
    options.orphanDependents ?? (query.has("orphanDependents") ? query.get("orphanDependents") === "true" : undefined);
  const policy =
    options.propagationPolicy ??
    query.get("propagationPolicy") ??
    (orphan === undefined ? undefined : orphan ? "Orphan" : "Background");
  if (policy && !["Background", "Foreground", "Orphan"].includes(policy)) {
    throw invalid("meta.k8s.io", "DeleteOptions", "", [
      {
        type: "FieldValueNotSupported",
        field: "propagationPolicy",
        message: `Unsupported value: "${policy}": supported values: "Background", "Foreground", "Orphan"`,
      },
    ]);
  }
  const dryRun = [...(options.dryRun ?? []), ...query.getAll("dryRun")].includes("All");
  return {
    ...(grace !== undefined ? { gracePeriodSeconds: grace } : {}),
    ...(policy ? { propagationPolicy: policy } : {}),
    ...(options.preconditions?.uid ? { uid: options.preconditions.uid } : {}),
    ...(options.preconditions?.resourceVersion ? { resourceVersion: options.preconditions.resourceVersion } : {}),
    ...(dryRun ? { dryRun } : {}),
    user: call.identity.name,
  };
}

function remove(call: Call): ApiResponse {
  const { server } = call;
  const { info } = call.target;
  const stored = server.registry.stored(info.key)!;
  const old = existing(call);
  const { object, gone: isGone } = deleteObject(server, stored, old, deleteRequest(call));
  if (!isGone || info.rules.returnsDeleted) return show(call, object);
  return answer(call, {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: {
      name: object.metadata.name,
      ...(info.group ? { group: info.group } : {}),
      kind: info.resource,
      uid: object.metadata.uid,
    },
  });
}

function removeAll(call: Call): ApiResponse {
  const { server } = call;
  const { info, namespace } = call.target;
  const stored = server.registry.stored(info.key)!;
  const request = deleteRequest(call);
  const picked = server.store.list(info.key, namespace).filter(matcher(info, call.request.query));
  const items = picked.map((object) => convert(info, deleteObject(server, stored, object, request).object));
  return answer(call, {
    kind: `${info.kind}List`,
    apiVersion: apiVersionOf(info),
    metadata: { resourceVersion: String(server.store.revision) },
    items,
  });
}

function handleSubresource(call: Call, verb: string, subresource: string): ApiResponse {
  const { info, name } = call.target;
  const known = info.subresources.get(subresource)!;
  const method = verb === "watch" || verb === "list" ? "get" : verb;
  if (!known.verbs.includes(method)) throw methodNotAllowed();
  switch (subresource) {
    case "status":
    case "ephemeralcontainers":
    case "resize":
    case "approval":
      if (method === "get") return show(call, existing(call));
      return method === "update" ? show(call, update(call)) : patch(call);
    case "finalize": {
      const body = bodyObject(call, writeRequest(call, strictBody(info)));
      const old = existing(call);
      const next = { ...old, spec: { ...old.spec, finalizers: body.spec?.finalizers ?? [] } };
      return show(
        call,
        updateObject(call.server, info, old, next, {
          manager: managerOf(call),
          internal: true,
          subresource: "finalize",
        }),
      );
    }
    case "scale":
      if (method !== "get") return answer(call, putScale(call, method));
      return call.negotiated.form === "table"
        ? answer(call, scaleTable(getScale(call), call.server.clock.now()))
        : answer(call, getScale(call));
    case "log":
      return podLog(call.server, existing(call), call.request.query);
    case "binding":
      return bind(call, name!, bodyOf(call));
    case "eviction":
      return evict(call);
    case "token":
      return answer(call, tokenFor(call), 201);
    default:
      throw refused(call, subresource);
  }
}

function bodyOf(call: Call): any {
  try {
    return JSON.parse(call.request.body ?? "{}");
  } catch (error) {
    throw badRequest(`couldn't get version/kind; json parse error: ${jsonProblem(error, call.request.body ?? "")}`);
  }
}

/** Doors that need a container runtime or a network, which the simulation has not. */
function refused(call: Call, subresource: string): StatusError {
  existing(call);
  return new StatusError(
    405,
    "MethodNotAllowed",
    `${subresource} is not supported: the containers of this cluster are simulated and have no processes to connect to`,
    { kind: call.target.info.resource, ...(call.target.name ? { name: call.target.name } : {}) },
  );
}

function bind(call: Call, name: string, body: any): ApiResponse {
  const { server } = call;
  const { namespace } = call.target;
  const pods = server.registry.stored("pods")!;
  const pod = server.store.get("pods", namespace, name);
  if (pod === undefined) throw notFound({ group: "", resource: "pods" }, name);
  const node = body?.target?.name;
  if (!node) throw invalid("", "Binding", name, [required("target.name")]);
  if (pod.metadata.deletionTimestamp)
    throw conflict(
      { group: "", resource: "pods/binding" },
      name,
      `pod ${name} is being deleted, cannot be assigned to a host`,
    );
  if (pod.spec.nodeName) {
    throw conflict(
      { group: "", resource: "pods/binding" },
      name,
      `pod ${name} is already assigned to node "${pod.spec.nodeName}"`,
    );
  }
  const now = new Date(server.clock.now()).toISOString().slice(0, 19);
  const conditions = (pod.status?.conditions ?? []).filter((c: any) => c.type !== "PodScheduled");
  const next = {
    ...pod,
    spec: { ...pod.spec, nodeName: node },
    status: {
      ...pod.status,
      conditions: [
        ...conditions,
        { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: `${now}Z` },
      ],
    },
  };
  updateObject(server, pods, pod, next, { manager: managerOf(call), internal: true, subresource: "binding" });
  return answer(call, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 }, 201);
}

/** Eviction deletes a pod unless a PodDisruptionBudget objects. */
function evict(call: Call): ApiResponse {
  const { server } = call;
  const pod = existing(call);
  const options = bodyOf(call).deleteOptions ?? {};
  const budgets = server
    .list("poddisruptionbudgets.policy", pod.metadata.namespace)
    .filter((b) => parseBudget(b)(pod.metadata.labels ?? {}));
  const active = pod.status?.phase === "Running" || pod.status?.phase === "Pending";
  if (active && budgets.length > 1) {
    throw new StatusError(
      500,
      "InternalError",
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    );
  }
  const budget = active ? budgets[0] : undefined;
  if (budget && (budget.status?.disruptionsAllowed ?? 0) < 1) {
    throw new StatusError(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {
      causes: [
        {
          reason: "DisruptionBudget",
          message: `The disruption budget ${budget.metadata.name} needs ${budget.status?.desiredHealthy ?? 0} healthy pods and has ${budget.status?.currentHealthy ?? 0} currently`,
        },
      ],
    });
  }
  const dryRun = call.request.query.get("dryRun") === "All" || (options.dryRun ?? []).includes("All");
  if (budget && !dryRun) {
    server.modify(
      "poddisruptionbudgets.policy",
      budget.metadata.namespace,
      budget.metadata.name,
      (draft) => {
        draft.status.disruptionsAllowed--;
      },
      { manager: "kube-apiserver", subresource: "status" },
    );
  }
  deleteObject(server, call.target.info, pod, {
    ...(options.gracePeriodSeconds !== undefined ? { gracePeriodSeconds: options.gracePeriodSeconds } : {}),
    ...(dryRun ? { dryRun } : {}),
  });
  return answer(call, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 }, 201);
}

function parseBudget(budget: KubeObject): (labels: Record<string, string>) => boolean {
  const selector = budget.spec?.selector ?? {};
  const text = Object.entries(selector.matchLabels ?? {}).map(([k, v]) => `${k}=${v}`);
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    const how: Record<string, string> = { In: "in", NotIn: "notin" };
    text.push(
      operator === "Exists"
        ? key
        : operator === "DoesNotExist"
          ? `!${key}`
          : `${key} ${how[operator]} (${values.join(",")})`,
    );
  }
  return parseSelector(text.join(","));
}

/** A token for a service account; it is valid at this server. */
function tokenFor(call: Call): any {
  const { server } = call;
  const account = existing(call);
  const body = bodyOf(call);
  const seconds = body.spec?.expirationSeconds ?? 3600;
  const { namespace, name } = account.metadata;
  const expires = new Date(server.clock.now() + seconds * 1000).toISOString().slice(0, 19);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = {
    iss: "https://kubernetes.default.svc.cluster.local",
    sub: `system:serviceaccount:${namespace}:${name}`,
    exp: Math.floor(server.clock.now() / 1000) + seconds,
  };
  const token = `${part({ alg: "RS256" })}.${part(claims)}.${server.random.hex(64)}`;
  server.access.addServiceAccount(token, namespace!, name);
  return {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name, namespace, creationTimestamp: timestamp(server.clock.now()) },
    spec: {
      audiences: body.spec?.audiences ?? ["https://kubernetes.default.svc.cluster.local"],
      expirationSeconds: seconds,
      boundObjectRef: body.spec?.boundObjectRef ?? null,
    },
    status: { token, expirationTimestamp: `${expires}Z` },
  };
}
