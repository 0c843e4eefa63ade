/**
 * The containers that run, and what each has used: one sample a scrape, shared by the exporters that need it. Counters
 * are integrals of the runtime's usage over virtual time.
 */
import type { KubeApi } from "../../kube/api.js";
import type { KubeObject } from "../../kube/objects.js";
import { quantityValue } from "../../kube/quantity.js";
import type { ContainerRuntime } from "../../kube/runtime.js";
import { seconds } from "./kube-state/values.js";

/** Usage as the runtime tells it; undefined before the first sample. */
export type Usage = ContainerRuntime["usage"];

/** One running instance of a container; a restart makes a new one. */
export interface RunningContainer {
  pod: KubeObject;
  name: string;
  image: string;
  containerId: string;
  /** Seconds since the epoch. */
  startedAt: number;
  /** Cores and bytes; 0 means no limit. */
  cpuLimit: number;
  cpuRequest: number;
  memoryLimit: number;
  /** In use now: cores, bytes. */
  cpuCores: number;
  memoryBytes: number;
  /** Since its start. */
  cpuSeconds: number;
  cfsPeriods: number;
  cfsThrottledPeriods: number;
  cfsThrottledSeconds: number;
}

export interface RunningPod {
  pod: KubeObject;
  node: string;
  containers: RunningContainer[];
  /** Bytes through the pod's interface since its start. */
  receivedBytes: number;
  sentBytes: number;
  /** CPU seconds of containers that have ended; the pod's own counter goes on over restarts. */
  endedCpuSeconds: number;
}

export interface ContainerTracker {
  /** Brings usage up to `nowMs`; a second call for the same instant does nothing. */
  sample(nowMs: number): void;
  readonly pods: ReadonlyMap<string, RunningPod>;
  /** Grows when a pod or a container came or went. */
  readonly generation: number;
  stop(): void;
}

/** The CFS period: 100 ms. */
const PERIODS_PER_SECOND = 10;
/** Throttling begins when average usage comes this near to the limit: bursts inside a period hit it before. */
const THROTTLE_FROM = 0.8;
/**
 * No interface is simulated byte by byte: traffic is taken to go with CPU time, which goes with requests. Bytes a CPU
 * second, in and out, and bytes a second at rest.
 */
const RECEIVED_PER_CPU_SECOND = 400_000;
const SENT_PER_CPU_SECOND = 600_000;
const IDLE_BYTES_PER_SECOND = 150;

export function createContainerTracker(kube: KubeApi, usage: Usage): ContainerTracker {
  const running = new Map<string, RunningPod>();
  const dirty = new Map<string, KubeObject | undefined>();
  let generation = 0;
  let sampledAt: number | undefined;

  const keyOf = ({ metadata }: KubeObject) => metadata.uid ?? `${metadata.namespace}/${metadata.name}`;
  const stop = kube.watch("pods", (event) => {
    dirty.set(keyOf(event.object), event.type === "DELETED" ? undefined : event.object);
  });
  for (const pod of kube.list("pods")) dirty.set(keyOf(pod), pod);

  function refresh(key: string, pod: KubeObject | undefined): void {
    const known = running.get(key);
    const wanted = pod === undefined ? [] : runningContainers(pod);
    if (pod === undefined || wanted.length === 0) {
      if (running.delete(key)) generation++;
      return;
    }
    if (known === undefined) {
      const entry = {
        pod,
        node: pod.spec.nodeName ?? "",
        containers: wanted,
        receivedBytes: 0,
        sentBytes: 0,
        endedCpuSeconds: 0,
      };
      running.set(key, entry);
      generation++;
      return;
    }
    known.pod = pod;
    const kept = wanted.map((container) => {
      const before = known.containers.find((other) => isSameInstance(other, container));
      if (before === undefined) return container;
      before.pod = pod;
      return before;
    });
    const ended = known.containers.filter((container) => !kept.includes(container));
    if (ended.length === 0 && kept.length === known.containers.length) return;
    for (const container of ended) known.endedCpuSeconds += container.cpuSeconds;
    known.containers = kept;
    generation++;
  }

  function advance(entry: RunningPod, elapsed: number): void {
    let cores = 0;
    for (const container of entry.containers) {
      const now = usage({ pod: container.pod, container: container.name });
      container.cpuCores = now?.cpuCores ?? 0;
      container.memoryBytes = now?.memoryBytes ?? 0;
      container.cpuSeconds += container.cpuCores * elapsed;
      cores += container.cpuCores;
      if (container.cpuLimit > 0) throttle(container, elapsed);
    }
    entry.receivedBytes += (IDLE_BYTES_PER_SECOND + cores * RECEIVED_PER_CPU_SECOND) * elapsed;
    entry.sentBytes += (IDLE_BYTES_PER_SECOND + cores * SENT_PER_CPU_SECOND) * elapsed;
  }

  return {
    pods: running,
    get generation() {
      return generation;
    },
    sample(nowMs) {
      if (sampledAt === nowMs) return;
      for (const [key, pod] of dirty) refresh(key, pod);
      dirty.clear();
      const elapsed = sampledAt === undefined ? 0 : (nowMs - sampledAt) / 1000;
      sampledAt = nowMs;
      for (const entry of running.values()) advance(entry, elapsed);
    },
    stop,
  };
}

function isSameInstance(a: RunningContainer, b: RunningContainer): boolean {
  return a.name === b.name && a.startedAt === b.startedAt && a.containerId === b.containerId;
}

/** Periods go by while it runs; the share of them that is throttled grows with usage from 80 % of the limit on. */
function throttle(container: RunningContainer, elapsed: number): void {
  const periods = elapsed * PERIODS_PER_SECOND;
  const load = container.cpuCores / container.cpuLimit;
  const share = Math.min(1, Math.max(0, (load - THROTTLE_FROM) / (1 - THROTTLE_FROM)));
  container.cfsPeriods += periods;
  container.cfsThrottledPeriods += periods * share;
  container.cfsThrottledSeconds += (periods * share) / PERIODS_PER_SECOND / 2;
}

function runningContainers(pod: KubeObject): RunningContainer[] {
  const statuses: any[] = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const specs: any[] = [...(pod.spec.initContainers ?? []), ...(pod.spec.containers ?? [])];
  return statuses.flatMap((status) => {
    if (status.state?.running === undefined) return [];
    const resources = specs.find((spec) => spec.name === status.name)?.resources ?? {};
    return [
      {
        pod,
        name: status.name,
        image: status.image ?? "",
        containerId: status.containerID ?? "",
        startedAt: seconds(status.state.running.startedAt) ?? 0,
        cpuLimit: quantityValue(resources.limits?.cpu),
        cpuRequest: quantityValue(resources.requests?.cpu ?? resources.limits?.cpu),
        memoryLimit: quantityValue(resources.limits?.memory),
        cpuCores: 0,
        memoryBytes: 0,
        cpuSeconds: 0,
        cfsPeriods: 0,
        cfsThrottledPeriods: 0,
        cfsThrottledSeconds: 0,
      },
    ];
  });
}
