/** cAdvisor inside the kubelet: usage of containers and pods (job="kubelet", metrics_path="/metrics/cadvisor"). */
import type { Exporter, Labels, MetricStore, Series } from "../metrics.js";
import type { ContainerTracker, RunningContainer, RunningPod } from "./containers.js";
import type { NodeTracker } from "./nodes.js";

/** Names of a container's series and how each is read; `cpu="total"` goes with the CPU counter. */
const CONTAINER_METRICS: readonly (readonly [
  name: string,
  labels: Labels,
  read: (c: RunningContainer, nowS: number) => number,
])[] = [
  ["container_cpu_usage_seconds_total", { cpu: "total" }, (c) => c.cpuSeconds],
  ["container_memory_working_set_bytes", {}, (c) => c.memoryBytes],
  ["container_memory_usage_bytes", {}, (c) => c.memoryBytes * CACHE_FACTOR],
  ["container_memory_rss", {}, (c) => c.memoryBytes * RSS_SHARE],
  ["container_memory_cache", {}, (c) => c.memoryBytes * (CACHE_FACTOR - RSS_SHARE)],
  ["container_memory_swap", {}, () => 0],
  ["container_memory_failcnt", {}, () => 0],
  ["container_oom_events_total", {}, () => 0],
  ["container_spec_memory_limit_bytes", {}, (c) => c.memoryLimit],
  ["container_spec_cpu_shares", {}, (c) => Math.max(2, Math.floor(c.cpuRequest * 1024))],
  ["container_start_time_seconds", {}, (c) => c.startedAt],
  ["container_last_seen", {}, (_c, nowS) => nowS],
];

/** Only where there is a CPU limit: without one there is no quota to run out of. */
const LIMITED_METRICS: readonly (readonly [name: string, read: (c: RunningContainer) => number])[] = [
  ["container_spec_cpu_period", () => 100_000],
  ["container_spec_cpu_quota", (c) => Math.round(c.cpuLimit * 100_000)],
  ["container_cpu_cfs_periods_total", (c) => Math.floor(c.cfsPeriods)],
  ["container_cpu_cfs_throttled_periods_total", (c) => Math.floor(c.cfsThrottledPeriods)],
  ["container_cpu_cfs_throttled_seconds_total", (c) => c.cfsThrottledSeconds],
];

/** How a working set divides, roughly as it does for a service without files: page cache is a tenth. */
const RSS_SHARE = 0.9;
const CACHE_FACTOR = 1.05;

/** Of the pod's own cgroup: container and image are empty. */
const POD_METRICS: readonly (readonly [name: string, labels: Labels, read: (pod: RunningPod) => number])[] = [
  [
    "container_cpu_usage_seconds_total",
    { cpu: "total" },
    (pod) => pod.containers.reduce((sum, c) => sum + c.cpuSeconds, pod.endedCpuSeconds),
  ],
  ["container_memory_working_set_bytes", {}, (pod) => memory(pod)],
  ["container_memory_usage_bytes", {}, (pod) => memory(pod) * CACHE_FACTOR],
  ["container_memory_rss", {}, (pod) => memory(pod) * RSS_SHARE],
];

const PACKET_BYTES = 600;
const NETWORK_METRICS: readonly (readonly [name: string, read: (pod: RunningPod) => number])[] = [
  ["container_network_receive_bytes_total", (pod) => Math.floor(pod.receivedBytes)],
  ["container_network_transmit_bytes_total", (pod) => Math.floor(pod.sentBytes)],
  ["container_network_receive_packets_total", (pod) => Math.floor(pod.receivedBytes / PACKET_BYTES)],
  ["container_network_transmit_packets_total", (pod) => Math.floor(pod.sentBytes / PACKET_BYTES)],
  ["container_network_receive_errors_total", () => 0],
  ["container_network_transmit_errors_total", () => 0],
  ["container_network_receive_packets_dropped_total", () => 0],
  ["container_network_transmit_packets_dropped_total", () => 0],
];

const PAUSE_IMAGE = "registry.k8s.io/pause:3.10.1";

function memory(pod: RunningPod): number {
  return pod.containers.reduce((sum, container) => sum + container.memoryBytes, 0);
}

