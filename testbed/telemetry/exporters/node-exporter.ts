/**
 * node_exporter's basics: CPU, memory, load, file system, network of each node. CPU and memory are the sum of what the
 * node's containers use, and what a node needs for itself; disks are taken to be quiet.
 */
import type { Exporter, MetricStore, Series } from "../metrics.js";
import type { ContainerTracker } from "./containers.js";
import type { NodeTarget, NodeTracker } from "./nodes.js";

/** Of the operating system, the kubelet and the container runtime. */
const OWN_CORES = 0.12;
const OWN_MEMORY_BYTES = 900 * 2 ** 20;
/** Share of the memory in the page cache, of busy CPU time in the kernel. */
const CACHE_SHARE = 0.2;
const SYSTEM_SHARE = 0.25;
const IOWAIT_SHARE = 0.002;
const DISK_BYTES = 100 * 2 ** 30;
const DISK_USED_SHARE = 0.35;
const PACKET_BYTES = 600;
/** Logs and images, mostly. */
const DISK_READ_PER_CPU_SECOND = 20_000;
const DISK_WRITTEN_PER_CPU_SECOND = 60_000;
const MODES = ["idle", "iowait", "system", "user"] as const;

interface NodeState {
  node: NodeTarget;
  up: Series;
  cpus: Record<(typeof MODES)[number], Series>[];
  fixed: { series: Series; value: number }[];
  memory: { free: Series; available: Series; cached: Series; buffers: Series; slab: Series };
  load: Series[];
  time: Series;
  received: Series;
  sent: Series;
  receivedPackets: Series;
  sentPackets: Series;
  /** Seconds that the disk was busy, bytes that went to it, pages that had to be read from it. */
  disk: { busy: Series; read: Series; written: Series; faults: Series };
}

interface Counters {
  seconds: Record<(typeof MODES)[number], number>;
  received: number;
  sent: number;
  load: [number, number, number];
}

export function nodeExporter(store: MetricStore, tracker: ContainerTracker, nodes: NodeTracker): Exporter {
  let held: NodeState[] = [];
  let generation = -1;
  let collectedAt: number | undefined;
  const counters = new Map<string, Counters>();

  return {
    name: "node-exporter",
    collect(emit, nowMs) {
      tracker.sample(nowMs);
      if (generation !== nodes.generation) {
        generation = nodes.generation;
        held = nodes.list().map((node) => nodeSeries(store, node, nowMs));
      }
      const elapsed = collectedAt === undefined ? 0 : (nowMs - collectedAt) / 1000;
      collectedAt = nowMs;
      const used = usageByNode(tracker);
      for (const state of held) {
        emit(state.up, state.node.reachable ? 1 : 0);
        if (!state.node.reachable) continue;
        const { cores, memoryBytes } = used.get(state.node.name) ?? { cores: 0, memoryBytes: 0 };
        let counter = counters.get(state.node.name);
        if (counter === undefined) {
          counter = { seconds: { idle: 0, iowait: 0, system: 0, user: 0 }, received: 0, sent: 0, load: [0, 0, 0] };
          counters.set(state.node.name, counter);
        }
        advance(counter, state.node, cores + OWN_CORES, elapsed);
        emitNode(emit, state, counter, memoryBytes + OWN_MEMORY_BYTES, nowMs);
      }
    },
  };
}

function usageByNode(tracker: ContainerTracker): Map<string, { cores: number; memoryBytes: number }> {
  const used = new Map<string, { cores: number; memoryBytes: number }>();
  for (const { node, containers } of tracker.pods.values()) {
    const sum = used.get(node) ?? { cores: 0, memoryBytes: 0 };
    for (const container of containers) {
      sum.cores += container.cpuCores;
      sum.memoryBytes += container.memoryBytes;
    }
    used.set(node, sum);
  }
  return used;
}

function advance(counter: Counters, node: NodeTarget, cores: number, elapsed: number): void {
  const busy = Math.min(cores, node.cpus) * elapsed;
  const total = node.cpus * elapsed;
  counter.seconds.system += busy * SYSTEM_SHARE;
  counter.seconds.user += busy * (1 - SYSTEM_SHARE);
  counter.seconds.iowait += (total - busy) * IOWAIT_SHARE;
  counter.seconds.idle += (total - busy) * (1 - IOWAIT_SHARE);
  counter.received += cores * 500_000 * elapsed;
  counter.sent += cores * 700_000 * elapsed;
  for (const [i, minutes] of [1, 5, 15].entries()) {
    const weight = elapsed === 0 ? 0 : Math.exp(-elapsed / (minutes * 60));
    counter.load[i] = counter.load[i]! * weight + cores * (1 - weight);
  }
}

