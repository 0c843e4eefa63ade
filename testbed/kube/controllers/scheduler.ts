/** The default scheduler: assigns pods to nodes, says why it cannot, and makes room for the more important ones. */
import { type KubeObject, timestamp } from "../objects.js";
import { markDisrupted } from "./disruption-target.js";
import { same } from "./fields.js";
import { splitKey } from "./keys.js";
import { apiError, type Plane } from "./plane.js";
import { condition, isFinished } from "./pods.js";
import type { WorkQueue } from "./queue.js";
import { Demands, type Refusal, refusal, type Snapshot, score } from "./scheduler-filters.js";

const SCHEDULER = "default-scheduler";
const MANAGER = "kube-scheduler";
/** A pod that did not fit is tried again when the cluster changes, and in any case after this long. */
const FLUSH_MS = 300_000;
/** Not a refusal: the pod has its node, and waits there for its volume. */
const PROVISIONING = "provisioning";
export function startScheduler(plane: Plane): void {
  /** Pods that fitted nowhere, by key; true for those with claims. */
  const waiting = new Map<string, boolean>();
  const demands = new Demands();
  const queue: WorkQueue = plane.queue((key) => attempt(plane, queue, waiting, demands, key));
  const wake = () => {
    for (const key of waiting.keys()) queue.add(key);
  };
  const wakeClaimants = () => {
    for (const [key, hasClaims] of waiting) if (hasClaims) queue.add(key);
  };
  plane.watch("pods", (event) => {
    const pod = event.object;
    const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
    if (event.type === "DELETED") {
      waiting.delete(key);
      demands.forget(pod);
      if (pod.spec?.nodeName) wake();
    } else if (isWaiting(pod)) {
      const changed = event.previous && event.previous.metadata.generation !== pod.metadata.generation;
      if (event.type === "ADDED" || changed) queue.add(key);
    } else if (event.previous && !isFinished(event.previous) && isFinished(pod)) {
      wake();
    }
  });
  plane.watch("nodes", (event) => {
    const { object, previous } = event;
    const matters =
      previous === undefined ||
      !same(previous.spec, object.spec) ||
      !same(previous.metadata.labels, object.metadata.labels) ||
      !same(previous.status?.allocatable, object.status?.allocatable);
    if (matters) wake();
  });
  for (const resource of ["persistentvolumeclaims", "persistentvolumes", "storageclasses.storage.k8s.io"]) {
    plane.watch(resource, wakeClaimants);
  }
}

function isWaiting(pod: KubeObject): boolean {
  return (
    !pod.spec?.nodeName &&
    pod.metadata.deletionTimestamp === undefined &&
    (pod.spec?.schedulerName ?? SCHEDULER) === SCHEDULER &&
    !isFinished(pod)
  );
}

function attempt(plane: Plane, queue: WorkQueue, waiting: Map<string, boolean>, demands: Demands, key: string): void {
  const { namespace, name } = splitKey(key);
  const pod = plane.api.get("pods", namespace, name);
  if (pod === undefined || !isWaiting(pod)) {
    waiting.delete(key);
    return;
  }
  if ((pod.spec?.schedulingGates ?? []).length > 0) {
    markUnscheduled(plane, pod, "SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates");
    return;
  }
  const snapshot = takeSnapshot(plane, demands, pod);
  const why = bindVolumes(plane, pod, snapshot) ?? place(plane, pod, snapshot);
  if (why === undefined) {
    waiting.delete(key);
    return;
  }
  if (why !== PROVISIONING) {
    plane.api.event(pod, {
      type: "Warning",
      reason: "FailedScheduling",
      message: why,
      component: SCHEDULER,
      action: "Scheduling",
    });
    markUnscheduled(plane, pod, "Unschedulable", why);
  }
  const hasClaims = (pod.spec?.volumes ?? []).some((volume: any) => volume.persistentVolumeClaim || volume.ephemeral);
  waiting.set(key, hasClaims);
  queue.addAfter(key, FLUSH_MS);
}

function takeSnapshot(plane: Plane, demands: Demands, pod: KubeObject): Snapshot {
  const podsOn = new Map<string, KubeObject[]>();
  const priority = pod.spec?.priority ?? 0;
  for (const other of plane.api.list("pods")) {
    if (isFinished(other) || other.metadata.uid === pod.metadata.uid) continue;
    // A node that was cleared for a pod is kept for it.
    const nominated = other.spec?.nodeName ? undefined : other.status?.nominatedNodeName;
    const node = other.spec?.nodeName ?? ((other.spec?.priority ?? 0) >= priority ? nominated : undefined);
    if (!node) continue;
    const pods = podsOn.get(node);
    if (pods) pods.push(other);
    else podsOn.set(node, [other]);
  }
  return { api: plane.api, nodes: plane.api.list("nodes"), podsOn, demands };
}