/** Series of one pod; made when its containers change. */
interface PodSeries {
  pod: RunningPod;
  node: string;
  /** What they were made for. */
  instances: RunningContainer[];
  address: string;
  own: Series[];
  network: Series[];
  containers: { container: RunningContainer; series: Series[]; limited: Series[] }[];
}

export function cadvisorExporter(store: MetricStore, tracker: ContainerTracker, nodes: NodeTracker): Exporter {
  let generation = -1;
  let nodeGeneration = -1;
  let held: PodSeries[] = [];
  let known = new Map<RunningPod, PodSeries>();
  let unreachable = new Set<string>();

  function rebuild(): void {
    const targets = new Map(nodes.list().map((node) => [node.name, node]));
    unreachable = new Set(nodes.list().flatMap((node) => (node.reachable ? [] : [node.name])));
    const next = new Map<RunningPod, PodSeries>();
    for (const pod of tracker.pods.values()) {
      const address = targets.get(pod.node)?.address ?? pod.node;
      const before = known.get(pod);
      const same = before !== undefined && before.instances === pod.containers && before.address === address;
      next.set(pod, same ? before : podSeries(store, pod, address));
    }
    known = next;
    held = [...next.values()];
    generation = tracker.generation;
    nodeGeneration = nodes.generation;
  }

  return {
    name: "cadvisor",
    collect(emit, nowMs) {
      tracker.sample(nowMs);
      if (generation !== tracker.generation || nodeGeneration !== nodes.generation) rebuild();
      const nowS = nowMs / 1000;
      for (const { pod, node, own, network, containers } of held) {
        if (unreachable.has(node)) continue;
        for (let i = 0; i < own.length; i++) emit(own[i]!, POD_METRICS[i]![2](pod));
        for (let i = 0; i < network.length; i++) emit(network[i]!, NETWORK_METRICS[i]![1](pod));
        for (const { container, series, limited } of containers) {
          for (let i = 0; i < series.length; i++) emit(series[i]!, CONTAINER_METRICS[i]![2](container, nowS));
          for (let i = 0; i < limited.length; i++) emit(limited[i]!, LIMITED_METRICS[i]![1](container));
        }
      }
    },
  };
}

function podSeries(store: MetricStore, pod: RunningPod, address: string): PodSeries {
  const { metadata } = pod.pod;
  const slice = podSlice(pod);
  const base = {
    job: "kubelet",
    metrics_path: "/metrics/cadvisor",
    instance: `${address}:10250`,
    node: pod.node,
    namespace: metadata.namespace ?? "",
    pod: metadata.name,
  };
  const sandbox = { id: `${slice}/cri-containerd-sandbox.scope`, image: PAUSE_IMAGE, name: `sandbox-${metadata.uid}` };
  return {
    pod,
    node: pod.node,
    instances: pod.containers,
    address,
    own: POD_METRICS.map(([name, labels]) => store.series({ __name__: name, ...base, id: slice, ...labels })),
    network: NETWORK_METRICS.map(([name]) => store.series({ __name__: name, ...base, ...sandbox, interface: "eth0" })),
    containers: pod.containers.map((container) => {
      const id =
        container.containerId.replace(/^.*:\/\//, "") || `${metadata.uid}-${container.name}-${container.startedAt}`;
      const labels = {
        ...base,
        container: container.name,
        image: container.image,
        name: id,
        id: `${slice}/cri-containerd-${id}.scope`,
      };
      return {
        container,
        series: CONTAINER_METRICS.map(([name, extra]) => store.series({ __name__: name, ...labels, ...extra })),
        limited:
          container.cpuLimit > 0 ? LIMITED_METRICS.map(([name]) => store.series({ __name__: name, ...labels })) : [],
      };
    }),
  };
}

/** The pod's cgroup, as systemd's driver names it. */
function podSlice(pod: RunningPod): string {
  const uid = (pod.pod.metadata.uid ?? pod.pod.metadata.name).replaceAll("-", "_");
  const qos = String(pod.pod.status?.qosClass ?? "").toLowerCase();
  const prefix = qos === "guaranteed" || qos === "" ? "kubepods" : `kubepods-${qos}`;
  const parent = prefix === "kubepods" ? "" : `/${prefix}.slice`;
  return `/kubepods.slice${parent}/${prefix}-pod${uid}.slice`;
}
