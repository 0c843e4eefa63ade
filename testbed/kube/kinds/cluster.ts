/** Namespaces, Nodes, PriorityClasses, ResourceQuotas, LimitRanges, Leases, ControllerRevisions, RuntimeClasses. */
import { type FieldError, forbiddenField, invalidValue } from "../errors.js";
import { equal } from "../json.js";
import { compareQuantities } from "../quantity.js";
import { age } from "./print.js";
import { AGE_COLUMN, integer, type KindRules, NAME_COLUMN, text } from "./rules.js";
import { labelValueProblems, oneOf, qualifiedNameProblems } from "./validation.js";

export const namespace: KindRules = {
  name: "label",
  returnsDeleted: true,
  fields: ["status.phase", "name"],
  fieldValue: (object, field) => (field === "name" ? object.metadata.name : (object.status?.phase ?? "")),
  defaults(object) {
    if (object.metadata.name) {
      object.metadata.labels = { ...object.metadata.labels, "kubernetes.io/metadata.name": object.metadata.name };
    }
  },
  prepareCreate(object) {
    object.spec ??= {};
    const finalizers: string[] = object.spec.finalizers ?? [];
    object.spec.finalizers = finalizers.includes("kubernetes") ? finalizers : [...finalizers, "kubernetes"];
    object.status = { phase: "Active" };
  },
  prepareUpdate(object, old) {
    object.spec = old.spec;
    object.status = old.status;
  },
  columns: [NAME_COLUMN, text("Status"), AGE_COLUMN],
  row: (object, now) => [object.metadata.name, object.status?.phase ?? "", age(object, now)],
};

const TAINT_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export const node: KindRules = {
  fields: ["spec.unschedulable"],
  fieldValue: (object) => String(object.spec?.unschedulable ?? false),
  validate(object) {
    const errors: FieldError[] = [];
    const seen = new Set<string>();
    (object.spec?.taints ?? []).forEach((taint: any, i: number) => {
      for (const p of qualifiedNameProblems(taint.key ?? "")) {
        errors.push(invalidValue(`metadata.taints[${i}].key`, taint.key ?? "", p));
      }
      if (taint.value)
        for (const p of labelValueProblems(taint.value))
          errors.push(invalidValue(`metadata.taints[${i}].value`, taint.value, p));
      errors.push(...oneOf(taint.effect ?? "", TAINT_EFFECTS, `metadata.taints[${i}].effect`));
      const id = `${taint.key}/${taint.effect}`;
      if (seen.has(id))
        errors.push({
          type: "FieldValueDuplicate",
          field: `metadata.taints[${i}]`,
          message: "Duplicate value: taints must be unique by key and effect pair",
        });
      seen.add(id);
    });
    return errors;
  },
  columns: [
    NAME_COLUMN,
    text("Status"),
    text("Roles"),
    AGE_COLUMN,
    text("Version"),
    text("Internal-IP", 1),
    text("External-IP", 1),
    text("OS-Image", 1),
    text("Kernel-Version", 1),
    text("Container-Runtime", 1),
  ],
  row(object, now) {
    const { spec = {}, status = {}, metadata } = object;
    const ready = (status.conditions ?? []).find((c: any) => c.type === "Ready");
    const state = [ready ? (ready.status === "True" ? "Ready" : "NotReady") : "Unknown"];
    if (spec.unschedulable) state.push("SchedulingDisabled");
    const roles = Object.entries((metadata.labels ?? {}) as Record<string, string>)
      .flatMap(([key, value]) =>
        key.startsWith("node-role.kubernetes.io/")
          ? [key.slice(24)]
          : key === "kubernetes.io/role" && value
            ? [value]
            : [],
      )
      .filter((r) => r !== "")
      .sort();
    const address = (type: string) => (status.addresses ?? []).find((a: any) => a.type === type)?.address ?? "<none>";
    const info = status.nodeInfo ?? {};
    return [
      metadata.name,
      state.join(","),
      roles.length > 0 ? roles.join(",") : "<none>",
      age(object, now),
      info.kubeletVersion ?? "",
      address("InternalIP"),
      address("ExternalIP"),
      info.osImage || "<unknown>",
      info.kernelVersion || "<unknown>",
      info.containerRuntimeVersion || "<unknown>",
    ];
  },
};

export const priorityClass: KindRules = {
  generation: "spec",
  defaults(object) {
    object.preemptionPolicy ??= "PreemptLowerPriority";
  },
  validate(object) {
    const errors: FieldError[] = [];
    const system = object.metadata.name.startsWith("system-");
    if (system && !["system-node-critical", "system-cluster-critical"].includes(object.metadata.name)) {
      errors.push(
        forbiddenField(
          "metadata.name",
          "priority class names with 'system-' prefix are reserved for system use only. error: only the following system priority classes can be created: system-cluster-critical, system-node-critical",
        ),
      );
    } else if (!system && object.value > 1000000000) {
      errors.push(forbiddenField("value", "maximum allowed value of a user defined priority is 1000000000"));
    }
    return errors;
  },
  validateUpdate: (object, old) =>
    object.value === old.value ? [] : [forbiddenField("value", "may not be changed in an update.")],
  columns: [
    NAME_COLUMN,
    integer("Value"),
    { name: "Global-Default", type: "boolean" },
    AGE_COLUMN,
    text("PreemptionPolicy"),
  ],
  row: (object, now) => [
    object.metadata.name,
    object.value ?? 0,
    object.globalDefault ?? false,
    age(object, now),
    object.preemptionPolicy ?? "",
  ],
};

