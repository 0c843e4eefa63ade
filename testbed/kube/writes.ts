/**
 * The path of a write: decode by the schema, default, let the kind and admission have their say, keep the books
 * (generation, managedFields, resourceVersion), check, store. HTTP requests and the testbed's own parts both end here.
 */
import type { VirtualClock } from "../clock.js";
import type { Random } from "../random.js";
import { decodeStatusDraft } from "./drafts.js";
import {
  alreadyExists,
  badRequest,
  conflict,
  type FieldError,
  forbidden,
  invalid,
  MODIFIED,
  notFound,
  StatusError,
} from "./errors.js";
import { type ManagedFieldsEntry, managedByUpdate, type Workflow } from "./fields/managed.js";
import { clone, equal } from "./json.js";
import type { KindContext } from "./kinds/index.js";
import { validateAnyMetadata, validateMetadata, validateMetadataUpdate } from "./kinds/validation.js";
import { type GroupResource, type KubeObject, timestamp } from "./objects.js";
import { apiVersionOf, type Registry, type ResourceInfo } from "./resources.js";
import { DecodeError, decodeObject, zeroStruct } from "./schema/decode.js";
import type { Store } from "./store.js";

/** A request as admission sees it. It may change `object`, or refuse by throwing a StatusError. */
export interface AdmissionRequest {
  operation: "CREATE" | "UPDATE" | "DELETE";
  resource: ResourceInfo;
  subresource?: string;
  object: KubeObject;
  old?: KubeObject;
  user?: string;
}
export type Admission = (request: AdmissionRequest, context: KindContext) => void;

/** What writing needs of the server. */
export interface Machine extends KindContext {
  clock: VirtualClock;
  random: Random;
  store: Store;
  registry: Registry;
  admission: Admission[];
}

export interface WriteRequest {
  manager: string;
  subresource?: string;
  dryRun?: boolean;
  /** Called with unknown fields; throws when the request is strict about them. */
  onUnknown?: (findings: string[]) => void;
  /** The testbed's own parts write status and spec in one go, and may set what the server otherwise clears. */
  internal?: boolean;
  user?: string;
  /** Called with what is accepted, but worth a warning. */
  warn?: (warnings: string[]) => void;
  /** The object is a patch's result: another uid in it is an attempt to change it, not a precondition. */
  patched?: boolean;
  /** Ownership that a server-side apply worked out. */
  managed?: ManagedFieldsEntry[];
}

/**
 * Decodes and defaults `input`, an object of the stored version.
 * @param known a part of it that comes from the stored object, so that it need not be decoded again
 * @throws StatusError (BadRequest)
 */
export function decodeForWrite(
  info: ResourceInfo,
  input: any,
  onUnknown?: (findings: string[]) => void,
  machine?: KindContext,
  known?: unknown,
): KubeObject {
  const findings = { strict: [] as string[] };
  let object: KubeObject;
  try {
    object = decodeObject(input, info.type, findings, known);
  } catch (error) {
    if (error instanceof DecodeError) throw undecodable(info, error.message);
    throw error;
  }
  if (findings.strict.length > 0) onUnknown?.(findings.strict);
  object.apiVersion = apiVersionOf(info);
  object.kind = info.kind;
  object.metadata ??= {} as any;
  if (machine) info.rules.defaults?.(object, machine);
  return object;
}

function decodeStatus(info: ResourceInfo, old: KubeObject, draft: KubeObject): KubeObject {
  try {
    return decodeStatusDraft(info, old, draft);
  } catch (error) {
    if (error instanceof DecodeError) throw undecodable(info, error.message);
    throw error;
  }
}

export function undecodable(info: ResourceInfo, message: string): StatusError {
  if (info.definition) return badRequest(message);
  return badRequest(`${info.kind} in version "${info.version}" cannot be handled as a ${info.kind}: ${message}`);
}