/** Binds the pod to the best node, or tells why there is none. */
function place(plane: Plane, pod: KubeObject, snapshot: Snapshot): string | undefined {
  if (snapshot.nodes.length === 0) return "no nodes available to schedule pods";
  const refusals = new Map<string, Refusal>();
  let best: KubeObject[] = [];
  let bestScore = Number.NEGATIVE_INFINITY;
  for (const node of snapshot.nodes) {
    const refused = refusal(pod, node, snapshot);
    if (refused) {
      refusals.set(node.metadata.name, refused);
      continue;
    }
    const points = score(pod, node, snapshot);
    if (points > bestScore + 1e-9) {
      best = [node];
      bestScore = points;
    } else if (points > bestScore - 1e-9) best.push(node);
  }
  if (best.length > 0) {
    bind(plane, pod, plane.random.pick(best).metadata.name);
    return undefined;
  }
  const total = snapshot.nodes.length;
  const summary = `0/${total} nodes are available: ${tally([...refusals.values()].flatMap((r) => r.reasons))}.`;
  const preemption = preempt(plane, pod, snapshot, refusals);
  return preemption === undefined ? summary : `${summary} no new claims to deallocate, preemption: ${preemption}`;
}

/** `2 Insufficient cpu, 1 node(s) were unschedulable`, sorted as text. */
function tally(reasons: string[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(", ");
}

function bind(plane: Plane, pod: KubeObject, node: string): void {
  const change = (draft: KubeObject) => {
    draft.spec.nodeName = node;
    draft.status ??= {};
    const others = (draft.status.conditions ?? []).filter((entry: any) => entry.type !== "PodScheduled");
    const lastTransitionTime = timestamp(plane.clock.now());
    draft.status.conditions = [
      ...others,
      { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime },
    ];
    delete draft.status.nominatedNodeName;
  };
  const bound = plane.api.modify("pods", pod.metadata.namespace, pod.metadata.name, change, {
    manager: MANAGER,
    subresource: "binding",
  });
  if (bound === undefined) return;
  plane.api.event(pod, {
    type: "Normal",
    reason: "Scheduled",
    message: `Successfully assigned ${pod.metadata.namespace}/${pod.metadata.name} to ${node}`,
    component: SCHEDULER,
    action: "Binding",
  });
}

function markUnscheduled(plane: Plane, pod: KubeObject, reason: string, message: string): void {
  const now = timestamp(plane.clock.now());
  const current = condition(pod, "PodScheduled");
  if (current?.reason === reason && current.message === message) return;
  const change = (draft: KubeObject) => {
    draft.status ??= {};
    const others = (draft.status.conditions ?? []).filter((entry: any) => entry.type !== "PodScheduled");
    draft.status.conditions = [
      ...others,
      {
        type: "PodScheduled",
        status: "False",
        lastProbeTime: null,
        lastTransitionTime: current?.status === "False" ? current.lastTransitionTime : now,
        reason,
        message,
        observedGeneration: draft.metadata.generation ?? 1,
      },
    ];
  };
  plane.api.modify("pods", pod.metadata.namespace, pod.metadata.name, change, {
    manager: MANAGER,
    subresource: "status",
  });
}

/** Checks the pod's claims; one that waits for its first consumer is told which node it will be. */
function bindVolumes(plane: Plane, pod: KubeObject, snapshot: Snapshot): string | undefined {
  const { api } = plane;
  const total = snapshot.nodes.length;
  // The end is the scheduler's own: a later step misses what this one, having failed, did not leave it.
  const refuse = (why: string) => `0/${total} nodes are available: ${why}. not found`;
  for (const volume of pod.spec?.volumes ?? []) {
    const name =
      volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral ? `${pod.metadata.name}-${volume.name}` : undefined);
    if (name === undefined) continue;
    const claim = api.get("persistentvolumeclaims", pod.metadata.namespace, name);
    if (claim === undefined) return refuse(`persistentvolumeclaim "${name}" not found`);
    if (claim.metadata.deletionTimestamp !== undefined) {
      return refuse(`persistentvolumeclaim "${name}" is being deleted`);
    }
    if (claim.spec?.volumeName && claim.status?.phase === "Bound") continue;
    const storageClass = api.get("storageclasses.storage.k8s.io", undefined, claim.spec?.storageClassName ?? "");
    if (storageClass?.volumeBindingMode !== "WaitForFirstConsumer") {
      return refuse("pod has unbound immediate PersistentVolumeClaims");
    }
    requestVolume(plane, pod, claim, snapshot);
    return PROVISIONING;
  }
  return undefined;
}

