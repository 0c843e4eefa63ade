/** PersistentVolumeClaims, PersistentVolumes, StorageClasses. */
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "../errors.js";
import { equal } from "../json.js";
import { compareQuantities } from "../quantity.js";
import { jsonDiff } from "./diff.js";
import { internalForm } from "./internal-form.js";
import { age } from "./print.js";
import { AGE_COLUMN, type KindRules, NAME_COLUMN, text } from "./rules.js";
import { oneOf, subdomainProblems } from "./validation.js";

const SHORT: Record<string, string> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};
const accessModes = (modes: string[] | undefined) => (modes ?? []).map((m) => SHORT[m] ?? m).join(",");

export function defaultClaim(claim: any): void {
  claim.spec ??= {};
  claim.spec.volumeMode ??= "Filesystem";
  claim.status ??= {};
  claim.status.phase ??= "Pending";
}

export const persistentVolumeClaim: KindRules = {
  returnsDeleted: true,
  defaults: (object) => defaultClaim(object),
  prepareCreate(object) {
    object.status = { phase: "Pending" };
    object.metadata.finalizers ??= ["kubernetes.io/pvc-protection"];
  },
  validate({ spec }) {
    const errors: FieldError[] = [];
    if ((spec.accessModes ?? []).length === 0)
      errors.push(required("spec.accessModes", "at least 1 access mode is required"));
    (spec.accessModes ?? []).forEach((mode: string) => {
      errors.push(...oneOf(mode, Object.keys(SHORT).sort(), "spec.accessModes"));
    });
    const size = spec.resources?.requests?.storage;
    if (size === undefined) errors.push(required("spec.resources[storage]"));
    else if (compareQuantities(size, 0) <= 0) {
      errors.push(invalidValue("spec.resources[storage]", size, "must be greater than zero"));
    }
    errors.push(
      ...validateClassName(spec.storageClassName),
      ...oneOf(spec.volumeMode, VOLUME_MODES, "spec.volumeMode"),
    );
    return errors;
  },
  validateUpdate(object, old) {
    const free = (spec: any) => ({
      ...spec,
      // A claim grows only once it has a volume.
      ...(old.status?.phase === "Bound" ? { resources: undefined } : {}),
      ...(old.spec.volumeName ? {} : { volumeName: undefined }),
      storageClassName: old.spec.storageClassName === undefined ? undefined : spec.storageClassName,
    });
    if (!equal(free(object.spec), free(old.spec))) {
      const shown = (spec: any) => internalForm(spec, "persistentVolumeClaimSpec");
      const change = jsonDiff(shown(old.spec), shown(object.spec));
      return [
        forbiddenField(
          "spec",
          `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${change}`,
        ),
      ];
    }
    const before = old.spec.resources?.requests?.storage;
    const after = object.spec.resources?.requests?.storage;
    if (before && after && compareQuantities(after, before) < 0) {
      return [forbiddenField("spec.resources.requests.storage", "field can not be less than status.capacity")];
    }
    return [];
  },
  columns: [
    NAME_COLUMN,
    text("Status"),
    text("Volume"),
    text("Capacity"),
    text("Access Modes"),
    text("StorageClass"),
    text("VolumeAttributesClass"),
    AGE_COLUMN,
    text("VolumeMode", 1),
  ],
  row(object, now) {
    const { spec, status = {} } = object;
    const bound = Boolean(spec.volumeName);
    return [
      object.metadata.name,
      object.metadata.deletionTimestamp ? "Terminating" : (status.phase ?? ""),
      spec.volumeName ?? "",
      bound ? (status.capacity?.storage ?? "0") : "",
      bound ? accessModes(status.accessModes) : "",
      spec.storageClassName ?? object.metadata.annotations?.["volume.beta.kubernetes.io/storage-class"] ?? "",
      spec.volumeAttributesClassName ?? "<unset>",
      age(object, now),
      spec.volumeMode ?? "<unset>",
    ];
  },
};

const RECLAIM_POLICIES = ["Delete", "Recycle", "Retain"];
const VOLUME_MODES = ["Block", "Filesystem"];
/** Of a volume's spec, what is no source. The rest is: exactly one. */
const NO_SOURCE = new Set([
  "accessModes",
  "capacity",
  "claimRef",
  "mountOptions",
  "nodeAffinity",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "volumeAttributesClassName",
  "volumeMode",
]);
/** The order in which a server looks at sources: the second one found is too many. */
const SOURCE_ORDER = ["hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd"];

