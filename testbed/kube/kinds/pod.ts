/** Pods. */
import { type FieldError, forbiddenField, invalidValue } from "../errors.js";
import { clone, equal } from "../json.js";
import type { KubeObject } from "../objects.js";
import { compareQuantities } from "../quantity.js";
import { defaultPodSpec, defaultRequests, validatePodSpec } from "./podspec.js";
import { age, humanDuration } from "./print.js";
import { AGE_COLUMN, type KindRules, NAME_COLUMN, text } from "./rules.js";
import { podWarnings } from "./warnings.js";

const CHANGEABLE =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

export const pod: KindRules = {
  generation: "spec",
  returnsDeleted: true,
  warnings: (object) => podWarnings(object.spec, "spec"),
  fields: [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.podIPs",
    "status.nominatedNodeName",
  ],
  fieldValue(object, field) {
    if (field === "spec.hostNetwork") return String(object.spec?.hostNetwork ?? false);
    const [part, name] = field.split(".") as [string, string];
    return String(object[part]?.[name] ?? "");
  },
  defaults(object) {
    const spec = object.spec;
    defaultPodSpec(spec);
    spec.enableServiceLinks ??= true;
    defaultRequests(spec);
  },
  prepareCreate(object) {
    object.status = { phase: "Pending", qosClass: qosClass(object.spec) };
    tolerateLostNodes(object.spec);
  },
  prepareUpdate: (object) => tolerateLostNodes(object.spec),
  validate(object) {
    const errors = validatePodSpec(object.spec ?? {}, "spec");
    for (const list of ["containers", "initContainers"]) {
      (object.spec?.[list] ?? []).forEach((c: any, i: number) => {
        if (!c.image || c.image.trim() === c.image) return;
        errors.push(invalidValue(`spec.${list}[${i}].image`, c.image, "must not have leading or trailing whitespace"));
      });
    }
    return errors;
  },
  validateUpdate(object, old) {
    const errors: FieldError[] = [];
    const kept: any[] = object.spec.tolerations ?? [];
    for (const t of old.spec.tolerations ?? []) {
      if (!kept.some((k) => equal({ ...k, tolerationSeconds: 0 }, { ...t, tolerationSeconds: 0 }))) {
        errors.push(
          forbiddenField("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds"),
        );
        break;
      }
    }
    const before = comparable(old.spec);
    const after = comparable(object.spec);
    // Binding sets the node once; scheduling gates may only go.
    if (!before.nodeName) before.nodeName = after.nodeName;
    if (!equal(before, after)) errors.push(forbiddenField("spec", CHANGEABLE));
    return errors;
  },
  columns: [
    NAME_COLUMN,
    text("Ready"),
    text("Status"),
    text("Restarts"),
    AGE_COLUMN,
    text("IP", 1),
    text("Node", 1),
    text("Nominated Node", 1),
    text("Readiness Gates", 1),
  ],
  row: podRow,
};

/** Pods stay on a lost node for five minutes unless they say otherwise. */
function tolerateLostNodes(spec: any): void {
  const tolerations: any[] = spec.tolerations ?? [];
  for (const key of ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]) {
    const known = tolerations.some(
      (t) => (t.key === key || t.key === undefined) && (t.effect === "NoExecute" || t.effect === undefined),
    );
    if (!known) tolerations.push({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 });
  }
  if (tolerations.length > 0) spec.tolerations = tolerations;
}

/** The spec without what may change after the creation. */
function comparable(spec: any): any {
  const copy = clone(spec);
  for (const c of [...(copy.containers ?? []), ...(copy.initContainers ?? [])]) c.image = "";
  delete copy.activeDeadlineSeconds;
  delete copy.tolerations;
  delete copy.schedulingGates;
  delete copy.ephemeralContainers;
  return copy;
}

/** Guaranteed, Burstable or BestEffort, by requests and limits of cpu and memory. */
export function qosClass(spec: any): string {
  let any = false;
  let guaranteed = true;
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    for (const name of ["cpu", "memory"]) {
      const request = container.resources?.requests?.[name];
      const limit = container.resources?.limits?.[name];
      if ((request !== undefined && request !== "0") || (limit !== undefined && limit !== "0")) any = true;
      if (limit === undefined || (request !== undefined && compareQuantities(request, limit) !== 0)) guaranteed = false;
    }
  }
  return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

