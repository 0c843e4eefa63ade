/** The kubelet's own metrics (job="kubelet", metrics_path="/metrics"), and `up` of its three endpoints. */
import type { KubeApi } from "../../kube/api.js";
import { quantityValue } from "../../kube/quantity.js";
import type { Exporter, MetricStore, Series } from "../metrics.js";
import type { ContainerTracker } from "./containers.js";
import { createHistogram, type Histogram } from "./histogram.js";
import type { NodeTarget, NodeTracker } from "./nodes.js";

const PATHS = ["/metrics", "/metrics/cadvisor", "/metrics/probes"];
/** Certificates are taken to be renewed in time, and nothing to be evicted for want of memory. */
const CERTIFICATE_SECONDS = 300 * 24 * 3600;
/** The kubelet looks at its containers once a second; a look takes a few milliseconds. */
const RELIST_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 10];
const RELIST_SECONDS = 0.004;
const WORKER_BOUNDS = [0.005, 0.05, 0.5, 1, 5, 10];
const WORKER_SECONDS = 0.003;
/** Claims are taken to be this full: nothing in the testbed writes to a volume. */
const VOLUME_USED_SHARE = 0.2;
const INODE_BYTES = 16_384;

interface NodeSeries {
  node: NodeTarget;
  up: Series[];
  name: Series;
  pods: Series;
  containers: Series;
  constant: { series: Series; value: number }[];
  build: Series;
  relist: Histogram;
  worker: Histogram;
  volumes: { series: Series; value: number }[];
}

export function kubeletExporter(
  kube: KubeApi,
  store: MetricStore,
  tracker: ContainerTracker,
  nodes: NodeTracker,
): Exporter {
  let held: NodeSeries[] = [];
  let nodeGeneration = -1;
  let podGeneration = -1;
  let collectedAt: number | undefined;
  const relists = new Map<string, { relist: Histogram; worker: Histogram }>();

  function rebuild(): void {
    nodeGeneration = nodes.generation;
    podGeneration = tracker.generation;
    held = nodes.list().map((node) => {
      const target = { job: "kubelet", metrics_path: "/metrics", instance: `${node.address}:10250`, node: node.name };
      const series = (name: string, labels: Record<string, string> = {}) =>
        store.series({ __name__: name, ...target, ...labels });
      const cadvisor = (name: string) => store.series({ __name__: name, ...target, metrics_path: "/metrics/cadvisor" });
      const version = node.object.status?.nodeInfo?.kubeletVersion ?? "v1.34.2";
      let histograms = relists.get(node.name);
      if (histograms === undefined) {
        histograms = {
          relist: createHistogram(store, "kubelet_pleg_relist_duration_seconds", target, RELIST_BOUNDS, RELIST_SECONDS),
          worker: createHistogram(
            store,
            "kubelet_pod_worker_duration_seconds",
            { ...target, operation_type: "sync" },
            WORKER_BOUNDS,
            WORKER_SECONDS,
          ),
        };
        relists.set(node.name, histograms);
      }
      return {
        node,
        up: PATHS.map((path) => store.series({ __name__: "up", ...target, metrics_path: path })),
        name: series("kubelet_node_name"),
        pods: series("kubelet_running_pods"),
        containers: series("kubelet_running_containers", { container_state: "running" }),
        constant: [
          { series: cadvisor("machine_cpu_cores"), value: node.cpus },
          { series: cadvisor("machine_memory_bytes"), value: node.memoryBytes },
          { series: series("kubelet_certificate_manager_client_ttl_seconds"), value: CERTIFICATE_SECONDS },
          { series: series("kubelet_certificate_manager_server_ttl_seconds"), value: CERTIFICATE_SECONDS },
          { series: series("kubelet_certificate_manager_client_expiration_renew_errors"), value: 0 },
          { series: series("kubelet_server_expiration_renew_errors"), value: 0 },
          { series: series("kubelet_evictions", { eviction_signal: "memory.available" }), value: 0 },
        ],
        build: series("kubernetes_build_info", {
          git_version: version,
          major: "1",
          minor: version.split(".")[1] ?? "",
        }),
        ...histograms,
        volumes: volumesOf(node),
      };
    });
  }

  function volumesOf(node: NodeTarget): NodeSeries["volumes"] {
    const found = new Map<string, NodeSeries["volumes"]>();
    for (const { pod, node: name } of tracker.pods.values()) {
      if (name !== node.name) continue;
      for (const volume of pod.spec.volumes ?? []) {
        const claimName = volume.persistentVolumeClaim?.claimName;
        if (claimName === undefined) continue;
        const namespace = pod.metadata.namespace ?? "";
        const claim = kube.get("persistentvolumeclaims", namespace, claimName);
        const capacity = quantityValue(claim?.status?.capacity?.storage ?? claim?.spec?.resources?.requests?.storage);
        if (capacity > 0) found.set(`${namespace}/${claimName}`, volumeSamples(node, namespace, claimName, capacity));
      }
    }
    return [...found.values()].flat();
  }

  function volumeSamples(node: NodeTarget, namespace: string, claim: string, capacity: number): NodeSeries["volumes"] {
    const labels = {
      job: "kubelet",
      metrics_path: "/metrics",
      instance: `${node.address}:10250`,
      node: node.name,
      namespace,
      persistentvolumeclaim: claim,
    };
    const inodes = Math.floor(capacity / INODE_BYTES);
    const values = {
      capacity_bytes: capacity,
      used_bytes: capacity * VOLUME_USED_SHARE,
      available_bytes: capacity * (1 - VOLUME_USED_SHARE),
      inodes,
      inodes_used: Math.floor(inodes * 0.01),
      inodes_free: inodes - Math.floor(inodes * 0.01),
    };
    return Object.entries(values).map(([name, value]) => ({
      series: store.series({ __name__: `kubelet_volume_stats_${name}`, ...labels }),
      value,
    }));
  }

  return {
    name: "kubelet",
    collect(emit, nowMs) {
      tracker.sample(nowMs);
      if (nodeGeneration !== nodes.generation || podGeneration !== tracker.generation) rebuild();
      const elapsed = collectedAt === undefined ? 0 : (nowMs - collectedAt) / 1000;
      collectedAt = nowMs;
      const counts = new Map<string, { pods: number; containers: number }>();
      for (const { node, containers } of tracker.pods.values()) {
        const count = counts.get(node) ?? { pods: 0, containers: 0 };
        count.pods++;
        count.containers += containers.length;
        counts.set(node, count);
      }
      for (const entry of held) {
        const { node } = entry;
        for (const series of entry.up) emit(series, node.reachable ? 1 : 0);
        if (!node.reachable) continue;
        const count = counts.get(node.name);
        emit(entry.name, 1);
        emit(entry.pods, count?.pods ?? 0);
        emit(entry.containers, count?.containers ?? 0);
        for (const { series, value } of entry.constant) emit(series, value);
        emit(entry.build, 1);
        entry.relist.observe(Math.round(elapsed));
        entry.relist.emit(emit);
        entry.worker.observe(Math.round((elapsed * (count?.pods ?? 0)) / 60));
        entry.worker.emit(emit);
        for (const { series, value } of entry.volumes) emit(series, value);
      }
    },
  };
}
