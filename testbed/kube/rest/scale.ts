/** The scale subresource: replicas of a workload through one small object. */
import { parse as parseYaml } from "yaml";
import { badRequest, conflict, invalid, invalidValue, MODIFIED } from "../errors.js";
import { ApplyConflicts, type ManagedFieldsEntry } from "../fields/managed.js";
import { clone, jsonProblem } from "../json.js";
import { selectorText } from "../kinds/print.js";
import type { KubeObject } from "../objects.js";
import { jsonPatch, mergePatch, PatchError } from "../patch/simple.js";
import { updateObject } from "../writes.js";
import { applyConflict, invalidPatch } from "./patches.js";
import { existing } from "./reading.js";
import type { Call } from "./router.js";
import { managerOf } from "./writing.js";

/** The paths of a custom resource's scale, or those of the built-in workloads. */
function paths(call: Call): { spec: string[]; status: string[]; selector?: string[] } {
  const own = call.target.info.definedVersion?.subresources?.scale;
  if (!own) return { spec: ["spec", "replicas"], status: ["status", "replicas"] };
  const split = (path: string) => path.split(".").filter(Boolean);
  return {
    spec: split(own.specReplicasPath),
    status: split(own.statusReplicasPath),
    ...(own.labelSelectorPath ? { selector: split(own.labelSelectorPath) } : {}),
  };
}

const read = (object: any, path: string[]) => path.reduce((here, key) => here?.[key], object);

function scaleOf(call: Call, object: KubeObject): any {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const where = paths(call);
  const selector = where.selector
    ? read(object, where.selector)
    : call.target.info.resource === "replicationcontrollers"
      ? selectorText({ matchLabels: object.spec.selector })
      : selectorText(object.spec?.selector);
  const replicas = read(object, where.spec) ?? 0;
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: read(object, where.status) ?? 0, ...(selector && selector !== "<none>" ? { selector } : {}) },
  };
}

export function getScale(call: Call): any {
  return scaleOf(call, existing(call));
}

/** The scale that the request asks for. @throws StatusError */
function wanted(call: Call, method: string, old: KubeObject, before: any): any {
  const text = call.request.body ?? "";
  if ((call.request.headers["content-type"] ?? "").startsWith("application/apply-patch")) {
    return wantedByApply(call, text, old, before);
  }
  let body: any;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw badRequest(`error decoding patch: ${jsonProblem(error, text)}`);
  }
  if (method !== "patch") return body;
  try {
    return Array.isArray(body) ? jsonPatch(before, body) : mergePatch(before, body);
  } catch (error) {
    if (error instanceof PatchError) throw badRequest(error.message);
    throw error;
  }
}

/** Replicas by server-side apply: those who own them have to agree, or be overruled by `force`. */
function wantedByApply(call: Call, text: string, old: KubeObject, before: any): any {
  const config = parseYaml(text);
  const replicas = config?.spec?.replicas;
  if (replicas === undefined || replicas === before.spec.replicas) return before;
  if (call.request.query.get("force") !== "true") {
    const manager = managerOf(call);
    const path = ".spec.replicas";
    const owners = ((old.metadata.managedFields ?? []) as ManagedFieldsEntry[]).filter(
      (entry) => entry.fieldsV1?.["f:spec"]?.["f:replicas"] !== undefined,
    );
    const unowned = { manager: "before-first-apply", operation: "Update", subresource: "scale" } as ManagedFieldsEntry;
    const others = (owners.length === 0 ? [unowned] : owners).filter((entry) => entry.manager !== manager);
    const conflicts = others.map((entry) => ({
      manager: entry.manager ?? "",
      entry: { ...entry, apiVersion: "autoscaling/v1" },
      path,
    }));
    if (conflicts.length > 0) throw applyConflict(new ApplyConflicts(conflicts));
  }
  return { ...before, spec: { ...before.spec, replicas } };
}

/** PUT and PATCH. @throws StatusError */
export function putScale(call: Call, method: string): any {
  const { server } = call;
  const old = existing(call);
  const before = scaleOf(call, old);
  const next = wanted(call, method, old, before);
  const given = next.metadata?.name;
  if (given !== undefined && given !== old.metadata.name) {
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${old.metadata.name})`);
  }
  const version = next.metadata?.resourceVersion;
  if (version && version !== old.metadata.resourceVersion)
    throw conflict(call.target.info, old.metadata.name, MODIFIED);
  const replicas = next.spec?.replicas ?? 0;
  if (typeof replicas !== "number" || !Number.isInteger(replicas)) {
    const why = `json: cannot unmarshal ${typeof replicas} into Go struct field ScaleSpec.spec.replicas of type int32`;
    if (method === "patch") throw invalidPatch(JSON.stringify(next), why);
    throw badRequest(
      `Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal ${typeof replicas} into Go struct field ScaleSpec.spec.replicas of type int32`,
    );
  }
  if (replicas < 0) {
    throw invalid("autoscaling", "Scale", old.metadata.name, [
      invalidValue("spec.replicas", replicas, "must be greater than or equal to 0"),
    ]);
  }
  const draft = clone(old);
  const where = paths(call);
  let here: any = draft;
  for (const key of where.spec.slice(0, -1)) {
    here[key] ??= {};
    here = here[key];
  }
  here[where.spec.at(-1)!] = replicas;
  const dryRun = call.request.query.get("dryRun") === "All";
  const stored = updateObject(server, server.registry.stored(call.target.info.key)!, old, draft, {
    manager: managerOf(call),
    subresource: "scale",
    ...(dryRun ? { dryRun } : {}),
  });
  return scaleOf(call, stored);
}
