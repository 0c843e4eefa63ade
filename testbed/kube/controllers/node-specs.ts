/** How nodes look when they are made: kwok's fake ones, and those of a small real cluster. */
import type { KubeApi } from "../api.js";
import { type KubeObject, timestamp } from "../objects.js";
import type { Profile } from "./plane.js";

export const LEASES = "leases.coordination.k8s.io";

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

/**
 * `count` nodes. Profile `kwok`: `node-1`..., 8 CPU, 32Gi, as a fake kubelet registers them. Profile `containerd`: a
 * control plane and workers as a small real cluster shows them.
 */
export function nodeSpecs(count: number, profile: Profile): NodeSpec[] {
  return Array.from({ length: count }, (_, i) => (profile === "kwok" ? kwokNode(i + 1) : containerdNode(i)));
}

/** Labels that every kubelet gives its node. */
function platformLabels(name: string): Record<string, string> {
  return {
    "beta.kubernetes.io/arch": "amd64",
    "beta.kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": "linux",
  };
}

function kwokNode(index: number): NodeSpec {
  const name = `node-${index}`;
  const resources = { cpu: "8", memory: "32Gi", pods: "110" };
  return {
    name,
    labels: platformLabels(name),
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
  const resources = {
    cpu: "8",
    "ephemeral-storage": "102108092Ki",
    "hugepages-1Gi": "0",
    "hugepages-2Mi": "0",
    memory: "32868016Ki",
    pods: "110",
  };
  const address = `172.18.0.${index + 2}`;
  return {
    name,
    labels: {
      ...platformLabels(name),
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
    capacity: resources,
    allocatable: resources,
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

/** Lease times have microseconds. */
export function micro(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`;
}

/** In the order and the words in which the two kinds of kubelet report. */
export function healthyConditions(real: boolean, now: string): any[] {
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
