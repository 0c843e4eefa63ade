/** Deployments. */
import { type FieldError, forbiddenField, invalidValue, notSupported } from "../errors.js";
import { internalForm } from "./internal-form.js";
import { age, selectorText } from "./print.js";
import { AGE_COLUMN, integer, type KindRules, NAME_COLUMN, text } from "./rules.js";
import { immutable, nonNegative } from "./validation.js";
import { templateWarnings } from "./warnings.js";
import {
  alwaysRestarts,
  countOrPercent,
  defaultTemplate,
  isZero,
  validateSelectedTemplate,
  WIDE_COLUMNS,
  wideCells,
} from "./workload.js";

export const deployment: KindRules = {
  generation: "spec+annotations",
  warnings: templateWarnings,
  defaults({ spec }) {
    spec.replicas ??= 1;
    spec.strategy.type ??= "RollingUpdate";
    if (spec.strategy.type === "RollingUpdate") {
      spec.strategy.rollingUpdate ??= {};
      spec.strategy.rollingUpdate.maxUnavailable ??= "25%";
      spec.strategy.rollingUpdate.maxSurge ??= "25%";
    }
    spec.revisionHistoryLimit ??= 10;
    spec.progressDeadlineSeconds ??= 600;
    defaultTemplate(spec.template);
  },
  validate({ spec }) {
    const errors: FieldError[] = [
      ...nonNegative(spec.replicas, "spec.replicas"),
      ...validateSelectedTemplate(spec, "deployment"),
      ...alwaysRestarts(spec.template, "ReplicaSet"),
    ];
    const { type, rollingUpdate } = spec.strategy;
    if (type === "Recreate" && rollingUpdate !== undefined) {
      errors.push(
        forbiddenField("spec.strategy.rollingUpdate", `may not be specified when strategy \`type\` is '${type}'`),
      );
    } else if (type === "RollingUpdate") {
      errors.push(
        ...countOrPercent(rollingUpdate.maxUnavailable, "spec.strategy.rollingUpdate.maxUnavailable"),
        ...countOrPercent(rollingUpdate.maxSurge, "spec.strategy.rollingUpdate.maxSurge"),
      );
      if (isZero(rollingUpdate.maxUnavailable) && isZero(rollingUpdate.maxSurge)) {
        errors.push(
          invalidValue(
            "spec.strategy.rollingUpdate.maxUnavailable",
            rollingUpdate.maxUnavailable,
            "may not be 0 when `maxSurge` is 0",
          ),
        );
      }
    } else if (type !== "Recreate") {
      const shown = internalForm(spec.strategy, "deploymentStrategy");
      errors.push(notSupported("spec.strategy", shown, ["Recreate", "RollingUpdate"]));
    }
    errors.push(
      ...nonNegative(spec.minReadySeconds, "spec.minReadySeconds"),
      ...nonNegative(spec.revisionHistoryLimit, "spec.revisionHistoryLimit"),
      ...nonNegative(spec.progressDeadlineSeconds, "spec.progressDeadlineSeconds"),
    );
    if (spec.progressDeadlineSeconds <= (spec.minReadySeconds ?? 0)) {
      errors.push(
        invalidValue(
          "spec.progressDeadlineSeconds",
          spec.progressDeadlineSeconds,
          "must be greater than minReadySeconds",
        ),
      );
    }
    return errors;
  },
  validateUpdate: (object, old) => immutable(object.spec.selector, old.spec.selector, "spec.selector"),
  columns: [NAME_COLUMN, text("Ready"), text("Up-to-date"), text("Available"), AGE_COLUMN, ...WIDE_COLUMNS],
  row(object, now) {
    const status = object.status ?? {};
    return [
      object.metadata.name,
      `${status.readyReplicas ?? 0}/${object.spec.replicas ?? 0}`,
      status.updatedReplicas ?? 0,
      status.availableReplicas ?? 0,
      age(object, now),
      ...wideCells(object.spec),
    ];
  },
};

export const replicaSet: KindRules = {
  generation: "spec",
  warnings: templateWarnings,
  fields: ["status.replicas"],
  fieldValue: (object) => String(object.status?.replicas ?? 0),
  defaults({ spec }) {
    spec.replicas ??= 1;
    defaultTemplate(spec.template);
  },
  validate: ({ spec }) => [
    ...nonNegative(spec.replicas, "spec.replicas"),
    ...nonNegative(spec.minReadySeconds, "spec.minReadySeconds"),
    ...validateSelectedTemplate(spec, "deployment"),
    ...alwaysRestarts(spec.template, "ReplicaSet"),
  ],
  validateUpdate: (object, old) => immutable(object.spec.selector, old.spec.selector, "spec.selector"),
  columns: [NAME_COLUMN, integer("Desired"), integer("Current"), integer("Ready"), AGE_COLUMN, ...WIDE_COLUMNS],
  row(object, now) {
    const status = object.status ?? {};
    return [
      object.metadata.name,
      object.spec.replicas ?? 0,
      status.replicas ?? 0,
      status.readyReplicas ?? 0,
      age(object, now),
      ...wideCells(object.spec),
    ];
  },
};

/** Replication controllers select by plain labels, which default to the template's. */
export const replicationController: KindRules = {
  generation: "spec",
  fields: ["status.replicas"],
  fieldValue: (object) => String(object.status?.replicas ?? 0),
  defaults(object) {
    const { spec, metadata } = object;
    const labels = spec.template?.metadata?.labels;
    if (labels && spec.selector === undefined) spec.selector = { ...labels };
    if (labels && metadata.labels === undefined) metadata.labels = { ...labels };
    spec.replicas ??= 1;
    if (spec.minReadySeconds === 0) delete spec.minReadySeconds;
    defaultTemplate(spec.template);
  },
  orphansByDefault: true,
  validate: ({ spec }) => [
    ...nonNegative(spec.replicas, "spec.replicas"),
    ...validateSelectedTemplate({ ...spec, selector: { matchLabels: spec.selector } }, "replication controller"),
    ...alwaysRestarts(spec.template, "ReplicationController"),
  ],
  columns: replicaSet.columns,
  row(object, now) {
    const cells = replicaSet.row!(object, now);
    cells[7] = selectorText({ matchLabels: object.spec.selector });
    return cells;
  },
};
