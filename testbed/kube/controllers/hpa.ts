/** Horizontal pod autoscalers: replicas from resource usage, with tolerance, limits and stabilisation. */
import { type KubeObject, timestamp } from "../objects.js";
import { quantityValue } from "../quantity.js";
import type { ContainerRuntime } from "../runtime.js";
import { same } from "./fields.js";
import { splitKey } from "./keys.js";
import { MANAGER } from "./owners.js";
import type { Plane } from "./plane.js";
import { isActive, isReady } from "./pods.js";
import { selects } from "./selectors.js";

const AUTOSCALERS = "horizontalpodautoscalers.autoscaling";
const PERIOD_MS = 15_000;
const TOLERANCE = 0.1;
const STABILIZE_DOWN_SECONDS = 300;
const TARGETS: Record<string, string> = {
  Deployment: "deployments.apps",
  StatefulSet: "statefulsets.apps",
  ReplicaSet: "replicasets.apps",
};

/** A metric that could not be had: the reason of the condition and event, and what went wrong. */
class MetricError extends Error {
  readonly reason: string;
  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

interface Proposal {
  replicas: number;
  /** `cpu resource utilization (percentage of request)` */
  metric: string;
  current: any;
}

interface Recommendation {
  at: number;
  replicas: number;
}

/** @param usage what containers use; without it there is no metrics server */
export function startAutoscalers(plane: Plane, usage: ContainerRuntime["usage"] | undefined): void {
  const recommendations = new Map<string, Recommendation[]>();
  const queue = plane.queue((key) => {
    const { namespace, name } = splitKey(key);
    const hpa = plane.api.get(AUTOSCALERS, namespace, name);
    if (hpa === undefined) {
      recommendations.delete(key);
      return;
    }
    const past = recommendations.get(key) ?? [];
    recommendations.set(key, past);
    reconcile(plane, hpa, usage, past);
    queue.addAfter(key, PERIOD_MS);
  });
  plane.watch(AUTOSCALERS, (event) => {
    const { namespace, name } = event.object.metadata;
    // The real controller, too, first looks one period after it heard of an autoscaler.
    if (event.type === "ADDED") queue.addAfter(`${namespace}/${name}`, PERIOD_MS);
  });
}

/** The status under work; conditions keep their transition times. */
class Draft {
  readonly status: any;
  readonly #now: string;
  constructor(hpa: KubeObject, now: number) {
    this.status = structuredClone(hpa.status ?? {});
    this.status.conditions ??= [];
    this.status.currentMetrics ??= null;
    this.#now = timestamp(now);
  }
  set(type: string, status: "True" | "False", reason: string, message: string): void {
    const current = this.status.conditions.find((condition: any) => condition.type === type);
    const lastTransitionTime = current?.status === status ? current.lastTransitionTime : this.#now;
    const entry = { lastTransitionTime, message, reason, status, type };
    if (current) Object.assign(current, entry);
    else this.status.conditions.push(entry);
  }
}

function reconcile(
  plane: Plane,
  hpa: KubeObject,
  usage: ContainerRuntime["usage"] | undefined,
  past: Recommendation[],
): void {
  const { api, clock } = plane;
  const draft = new Draft(hpa, clock.now());
  const reference = hpa.spec.scaleTargetRef;
  const resource = TARGETS[reference.kind];
  const target = resource && api.get(resource, hpa.metadata.namespace, reference.name);
  if (!target || !resource) {
    const missing = resource
      ? `${resource} "${reference.name}" not found`
      : `no matches for kind "${reference.kind}" in group "${(reference.apiVersion ?? "").split("/")[0]}"`;
    event(plane, hpa, "Warning", "FailedGetScale", missing);
    draft.set(
      "AbleToScale",
      "False",
      "FailedGetScale",
      `the HPA controller was unable to get the target's current scale: ${missing}`,
    );
    write(plane, hpa, draft);
    return;
  }
  draft.set(
    "AbleToScale",
    "True",
    "SucceededGetScale",
    "the HPA controller was able to get the target's current scale",
  );
  const current: number = target.spec.replicas ?? 1;
  draft.status.currentReplicas = target.status?.replicas ?? 0;
  draft.status.observedGeneration = hpa.metadata.generation;
  draft.status.desiredReplicas ??= 0;
  const min: number = hpa.spec.minReplicas ?? 1;
  const max: number = hpa.spec.maxReplicas;
  if (current === 0 && min !== 0) {
    draft.status.desiredReplicas = 0;
    draft.set(
      "ScalingActive",
      "False",
      "ScalingDisabled",
      "scaling is disabled since the replica count of the target is zero",
    );
    write(plane, hpa, draft);
    return;
  }
  let desired: number;
  let why: string;
  if (current > max) [desired, why] = [max, "Current number of replicas above Spec.MaxReplicas"];
  else if (current < min) [desired, why] = [min, "Current number of replicas below Spec.MinReplicas"];
  else {
    const proposal = propose(plane, hpa, target, current, usage, draft);
    if (proposal === undefined) {
      write(plane, hpa, draft);
      return;
    }
    why = proposal.replicas > current ? `${proposal.metric} above target` : "All metrics below target";
    desired = normalize(plane, hpa, current, proposal.replicas, past, draft);
  }
  if (desired !== current) rescale(plane, hpa, resource, target, desired, why, draft);
  else if (!draft.status.conditions.some((c: any) => c.reason === "ScaleDownStabilized")) {
    draft.set("AbleToScale", "True", "ReadyForNewScale", "recommended size matches current size");
  }
  draft.status.desiredReplicas = desired;
  write(plane, hpa, draft);
}

/** The highest proposal of all metrics; undefined when one is missing and the others do not ask for more. */
function propose(
  plane: Plane,
  hpa: KubeObject,
  target: KubeObject,
  current: number,
  usage: ContainerRuntime["usage"] | undefined,
  draft: Draft,
): Proposal | undefined {
  const metrics: any[] = hpa.spec.metrics ?? [];
  let best: Proposal | undefined;
  let invalid = 0;
  let first: MetricError | undefined;
  const currents: any[] = [];
  for (const metric of metrics) {
    try {
      const proposal = evaluate(plane, target, current, metric, usage);
      currents.push(proposal.current);
      if (best === undefined || proposal.replicas > best.replicas) best = proposal;
    } catch (error) {
      if (!(error instanceof MetricError)) throw error;
      invalid++;
      first ??= error;
      event(plane, hpa, "Warning", error.reason, error.message);
    }
  }
  draft.status.currentMetrics = currents.length > 0 ? currents : null;
  if (first && (best === undefined || best.replicas < current)) {
    const name = metrics[0]?.resource?.name ?? metrics[0]?.containerResource?.name ?? "";
    const failed = `invalid metrics (${invalid} invalid out of ${metrics.length}), first error is: failed to get ${name} resource metric value: ${first.message}`;
    draft.set(
      "ScalingActive",
      "False",
      first.reason,
      `the HPA was unable to compute the replica count: ${first.message}`,
    );
    event(plane, hpa, "Warning", "FailedComputeMetricsReplicas", failed);
    return undefined;
  }
  if (best) {
    const message = `the HPA was able to successfully calculate a replica count from ${best.metric}`;
    draft.set("ScalingActive", "True", "ValidMetricFound", message);
  }
  return best;
}

function evaluate(
  plane: Plane,
  target: KubeObject,
  current: number,
  metric: any,
  usage: ContainerRuntime["usage"] | undefined,
): Proposal {
  if (metric.type !== "Resource" && metric.type !== "ContainerResource") {
    const message = `unable to get metric: no custom metrics API (metric source type "${metric.type}")`;
    throw new MetricError(`FailedGet${metric.type}Metric`, message);
  }
  const source = metric.resource ?? metric.containerResource;
  const { name, target: goal, container } = source;
  const utilization = goal.averageUtilization !== undefined;
  const prefix = utilization ? `failed to get ${name} utilization: ` : `failed to get ${name} usage: `;
  const pods = plane.api
    .list("pods", target.metadata.namespace)
    .filter((pod) => selects(target.spec.selector, pod.metadata.labels) && isActive(pod));
  const samples = measure(pods, name, container, usage, prefix);
  const used = samples.reduce((sum, sample) => sum + sample.used, 0);
  const average = used / samples.length;
  const value = name === "cpu" ? `${Math.ceil(average * 1000)}m` : String(Math.ceil(average));
  const kind = container ? `${name} container resource` : `${name} resource`;
  let ratio: number;
  let report: any = { averageValue: value };
  if (utilization) {
    const requested = samples.reduce((sum, sample) => sum + sample.requested, 0);
    const percent = Math.floor((used * 100) / requested);
    ratio = percent / goal.averageUtilization;
    report = { averageUtilization: percent, averageValue: value };
  } else ratio = average / (quantityValue(goal.averageValue) || 1);
  const steady = Math.abs(ratio - 1) <= TOLERANCE;
  const field = container ? "containerResource" : "resource";
  return {
    replicas: steady ? current : Math.ceil(ratio * samples.length - 1e-9),
    metric: utilization ? `${kind} utilization (percentage of request)` : kind,
    current: { type: metric.type, [field]: { name, ...(container ? { container } : {}), current: report } },
  };
}

interface Sample {
  used: number;
  requested: number;
}

function measure(
  pods: KubeObject[],
  resource: string,
  only: string | undefined,
  usage: ContainerRuntime["usage"] | undefined,
  prefix: string,
): Sample[] {
  const unavailable = (why: string) =>
    new MetricError("FailedGetResourceMetric", `${prefix}unable to get metrics for resource ${resource}: ${why}`);
  if (usage === undefined) {
    throw unavailable(
      "unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)",
    );
  }
  const samples: Sample[] = [];
  for (const pod of pods) {
    if (!isReady(pod)) continue;
    let used = 0;
    let requested = 0;
    let complete = true;
    for (const container of pod.spec.containers) {
      if (only && container.name !== only) continue;
      const request = container.resources?.requests?.[resource];
      if (request === undefined) {
        const message = `${prefix}missing request for ${resource} in container ${container.name} of Pod ${pod.metadata.name}`;
        throw new MetricError("FailedGetResourceMetric", message);
      }
      requested += quantityValue(request);
      const sample = usage({ pod, container: container.name });
      if (sample === undefined) complete = false;
      else used += resource === "cpu" ? sample.cpuCores : sample.memoryBytes;
    }
    if (complete) samples.push({ used, requested });
  }
  if (samples.length === 0) throw unavailable("no metrics returned from resource metrics API");
  return samples;
}

/** Applies stabilisation, the scale-up limit, and the bounds; says in the conditions what limited it. */
function normalize(
  plane: Plane,
  hpa: KubeObject,
  current: number,
  proposed: number,
  past: Recommendation[],
  draft: Draft,
): number {
  const now = plane.clock.now();
  const window = hpa.spec.behavior?.scaleDown?.stabilizationWindowSeconds ?? STABILIZE_DOWN_SECONDS;
  while (past[0] !== undefined && past[0].at < now - window * 1000) past.shift();
  past.push({ at: now, replicas: proposed });
  let desired = proposed;
  if (proposed < current) {
    desired = Math.min(current, Math.max(...past.map((recommendation) => recommendation.replicas)));
    if (desired > proposed) {
      const message = "recent recommendations were higher than current one, applying the highest recent recommendation";
      draft.set("AbleToScale", "True", "ScaleDownStabilized", message);
    }
  }
  const fastest = Math.max(2 * current, current + 4);
  const min = hpa.spec.minReplicas ?? 1;
  const max = hpa.spec.maxReplicas;
  if (desired > Math.min(max, fastest)) {
    if (max <= fastest)
      draft.set(
        "ScalingLimited",
        "True",
        "TooManyReplicas",
        "the desired replica count is more than the maximum replica count",
      );
    else
      draft.set(
        "ScalingLimited",
        "True",
        "ScaleUpLimit",
        "the desired replica count is increasing faster than the maximum scale rate",
      );
    return Math.min(max, fastest);
  }
  if (desired < min) {
    draft.set(
      "ScalingLimited",
      "True",
      "TooFewReplicas",
      "the desired replica count is less than the minimum replica count",
    );
    return min;
  }
  draft.set("ScalingLimited", "False", "DesiredWithinRange", "the desired count is within the acceptable range");
  return desired;
}

function rescale(
  plane: Plane,
  hpa: KubeObject,
  resource: string,
  target: KubeObject,
  desired: number,
  why: string,
  draft: Draft,
): void {
  const change = (object: KubeObject) => {
    object.spec.replicas = desired;
  };
  plane.api.modify(resource, target.metadata.namespace, target.metadata.name, change, {
    manager: MANAGER,
    subresource: "scale",
  });
  draft.set(
    "AbleToScale",
    "True",
    "SucceededRescale",
    `the HPA controller was able to update the target scale to ${desired}`,
  );
  draft.status.lastScaleTime = timestamp(plane.clock.now());
  event(plane, hpa, "Normal", "SuccessfulRescale", `New size: ${desired}; reason: ${why}`);
}

function write(plane: Plane, hpa: KubeObject, draft: Draft): void {
  if (same(draft.status, hpa.status)) return;
  const change = (object: KubeObject) => {
    object.status = draft.status;
  };
  plane.api.modify(AUTOSCALERS, hpa.metadata.namespace, hpa.metadata.name, change, {
    manager: MANAGER,
    subresource: "status",
  });
}

function event(plane: Plane, hpa: KubeObject, type: "Normal" | "Warning", reason: string, message: string): void {
  plane.api.event(hpa, { type, reason, message, component: "horizontal-pod-autoscaler" });
}
