/** Daemon sets: a pod on each node that its constraints allow, updated node by node. */
import type { KubeObject } from "../objects.js";
import { intOrPercent, same, setOrOmit } from "./fields.js";
import { type History, syncHistory, truncateHistory } from "./history.js";
import { keyOf, splitKey } from "./keys.js";
import { claim, controllerReference, MANAGER } from "./owners.js";
import { apiError, type Plane } from "./plane.js";
import { isAvailable, isReady, podFromTemplate } from "./pods.js";
import type { WorkQueue } from "./queue.js";
import { acceptsNode } from "./scheduler-filters.js";
import { replaceStatus } from "./status.js";

const DAEMON_SETS = "daemonsets.apps";
const HASH = "controller-revision-hash";
const GENERATION = "pod-template-generation";

/** What a daemon pod puts up with, so that it runs where its node's troubles are reported. */
const TOLERATIONS = [
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/disk-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/pid-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" },
];

export function startDaemonSets(plane: Plane): void {
  const queue = plane.queue((key) => sync(plane, queue, key));
  plane.follow(DAEMON_SETS, queue);
  plane.followOwned("pods", "DaemonSet", DAEMON_SETS, queue);
  plane.watch("nodes", ({ type, object, previous }) => {
    const relevant =
      type !== "MODIFIED" ||
      !same(previous?.spec, object.spec) ||
      !same(previous?.metadata.labels, object.metadata.labels);
    if (relevant) for (const set of plane.api.list(DAEMON_SETS)) queue.add(keyOf(set));
  });
}

interface Sync {
  plane: Plane;
  queue: WorkQueue;
  key: string;
  set: KubeObject;
  history: History;
  hash: string;
  /** Pods by the node that they are on or meant for. */
  byNode: Map<string, KubeObject[]>;
}

function sync(plane: Plane, queue: WorkQueue, key: string): void {
  const { namespace, name } = splitKey(key);
  const set = plane.api.get(DAEMON_SETS, namespace, name);
  if (set === undefined) {
    queue.forget(key);
    return;
  }
  const pods = claim(plane.api, set, "pods", set.spec.selector);
  const history = syncHistory(plane.api, set, HASH);
  const byNode = new Map<string, KubeObject[]>();
  for (const pod of pods) {
    const node = pod.spec?.nodeName ?? intendedNode(pod);
    byNode.set(node, [...(byNode.get(node) ?? []), pod]);
  }
  const state: Sync = {
    plane,
    queue,
    key,
    set,
    history,
    hash: history.update.metadata.labels?.[HASH] ?? "",
    byNode,
  };
  if (set.metadata.deletionTimestamp === undefined) {
    try {
      manage(state);
      if (set.spec.updateStrategy?.type !== "OnDelete") rollOver(state);
      queue.forget(key);
    } catch (error) {
      const { message } = apiError(error);
      if (!message.includes("because it is being terminated")) {
        event(state, "Warning", "FailedCreate", `Error creating: ${message}`);
        queue.retry(key);
      }
    }
  }
  writeStatus(state);
  const inUse = new Set(pods.map((pod) => `${name}-${pod.metadata.labels?.[HASH]}`));
  truncateHistory(plane.api, set, history, inUse);
}

/** The node that the pod's affinity names, before the scheduler has bound it. */
function intendedNode(pod: KubeObject): string {
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required?.nodeSelectorTerms?.[0]?.matchFields?.[0]?.values?.[0] ?? "";
}

function shouldRun(set: KubeObject, node: KubeObject): { run: boolean; stay: boolean } {
  const { spec } = set.spec.template;
  const pod = { ...set, spec: { ...spec, tolerations: [...(spec.tolerations ?? []), ...tolerationsFor(spec)] } };
  return acceptsNode(pod, node);
}

function tolerationsFor(spec: any): any[] {
  const network = { key: "node.kubernetes.io/network-unavailable", operator: "Exists", effect: "NoSchedule" };
  return spec.hostNetwork ? [...TOLERATIONS, network] : TOLERATIONS;
}

function manage(state: Sync): void {
  const { plane, set, byNode } = state;
  const nodes = plane.api.list("nodes");
  for (const node of nodes) {
    const here = byNode.get(node.metadata.name) ?? [];
    const { run, stay } = shouldRun(set, node);
    for (const pod of here) {
      if (pod.metadata.deletionTimestamp !== undefined) continue;
      if (pod.status?.phase === "Failed" || pod.status?.phase === "Succeeded") {
        const what = pod.status.phase === "Failed" ? "failed" : "succeeded";
        const reason = pod.status.phase === "Failed" ? "FailedDaemonPod" : "SucceededDaemonPod";
        const message = `Found ${what} daemon pod ${set.metadata.namespace}/${pod.metadata.name} on node ${node.metadata.name}, will try to ${what === "failed" ? "kill" : "delete"} it`;
        event(state, what === "failed" ? "Warning" : "Normal", reason, message);
        deletePod(state, pod);
      } else if (!stay) deletePod(state, pod);
    }
    if (run && here.length === 0) createPod(state, node.metadata.name);
  }
}