/** The STATUS column: the most telling of phase, container states and deletion. */
export function podStatusText(pod: KubeObject): string {
  return summary(pod).reason;
}

function summary(pod: KubeObject): {
  reason: string;
  restarts: number;
  ready: number;
  total: number;
  lastRestart: number;
} {
  const status = pod.status ?? {};
  const spec = pod.spec ?? {};
  const sidecars = new Set<string>(
    (spec.initContainers ?? []).filter((c: any) => c.restartPolicy === "Always").map((c: any) => c.name),
  );
  const total = (spec.containers ?? []).length + sidecars.size;
  let reason: string = status.reason || status.phase || "";
  let restarts = 0;
  let sidecarRestarts = 0;
  let ready = 0;
  let lastRestart = 0;
  let lastSidecarRestart = 0;
  const scheduled = (status.conditions ?? []).find((c: any) => c.type === "PodScheduled");
  if (scheduled?.reason === "SchedulingGated") reason = "SchedulingGated";
  const finished = (c: any) =>
    c.lastState?.terminated?.finishedAt ? Date.parse(c.lastState.terminated.finishedAt) : 0;
  let initializing = false;
  const inits: any[] = status.initContainerStatuses ?? [];
  for (let i = 0; i < inits.length; i++) {
    const c = inits[i];
    restarts += c.restartCount ?? 0;
    lastRestart = Math.max(lastRestart, finished(c));
    if (sidecars.has(c.name)) {
      sidecarRestarts += c.restartCount ?? 0;
      lastSidecarRestart = Math.max(lastSidecarRestart, finished(c));
    }
    if (c.state?.terminated && c.state.terminated.exitCode === 0) continue;
    if (sidecars.has(c.name) && c.started) {
      if (c.ready) ready++;
      continue;
    }
    const { terminated, waiting } = c.state ?? {};
    if (terminated) {
      reason = terminated.reason
        ? `Init:${terminated.reason}`
        : terminated.signal
          ? `Init:Signal:${terminated.signal}`
          : `Init:ExitCode:${terminated.exitCode}`;
    } else if (waiting?.reason && waiting.reason !== "PodInitializing") reason = `Init:${waiting.reason}`;
    else reason = `Init:${i}/${(spec.initContainers ?? []).length}`;
    initializing = true;
    break;
  }
  const initialized = (status.conditions ?? []).some((c: any) => c.type === "Initialized" && c.status === "True");
  if (!initializing || initialized) {
    restarts = sidecarRestarts;
    lastRestart = lastSidecarRestart;
    let running = false;
    for (const c of [...(status.containerStatuses ?? [])].reverse()) {
      restarts += c.restartCount ?? 0;
      lastRestart = Math.max(lastRestart, finished(c));
      const { terminated, waiting } = c.state ?? {};
      if (waiting?.reason) reason = waiting.reason;
      else if (terminated) {
        reason =
          terminated.reason || (terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode}`);
      } else if (c.ready && c.state?.running) {
        running = true;
        ready++;
      }
    }
    if (reason === "Completed" && running) {
      const isReady = (status.conditions ?? []).some((c: any) => c.type === "Ready" && c.status === "True");
      reason = isReady ? "Running" : "NotReady";
    }
  }
  if (pod.metadata.deletionTimestamp) {
    if (status.reason === "NodeLost") reason = "Unknown";
    else if (status.phase !== "Succeeded" && status.phase !== "Failed") reason = "Terminating";
  }
  return { reason, restarts, ready, total, lastRestart };
}

function podRow(pod: KubeObject, now: number): unknown[] {
  const { reason, restarts, ready, total, lastRestart } = summary(pod);
  const restartText =
    restarts > 0 && lastRestart > 0 ? `${restarts} (${humanDuration(now - lastRestart)} ago)` : String(restarts);
  const gates: any[] = pod.spec?.readinessGates ?? [];
  const passed = gates.filter((g) =>
    (pod.status?.conditions ?? []).some((c: any) => c.type === g.conditionType && c.status === "True"),
  );
  return [
    pod.metadata.name,
    `${ready}/${total}`,
    reason,
    restartText,
    age(pod, now),
    pod.status?.podIPs?.[0]?.ip || pod.status?.podIP || "<none>",
    pod.spec?.nodeName || "<none>",
    pod.status?.nominatedNodeName || "<none>",
    gates.length > 0 ? `${passed.length}/${gates.length}` : "<none>",
  ];
}