function emitNode(
  emit: (series: Series, value: number) => void,
  state: NodeState,
  counter: Counters,
  usedBytes: number,
  nowMs: number,
): void {
  const { node, memory } = state;
  for (const series of state.cpus) for (const mode of MODES) emit(series[mode], counter.seconds[mode] / node.cpus);
  const cached = Math.min(node.memoryBytes * CACHE_SHARE, Math.max(0, node.memoryBytes - usedBytes));
  const free = Math.max(0, node.memoryBytes - usedBytes - cached);
  emit(memory.free, free);
  emit(memory.cached, cached * 0.8);
  emit(memory.buffers, cached * 0.1);
  emit(memory.slab, cached * 0.1);
  emit(memory.available, free + cached * 0.9);
  for (const [i, series] of state.load.entries()) emit(series, Math.round(counter.load[i]! * 100) / 100);
  emit(state.received, Math.floor(counter.received));
  emit(state.sent, Math.floor(counter.sent));
  emit(state.receivedPackets, Math.floor(counter.received / PACKET_BYTES));
  emit(state.sentPackets, Math.floor(counter.sent / PACKET_BYTES));
  const worked = counter.seconds.system + counter.seconds.user;
  emit(state.disk.busy, counter.seconds.iowait);
  emit(state.disk.read, Math.floor(worked * DISK_READ_PER_CPU_SECOND));
  emit(state.disk.written, Math.floor(worked * DISK_WRITTEN_PER_CPU_SECOND));
  emit(state.disk.faults, Math.floor(worked / 10));
  emit(state.time, nowMs / 1000);
  for (const { series, value } of state.fixed) emit(series, value);
}

function nodeSeries(store: MetricStore, node: NodeTarget, nowMs: number): NodeState {
  const target = { job: "node-exporter", instance: node.name, node: node.name };
  const series = (name: string, labels: Record<string, string> = {}) =>
    store.series({ __name__: name, ...target, ...labels });
  const disk = { device: "/dev/vda1", mountpoint: "/", fstype: "ext4" };
  const created = Date.parse(node.object.metadata.creationTimestamp ?? "") || nowMs;
  const info = node.object.status?.nodeInfo ?? {};
  const fixed: [string, Record<string, string>, number][] = [
    ["node_memory_MemTotal_bytes", {}, node.memoryBytes],
    ["node_memory_SwapTotal_bytes", {}, 0],
    ["node_memory_SwapFree_bytes", {}, 0],
    ["node_filesystem_size_bytes", disk, DISK_BYTES],
    ["node_filesystem_free_bytes", disk, DISK_BYTES * (1 - DISK_USED_SHARE)],
    ["node_filesystem_avail_bytes", disk, DISK_BYTES * (0.95 - DISK_USED_SHARE)],
    ["node_filesystem_files", disk, 6_553_600],
    ["node_filesystem_files_free", disk, 6_100_000],
    ["node_filesystem_readonly", disk, 0],
    ["node_boot_time_seconds", {}, created / 1000],
    ["node_nf_conntrack_entries", {}, 1_200],
    ["node_nf_conntrack_entries_limit", {}, 262_144],
    ["node_network_up", { device: "eth0" }, 1],
    ["node_network_receive_errs_total", { device: "eth0" }, 0],
    ["node_network_transmit_errs_total", { device: "eth0" }, 0],
    [
      "node_uname_info",
      { nodename: node.name, release: info.kernelVersion ?? "", sysname: "Linux", machine: "x86_64" },
      1,
    ],
  ];
  return {
    node,
    up: series("up"),
    cpus: Array.from({ length: node.cpus }, (_unused, cpu) => {
      const of = (mode: string) => series("node_cpu_seconds_total", { cpu: String(cpu), mode });
      return { idle: of("idle"), iowait: of("iowait"), system: of("system"), user: of("user") };
    }),
    fixed: fixed.map(([name, labels, value]) => ({ series: series(name, labels), value })),
    memory: {
      free: series("node_memory_MemFree_bytes"),
      available: series("node_memory_MemAvailable_bytes"),
      cached: series("node_memory_Cached_bytes"),
      buffers: series("node_memory_Buffers_bytes"),
      slab: series("node_memory_Slab_bytes"),
    },
    load: ["node_load1", "node_load5", "node_load15"].map((name) => series(name)),
    time: series("node_time_seconds"),
    received: series("node_network_receive_bytes_total", { device: "eth0" }),
    sent: series("node_network_transmit_bytes_total", { device: "eth0" }),
    receivedPackets: series("node_network_receive_packets_total", { device: "eth0" }),
    sentPackets: series("node_network_transmit_packets_total", { device: "eth0" }),
    disk: {
      busy: series("node_disk_io_time_seconds_total", { device: "vda" }),
      read: series("node_disk_read_bytes_total", { device: "vda" }),
      written: series("node_disk_written_bytes_total", { device: "vda" }),
      faults: series("node_vmstat_pgmajfault"),
    },
  };
}