function createPod(state: Sync, node: string): void {
  const { plane, set, hash } = state;
  const pod = podFromTemplate(set.spec.template, set, controllerReference(set));
  const generation = set.metadata.annotations?.["deprecated.daemonset.template.generation"];
  pod.metadata.labels = {
    ...pod.metadata.labels,
    [HASH]: hash,
    ...(generation ? { [GENERATION]: generation } : {}),
  };
  const field = { key: "metadata.name", operator: "In", values: [node] };
  const affinity = pod.spec.affinity ?? {};
  const required = affinity.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required?.nodeSelectorTerms?.map((term: any) => ({ ...term, matchFields: [field] }));
  pod.spec.affinity = {
    ...affinity,
    nodeAffinity: {
      ...affinity.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms ?? [{ matchFields: [field] }] },
    },
  };
  pod.spec.tolerations = [...(pod.spec.tolerations ?? []), ...tolerationsFor(pod.spec)];
  const created = plane.api.create("pods", pod, { manager: MANAGER });
  event(state, "Normal", "SuccessfulCreate", `Created pod: ${created.metadata.name}`);
}

function deletePod(state: Sync, pod: KubeObject): void {
  const { namespace, name } = pod.metadata;
  if (state.plane.api.delete("pods", namespace, name) === undefined) return;
  event(state, "Normal", "SuccessfulDelete", `Deleted pod: ${name}`);
}

/** Deletes outdated pods: those that are not available first, others as far as maxUnavailable allows. */
function rollOver(state: Sync): void {
  const { plane, set, byNode, hash } = state;
  const nodes = plane.api.list("nodes").filter((node) => shouldRun(set, node).run);
  const rolling = set.spec.updateStrategy?.rollingUpdate ?? {};
  const limit = Math.max(1, intOrPercent(rolling.maxUnavailable ?? 1, nodes.length, "up"));
  let unavailable = 0;
  const willing: KubeObject[] = [];
  for (const node of nodes) {
    const here = byNode.get(node.metadata.name) ?? [];
    const living = here.filter((pod) => pod.metadata.deletionTimestamp === undefined);
    const outdated = living.find((pod) => pod.metadata.labels?.[HASH] !== hash);
    const ok = living.some((pod) => available(state, pod));
    if (outdated && !ok) deletePod(state, outdated);
    else if (outdated) willing.push(outdated);
    if (!ok) unavailable++;
  }
  for (const pod of willing.slice(0, Math.max(0, limit - unavailable))) deletePod(state, pod);
}

function available(state: Sync, pod: KubeObject): boolean {
  return isAvailable(pod, state.set.spec.minReadySeconds ?? 0, state.plane.clock.now());
}

function writeStatus(state: Sync): void {
  const { plane, set, byNode, hash, queue, key } = state;
  const counts = { desired: 0, current: 0, misplaced: 0, ready: 0, available: 0, updated: 0 };
  for (const node of plane.api.list("nodes")) {
    const living = (byNode.get(node.metadata.name) ?? []).filter((pod) => !pod.metadata.deletionTimestamp);
    if (!shouldRun(set, node).run) {
      if (living.length > 0) counts.misplaced++;
      continue;
    }
    counts.desired++;
    const pod = living[0];
    if (pod === undefined) continue;
    counts.current++;
    if (pod.metadata.labels?.[HASH] === hash) counts.updated++;
    if (!isReady(pod)) continue;
    counts.ready++;
    if (available(state, pod)) counts.available++;
    else queue.addAfter(key, (set.spec.minReadySeconds ?? 0) * 1000);
  }
  const status: any = {
    ...set.status,
    currentNumberScheduled: counts.current,
    desiredNumberScheduled: counts.desired,
    numberMisscheduled: counts.misplaced,
    numberReady: counts.ready,
    observedGeneration: set.metadata.generation ?? 1,
  };
  setOrOmit(status, "numberAvailable", counts.available);
  setOrOmit(status, "numberUnavailable", counts.desired - counts.available);
  setOrOmit(status, "updatedNumberScheduled", counts.updated);
  replaceStatus(plane.api, DAEMON_SETS, set, status);
}

function event(state: Sync, type: "Normal" | "Warning", reason: string, message: string): void {
  state.plane.api.event(state.set, { type, reason, message, component: "daemonset-controller" });
}
