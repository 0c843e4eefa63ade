/** The life of nodes: heartbeats, loss, and the taints that follow from their condition. */
import { type KubeObject, timestamp } from "../objects.js";
import { setOrOmit } from "./fields.js";
import { healthyConditions, LEASES, micro } from "./node-specs.js";
import { MANAGER } from "./owners.js";
import type { Plane } from "./plane.js";
import { condition } from "./pods.js";

/** A node whose kubelet has been silent this long counts as lost. */
const GRACE_MS = 50_000;
const HEARTBEAT_MS = 300_000;

const UNREACHABLE = "node.kubernetes.io/unreachable";
const NOT_READY = "node.kubernetes.io/not-ready";
const UNSCHEDULABLE = "node.kubernetes.io/unschedulable";
const PRESSURE_TAINTS: Record<string, string> = {
  MemoryPressure: "node.kubernetes.io/memory-pressure",
  DiskPressure: "node.kubernetes.io/disk-pressure",
  PIDPressure: "node.kubernetes.io/pid-pressure",
};

export interface NodeWatch {
  /** A node's kubelet fell silent, or reports again. */
  changed(node: string, down: boolean): void;
}

/**
 * The node lifecycle controller, and the heartbeats of the kubelets.
 * @param isSilent whether the node's kubelet has stopped reporting (a lost node); it is asked when heartbeats are due
 */
export function startNodes(plane: Plane, isSilent: (node: string) => boolean): NodeWatch {
  const { api } = plane;
  const known = new Set<string>();
  const queue = plane.queue((key) => syncNode(plane, key.slice(1)));
  plane.watch("nodes", ({ type, object }) => {
    const { name } = object.metadata;
    if (type === "DELETED") {
      known.delete(name);
      return;
    }
    if (!known.has(name)) {
      known.add(name);
      const message = `Node ${name} event: Registered Node ${name} in Controller`;
      plane.after(0, () => {
        const node = api.get("nodes", undefined, name);
        if (node) api.event(node, { type: "Normal", reason: "RegisteredNode", message, component: "node-controller" });
      });
    }
    queue.add(`/${name}`);
  });
  plane.every(HEARTBEAT_MS, () => {
    for (const node of api.list("nodes")) {
      if (!isSilent(node.metadata.name)) heartbeat(plane, node.metadata.name);
    }
  });
  return {
    changed: (node, down) => {
      if (!down) return heartbeat(plane, node);
      plane.after(GRACE_MS, () => {
        if (isSilent(node)) markLost(plane, node);
      });
    },
  };
}

function writeStatus(plane: Plane, name: string, manager: string, change: (node: KubeObject) => void): void {
  plane.api.modify("nodes", undefined, name, change, { manager, subresource: "status" });
}

/** The kubelet's report: all is well, and when. */
export function heartbeat(plane: Plane, name: string): void {
  const now = timestamp(plane.clock.now());
  const before = plane.api.get("nodes", undefined, name);
  const wasLost = before !== undefined && condition(before, "Ready")?.status === "Unknown";
  const manager = plane.profile === "kwok" ? "kwok" : "kubelet";
  const renew = (lease: KubeObject) => {
    lease.spec.renewTime = micro(plane.clock.now());
  };
  plane.api.modify(LEASES, "kube-node-lease", name, renew, { manager });
  writeStatus(plane, name, manager, (node) => {
    const healthy = healthyConditions(plane.profile !== "kwok", now);
    for (const entry of node.status?.conditions ?? []) {
      entry.lastHeartbeatTime = now;
      if (entry.status !== "Unknown") continue;
      const restored = healthy.find((candidate) => candidate.type === entry.type);
      if (restored) Object.assign(entry, restored);
    }
  });
  if (!wasLost) return;
  const node = plane.api.get("nodes", undefined, name);
  const message = `Node ${name} status is now: NodeReady`;
  if (node) plane.api.event(node, { type: "Normal", reason: "NodeReady", message, component: "kubelet", host: name });
}

function markLost(plane: Plane, name: string): void {
  const now = timestamp(plane.clock.now());
  writeStatus(plane, name, MANAGER, (node) => {
    for (const entry of node.status?.conditions ?? []) {
      if (entry.status === "Unknown" || entry.type === "NetworkUnavailable") continue;
      entry.status = "Unknown";
      entry.reason = "NodeStatusUnknown";
      entry.message = "Kubelet stopped posting node status.";
      entry.lastTransitionTime = now;
    }
  });
  const node = plane.api.get("nodes", undefined, name);
  const message = `Node ${name} status is now: NodeNotReady`;
  if (node) plane.api.event(node, { type: "Normal", reason: "NodeNotReady", message, component: "node-controller" });
}

/** Taints follow the conditions; pods of a node that is not ready are marked not ready. */
function syncNode(plane: Plane, name: string): void {
  const { api } = plane;
  const node = api.get("nodes", undefined, name);
  if (node === undefined) return;
  const now = timestamp(plane.clock.now());
  const ready = condition(node, "Ready")?.status;
  const wanted: { key: string; effect: string }[] = [];
  if (ready === "Unknown")
    wanted.push({ key: UNREACHABLE, effect: "NoSchedule" }, { key: UNREACHABLE, effect: "NoExecute" });
  if (ready === "False") wanted.push({ key: NOT_READY, effect: "NoSchedule" }, { key: NOT_READY, effect: "NoExecute" });
  if (node.spec?.unschedulable) wanted.push({ key: UNSCHEDULABLE, effect: "NoSchedule" });
  for (const [type, key] of Object.entries(PRESSURE_TAINTS)) {
    if (condition(node, type)?.status === "True") wanted.push({ key, effect: "NoSchedule" });
  }
  const managed = new Set([UNREACHABLE, NOT_READY, UNSCHEDULABLE, ...Object.values(PRESSURE_TAINTS)]);
  const current: any[] = node.spec?.taints ?? [];
  const isWanted = (taint: any) => wanted.some((each) => each.key === taint.key && each.effect === taint.effect);
  const kept = current.filter((taint) => !managed.has(taint.key) || isWanted(taint));
  const added = wanted.filter((each) => !current.some((t) => t.key === each.key && t.effect === each.effect));
  if (added.length > 0 || kept.length < current.length) {
    const change = (draft: KubeObject) => {
      draft.spec ??= {};
      setOrOmit(draft.spec, "taints", [...kept, ...added.map((taint) => ({ ...taint, timeAdded: now }))]);
    };
    api.modify("nodes", undefined, name, change, { manager: MANAGER });
  }
  if (ready !== "True" && ready !== undefined) markPodsNotReady(plane, node, now);
}

function markPodsNotReady(plane: Plane, node: KubeObject, now: string): void {
  for (const pod of plane.api.list("pods")) {
    if (pod.spec?.nodeName !== node.metadata.name || condition(pod, "Ready")?.status !== "True") continue;
    plane.api.event(pod, {
      type: "Warning",
      reason: "NodeNotReady",
      message: "Node is not ready",
      component: "node-controller",
    });
    const change = (draft: KubeObject) => {
      const entry = condition(draft, "Ready");
      entry.status = "False";
      entry.lastTransitionTime = now;
    };
    plane.api.modify("pods", pod.metadata.namespace, pod.metadata.name, change, {
      manager: MANAGER,
      subresource: "status",
    });
  }
}
