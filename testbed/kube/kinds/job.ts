/** Jobs and CronJobs. */
import { type FieldError, invalidValue, notSupported, required } from "../errors.js";
import { equal } from "../json.js";
import { internalTemplate } from "./internal-form.js";
import { validatePodTemplate } from "./podspec.js";
import { age, humanDuration, since } from "./print.js";
import { AGE_COLUMN, integer, type KindRules, NAME_COLUMN, text } from "./rules.js";
import { isTimeZone, scheduleProblem } from "./schedule.js";
import { IMMUTABLE, nonNegative, oneOf, selectorMatches } from "./validation.js";
import { templateWarnings } from "./warnings.js";
import { defaultTemplate, WIDE_COLUMNS, wideCells } from "./workload.js";

function defaultJobSpec(spec: any): void {
  if (spec.completions === undefined && spec.parallelism === undefined) {
    spec.completions = 1;
    spec.parallelism = 1;
  }
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : 2147483647;
  spec.completionMode ??= "NonIndexed";
  spec.suspend ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? "Failed" : "TerminatingOrFailed";
  defaultTemplate(spec.template);
}

function validateJobSpec(spec: any, field: string): FieldError[] {
  const errors: FieldError[] = [
    ...nonNegative(spec.parallelism, `${field}.parallelism`),
    ...nonNegative(spec.completions, `${field}.completions`),
    ...nonNegative(spec.activeDeadlineSeconds, `${field}.activeDeadlineSeconds`),
    ...nonNegative(spec.backoffLimit, `${field}.backoffLimit`),
    ...nonNegative(spec.ttlSecondsAfterFinished, `${field}.ttlSecondsAfterFinished`),
    ...(spec.completionMode === undefined
      ? []
      : oneOf(spec.completionMode, ["NonIndexed", "Indexed"], `${field}.completionMode`)),
    ...validatePodTemplate(spec.template ?? {}, `${field}.template`).filter(
      (e) => e.field !== `${field}.template.spec.restartPolicy`,
    ),
  ];
  const policy = spec.template?.spec?.restartPolicy;
  if (policy !== "OnFailure" && policy !== "Never") {
    if (policy === "Always" || policy === undefined) {
      errors.push(required(`${field}.template.spec.restartPolicy`, `valid values: "OnFailure", "Never"`));
    } else errors.push(notSupported(`${field}.template.spec.restartPolicy`, policy, ["OnFailure", "Never"]));
  }
  return errors;
}

/** A Job's selector is the server's, unless the writer takes that on with `manualSelector`. */
function validateJobSelector(spec: any): FieldError[] {
  const errors: FieldError[] = [];
  const given = Object.keys(spec.selector?.matchLabels ?? {});
  if (!spec.manualSelector && (given.length !== 1 || (spec.selector?.matchExpressions ?? []).length > 0)) {
    errors.push(invalidValue("spec.selector", spec.selector, "`selector` not auto-generated"));
  }
  const labels = spec.template?.metadata?.labels;
  if (spec.selector && !selectorMatches(spec.selector, labels)) {
    errors.push(
      invalidValue("spec.template.metadata.labels", sortedKeys(labels), "`selector` does not match template `labels`"),
    );
  }
  return errors;
}

const sortedKeys = (labels: Record<string, string> | undefined) =>
  Object.fromEntries(Object.entries(labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));