function requestVolume(plane: Plane, pod: KubeObject, claim: KubeObject, snapshot: Snapshot): void {
  const node = snapshot.nodes.find((candidate) => refusal(pod, candidate, snapshot) === undefined);
  if (node === undefined) return;
  const change = (draft: KubeObject) => {
    draft.metadata.annotations = {
      ...draft.metadata.annotations,
      "volume.kubernetes.io/selected-node": node.metadata.name,
    };
  };
  plane.api.modify("persistentvolumeclaims", claim.metadata.namespace, claim.metadata.name, change, {
    manager: MANAGER,
  });
}

// --- preemption ----------------------------------------------------------------------------------------------------

/** Evicts less important pods where that makes room; where none does, returns what the event says about it. */
function preempt(
  plane: Plane,
  pod: KubeObject,
  snapshot: Snapshot,
  refusals: Map<string, Refusal>,
): string | undefined {
  const total = snapshot.nodes.length;
  const sentence = (reasons: string[]) => `0/${total} nodes are available: ${tally(reasons)}.`;
  if (pod.spec?.preemptionPolicy === "Never") {
    return "not eligible due to preemptionPolicy=Never.";
  }
  const options: { node: KubeObject; victims: KubeObject[] }[] = [];
  const reasons: string[] = [];
  for (const node of snapshot.nodes) {
    if (refusals.get(node.metadata.name)?.hopeless) {
      reasons.push("Preemption is not helpful for scheduling");
      continue;
    }
    const victims = victimsOn(pod, node, snapshot);
    if (victims === undefined) reasons.push("No preemption victims found for incoming pod");
    else options.push({ node, victims });
  }
  const choice = options.sort(
    (a, b) => highest(a.victims) - highest(b.victims) || a.victims.length - b.victims.length,
  )[0];
  if (choice === undefined) return sentence(reasons);
  for (const victim of choice.victims) evict(plane, pod, victim, choice.node.metadata.name);
  const change = (draft: KubeObject) => {
    draft.status = { ...draft.status, nominatedNodeName: choice.node.metadata.name };
  };
  plane.api.modify("pods", pod.metadata.namespace, pod.metadata.name, change, {
    manager: MANAGER,
    subresource: "status",
  });
  return undefined;
}

function highest(pods: KubeObject[]): number {
  return Math.max(...pods.map((pod) => pod.spec?.priority ?? 0));
}

/** The fewest less important pods whose end makes room, least important first. */
function victimsOn(pod: KubeObject, node: KubeObject, snapshot: Snapshot): KubeObject[] | undefined {
  const priority = pod.spec?.priority ?? 0;
  const here = snapshot.podsOn.get(node.metadata.name) ?? [];
  const lesser = here
    .filter((other) => (other.spec?.priority ?? 0) < priority && other.metadata.deletionTimestamp === undefined)
    .sort((a, b) => (b.spec?.priority ?? 0) - (a.spec?.priority ?? 0));
  if (lesser.length === 0) return undefined;
  const fits = (pods: KubeObject[]) =>
    refusal(pod, node, { ...snapshot, podsOn: new Map(snapshot.podsOn).set(node.metadata.name, pods) }) === undefined;
  let kept = here.filter((other) => !lesser.includes(other));
  if (!fits(kept)) return undefined;
  const victims: KubeObject[] = [];
  for (const other of lesser) {
    // Reprieve the more important ones first, as long as the pod still fits.
    if (fits([...kept, other])) kept = [...kept, other];
    else victims.push(other);
  }
  return victims;
}

function evict(plane: Plane, pod: KubeObject, victim: KubeObject, node: string): void {
  const { api } = plane;
  try {
    const why = `${SCHEDULER}: preempting to accommodate a higher priority pod`;
    markDisrupted(plane, victim, { reason: "PreemptionByScheduler", message: why, manager: MANAGER });
    api.event(victim, {
      type: "Normal",
      reason: "Preempted",
      message: `Preempted by pod ${pod.metadata.uid} on node ${node}`,
      component: SCHEDULER,
      action: "Preempting",
    });
    api.delete("pods", victim.metadata.namespace, victim.metadata.name);
  } catch (error) {
    apiError(error);
  }
}
