/** Nodes: how they look when they are made, and their lifecycle: heartbeats, taints, eviction after a loss. */
import type { KubeApi } from "../api.js";
import { type KubeObject, timestamp } from "../objects.js";
import { same, setOrOmit } from "./fields.js";
import { keyOf, splitKey } from "./keys.js";
import { MANAGER } from "./owners.js";
import { apiError, type Plane, type Profile } from "./plane.js";
import { condition, isFinished } from "./pods.js";

export interface NodeSpec {
  name: string;
  labels: Record<string, string>;
  annotations?: Record<string, string>;
  taints?: { key: string; value?: string; effect: string }[];
  capacity: Record<string, string>;
  allocatable: Record<string, string>;
  addresses?: { type: string; address: string }[];
  nodeInfo: Record<string, string>;
  podCIDR?: string;
  providerID?: string;
  images?: { names: string[]; sizeBytes: number }[];
}

/** A node whose kubelet has been silent this long counts as lost. */
const GRACE_MS = 50_000;
/** How long a node must have been missing before its pods are given up. */
const ORPHAN_MS = 40_000;
const HEARTBEAT_MS = 300_000;
const LEASES = "leases.coordination.k8s.io";

/**
 * `count` nodes. Profile `kwok`: `node-1`..., 8 CPU, 32Gi, as a fake kubelet registers them. Profile `containerd`: a
 * control plane and workers as a small real cluster shows them.
 */
export function nodeSpecs(count: number, profile: Profile): NodeSpec[] {
  return Array.from({ length: count }, (_, i) => (profile === "kwok" ? kwokNode(i + 1) : containerdNode(i)));
}

function kwokNode(index: number): NodeSpec {
  const name = `node-${index}`;
  const resources = { cpu: "8", memory: "32Gi", pods: "110" };
  return {
    name,
    labels: {
      "beta.kubernetes.io/arch": "amd64",
      "beta.kubernetes.io/os": "linux",
      "kubernetes.io/arch": "amd64",
      "kubernetes.io/hostname": name,
      "kubernetes.io/os": "linux",
    },
    annotations: { "node.alpha.kubernetes.io/ttl": "0" },
    capacity: resources,
    allocatable: resources,
    nodeInfo: {
      architecture: "amd64",
      bootID: "",
      containerRuntimeVersion: "kwok-0.8.0",
      kernelVersion: "kwok-0.8.0",
      kubeProxyVersion: "kwok-0.8.0",
      kubeletVersion: "kwok-0.8.0",
      machineID: "",
      operatingSystem: "linux",
      osImage: "",
      systemUUID: "",
    },
  };
}

