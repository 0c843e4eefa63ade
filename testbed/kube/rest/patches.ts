/** PATCH: JSON patch, merge patch, strategic merge patch and server-side apply. */
import { parse as parseYaml } from "yaml";
import { badRequest, conflict, invalid, MODIFIED, notFound, required, StatusError } from "../errors.js";
import { typeProblem } from "../fields/check.js";
import { ApplyConflicts, managedByApply, unchangedSinceLastApplied } from "../fields/managed.js";
import { clone, isObject, jsonProblem } from "../json.js";
import type { KubeObject } from "../objects.js";
import { jsonPatch, mergePatch, PatchError } from "../patch/simple.js";
import { goMap, strategicPatch } from "../patch/strategic.js";
import { apiVersionOf } from "../resources.js";
import { zeroStruct } from "../schema/decode.js";
import { createObject, decodeForWrite, updateObject, type WriteRequest, workflow } from "../writes.js";
import { convert } from "./reading.js";
import type { Call } from "./router.js";
import { storageForm, strictBody, writeRequest } from "./writing.js";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Applies the request's patch. @throws StatusError */
export function patchObject(call: Call): { object: KubeObject; created: boolean } {
  const type = (call.request.headers["content-type"] ?? "").split(";")[0]!.trim();
  switch (type) {
    case "application/json-patch+json":
    case "application/merge-patch+json":
      return { object: plainPatch(call, type), created: false };
    case "application/strategic-merge-patch+json":
      if (call.target.info.definition) throw unsupported(true);
      return { object: plainPatch(call, type), created: false };
    case "application/apply-patch+yaml":
      return apply(call);
    default:
      throw unsupported();
  }
}

function unsupported(custom = false): StatusError {
  return custom
    ? new StatusError(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
      )
    : new StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
}

/** How a value that is no patch is refused. */
function wrongShape(body: unknown, type: string): StatusError {
  const what = Array.isArray(body)
    ? "array"
    : body === null
      ? "null"
      : typeof body === "boolean"
        ? "bool"
        : typeof body;
  if (type === "application/json-patch+json") {
    return badRequest(
      `error decoding patch: json: cannot unmarshal ${what} into Go value of type []handlers.jsonPatchOp`,
    );
  }
  const prefix = type === "application/merge-patch+json" ? "error decoding patch: " : "";
  return badRequest(`${prefix}json: cannot unmarshal ${what} into Go value of type map[string]interface {}`);
}

function plainPatch(call: Call, type: string): KubeObject {
  const { server } = call;
  const { info, namespace, name } = call.target;
  const text = call.request.body ?? "";
  let body: any;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw badRequest(`error decoding patch: ${jsonProblem(error, text)}`);
  }
  const wantsList = type === "application/json-patch+json";
  const old = server.store.get(info.key, namespace, name!);
  if (old === undefined) throw notFound(info, name!);
  if (wantsList ? !Array.isArray(body) : !isObject(body)) throw wrongShape(body, type);
  const before = convert(info, old);
  let patched: any;
  try {
    if (wantsList) patched = jsonPatch(before, body);
    else if (type === "application/merge-patch+json") patched = mergePatch(before, body);
    else patched = strategicPatch(before, body, info.type);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    if (!wantsList) throw new StatusError(500, undefined, error.message);
    throw new StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {});
  }
  const strategic = type === "application/strategic-merge-patch+json";
  const refuse = (why: string) => invalidPatch(strategic ? goMap(body) : JSON.stringify(patched), why);
  if ((patched.kind ?? info.kind) !== info.kind || (patched.apiVersion ?? apiVersionOf(info)) !== apiVersionOf(info)) {
    throw invalidPatch(
      JSON.stringify(patched),
      `no kind "${patched.kind}" is registered for version "${patched.apiVersion}"`,
    );
  }
  const request = writeRequest(call, (findings) => refuse(`strict decoding error: ${findings.join(", ")}`));
  const renamed = patched.metadata?.name;
  if (renamed !== name) {
    throw badRequest(
      renamed
        ? `the name of the object (${renamed}) does not match the name on the URL (${name})`
        : "name must be provided",
    );
  }
  // A version in the patch asks for that version; without one, the latest is meant.
  const version = patched.metadata?.resourceVersion;
  if (version !== undefined && version !== old.metadata.resourceVersion) throw conflict(info, name!, MODIFIED);
  const form = storageForm(call, patched);
  try {
    return updateObject(server, form.info, old, form.object, { ...request, patched: true });
  } catch (error) {
    // What does not decode is the patch's fault here, not the body's.
    if (error instanceof StatusError && error.code === 400 && /cannot be handled as a/.test(error.message)) {
      throw refuse(error.message.replace(/^.*? cannot be handled as a \w+: /, ""));
    }
    throw error;
  }
}

export function invalidPatch(shown: string, why: string): StatusError {
  const message = `Invalid value: ${JSON.stringify(shown)}: ${why}`;
  return new StatusError(422, "Invalid", ` "" is invalid: patch: ${message}`, {
    causes: [{ reason: "FieldValueInvalid", message, field: "patch" }],
  });
}

