/** create, update, patch, delete and deletecollection. */
import { parse as parseYaml } from "yaml";
import {
  badRequest,
  type FieldError,
  forbiddenField,
  invalid,
  invalidValue,
  notSupported,
  StatusError,
} from "../errors.js";
import { jsonProblem } from "../json.js";
import type { KubeObject } from "../objects.js";
import { apiVersionOf, type ResourceInfo } from "../resources.js";
import { createObject, type DeleteRequest, deleteObject, updateObject, type WriteRequest } from "../writes.js";
import { bodyObject } from "./bodies.js";
import type { ApiResponse } from "./http.js";
import { patchObject } from "./patches.js";
import { bind } from "./pods.js";
import { convert, existing, show } from "./reading.js";
import { review } from "./reviews.js";
import { answer, type Call } from "./router.js";
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

const isApply = (call: Call) => (call.request.headers["content-type"] ?? "").startsWith("application/apply-patch");

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
  if (method === "PATCH" && query.has("force") && !isApply(call)) {
    throw invalid("meta.k8s.io", options, "", [forbiddenField("force", "may not be specified for non-apply patch")]);
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
  if (!body.metadata?.name) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  const old = existing(call);
  if (info.rules.conditionalUpdate && !body.metadata.resourceVersion) {
    const kind = info.definition ? info.resource : info.kind;
    throw invalid(info.group, kind, name!, [
      {
        type: "FieldValueInvalid",
        field: "metadata.resourceVersion",
        message: `Invalid value: ${info.definition ? "0" : "0x0"}: must be specified for an update`,
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

/** The options in a deletion's body. @throws StatusError 500, as a real server answers to what is none */
function deleteOptions(text: string): any {
  if (text === "") return {};
  let options: any;
  if (text.startsWith("{")) {
    try {
      options = JSON.parse(text);
    } catch (error) {
      const why = `couldn't get version/kind; json parse error: ${jsonProblem(error, text)}`;
      throw new StatusError(500, undefined, why);
    }
  } else options = parseYaml(text) ?? {};
  if (options.kind && options.kind !== "DeleteOptions") {
    const why = `no kind ${JSON.stringify(options.kind)} is registered for version ${JSON.stringify(options.apiVersion ?? "v1")} in scheme "pkg/runtime/scheme.go:110"`;
    throw new StatusError(500, undefined, why);
  }
  return options;
}

function deleteRequest(call: Call): DeleteRequest {
  const { query, body } = call.request;
  const text = (body ?? "").trim();
  const options = deleteOptions(text);
  const number = query.get("gracePeriodSeconds");
  if (number !== null && !/^-?\d+$/.test(number)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(number)}: invalid syntax`);
  }
  const grace = options.gracePeriodSeconds ?? (number === null ? undefined : Number(number));
  const policy = propagation(options, query);
  const keeps = call.target.info.rules.orphansByDefault;
  if (policy === undefined && typeof keeps === "string") call.warnings.push(keeps);
  const dryRun = [...(options.dryRun ?? []), ...query.getAll("dryRun")].includes("All");
  return {
    ...(grace !== undefined ? { gracePeriodSeconds: grace } : {}),
    ...(policy ? { propagationPolicy: policy } : keeps ? { propagationPolicy: "Orphan" } : {}),
    ...(options.preconditions?.uid ? { uid: options.preconditions.uid } : {}),
    ...(options.preconditions?.resourceVersion ? { resourceVersion: options.preconditions.resourceVersion } : {}),
    ...(dryRun ? { dryRun } : {}),
    user: call.identity.name,
  };
}

const POLICIES = ["Foreground", "Background", "Orphan", "nil"];

/** What shall become of what depends on the object. @throws StatusError 422 */
function propagation(options: any, query: URLSearchParams): DeleteRequest["propagationPolicy"] {
  const orphan: boolean | undefined =
    options.orphanDependents ?? (query.has("orphanDependents") ? query.get("orphanDependents") === "true" : undefined);
  const policy = options.propagationPolicy ?? query.get("propagationPolicy") ?? undefined;
  const refuse = (error: FieldError) => invalid("meta.k8s.io", "DeleteOptions", "", [error]);
  if (policy !== undefined && orphan !== undefined) {
    throw refuse(
      invalidValue("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set"),
    );
  }
  if (policy !== undefined && (policy === "nil" || !POLICIES.includes(policy))) {
    throw refuse(notSupported("propagationPolicy", policy, POLICIES));
  }
  return policy ?? (orphan === undefined ? undefined : orphan ? "Orphan" : "Background");
}

export function remove(call: Call): ApiResponse {
  const { server } = call;
  const { info } = call.target;
  const stored = server.registry.stored(info.key)!;
  const request = deleteRequest(call);
  const { object, gone: isGone } = deleteObject(server, stored, existing(call), request);
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
