/** HorizontalPodAutoscalers (stored as autoscaling/v2, also served as v1) and PodDisruptionBudgets. */
import { type FieldError, forbiddenField, invalidValue, required } from "../errors.js";
import { equal } from "../json.js";
import { internalForm } from "./internal-form.js";
import { age } from "./print.js";
import { AGE_COLUMN, integer, type KindRules, NAME_COLUMN, text } from "./rules.js";
import { oneOf, validateSelector } from "./validation.js";
import { countOrPercent } from "./workload.js";

export const horizontalPodAutoscaler: KindRules = {
  defaults({ spec }) {
    spec.minReplicas ??= 1;
    if ((spec.metrics ?? []).length === 0) {
      spec.metrics = [
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
      ];
    }
    const behavior = spec.behavior;
    if (behavior === undefined) return;
    behavior.scaleUp = {
      stabilizationWindowSeconds: 0,
      selectPolicy: "Max",
      policies: [
        { type: "Pods", value: 4, periodSeconds: 15 },
        { type: "Percent", value: 100, periodSeconds: 15 },
      ],
      ...behavior.scaleUp,
    };
    behavior.scaleDown = {
      selectPolicy: "Max",
      policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
      ...behavior.scaleDown,
    };
  },
  prepareCreate(object) {
    object.status = { desiredReplicas: 0, currentMetrics: null };
  },
  validate({ spec }) {
    const errors: FieldError[] = [];
    if (spec.minReplicas < 1)
      errors.push(invalidValue("spec.minReplicas", spec.minReplicas, "must be greater than or equal to 1"));
    if (spec.maxReplicas < 1) errors.push(invalidValue("spec.maxReplicas", spec.maxReplicas, "must be greater than 0"));
    if (spec.maxReplicas < spec.minReplicas) {
      errors.push(invalidValue("spec.maxReplicas", spec.maxReplicas, "must be greater than or equal to `minReplicas`"));
    }
    const target = spec.scaleTargetRef ?? {};
    for (const key of ["kind", "name"]) {
      const value: string = target[key] ?? "";
      if (!value) errors.push(required(`spec.scaleTargetRef.${key}`));
      for (const c of ["/", "%"].filter((c) => value.includes(c))) {
        errors.push(invalidValue(`spec.scaleTargetRef.${key}`, value, `may not contain '${c}'`));
      }
    }
    errors.push(...validateTargetVersion(target));
    spec.metrics.forEach((metric: any, i: number) => {
      const here = `spec.metrics[${i}]`;
      if (!metric.type) errors.push(required(`${here}.type`, "must specify a metric source type"));
      else {
        errors.push(...oneOf(metric.type, METRIC_SOURCES, `${here}.type`));
        const key = metric.type[0].toLowerCase() + metric.type.slice(1);
        if (!METRIC_SOURCES.includes(metric.type)) return;
        if (metric[key] === undefined)
          errors.push(required(`${here}.${key}`, `must populate information for the given metric source`));
        else errors.push(...validateMetricTarget(metric[key].target ?? {}, `${here}.${key}.target`));
      }
    });
    for (const direction of ["scaleUp", "scaleDown"]) {
      errors.push(...validateScalingRules(spec.behavior?.[direction], `spec.behavior.${direction}`));
    }
    return errors;
  },
  columns: [
    NAME_COLUMN,
    text("Reference"),
    text("Targets"),
    text("MinPods"),
    text("MaxPods"),
    text("Replicas"),
    AGE_COLUMN,
  ],
  row(object, now) {
    const { spec, status = {} } = object;
    return [
      object.metadata.name,
      `${spec.scaleTargetRef?.kind}/${spec.scaleTargetRef?.name}`,
      targets(spec.metrics ?? [], status.currentMetrics ?? []),
      spec.minReplicas !== undefined ? String(spec.minReplicas) : "<unset>",
      spec.maxReplicas,
      status.currentReplicas ?? 0,
      age(object, now),
    ];
  },
};

