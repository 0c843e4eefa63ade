/** DaemonSets. */
import { type FieldError, notSupported, required } from "../errors.js";
import { equal } from "../json.js";
import { internalForm } from "./internal-form.js";
import { age, labelText } from "./print.js";
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

const TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

export const daemonSet: KindRules = {
  generation: "spec",
  warnings: templateWarnings,
  defaults({ spec }) {
    spec.updateStrategy.type ??= "RollingUpdate";
    if (spec.updateStrategy.type === "RollingUpdate") {
      spec.updateStrategy.rollingUpdate ??= {};
      spec.updateStrategy.rollingUpdate.maxUnavailable ??= 1;
      spec.updateStrategy.rollingUpdate.maxSurge ??= 0;
    }
    spec.revisionHistoryLimit ??= 10;
    defaultTemplate(spec.template);
  },
  prepareCreate(object) {
    object.metadata.annotations = { ...object.metadata.annotations, [TEMPLATE_GENERATION]: "1" };
  },
  prepareUpdate(object, old) {
    const before = Number(old.metadata.annotations?.[TEMPLATE_GENERATION] ?? 0);
    const generation = equal(object.spec.template, old.spec.template) ? before : before + 1;
    object.metadata.annotations = { ...object.metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
  },
  validate({ spec }) {
    const errors: FieldError[] = [
      ...validateSelectedTemplate(spec, "daemonset"),
      ...alwaysRestarts(spec.template, "DaemonSet"),
      ...nonNegative(spec.minReadySeconds, "spec.minReadySeconds"),
    ];
    const { type, rollingUpdate } = spec.updateStrategy;
    if (type === "RollingUpdate") {
      if (rollingUpdate === undefined) errors.push(required("spec.updateStrategy.rollingUpdate"));
      else {
        errors.push(
          ...countOrPercent(rollingUpdate.maxUnavailable, "spec.updateStrategy.rollingUpdate.maxUnavailable"),
          ...countOrPercent(rollingUpdate.maxSurge, "spec.updateStrategy.rollingUpdate.maxSurge"),
        );
        if (isZero(rollingUpdate.maxUnavailable) && isZero(rollingUpdate.maxSurge)) {
          errors.push(required("spec.updateStrategy.rollingUpdate.maxUnavailable", "cannot be 0 when maxSurge is 0"));
        }
      }
    } else if (type !== "OnDelete") {
      const shown = internalForm(spec.updateStrategy, "daemonSetUpdateStrategy");
      errors.push(notSupported("spec.updateStrategy", shown, ["RollingUpdate", "OnDelete"]));
    }
    errors.push(...nonNegative(spec.revisionHistoryLimit, "spec.revisionHistoryLimit"));
    return errors;
  },
  validateUpdate: (object, old) => immutable(object.spec.selector, old.spec.selector, "spec.selector"),
  columns: [
    NAME_COLUMN,
    integer("Desired"),
    integer("Current"),
    integer("Ready"),
    integer("Up-to-date"),
    integer("Available"),
    text("Node Selector"),
    AGE_COLUMN,
    ...WIDE_COLUMNS,
  ],
  row(object, now) {
    const s = object.status ?? {};
    return [
      object.metadata.name,
      s.desiredNumberScheduled ?? 0,
      s.currentNumberScheduled ?? 0,
      s.numberReady ?? 0,
      s.updatedNumberScheduled ?? 0,
      s.numberAvailable ?? 0,
      labelText(object.spec.template?.spec?.nodeSelector),
      age(object, now),
      ...wideCells(object.spec),
    ];
  },
};
