/** Eviction of pods from nodes with NoExecute taints that they do not tolerate, or no longer. */
import type { KubeObject } from "../objects.js";
import { markDisrupted } from "./disruption-target.js";
import { same } from "./fields.js";
import { apiError, type Plane } from "./plane.js";
import { isFinished } from "./pods.js";

export function startTaintEviction(plane: Plane): void {
  const { api, clock } = plane;
  const since: TaintTimes = new Map();
  const evictions = plane.queue((key) => evict(plane, since, key));
  plane.watch("nodes", ({ type, object, previous }) => {
    if (type === "DELETED" || same(previous?.spec?.taints, object.spec?.taints)) return;
    noteTaints(since, object, clock.now());
    scheduleEvictions(plane, since, evictions, object.metadata.name);
  });
  plane.watch("pods", ({ type, object, previous }) => {
    const node = object.spec?.nodeName;
    if (type === "DELETED" || !node || previous?.spec?.nodeName === node) return;
    const taints: any[] = api.get("nodes", undefined, node)?.spec?.taints ?? [];
    if (taints.some((taint) => taint.effect === "NoExecute")) scheduleEvictions(plane, since, evictions, node);
  });
}

/** When each NoExecute taint was first seen on its node: not all taints say so themselves. */
type TaintTimes = Map<string, number>;

function taintId(node: string, taint: { key: string; value?: string }): string {
  return `${node} ${taint.key}=${taint.value ?? ""}`;
}

function noteTaints(times: TaintTimes, node: KubeObject, now: number): void {
  const taints: any[] = (node.spec?.taints ?? []).filter((taint: any) => taint.effect === "NoExecute");
  const ids = taints.map((taint) => taintId(node.metadata.name, taint));
  for (const id of times.keys()) if (id.startsWith(`${node.metadata.name} `) && !ids.includes(id)) times.delete(id);
  for (const id of ids) if (!times.has(id)) times.set(id, now);
}

function scheduleEvictions(plane: Plane, times: TaintTimes, evictions: ReturnType<Plane["queue"]>, node: string): void {
  for (const pod of plane.api.list("pods")) {
    const left = pod.spec?.nodeName === node ? toleratedFor(plane, times, pod) : undefined;
    if (left !== undefined && Number.isFinite(left)) {
      evictions.addAfter(`${pod.metadata.namespace}/${pod.metadata.name}`, left);
    }
  }
}

/** Milliseconds that the pod may stay on its tainted node; undefined when no NoExecute taint concerns it. */
function toleratedFor(plane: Plane, times: TaintTimes, pod: KubeObject): number | undefined {
  const taints: any[] = plane.api.get("nodes", undefined, pod.spec?.nodeName)?.spec?.taints ?? [];
  let left: number | undefined;
  for (const taint of taints) {
    if (taint.effect !== "NoExecute") continue;
    const tolerations = (pod.spec?.tolerations ?? []).filter((toleration: any) => tolerates(toleration, taint));
    if (tolerations.length === 0) return 0;
    const limits = tolerations
      .filter((t: any) => t.tolerationSeconds !== undefined)
      .map((t: any) => t.tolerationSeconds);
    if (limits.length === 0) continue;
    const since = times.get(taintId(pod.spec.nodeName, taint)) ?? plane.clock.now();
    const rest = Math.max(0, since + Math.min(...limits) * 1000 - plane.clock.now());
    left = Math.min(left ?? Number.POSITIVE_INFINITY, rest);
  }
  return left;
}

function evict(plane: Plane, times: TaintTimes, key: string): void {
  const [namespace, name = ""] = key.split("/");
  const pod = plane.api.get("pods", namespace, name);
  if (pod === undefined || isFinished(pod) || pod.metadata.deletionTimestamp !== undefined) return;
  if (toleratedFor(plane, times, pod) !== 0) return;
  plane.api.event(pod, {
    type: "Normal",
    reason: "TaintManagerEviction",
    message: `Marking for deletion Pod ${namespace}/${name}`,
    component: "taint-eviction-controller",
  });
  try {
    const why = "Taint manager: deleting due to NoExecute taint";
    markDisrupted(plane, pod, { reason: "DeletionByTaintManager", message: why });
    plane.api.delete("pods", namespace, name);
  } catch (error) {
    apiError(error);
  }
}

/** Whether a pod's toleration covers a node's taint. */
export function tolerates(toleration: any, taint: { key: string; value?: string; effect: string }): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  if (!toleration.key && toleration.operator !== "Exists") return false;
  return toleration.operator === "Exists" || (toleration.value ?? "") === (taint.value ?? "");
}