/** What is scaled is of some group; only a replication controller is of the core one. */
function validateTargetVersion({ apiVersion = "", kind }: any): FieldError[] {
  const field = "spec.scaleTargetRef.apiVersion";
  if (apiVersion.split("/").length > 2) {
    return [invalidValue(field, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  }
  if (apiVersion.includes("/") || kind === "ReplicationController") return [];
  return [invalidValue(field, apiVersion, "apiVersion must specify API group")];
}

const METRIC_SOURCES = ["ContainerResource", "External", "Object", "Pods", "Resource"];

function validateMetricTarget(target: any, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!target.type) errors.push(required(`${field}.type`, "must specify a metric target type"));
  else if (!["Utilization", "Value", "AverageValue"].includes(target.type)) {
    errors.push(invalidValue(`${field}.type`, target.type, "must be either Utilization, Value, or AverageValue"));
  }
  if (target.averageUtilization !== undefined && target.averageUtilization < 1) {
    errors.push(invalidValue(`${field}.averageUtilization`, target.averageUtilization, "must be greater than 0"));
  }
  return errors;
}

const POLICY_TYPES = ["Percent", "Pods"];
/** Longest look back of a scaling policy, and longest stabilization, in seconds. */
const MAX_PERIOD = 1800;
const MAX_STABILIZATION = 3600;

function validateScalingRules(rules: any, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (rules === undefined) return errors;
  const window = rules.stabilizationWindowSeconds;
  if (window !== undefined && window < 0)
    errors.push(invalidValue(`${field}.stabilizationWindowSeconds`, window, "must be greater than or equal to zero"));
  if (window > MAX_STABILIZATION)
    errors.push(
      invalidValue(`${field}.stabilizationWindowSeconds`, window, `must be less than or equal to ${MAX_STABILIZATION}`),
    );
  if (rules.selectPolicy !== undefined)
    errors.push(...oneOf(rules.selectPolicy, ["Disabled", "Max", "Min"], `${field}.selectPolicy`));
  if ((rules.policies ?? []).length === 0)
    errors.push(required(`${field}.policies`, "must specify at least one Policy"));
  (rules.policies ?? []).forEach((policy: any, i: number) => {
    const here = `${field}.policies[${i}]`;
    errors.push(...oneOf(policy.type, POLICY_TYPES, `${here}.type`));
    if (!(policy.value > 0)) errors.push(invalidValue(`${here}.value`, policy.value ?? 0, "must be greater than zero"));
    const period = policy.periodSeconds ?? 0;
    if (!(period > 0)) errors.push(invalidValue(`${here}.periodSeconds`, period, "must be greater than zero"));
    if (period > MAX_PERIOD)
      errors.push(invalidValue(`${here}.periodSeconds`, period, `must be less than or equal to ${MAX_PERIOD}`));
  });
  return errors;
}

function targets(metrics: any[], current: any[]): string {
  if (metrics.length === 0) return "<none>";
  const list = metrics.map((metric, i) => {
    const key = metric.type === "ContainerResource" ? "containerResource" : String(metric.type).toLowerCase();
    const now = current[i]?.[key]?.current ?? {};
    const source = metric[key] ?? {};
    const target = source.target ?? {};
    const label =
      metric.type === "Resource" ? `${source.name}: ` : metric.type === "ContainerResource" ? `${source.name}: ` : "";
    if (target.averageUtilization !== undefined) {
      return `${label}${now.averageUtilization !== undefined ? `${now.averageUtilization}%` : "<unknown>"}/${target.averageUtilization}%`;
    }
    const unit = metric.type === "External" || metric.type === "Object" ? " (avg)" : "";
    if (target.averageValue !== undefined)
      return `${label}${now.averageValue ?? "<unknown>"}/${target.averageValue}${unit}`;
    return `${label}${now.value ?? "<unknown>"}/${target.value}`;
  });
  return list.length > 2 ? `${list.slice(0, 2).join(", ")} + ${list.length - 2} more...` : list.join(", ");
}

const LOST = "autoscaling.alpha.kubernetes.io/metrics";

/** autoscaling/v1 -> v2: the CPU target becomes a metric, other metrics wait in an annotation. */
export function autoscalerFromV1(object: any): any {
  const { targetCPUUtilizationPercentage: percent, ...spec } = object.spec ?? {};
  const metrics: any[] = [];
  const annotations = { ...object.metadata?.annotations };
  if (annotations[LOST]) {
    try {
      metrics.push(...JSON.parse(annotations[LOST]));
    } catch {
      // Not ours to repair: the annotation is dropped, as a server drops it.
    }
    delete annotations[LOST];
  }
  if (percent !== undefined) {
    metrics.unshift({
      type: "Resource",
      resource: { name: "cpu", target: { type: "Utilization", averageUtilization: percent } },
    });
  }
  const { currentCPUUtilizationPercentage: used, ...status } = object.status ?? {};
  const metadata = { ...object.metadata };
  if (Object.keys(annotations).length > 0) metadata.annotations = annotations;
  else delete metadata.annotations;
  return {
    ...object,
    apiVersion: "autoscaling/v2",
    metadata,
    spec: { ...spec, ...(metrics.length > 0 ? { metrics } : {}) },
    status: {
      ...status,
      ...(used !== undefined
        ? { currentMetrics: [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: used } } }] }
        : {}),
    },
  };
}

