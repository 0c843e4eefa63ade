/** Replica sets: as many pods as asked for, the most expendable deleted first. */
import { type KubeObject, timestamp } from "../objects.js";
import { setOrOmit } from "./fields.js";
import { splitKey } from "./keys.js";
import { claim, controllerOf, controllerReference, isControlledBy, MANAGER } from "./owners.js";
import { apiError, createdAt, type Plane } from "./plane.js";
import { isActive, isAvailable, isReady, maxRestarts, podFromTemplate, readySince } from "./pods.js";
import type { WorkQueue } from "./queue.js";
import { hasLabels } from "./selectors.js";
import { replaceStatus } from "./status.js";

const REPLICA_SETS = "replicasets.apps";
/** Pods created or deleted in one reconcile at most. */
const BURST = 500;
const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";

export function startReplicaSets(plane: Plane): void {
  const queue = plane.queue((key) => sync(plane, queue, key));
  plane.follow(REPLICA_SETS, queue);
  plane.followOwned("pods", "ReplicaSet", REPLICA_SETS, queue);
}

function sync(plane: Plane, queue: WorkQueue, key: string): void {
  const { namespace, name } = splitKey(key);
  const set = plane.api.get(REPLICA_SETS, namespace, name);
  if (set === undefined) {
    queue.forget(key);
    return;
  }
  const pods = claim(plane.api, set, "pods", set.spec?.selector, isActive).filter(isActive);
  const { changed, failure } =
    set.metadata.deletionTimestamp === undefined ? manage(plane, set, pods) : { changed: false, failure: undefined };
  if (failure) queue.retry(key);
  else queue.forget(key);
  // Pods that came or went bring the key back in this instant; until then there is no need to write.
  if (!changed || failure) writeStatus(plane, queue, key, set, pods, failure);
}

interface Managed {
  changed: boolean;
  failure?: { reason: string; message: string };
}

function manage(plane: Plane, set: KubeObject, pods: KubeObject[]): Managed {
  const missing = (set.spec?.replicas ?? 1) - pods.length;
  if (missing < 0) return { changed: deletePods(plane, set, pods, Math.min(-missing, BURST)) };
  for (let i = 0; i < Math.min(missing, BURST); i++) {
    try {
      const pod = podFromTemplate(set.spec.template, set, controllerReference(set));
      const created = plane.api.create("pods", pod, { manager: MANAGER });
      event(plane, set, "Normal", "SuccessfulCreate", `Created pod: ${created.metadata.name}`);
    } catch (error) {
      const { message, reason } = apiError(error);
      const namespaceGone = reason === "NotFound" || message.includes("because it is being terminated");
      if (namespaceGone) return { changed: i > 0 };
      event(plane, set, "Warning", "FailedCreate", `Error creating: ${message}`);
      return { changed: i > 0, failure: { reason: "FailedCreate", message } };
    }
  }
  return { changed: missing > 0 };
}

function deletePods(plane: Plane, set: KubeObject, pods: KubeObject[], count: number): boolean {
  let changed = false;
  for (const pod of byExpendability(plane, set, pods).slice(0, count)) {
    if (plane.api.delete("pods", pod.metadata.namespace, pod.metadata.name) === undefined) continue;
    event(plane, set, "Normal", "SuccessfulDelete", `Deleted pod: ${pod.metadata.name}`);
    changed = true;
  }
  return changed;
}

const PHASE_RANK: Record<string, number> = { Pending: 0, Unknown: 1, Running: 2 };

/**
 * Order of deletion: unassigned, pending, not ready; then lower deletion cost, nodes that hold more of the same
 * deployment's pods, ready for a shorter time, more restarts, younger.
 */
function byExpendability(plane: Plane, set: KubeObject, pods: KubeObject[]): KubeObject[] {
  const crowd = nodeCrowd(plane, set);
  const now = plane.clock.now();
  const keys = new Map(
    pods.map((pod) => [
      pod,
      [
        pod.spec?.nodeName ? 1 : 0,
        PHASE_RANK[pod.status?.phase ?? "Pending"] ?? 1,
        isReady(pod) ? 1 : 0,
        Number(pod.metadata.annotations?.[DELETION_COST] ?? 0) || 0,
        -(crowd.get(pod.spec?.nodeName ?? "") ?? 0),
        Math.floor(Math.log2(Math.max(1, now - (readySince(pod) ?? now)))),
        -maxRestarts(pod),
        Math.floor(Math.log2(Math.max(1, now - createdAt(pod)))),
      ],
    ]),
  );
  return [...pods].sort((a, b) => compareKeys(keys.get(a) ?? [], keys.get(b) ?? []));
}

function compareKeys(a: number[], b: number[]): number {
  for (let i = 0; i < a.length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Active pods a node, of all replica sets of the same deployment. */
function nodeCrowd(plane: Plane, set: KubeObject): Map<string, number> {
  const owner = controllerOf(set);
  const related = owner
    ? plane.api.list(REPLICA_SETS, set.metadata.namespace).filter((other) => controllerOf(other)?.uid === owner.uid)
    : [set];
  const crowd = new Map<string, number>();
  for (const pod of plane.api.list("pods", set.metadata.namespace)) {
    const node = pod.spec?.nodeName;
    if (!node || !isActive(pod) || !related.some((other) => isControlledBy(pod, other))) continue;
    crowd.set(node, (crowd.get(node) ?? 0) + 1);
  }
  return crowd;
}

function writeStatus(
  plane: Plane,
  queue: WorkQueue,
  key: string,
  set: KubeObject,
  pods: KubeObject[],
  failure: { reason: string; message: string } | undefined,
): void {
  const now = plane.clock.now();
  const minReady = set.spec?.minReadySeconds ?? 0;
  const ready = pods.filter(isReady);
  const available = ready.filter((pod) => isAvailable(pod, minReady, now));
  const labels = set.spec?.template?.metadata?.labels ?? {};
  const status: any = { ...set.status, replicas: pods.length, observedGeneration: set.metadata.generation ?? 1 };
  setOrOmit(status, "fullyLabeledReplicas", pods.filter((pod) => hasLabels(pod.metadata.labels, labels)).length);
  setOrOmit(status, "readyReplicas", ready.length);
  setOrOmit(status, "availableReplicas", available.length);
  setOrOmit(status, "conditions", failureCondition(status.conditions ?? [], failure, timestamp(now)));
  replaceStatus(plane.api, REPLICA_SETS, set, status);
  if (available.length < ready.length) {
    const next = Math.min(
      ...ready.filter((pod) => !available.includes(pod)).map((pod) => (readySince(pod) ?? now) + minReady * 1000 - now),
    );
    queue.addAfter(key, Math.max(1, next));
  }
}

function failureCondition(conditions: any[], failure: { reason: string; message: string } | undefined, now: string) {
  const others = conditions.filter((condition) => condition.type !== "ReplicaFailure");
  if (failure === undefined) return others;
  const current = conditions.find((condition) => condition.type === "ReplicaFailure");
  if (current) return conditions;
  return [...others, { type: "ReplicaFailure", status: "True", ...failure, lastTransitionTime: now }];
}

function event(plane: Plane, set: KubeObject, type: "Normal" | "Warning", reason: string, message: string): void {
  plane.api.event(set, { type, reason, message, component: "replicaset-controller" });
}