/** The first node is the control plane; it takes no ordinary pods. */
function containerdNode(index: number): NodeSpec {
  const controlPlane = index === 0;
  const name = controlPlane ? "control-plane" : `worker-${index}`;
  const address = `172.18.0.${index + 2}`;
  return {
    name,
    labels: {
      "beta.kubernetes.io/arch": "amd64",
      "beta.kubernetes.io/os": "linux",
      "kubernetes.io/arch": "amd64",
      "kubernetes.io/hostname": name,
      "kubernetes.io/os": "linux",
      ...(controlPlane
        ? {
            "node-role.kubernetes.io/control-plane": "",
            "node.kubernetes.io/exclude-from-external-load-balancers": "",
          }
        : {}),
    },
    annotations: {
      "node.alpha.kubernetes.io/ttl": "0",
      "volumes.kubernetes.io/controller-managed-attach-detach": "true",
    },
    ...(controlPlane ? { taints: [{ key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" }] } : {}),
    capacity: {
      cpu: "8",
      "ephemeral-storage": "102108092Ki",
      "hugepages-1Gi": "0",
      "hugepages-2Mi": "0",
      memory: "32868016Ki",
      pods: "110",
    },
    allocatable: {
      cpu: "8",
      "ephemeral-storage": "102108092Ki",
      "hugepages-1Gi": "0",
      "hugepages-2Mi": "0",
      memory: "32868016Ki",
      pods: "110",
    },
    addresses: [
      { type: "InternalIP", address },
      { type: "Hostname", address: name },
    ],
    podCIDR: `10.244.${index}.0/24`,
    nodeInfo: {
      architecture: "amd64",
      bootID: "",
      containerRuntimeVersion: "containerd://2.1.4",
      kernelVersion: "6.8.0-79-generic",
      kubeProxyVersion: "",
      kubeletVersion: "v1.34.2",
      machineID: "",
      operatingSystem: "linux",
      osImage: "Debian GNU/Linux 12 (bookworm)",
      systemUUID: "",
    },
  };
}

/** Registers nodes; those that exist already are left alone. */
export function createNodes(api: KubeApi, specs: NodeSpec[]): void {
  const random = api.random.fork("nodes");
  for (const spec of specs) {
    if (api.get("nodes", undefined, spec.name) !== undefined) continue;
    const real = spec.addresses !== undefined;
    const manager = real ? "kubelet" : "kwok";
    const info = real
      ? { ...spec.nodeInfo, machineID: random.hex(32), systemUUID: random.uuid(), bootID: random.uuid() }
      : spec.nodeInfo;
    api.create(
      "nodes",
      {
        apiVersion: "v1",
        kind: "Node",
        metadata: {
          name: spec.name,
          labels: spec.labels,
          ...(spec.annotations ? { annotations: spec.annotations } : {}),
        },
        spec: {
          ...(spec.podCIDR ? { podCIDR: spec.podCIDR, podCIDRs: [spec.podCIDR] } : {}),
          ...(spec.taints ? { taints: spec.taints } : {}),
        },
      },
      { manager },
    );
    const change = (node: KubeObject) => {
      node.status = {
        ...(spec.addresses ? { addresses: spec.addresses } : {}),
        allocatable: spec.allocatable,
        capacity: spec.capacity,
        conditions: healthyConditions(real, timestamp(api.clock.now())),
        daemonEndpoints: { kubeletEndpoint: { Port: real ? 10250 : 0 } },
        ...(spec.images ? { images: spec.images } : {}),
        nodeInfo: info,
        phase: "Running",
      };
      if (real) delete node.status.phase;
    };
    api.modify("nodes", undefined, spec.name, change, { manager, subresource: "status" });
    if (real) announce(api, spec.name);
  }
}

/** What a real kubelet says when it starts, and the lease that it keeps. */
function announce(api: KubeApi, name: string): void {
  const node = api.get("nodes", undefined, name);
  if (node === undefined) return;
  const say = (reason: string, message: string) =>
    api.event(node, { type: "Normal", reason, message, component: "kubelet", host: name });
  say("Starting", "Starting kubelet.");
  for (const status of ["NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID"]) {
    say(status, `Node ${name} status is now: ${status}`);
  }
  say("NodeAllocatableEnforced", "Updated Node Allocatable limit across pods");
  say("NodeReady", `Node ${name} status is now: NodeReady`);
  const time = micro(api.clock.now());
  api.create(
    LEASES,
    {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: {
        name,
        namespace: "kube-node-lease",
        ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid: node.metadata.uid ?? "" }],
      },
      spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: time },
    },
    { manager: "kubelet" },
  );
}

function micro(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`;
}

/** In the order and the words in which the two kinds of kubelet report. */
function healthyConditions(real: boolean, now: string): any[] {
  const entry = (type: string, status: string, reason: string, message: string) => ({
    lastHeartbeatTime: now,
    lastTransitionTime: now,
    message,
    reason,
    status,
    type,
  });
  const pressures = [
    entry("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    entry("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    entry("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
  ];
  const ready = entry("Ready", "True", "KubeletReady", "kubelet is posting ready status");
  if (real) return [...pressures, ready];
  return [ready, ...pressures, entry("NetworkUnavailable", "False", "RouteCreated", "RouteController created a route")];
}

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
 * The node lifecycle and taint eviction controllers.
 * @param isSilent whether the node's kubelet has stopped reporting (a lost node); it is asked when heartbeats are due
 */
export function startNodes(plane: Plane, isSilent: (node: string) => boolean): NodeWatch {
  const { api, clock } = plane;
  const known = new Set<string>();
  const queue = plane.queue((key) => syncNode(plane, key.slice(1)));
  const taintedSince: TaintTimes = new Map();
  const evictions = plane.queue((key) => evict(plane, taintedSince, key));
  plane.watch("nodes", (event) => {
    const { name } = event.object.metadata;
    if (event.type === "DELETED") {
      known.delete(name);
      for (const pod of api.list("pods")) if (pod.spec?.nodeName === name) orphans.addAfter(keyOf(pod), ORPHAN_MS);
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
    if (same(event.previous?.spec?.taints, event.object.spec?.taints)) return;
    noteTaints(taintedSince, event.object, clock.now());
    scheduleEvictions(plane, taintedSince, evictions, name);
  });
  const orphans = plane.queue((key) => collectOrphan(plane, key));
  plane.watch("pods", (event) => {
    const node = event.object.spec?.nodeName;
    if (event.type !== "DELETED" && node && api.get("nodes", undefined, node) === undefined) {
      orphans.addAfter(keyOf(event.object), ORPHAN_MS);
    }
    if (event.type === "DELETED" || !node || event.previous?.spec?.nodeName === node) return;
    const taints = api.get("nodes", undefined, node)?.spec?.taints;
    if (taints?.some((taint: any) => taint.effect === "NoExecute"))
      scheduleEvictions(plane, taintedSince, evictions, node);
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

/** A pod on a node that is not there is deleted for good after a while: no kubelet will confirm its end. */
function collectOrphan(plane: Plane, key: string): void {
  const { api } = plane;
  const { namespace, name } = splitKey(key);
  const pod = api.get("pods", namespace, name);
  if (!pod?.spec?.nodeName || api.get("nodes", undefined, pod.spec.nodeName) !== undefined) return;
  markDisrupted(plane, pod, "DeletionByPodGC", "PodGC: node no longer exists", isFinished(pod) ? undefined : "Failed");
  api.delete("pods", namespace, name, { gracePeriodSeconds: 0 });
}

function markDisrupted(plane: Plane, pod: KubeObject, reason: string, message: string, phase?: string): void {
  const lastTransitionTime = timestamp(plane.clock.now());
  const change = (draft: KubeObject) => {
    draft.status ??= {};
    const rest = (draft.status.conditions ?? []).filter((entry: any) => entry.type !== "DisruptionTarget");
    const entry = { type: "DisruptionTarget", status: "True", reason, message, lastTransitionTime };
    draft.status.conditions = [...rest, entry];
    if (phase) draft.status.phase = phase;
  };
  plane.api.modify("pods", pod.metadata.namespace, pod.metadata.name, change, {
    manager: MANAGER,
    subresource: "status",
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

/** Whether a pod's toleration covers a node's taint. */
export function tolerates(toleration: any, taint: { key: string; value?: string; effect: string }): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  if (!toleration.key && toleration.operator !== "Exists") return false;
  return toleration.operator === "Exists" || (toleration.value ?? "") === (taint.value ?? "");
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
    markDisrupted(plane, pod, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint");
    plane.api.delete("pods", namespace, name);
  } catch (error) {
    apiError(error);
  }
}