/** autoscaling/v2 -> v1. */
export function autoscalerToV1(object: any): any {
  const { metrics = [], behavior: _behavior, ...spec } = object.spec ?? {};
  const isCpu = (m: any) =>
    m.type === "Resource" && m.resource?.name === "cpu" && m.resource.target?.averageUtilization !== undefined;
  const cpu = metrics.find(isCpu);
  const rest = metrics.filter((m: any) => m !== cpu);
  const { currentMetrics, conditions: _conditions, ...status } = object.status ?? {};
  const used = (currentMetrics ?? []).find((m: any) => m.resource?.name === "cpu")?.resource?.current
    ?.averageUtilization;
  return {
    ...object,
    apiVersion: "autoscaling/v1",
    metadata:
      rest.length > 0
        ? { ...object.metadata, annotations: { ...object.metadata.annotations, [LOST]: JSON.stringify(rest) } }
        : object.metadata,
    spec: { ...spec, ...(cpu ? { targetCPUUtilizationPercentage: cpu.resource.target.averageUtilization } : {}) },
    status: { currentReplicas: 0, ...status, ...(used !== undefined ? { currentCPUUtilizationPercentage: used } : {}) },
  };
}

export const podDisruptionBudget: KindRules = {
  conditionalUpdate: true,
  generation: "spec",
  validate({ spec }) {
    const errors: FieldError[] = [];
    if (spec?.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
      errors.push(
        invalidValue(
          "spec",
          internalForm(spec, "podDisruptionBudgetSpec"),
          "minAvailable and maxUnavailable cannot be both set",
        ),
      );
    }
    errors.push(...countOrPercent(spec?.minAvailable, "spec.minAvailable"));
    errors.push(...countOrPercent(spec?.maxUnavailable, "spec.maxUnavailable"));
    if (spec?.selector) errors.push(...validateSelector(spec.selector, "spec.selector"));
    return errors;
  },
  validateUpdate: (object, old) =>
    equal(object.metadata.namespace, old.metadata.namespace)
      ? []
      : [forbiddenField("metadata.namespace", "may not be changed")],
  columns: [NAME_COLUMN, text("Min Available"), text("Max Unavailable"), integer("Allowed Disruptions"), AGE_COLUMN],
  row: (object, now) => [
    object.metadata.name,
    String(object.spec?.minAvailable ?? "N/A"),
    String(object.spec?.maxUnavailable ?? "N/A"),
    object.status?.disruptionsAllowed ?? 0,
    age(object, now),
  ],
};