/** Creates an object. `namespace` is the request's; the object's own must agree. */
export function createObject(
  machine: Machine,
  info: ResourceInfo,
  namespace: string | undefined,
  input: any,
  request: WriteRequest,
): KubeObject {
  const object = decodeForWrite(info, input, request.onUnknown, machine);
  const metadata = object.metadata;
  placeInNamespace(info, metadata, namespace);
  if (info.namespaced) requireNamespace(machine, info, metadata);
  if (!metadata.name && metadata.generateName) {
    metadata.name = `${metadata.generateName.slice(0, 58)}${machine.random.suffix(5)}`;
  }
  if (metadata.resourceVersion)
    throw new StatusError(500, undefined, "resourceVersion should not be set on objects to be created");
  const now = machine.clock.now();
  const status = object.status;
  metadata.uid = machine.random.uuid();
  metadata.creationTimestamp = timestamp(now);
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete (metadata as any).selfLink;
  delete metadata.generation;
  if (!request.internal) delete metadata.managedFields;
  const hasStatus = info.subresources.has("status");
  if (hasStatus && info.key !== "nodes") clearStatus(info, object);
  if (info.rules.generation) metadata.generation = 1;
  info.rules.prepareCreate?.(object, machine);
  if (request.internal && status !== undefined && Object.keys(status).length > 0) {
    object.status = { ...object.status, ...status };
  }
  admit(machine, { operation: "CREATE", resource: info, object, user: request.user });
  metadata.managedFields =
    request.managed ?? managedByUpdate(zeroStruct(info.type), object, info.type, workflow(info, request, now));
  if (metadata.managedFields.length === 0) delete metadata.managedFields;
  const errors = [
    ...validateMetadata(metadata, info.rules.name ?? "subdomain", info.namespaced),
    ...(info.rules.validate?.(object, machine) ?? []),
  ];
  if (errors.length > 0) throw invalid(info.group, info.kind, metadata.name ?? "", errors);
  if (request.warn) request.warn(info.rules.warnings?.(object) ?? []);
  const refused = info.rules.allocate?.(object, undefined, machine);
  if (refused && refused.length > 0) throw invalid(info.group, info.kind, metadata.name, refused);
  if (machine.store.get(info.key, metadata.namespace, metadata.name)) {
    throw alreadyExists(info, metadata.name);
  }
  if (request.dryRun) return object;
  metadata.resourceVersion = String(machine.store.nextRevision);
  machine.store.put(info.key, object);
  return object;
}

function clearStatus(info: ResourceInfo, object: KubeObject): void {
  const field = info.type.fields?.get("status");
  if (field?.embedded) object.status = zeroStruct(field.type);
  else delete object.status;
}

function placeInNamespace(info: ResourceInfo, metadata: any, namespace: string | undefined): void {
  if (!info.namespaced) {
    delete metadata.namespace;
    return;
  }
  if (namespace !== undefined && namespace !== "") {
    if (metadata.namespace !== undefined && metadata.namespace !== namespace) {
      throw badRequest(`the namespace of the provided object does not match the namespace sent on the request`);
    }
    metadata.namespace = namespace;
  }
}

function requireNamespace(machine: Machine, info: ResourceInfo, metadata: any): void {
  const name = metadata.namespace;
  if (name === undefined) return;
  const namespace = machine.store.get("namespaces", undefined, name);
  if (namespace === undefined) throw notFound({ group: "", resource: "namespaces" }, name);
  if (namespace.metadata.deletionTimestamp) {
    const error = forbidden(
      info,
      metadata.name ?? "",
      `unable to create new content in namespace ${name} because it is being terminated`,
    );
    throw new StatusError(error.code, error.reason, error.message, {
      ...error.details,
      causes: [
        {
          reason: "NamespaceTerminating",
          message: `namespace ${name} is being terminated`,
          field: "metadata.namespace",
        },
      ],
    });
  }
}

function admit(machine: Machine, request: AdmissionRequest): void {
  for (const step of machine.admission) step(request, machine);
}

/** Which fields a door does not write, so that it owns none of them. */
function ignoredFields(info: ResourceInfo, request: WriteRequest): string[] {
  if (request.subresource === "status") return ["spec"];
  return info.subresources.has("status") ? ["status"] : [];
}

