/** Namespaces, Nodes, PriorityClasses, ResourceQuotas, LimitRanges, Leases, ControllerRevisions, RuntimeClasses. */
import { type FieldError, forbiddenField, invalidValue, required } from "../errors.js";
import { equal } from "../json.js";
import { compareQuantities } from "../quantity.js";
import { age } from "./print.js";
import { AGE_COLUMN, integer, type KindRules, NAME_COLUMN, text } from "./rules.js";

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

export const node: KindRules = {
  fields: ["spec.unschedulable"],
  fieldValue: (object) => String(object.spec?.unschedulable ?? false),
  validate(object) {
    const errors: FieldError[] = [];
    const seen = new Set<string>();
    (object.spec?.taints ?? []).forEach((taint: any, i: number) => {
      if (!taint.key) errors.push(required(`metadata.taints[${i}].key`));
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

export const resourceQuota: KindRules = {
  returnsDeleted: true,
  validate: ({ spec }) =>
    Object.entries((spec?.hard ?? {}) as Record<string, string>)
      .filter(([, value]) => compareQuantities(value, 0) < 0)
      .map(([key, value]) => invalidValue(`spec.hard[${key}]`, value, "must be greater than or equal to 0")),
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
};

export const lease: KindRules = {
  conditionalUpdate: true,
  createOnUpdate: true,
  columns: [NAME_COLUMN, text("Holder"), AGE_COLUMN],
  row: (object, now) => [object.metadata.name, object.spec?.holderIdentity ?? "", age(object, now)],
};

export const controllerRevision: KindRules = {
  columns: [NAME_COLUMN, text("Controller"), integer("Revision"), AGE_COLUMN],
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