function validateVolumeSource(spec: any): FieldError[] {
  const sources = Object.keys(spec).filter((key) => !NO_SOURCE.has(key) && spec[key] !== undefined);
  if (sources.length === 0) return [required("spec", "must specify a volume type")];
  const place = (key: string) => (SOURCE_ORDER.includes(key) ? SOURCE_ORDER.indexOf(key) : SOURCE_ORDER.length);
  return sources
    .sort((a, b) => place(a) - place(b))
    .slice(1)
    .map((key) => forbiddenField(`spec.${key}`, "may not specify more than 1 volume type"));
}

function validateClassName(name: string | undefined): FieldError[] {
  return name ? subdomainProblems(name).map((p) => invalidValue("spec.storageClassName", name, p)) : [];
}

export const persistentVolume: KindRules = {
  returnsDeleted: true,
  defaults({ spec, status }) {
    spec.persistentVolumeReclaimPolicy ??= "Retain";
    spec.volumeMode ??= "Filesystem";
    if (spec.hostPath) spec.hostPath.type ??= "";
    if (status) status.phase ??= "Pending";
  },
  prepareCreate(object) {
    object.status = { phase: "Pending" };
    object.metadata.finalizers ??= ["kubernetes.io/pv-protection"];
  },
  validate({ spec }) {
    const errors: FieldError[] = [];
    if ((spec.accessModes ?? []).length === 0) errors.push(required("spec.accessModes"));
    for (const mode of spec.accessModes ?? [])
      errors.push(...oneOf(mode, Object.keys(SHORT).sort(), "spec.accessModes"));
    if (spec.capacity === undefined) errors.push(required("spec.capacity"));
    if (spec.capacity?.storage === undefined || Object.keys(spec.capacity).length > 1)
      errors.push(notSupported("spec.capacity", spec.capacity, ["storage"]));
    for (const [name, size] of Object.entries((spec.capacity ?? {}) as Record<string, string>)) {
      if (compareQuantities(size, 0) <= 0)
        errors.push(invalidValue(`spec.capacity[${name}]`, size, "must be greater than zero"));
    }
    errors.push(
      ...oneOf(spec.persistentVolumeReclaimPolicy, RECLAIM_POLICIES, "spec.persistentVolumeReclaimPolicy"),
      ...validateVolumeSource(spec),
      ...validateClassName(spec.storageClassName),
      ...oneOf(spec.volumeMode, VOLUME_MODES, "spec.volumeMode"),
    );
    return errors;
  },
  columns: [
    NAME_COLUMN,
    text("Capacity"),
    text("Access Modes"),
    text("Reclaim Policy"),
    text("Status"),
    text("Claim"),
    text("StorageClass"),
    text("VolumeAttributesClass"),
    text("Reason"),
    AGE_COLUMN,
    text("VolumeMode", 1),
  ],
  row(object, now) {
    const { spec, status = {} } = object;
    return [
      object.metadata.name,
      spec.capacity?.storage ?? "",
      accessModes(spec.accessModes),
      spec.persistentVolumeReclaimPolicy,
      object.metadata.deletionTimestamp ? "Terminating" : (status.phase ?? ""),
      spec.claimRef ? `${spec.claimRef.namespace ?? ""}/${spec.claimRef.name}` : "",
      spec.storageClassName ?? "",
      spec.volumeAttributesClassName ?? "<unset>",
      status.reason ?? "",
      age(object, now),
      spec.volumeMode ?? "<unset>",
    ];
  },
};

export const storageClass: KindRules = {
  returnsDeleted: true,
  defaults(object) {
    object.reclaimPolicy ??= "Delete";
    object.volumeBindingMode ??= "Immediate";
  },
  validate(object) {
    const errors: FieldError[] = [];
    if (!object.provisioner) errors.push(required("provisioner"));
    errors.push(...oneOf(object.reclaimPolicy, ["Delete", "Retain"], "reclaimPolicy"));
    errors.push(...oneOf(object.volumeBindingMode, ["Immediate", "WaitForFirstConsumer"], "volumeBindingMode"));
    return errors;
  },
  validateUpdate(object, old) {
    const errors: FieldError[] = [];
    for (const key of ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"]) {
      if (!equal(object[key], old[key])) errors.push(forbiddenField(key, `updates to ${key} are forbidden.`));
    }
    return errors;
  },
  columns: [
    NAME_COLUMN,
    text("Provisioner"),
    text("ReclaimPolicy"),
    text("VolumeBindingMode"),
    text("AllowVolumeExpansion"),
    AGE_COLUMN,
  ],
  row(object, now) {
    const isDefault = object.metadata.annotations?.["storageclass.kubernetes.io/is-default-class"] === "true";
    return [
      object.metadata.name + (isDefault ? " (default)" : ""),
      object.provisioner,
      object.reclaimPolicy,
      object.volumeBindingMode,
      object.allowVolumeExpansion ?? false,
      age(object, now),
    ];
  },
};
