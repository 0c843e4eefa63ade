/** create, update, patch, delete and deletecollection. */
import { parse as parseYaml } from "yaml";
import { badRequest, invalid, StatusError } from "../errors.js";
import type { KubeObject } from "../objects.js";
import { apiVersionOf, type ResourceInfo } from "../resources.js";
import { duplicateFields } from "../schema/decode.js";
import { createObject, type DeleteRequest, deleteObject, updateObject, type WriteRequest } from "../writes.js";
import type { ApiResponse } from "./http.js";
import { patchObject } from "./patches.js";
import { bind } from "./pods.js";
import { convert, existing, show } from "./reading.js";
import { review } from "./reviews.js";
import { answer, type Call, jsonProblem } from "./router.js";
import { matcher } from "./selection.js";

/** Who writes: the fieldManager parameter, or the first word of the User-Agent. */
export function managerOf(call: Call): string {
  const given = call.request.query.get("fieldManager");
  if (given) {
    if (given.length > 128) {
      throw invalid("meta.k8s.io", OPTIONS[call.request.method] ?? "UpdateOptions", "", [
        { type: "FieldValueTooLong", field: "fieldManager", message: "Too long: may not be more than 128 bytes" },
      ]);
    }
    return given;
  }
  return (call.request.headers["user-agent"] ?? "unknown").split("/")[0]!.slice(0, 128);
}

const OPTIONS: Record<string, string> = { POST: "CreateOptions", PUT: "UpdateOptions", PATCH: "PatchOptions" };

/** What holds for all writes of a request. @throws StatusError */
export function writeRequest(call: Call, refuse: (findings: string[]) => StatusError): WriteRequest {
  const { query, method } = call.request;
  const options = OPTIONS[method] ?? "UpdateOptions";
  const dryRun = query.getAll("dryRun").filter((v) => v !== "");
  if (dryRun.some((v) => v !== "All")) {
    throw invalid("meta.k8s.io", options, "", [
      {
        type: "FieldValueNotSupported",
        field: "dryRun",
        message: `Unsupported value: ${JSON.stringify(dryRun)}: supported values: "All"`,
      },
    ]);
  }
  const mode = query.get("fieldValidation") || "Warn";
  if (!["Strict", "Warn", "Ignore"].includes(mode)) {
    throw invalid("meta.k8s.io", options, "", [
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

export function create(call: Call): ApiResponse {
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
export function put(call: Call): ApiResponse {
  const { info, namespace, name } = call.target;
  if (info.rules.createOnUpdate && call.server.store.get(info.key, namespace, name!) === undefined) return create(call);
  return show(call, update(call));
}

export function update(call: Call): KubeObject {
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

export function patch(call: Call): ApiResponse {
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

export function remove(call: Call): ApiResponse {
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

export function removeAll(call: Call): ApiResponse {
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