export function workflow(info: ResourceInfo, request: WriteRequest, now: number): Workflow {
  return {
    manager: request.manager,
    apiVersion: apiVersionOf(info),
    ...(request.subresource ? { subresource: request.subresource } : {}),
    time: timestamp(now),
    ignored: ignoredFields(info, request),
  };
}

/**
 * Replaces `old` by `input` through the door `request.subresource`.
 * @param managed entries that a server-side apply worked out; otherwise they follow from the change
 * @returns the stored object; `old` itself when nothing changed
 */
export function updateObject(
  machine: Machine,
  info: ResourceInfo,
  old: KubeObject,
  input: any,
  request: WriteRequest,
  managed?: ManagedFieldsEntry[],
): KubeObject {
  const object =
    request.internal && request.subresource === "status" && !info.definition
      ? decodeStatus(info, old, input)
      : decodeForWrite(info, input, request.onUnknown, machine, old.metadata.managedFields);
  const metadata = object.metadata;
  const before = old.metadata;
  if (!request.internal) {
    if (metadata.uid && metadata.uid !== before.uid && !request.patched) {
      const key = `/registry/${info.group ? `${info.group}/` : ""}${info.resource}/${before.namespace ? `${before.namespace}/` : ""}${before.name}`;
      throw conflict(
        info,
        before.name,
        `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${before.uid}`,
      );
    }
    if (metadata.resourceVersion && metadata.resourceVersion !== before.resourceVersion) {
      throw conflict(info, before.name, MODIFIED);
    }
  }
  // What only the server sets stays as it is.
  if (!request.patched || !metadata.uid) metadata.uid = before.uid;
  metadata.creationTimestamp = before.creationTimestamp;
  metadata.name ??= before.name;
  if (before.namespace !== undefined) metadata.namespace ??= before.namespace;
  keep(metadata, before, "generation");
  keep(metadata, before, "deletionTimestamp");
  keep(metadata, before, "deletionGracePeriodSeconds");
  keep(metadata, before, "resourceVersion");
  keep(metadata, before, "generateName");
  const hasStatus = info.subresources.has("status");
  const door = request.subresource;
  if (door === "status") {
    for (const key of Object.keys({ ...old, ...object })) {
      if (key !== "status" && key !== "metadata") keepField(object, old, key);
    }
    for (const key of ["ownerReferences", "finalizers"] as const) keep(metadata, before, key);
    if (info.key === "deployments.apps") keep(metadata, before, "labels");
  } else if (hasStatus && !request.internal) keepField(object, old, "status");
  if (door !== "status" && door !== "finalize") info.rules.prepareUpdate?.(object, old, machine);
  // Neither a status nor the choice of a node is a change of what the object asks for.
  if (door !== "status" && door !== "binding") bumpGeneration(info, object, old);
  const now = machine.clock.now();
  if (managed) metadata.managedFields = managed;
  else metadata.managedFields = ownership(info, old, object, request, now);
  if ((metadata.managedFields ?? []).length === 0) delete metadata.managedFields;
  admit(machine, {
    operation: "UPDATE",
    resource: info,
    object,
    old,
    user: request.user,
    ...(door ? { subresource: door } : {}),
  });
  if (door !== "status") {
    const errors: FieldError[] = [
      // A real server checks metadata in several layers: each has its say among the causes.
      ...validateMetadataUpdate(metadata, before),
      ...validateMetadataUpdate(metadata, before),
      ...(info.definition ? [] : validateAnyMetadata(metadata)),
      ...(info.definition ? [] : validateAnyMetadata(metadata)),
      ...validateMetadata(metadata, info.rules.name ?? "subdomain", info.namespaced),
      ...(info.rules.validate?.(object, machine) ?? []),
      ...(request.internal ? [] : (info.rules.validateUpdate?.(object, old) ?? [])),
    ];
    if (errors.length > 0) throw invalid(info.group, info.kind, before.name, errors);
    if (request.warn) request.warn(info.rules.warnings?.(object) ?? []);
    const refused = info.rules.allocate?.(object, old, machine);
    if (refused && refused.length > 0) throw invalid(info.group, info.kind, before.name, refused);
  }
  if (door === "status" && !request.internal) {
    const errors = info.rules.validateStatus?.(object) ?? [];
    if (errors.length > 0) throw invalid(info.group, info.kind, before.name, errors);
  }
  if (unchanged(object, old)) return old;
  if (request.dryRun) return object;
  metadata.resourceVersion = String(machine.store.nextRevision);
  if (isFinished(info, object)) machine.store.remove(info.key, object);
  else machine.store.put(info.key, object);
  return object;
}

