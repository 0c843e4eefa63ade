/** The processes that run in containers now: what they are, where they listen, what they know. */
import type { KubeObject } from "../kube/objects.js";
import type { LogEntry, LogStore, StreamLabels } from "../telemetry/logs.js";
import type { Address } from "./address.js";
import { readAddress } from "./address.js";
import type { AddressSource, Program, Protocol } from "./behaviour.js";

/** Lines of one container instance that `kubectl logs` can show. */
const LINES_KEPT = 4000;

export interface Process {
  /** `pod uid/container` */
  readonly id: string;
  readonly namespace: string;
  readonly podName: string;
  readonly podUid: string;
  readonly container: string;
  readonly nodeName: string;
  readonly dnsPolicy: string;
  /** The program that runs, if it is one of the application's; its name in the behaviour. */
  readonly program: Program | undefined;
  readonly programName: string;
  /** `service.name` of its spans. */
  readonly service: string;
  readonly variables: ReadonlyMap<string, string>;
  /** Ports that it listens on. */
  readonly ports: ReadonlyMap<number, Protocol>;
  readonly startedAt: number;
  readonly memoryLimit: number;
  alive: boolean;
  /** Dependencies that it could not reach when it started and runs on without. */
  readonly missing: ReadonlySet<Protocol>;
  /** Accounts and databases of a database server. */
  readonly accounts?: ReadonlyMap<string, string>;
  readonly databases?: ReadonlySet<string>;
  /** flagd's file. */
  readonly flagFile?: string;
  readonly labels: StreamLabels;
  readonly resource: Record<string, string>;
  readonly lines: LogEntry[];
  /** CPU milliseconds spent on requests in the current tick, and cores used in the last one. */
  busyMs: number;
  cpuCores: number;
  /** Milliseconds that a request waits for those before it. */
  queueMs: number;
  /** Cores that it can use. */
  readonly cores: number;
  leakedBytes: number;
  /** Ticks in a row in which it could not poll its topic. */
  failedPolls: number;
  readonly addresses: Map<AddressSource, Address | { problem: string }>;
}

/** The address that `source` means for this process; read once, as programs do. */
export function processAddress(process: Process, source: AddressSource): Address | { problem: string } {
  let address = process.addresses.get(source);
  if (address === undefined) {
    address = readAddress(source, process.variables);
    process.addresses.set(source, address);
  }
  return address;
}

export interface ProcessTable {
  /** Grows with every change: what was looked up before is valid while it stands. */
  readonly version: number;
  add(process: Process): void;
  /** Takes it out; it answers nothing any more. */
  remove(id: string): Process | undefined;
  /** Dies of itself: out of the table at once, the kubelet learns of it by `Kubelet.crash`. */
  kill(process: Process): void;
  get(id: string): Process | undefined;
  ofPod(podUid: string): readonly Process[];
  ofProgram(name: string): readonly Process[];
  all(): Iterable<Process>;
}

export function createProcessTable(): ProcessTable {
  const byId = new Map<string, Process>();
  const byPod = new Map<string, Process[]>();
  const byProgram = new Map<string, Process[]>();
  const none: readonly Process[] = [];
  let version = 0;

  function take(map: Map<string, Process[]>, key: string, process: Process): void {
    const rest = (map.get(key) ?? []).filter((candidate) => candidate !== process);
    if (rest.length === 0) map.delete(key);
    else map.set(key, rest);
  }
  function remove(id: string): Process | undefined {
    const process = byId.get(id);
    if (process === undefined) return undefined;
    process.alive = false;
    byId.delete(id);
    take(byPod, process.podUid, process);
    take(byProgram, process.programName, process);
    version++;
    return process;
  }
  return {
    get version() {
      return version;
    },
    add(process) {
      remove(process.id);
      byId.set(process.id, process);
      byPod.set(process.podUid, [...(byPod.get(process.podUid) ?? []), process]);
      byProgram.set(process.programName, [...(byProgram.get(process.programName) ?? []), process]);
      version++;
    },
    remove,
    kill: (process) => {
      if (byId.get(process.id) === process) remove(process.id);
    },
    get: (id) => byId.get(id),
    ofPod: (podUid) => byPod.get(podUid) ?? none,
    ofProgram: (name) => byProgram.get(name) ?? none,
    all: () => byId.values(),
  };
}

/** Labels under which a collector ships the container's lines. */
export function streamLabels(pod: KubeObject, container: string): StreamLabels {
  const labels = pod.metadata.labels ?? {};
  const app = labels["app.kubernetes.io/name"] ?? labels.app ?? container;
  return {
    namespace: pod.metadata.namespace ?? "default",
    pod: pod.metadata.name,
    container,
    app,
    service_name: labels["app.kubernetes.io/component"] ?? app,
    node_name: pod.spec?.nodeName ?? "",
  };
}

/** Prints a line (several, where the text has line ends) to the container's log and ships it to the log store. */
export function print(
  target: { labels: StreamLabels; lines: LogEntry[] },
  logs: LogStore | undefined,
  timeMs: number,
  text: string,
  severity: LogEntry["severity"],
  traceId?: string,
  spanId?: string,
): void {
  for (const line of text.includes("\n") ? text.split("\n") : [text]) {
    const entry: LogEntry = { timeMs, line, ...(severity === undefined ? {} : { severity }) };
    if (traceId !== undefined) {
      entry.traceId = traceId;
      if (spanId !== undefined) entry.spanId = spanId;
    }
    target.lines.push(entry);
    logs?.append(target.labels, entry);
  }
  if (target.lines.length > LINES_KEPT * 1.25) target.lines.splice(0, target.lines.length - LINES_KEPT);
}