/** What a quota can count without a prefix. */
const COUNTED_BY_QUOTA =
  /^(cpu|memory|ephemeral-storage|(requests|limits)\.(cpu|memory|storage|ephemeral-storage)|storage|pods|services(\.(nodeports|loadbalancers))?|replicationcontrollers|resourcequotas|secrets|configmaps|persistentvolumeclaims|hugepages-.+|requests\.hugepages-.+)$/;
const QUOTA_SCOPES = new Set([
  "Terminating",
  "NotTerminating",
  "BestEffort",
  "NotBestEffort",
  "PriorityClass",
  "CrossNamespacePodAffinity",
  "VolumeAttributesClass",
]);

export const resourceQuota: KindRules = {
  returnsDeleted: true,
  validate({ spec }) {
    const errors: FieldError[] = [];
    for (const [key, value] of Object.entries((spec?.hard ?? {}) as Record<string, string>)) {
      const here = `spec.hard[${key}]`;
      for (const p of qualifiedNameProblems(key)) errors.push(invalidValue(here, key, p));
      if (!key.includes("/") && !COUNTED_BY_QUOTA.test(key)) {
        errors.push(
          invalidValue(here, key, "must be a standard resource type or fully qualified"),
          invalidValue(here, key, "must be a standard resource for quota"),
        );
      }
      if (compareQuantities(value, 0) < 0) errors.push(invalidValue(here, value, "must be greater than or equal to 0"));
    }
    if ((spec?.scopes ?? []).some((scope: string) => !QUOTA_SCOPES.has(scope))) {
      errors.push(invalidValue("spec.scopes", spec.scopes, "unsupported scope"));
    }
    return errors;
  },
  validateUpdate: (object, old) =>
    equal(object.spec?.scopes, old.spec?.scopes)
      ? []
      : [invalidValue("spec.scopes", object.spec?.scopes, "field is immutable")],
  columns: [NAME_COLUMN, text("Request"), text("Limit"), AGE_COLUMN],
  row(object, now) {
    const hard: Record<string, string> = object.status?.hard ?? {};
    const used: Record<string, string> = object.status?.used ?? {};
    const cell = (limits: boolean) =>
      Object.keys(hard)
        .filter((key) => key.startsWith("limits") === limits)
        .sort()
        .map((key) => `${key}: ${used[key] ?? "0"}/${hard[key]}`)
        .join(", ");
    return [object.metadata.name, cell(false), cell(true), age(object, now)];
  },
};

/** Bounds of a limit range must not cross: min <= default request <= default <= max. */
function validateLimits(item: any, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (item.type === "Pod") {
    for (const key of ["default", "defaultRequest"]) {
      if (item[key] !== undefined)
        errors.push(forbiddenField(`${field}.${key}`, "may not be specified when `type` is 'Pod'"));
    }
  }
  const names = new Set(["max", "min", "default", "defaultRequest"].flatMap((key) => Object.keys(item[key] ?? {})));
  for (const name of [...names].sort()) {
    const { max, min, default: usual, defaultRequest } = item;
    const above = (a: any, b: any) =>
      a?.[name] !== undefined && b?.[name] !== undefined && compareQuantities(a[name], b[name]) > 0;
    const refuse = (key: string, what: string, a: any, bound: string, b: any, value = a) =>
      errors.push(
        invalidValue(
          `${field}.${key}[${name}]`,
          value[name],
          `${what} value ${a[name]} is greater than ${bound} value ${b[name]}`,
        ),
      );
    if (above(min, max)) refuse("min", "min", min, "max", max);
    if (item.type === "Pod") continue;
    if (above(min, defaultRequest))
      refuse("defaultRequest", "min", min, "default request", defaultRequest, defaultRequest);
    if (above(defaultRequest, max)) refuse("defaultRequest", "default request", defaultRequest, "max", max);
    if (above(defaultRequest, usual))
      refuse("defaultRequest", "default request", defaultRequest, "default limit", usual);
    if (above(min, usual)) refuse("default", "min", min, "default", usual, min);
    if (above(usual, max)) refuse("default", "default", usual, "max", max, max);
  }
  return errors;
}

export const limitRange: KindRules = {
  createOnUpdate: true,
  defaults({ spec }) {
    for (const item of spec?.limits ?? []) {
      if (item.type !== "Container") continue;
      const fill = (from: string, into: string) => {
        for (const [key, value] of Object.entries(item[from] ?? {})) {
          item[into] ??= {};
          item[into][key] ??= value;
        }
      };
      fill("max", "default");
      fill("default", "defaultRequest");
      fill("min", "defaultRequest");
    }
  },
  validate: ({ spec }) =>
    (spec?.limits ?? []).flatMap((item: any, i: number) => validateLimits(item, `spec.limits[${i}]`)),
};

export const lease: KindRules = {
  conditionalUpdate: true,
  createOnUpdate: true,
  columns: [NAME_COLUMN, text("Holder"), AGE_COLUMN],
  row: (object, now) => [object.metadata.name, object.spec?.holderIdentity ?? "", age(object, now)],
};

export const controllerRevision: KindRules = {
  columns: [NAME_COLUMN, text("Controller"), text("Revision"), AGE_COLUMN],
  row(object, now) {
    const owner = (object.metadata.ownerReferences ?? []).find((o) => o.controller);
    const [group] = (owner?.apiVersion ?? "").includes("/") ? owner!.apiVersion.split("/") : [""];
    const kind = owner ? `${owner.kind.toLowerCase()}${group ? `.${group}` : ""}/${owner.name}` : "<none>";
    return [object.metadata.name, kind, object.revision ?? 0, age(object, now)];
  },
};

export const runtimeClass: KindRules = {
  conditionalUpdate: true,
  columns: [NAME_COLUMN, text("Handler"), AGE_COLUMN],
  row: (object, now) => [object.metadata.name, object.handler ?? "", age(object, now)],
};