function keep(metadata: any, before: any, key: string): void {
  if (before[key] === undefined) delete metadata[key];
  else metadata[key] = before[key];
}
function keepField(object: KubeObject, old: KubeObject, key: string): void {
  if (old[key] === undefined) delete object[key];
  else object[key] = old[key];
}

/** Entries after the change; a client may also write the list itself (as kubectl does to migrate to server-side apply). */
function ownership(
  info: ResourceInfo,
  old: KubeObject,
  object: KubeObject,
  request: WriteRequest,
  now: number,
): ManagedFieldsEntry[] {
  const sent = object.metadata.managedFields as ManagedFieldsEntry[] | undefined;
  // An empty list resets ownership; no list at all means that the client does not care.
  if (sent === undefined) keep(object.metadata, old.metadata, "managedFields");
  const base = workflow(info, request, now);
  let entries = managedByUpdate(old, object, info.type, base);
  if (
    request.internal &&
    request.subresource === undefined &&
    info.subresources.has("status") &&
    !equal(old.status, object.status)
  ) {
    object.metadata.managedFields = entries;
    entries = managedByUpdate(
      { metadata: object.metadata, status: old.status },
      { ...object, metadata: object.metadata },
      info.type,
      {
        ...base,
        subresource: "status",
        ignored: Object.keys({ ...old, ...object }).filter((key) => key !== "status"),
      },
    );
  }
  return entries;
}

function bumpGeneration(info: ResourceInfo, object: KubeObject, old: KubeObject): void {
  const rule = info.rules.generation;
  if (rule === undefined || old.metadata.generation === undefined) return;
  const changed =
    (info.type.fields?.has("spec") || info.definition
      ? !equal(object.spec, old.spec)
      : Object.keys({ ...object, ...old }).some(
          (k) => k !== "metadata" && k !== "status" && !equal(object[k], old[k]),
        )) ||
    (info.key === "endpointslices.discovery.k8s.io" && !equal(object.metadata.labels, old.metadata.labels)) ||
    (rule === "spec+annotations" && !equal(object.metadata.annotations, old.metadata.annotations));
  if (changed) object.metadata.generation = old.metadata.generation + 1;
}

/** Same but for the times in the books: then nothing is written. */
function unchanged(object: KubeObject, old: KubeObject): boolean {
  const { managedFields: entries, ...metadata } = object.metadata;
  const { managedFields: before, ...metadataBefore } = old.metadata;
  if (!equal({ ...object, metadata }, { ...old, metadata: metadataBefore })) return false;
  if (entries === undefined || before === undefined) return entries === before;
  const timeless = (list: any[]) => list.map((entry) => ({ ...entry, time: undefined }));
  return entries.length === before.length && equal(timeless(entries), timeless(before));
}

/** Is a deletion that waited for finalizers or a grace period complete? */
function isFinished(info: ResourceInfo, object: KubeObject): boolean {
  const metadata = object.metadata;
  if (!metadata.deletionTimestamp || (metadata.finalizers ?? []).length > 0) return false;
  if (info.key === "namespaces") return (object.spec?.finalizers ?? []).length === 0;
  return (metadata.deletionGracePeriodSeconds ?? 0) === 0;
}

export interface DeleteRequest {
  gracePeriodSeconds?: number;
  propagationPolicy?: "Background" | "Foreground" | "Orphan";
  uid?: string;
  resourceVersion?: string;
  dryRun?: boolean;
  user?: string;
}

/** A deletion that asked for another object, or another state of it. */
function unmet(info: ResourceInfo, name: string, why: string): StatusError {
  return conflict({ group: info.group, resource: info.kind }, name, why);
}

/** Namespaces that the server needs. */
const IMMORTAL = new Set(["default", "kube-system", "kube-public"]);