function apply(call: Call): { object: KubeObject; created: boolean } {
  const { server } = call;
  const { info, namespace, name } = call.target;
  const { query } = call.request;
  if (!query.get("fieldManager")) {
    throw invalid("meta.k8s.io", "PatchOptions", "", [required("fieldManager", "is required for apply patch")]);
  }
  let config: any;
  try {
    config = parseYaml(call.request.body ?? "");
  } catch (error) {
    throw badRequest(`error decoding YAML: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
  }
  if (!isObject(config)) throw badRequest("error decoding YAML: expected an object");
  const expected = apiVersionOf(info);
  if (!config.apiVersion || !config.kind) {
    throw badRequest(`invalid object type: ${config.apiVersion ?? "/"}, Kind=${config.kind ?? ""}`);
  }
  if (config.apiVersion !== expected || config.kind !== info.kind) {
    const version = String(config.apiVersion);
    throw badRequest(`invalid object type: ${version.includes("/") ? version : `/${version}`}, Kind=${config.kind}`);
  }
  if (config.metadata?.managedFields !== undefined) {
    throw badRequest("metadata.managedFields must be nil");
  }
  if (config.metadata?.name !== undefined && config.metadata.name !== name) {
    throw badRequest(`the name of the object (${config.metadata.name}) does not match the name on the URL (${name})`);
  }
  if (config.metadata?.namespace !== undefined && namespace !== undefined && config.metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  const request = writeRequest(call, strictBody(info));
  const form = storageForm(call, {
    ...config,
    metadata: { ...config.metadata, name, ...(namespace ? { namespace } : {}) },
  });
  const old = server.store.get(info.key, namespace, name!);
  // What is merged is the configuration as it was sent, without defaults; it must be of the schema's types.
  const problem = typeProblem(config, info.type);
  if (problem) throw untyped(call, config, problem);
  decodeForWrite(form.info, form.object, () => undefined);
  const now = server.clock.now();
  const flow = workflow(form.info, request, now);
  if (old === undefined) return { object: createByApply(call, form, request), created: true };
  const version = config.metadata?.resourceVersion;
  if (version !== undefined && version !== old.metadata.resourceVersion) throw conflict(info, name!, MODIFIED);
  if (config.metadata?.uid !== undefined && config.metadata.uid !== old.metadata.uid) {
    throw conflict(
      info,
      name!,
      `uid mismatch: the provided object specified uid ${config.metadata.uid}, and no existing object was found`,
    );
  }
  const applied = clone(form.object);
  const lastApplied = old.metadata.annotations?.[LAST_APPLIED];
  let allowed: Record<string, any> | undefined;
  if (request.manager === "kubectl" && lastApplied !== undefined) {
    try {
      allowed = unchangedSinceLastApplied(old, JSON.parse(lastApplied), form.info.type);
    } catch {
      allowed = undefined;
    }
  }
  let result: ReturnType<typeof managedByApply>;
  try {
    result = managedByApply(old, applied, form.info.type, flow, query.get("force") === "true", allowed);
  } catch (error) {
    if (error instanceof ApplyConflicts) throw applyConflict(error);
    throw error;
  }
  const next = { ...result.object, metadata: { ...result.object.metadata } };
  if (
    request.manager === "kubectl" &&
    lastApplied !== undefined &&
    next.metadata.annotations?.[LAST_APPLIED] !== undefined
  ) {
    next.metadata.annotations = { ...next.metadata.annotations, [LAST_APPLIED]: `${JSON.stringify(sorted(config))}\n` };
  }
  delete next.metadata.resourceVersion;
  return { object: updateObject(server, form.info, old, next, request, result.entries), created: false };
}

/** An apply to nothing creates; the fields that it names are the applier's, the defaults are nobody's. */
function createByApply(call: Call, form: { info: any; object: any }, request: WriteRequest): KubeObject {
  const { server } = call;
  const { namespace } = call.target;
  const flow = workflow(form.info, request, server.clock.now());
  const base = zeroStruct(form.info.type) as KubeObject;
  base.metadata = {} as any;
  const { entries } = managedByApply(base, form.object, form.info.type, flow, true);
  return createObject(server, form.info, namespace, form.object, { ...request, managed: entries });
}

function untyped(call: Call, config: any, problem: string): StatusError {
  const { info, name } = call.target;
  return new StatusError(
    500,
    undefined,
    `failed to create typed patch object (${config.metadata?.namespace ?? ""}/${name}; ${apiVersionOf(info)}, Kind=${info.kind}): ${problem}`,
  );
}

export function applyConflict({ conflicts }: ApplyConflicts): StatusError {
  const describe = (c: ApplyConflicts["conflicts"][number]) => {
    const { manager, operation, apiVersion, subresource } = c.entry;
    const door = subresource ? ` with subresource "${subresource}"` : "";
    const how = operation === "Update" ? ` using ${apiVersion}` : "";
    return `"${manager ?? ""}"${door}${how}`;
  };
  const groups = new Map<string, string[]>();
  for (const c of conflicts) {
    const who = describe(c);
    const list = groups.get(who);
    if (list) list.push(c.path);
    else groups.set(who, [c.path]);
  }
  const parts = [...groups].map(([who, paths]) =>
    paths.length === 1
      ? `conflict with ${who}: ${paths[0]}`
      : `conflicts with ${who}:\n${paths.map((p) => `- ${p}`).join("\n")}`,
  );
  const plural = conflicts.length === 1 ? "conflict" : "conflicts";
  return new StatusError(409, "Conflict", `Apply failed with ${conflicts.length} ${plural}: ${parts.join("\n")}`, {
    causes: conflicts.map((c) => ({
      reason: "FieldManagerConflict",
      message: `conflict with ${describe(c)}`,
      field: c.path,
    })),
  });
}

/** Keys sorted, as Go writes a map. */
function sorted(value: any): any {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}