export const job: KindRules = {
  generation: "spec",
  warnings: templateWarnings,
  orphansByDefault:
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
  fields: ["status.successful"],
  fieldValue: (object) => String(object.status?.succeeded ?? 0),
  defaults({ spec }) {
    defaultJobSpec(spec);
    spec.manualSelector ??= false;
  },
  prepareCreate(object) {
    const { spec, metadata } = object;
    if (spec.manualSelector) return;
    const uid = metadata.uid!;
    spec.template.metadata ??= {};
    spec.template.metadata.labels = {
      ...spec.template.metadata.labels,
      "batch.kubernetes.io/controller-uid": uid,
      "batch.kubernetes.io/job-name": metadata.name,
      "controller-uid": uid,
      "job-name": metadata.name,
    };
    spec.selector = {
      ...spec.selector,
      matchLabels: { ...spec.selector?.matchLabels, "batch.kubernetes.io/controller-uid": uid },
    };
    metadata.labels ??= { ...spec.template.metadata.labels };
  },
  validate: ({ spec }) => [...validateJobSelector(spec), ...validateJobSpec(spec, "spec")],
  validateUpdate(object, old) {
    const errors: FieldError[] = [];
    for (const key of [
      "completions",
      "selector",
      "template",
      "completionMode",
      "podFailurePolicy",
      "backoffLimitPerIndex",
    ]) {
      if (key === "template" && old.spec.suspend) continue;
      if (equal(object.spec[key], old.spec[key])) continue;
      const value = key === "template" ? internalTemplate(object.spec.template) : object.spec[key];
      errors.push(invalidValue(`spec.${key}`, value, IMMUTABLE));
    }
    return errors;
  },
  columns: [NAME_COLUMN, text("Status"), text("Completions"), text("Duration"), AGE_COLUMN, ...WIDE_COLUMNS],
  row(object, now) {
    const { spec, status = {} } = object;
    const done = status.succeeded ?? 0;
    const completions =
      spec.completions !== undefined
        ? `${done}/${spec.completions}`
        : (spec.parallelism ?? 0) > 1
          ? `${done}/1 of ${spec.parallelism}`
          : `${done}/1`;
    const end = status.completionTime ? Date.parse(status.completionTime) : now;
    return [
      object.metadata.name,
      jobStatus(object),
      completions,
      status.startTime ? humanDuration(end - Date.parse(status.startTime)) : "",
      age(object, now),
      ...wideCells(spec),
    ];
  },
};

function jobStatus(object: any): string {
  const is = (type: string) =>
    (object.status?.conditions ?? []).some((c: any) => c.type === type && c.status === "True");
  for (const [type, shown] of [
    ["Complete", "Complete"],
    ["Failed", "Failed"],
  ]) {
    if (is(type!)) return shown!;
  }
  if (object.metadata.deletionTimestamp) return "Terminating";
  for (const type of ["Suspended", "FailureTarget", "SuccessCriteriaMet"]) if (is(type)) return type;
  return "Running";
}

export const cronJob: KindRules = {
  generation: "spec",
  defaults({ spec }) {
    spec.concurrencyPolicy ??= "Allow";
    spec.suspend ??= false;
    spec.successfulJobsHistoryLimit ??= 3;
    spec.failedJobsHistoryLimit ??= 1;
    const template = spec.jobTemplate?.spec?.template;
    if (template) defaultTemplate(template);
  },
  validate({ spec, metadata }) {
    const errors: FieldError[] = [];
    if (!spec.schedule) errors.push(required("spec.schedule"));
    else {
      const problem = scheduleProblem(spec.schedule);
      if (problem) errors.push(invalidValue("spec.schedule", spec.schedule, problem));
    }
    errors.push(...nonNegative(spec.startingDeadlineSeconds, "spec.startingDeadlineSeconds"));
    if (spec.timeZone !== undefined && !isTimeZone(spec.timeZone)) {
      errors.push(invalidValue("spec.timeZone", spec.timeZone, `unknown time zone ${spec.timeZone}`));
    }
    errors.push(
      ...oneOf(spec.concurrencyPolicy, ["Allow", "Forbid", "Replace"], "spec.concurrencyPolicy"),
      ...validateJobSpec(spec.jobTemplate?.spec ?? {}, "spec.jobTemplate.spec"),
      ...nonNegative(spec.successfulJobsHistoryLimit, "spec.successfulJobsHistoryLimit"),
      ...nonNegative(spec.failedJobsHistoryLimit, "spec.failedJobsHistoryLimit"),
    );
    if (metadata.name.length > 52)
      errors.push(invalidValue("metadata.name", metadata.name, "must be no more than 52 characters"));
    return errors;
  },
  columns: [
    NAME_COLUMN,
    text("Schedule"),
    text("Timezone"),
    { name: "Suspend", type: "boolean" },
    integer("Active"),
    text("Last Schedule"),
    AGE_COLUMN,
    ...WIDE_COLUMNS,
  ],
  row(object, now) {
    const { spec, status = {} } = object;
    return [
      object.metadata.name,
      spec.schedule,
      spec.timeZone ?? "<none>",
      spec.suspend === undefined ? "<unset>" : spec.suspend ? "True" : "False",
      (status.active ?? []).length,
      status.lastScheduleTime ? since(status.lastScheduleTime, now) : "<none>",
      age(object, now),
      ...wideCells(spec.jobTemplate?.spec),
    ];
  },
};