/** Deletes an object. @returns its last state, and whether it is gone already */
export function deleteObject(
  machine: Machine,
  info: ResourceInfo,
  old: KubeObject,
  request: DeleteRequest,
): { object: KubeObject; gone: boolean } {
  const { name, uid } = old.metadata;
  if (request.uid !== undefined && request.uid !== uid) {
    throw unmet(
      info,
      name,
      `the UID in the precondition (${request.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (request.resourceVersion !== undefined && request.resourceVersion !== old.metadata.resourceVersion) {
    throw unmet(
      info,
      name,
      `the ResourceVersion in the precondition (${request.resourceVersion}) does not match the ResourceVersion in record (${old.metadata.resourceVersion}). The object might have been modified`,
    );
  }
  if (info.key === "namespaces" && IMMORTAL.has(name)) throw forbidden(info, name, "this namespace may not be deleted");
  admit(machine, { operation: "DELETE", resource: info, object: old, old, user: request.user });
  const grace = gracePeriod(info, old, request.gracePeriodSeconds);
  const object = clone(old);
  const metadata = object.metadata;
  const finalizers = new Set(metadata.finalizers ?? []);
  finalizers.delete("foregroundDeletion");
  finalizers.delete("orphan");
  if (
    request.propagationPolicy === "Foreground" ||
    (request.propagationPolicy === undefined && metadata.finalizers?.includes("foregroundDeletion"))
  ) {
    finalizers.add("foregroundDeletion");
  }
  if (
    request.propagationPolicy === "Orphan" ||
    (request.propagationPolicy === undefined && metadata.finalizers?.includes("orphan"))
  ) {
    finalizers.add("orphan");
  }
  if (finalizers.size > 0) metadata.finalizers = [...finalizers];
  else delete metadata.finalizers;
  const waits =
    finalizers.size > 0 || grace > 0 || (info.key === "namespaces" && (old.spec?.finalizers ?? []).length > 0);
  const now = machine.clock.now();
  if (!waits) {
    if (metadata.deletionTimestamp === undefined) {
      metadata.deletionTimestamp = timestamp(now);
      metadata.deletionGracePeriodSeconds = 0;
    } else metadata.deletionGracePeriodSeconds = 0;
    if (!request.dryRun) {
      metadata.resourceVersion = String(machine.store.nextRevision);
      machine.store.remove(info.key, object);
    }
    return { object, gone: true };
  }
  const until = now + grace * 1000;
  if (metadata.deletionTimestamp === undefined) {
    metadata.deletionTimestamp = timestamp(until);
    metadata.deletionGracePeriodSeconds = info.key === "namespaces" ? undefined : grace;
    if (metadata.deletionGracePeriodSeconds === undefined) delete metadata.deletionGracePeriodSeconds;
    if (metadata.generation !== undefined) metadata.generation++;
  } else if (grace < (metadata.deletionGracePeriodSeconds ?? 0)) {
    metadata.deletionTimestamp = timestamp(until);
    metadata.deletionGracePeriodSeconds = grace;
  }
  if (info.key === "namespaces") object.status = { ...object.status, phase: "Terminating" };
  if (equal(object, old)) return { object: old, gone: false };
  if (!request.dryRun) {
    metadata.resourceVersion = String(machine.store.nextRevision);
    machine.store.put(info.key, object);
  }
  return { object, gone: false };
}

/** Only pods get time to stop; those that never started or have ended need none. */
function gracePeriod(info: ResourceInfo, object: KubeObject, asked: number | undefined): number {
  if (info.key !== "pods") return 0;
  const phase = object.status?.phase;
  if (!object.spec?.nodeName || phase === "Failed" || phase === "Succeeded") return 0;
  const grace = asked ?? object.spec.terminationGracePeriodSeconds ?? 30;
  return grace < 0 ? 1 : grace;
}

/** Key of a resource that may be given with a version's own name. */
export function storedInfo(machine: Machine, key: GroupResource): ResourceInfo {
  const info = machine.registry.stored(key);
  if (info === undefined) {
    throw new StatusError(404, "NotFound", `no resource ${key}: name the plural and its group, e.g. deployments.apps`);
  }
  return info;
}
