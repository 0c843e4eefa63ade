/** The users of an application at work: on every tick of the clock requests travel the call graph and messages their topics. */
import type { Application } from "../apps/application.js";
import type { VirtualClock } from "../clock.js";
import type { Kubelet } from "../kube/runtime.js";
import type { Random } from "../random.js";
import type { LogStore } from "../telemetry/logs.js";
import type { Exporter, MetricStore } from "../telemetry/metrics.js";
import type { TraceStore } from "../telemetry/traces.js";
import type { Consumer, Crash, Flow, Program, Step, Users } from "./behaviour.js";
import type { SpanName } from "./compile.js";
import { compileBehaviour, spanName } from "./compile.js";
import { createCounters } from "./counters.js";
import { attemptFailure } from "./failures.js";
import { createFlags } from "./flags.js";
import type { Process } from "./processes.js";
import { print, processAddress } from "./processes.js";
import { createRecorder } from "./recording.js";
import { memoryOf } from "./resources.js";
import type { AppRuntime } from "./runtime.js";
import { createSpanMetrics } from "./span-metrics.js";
import type { Group, Topic } from "./topics.js";
import { createTopics } from "./topics.js";
import type { CompiledRequest } from "./walk.js";
import { advertised, compileRequests, createWalker } from "./walk.js";

export interface TrafficOptions {
  application: Application;
  runtime: AppRuntime;
  kubelet: Kubelet;
  clock: VirtualClock;
  random: Random;
  metrics: MetricStore;
  logs: LogStore;
  traces: TraceStore;
  /** Milliseconds between ticks; default 15,000. */
  tickMs?: number;
}

export interface Traffic {
  /** Lets requests flow; calling it again does nothing. */
  start(): void;
  stop(): void;
  /** What Prometheus scrapes of the application: span metrics, Kafka's metrics. */
  readonly exporters: readonly Exporter[];
  /** Who calls whom, by Service or workload name, from the application's behaviour: the topology's CALLS edges. */
  callGraph(): { namespace: string; caller: string; callee: string }[];
}

const TICK_MS = 15_000;
/** From so many on, equal requests of one tick are represented by two walks instead of one. */
const MANY = 8;
/** Queues grow to this wait; what comes then is turned away. */
const LONGEST_QUEUE_MS = 20_000;
/** Longest wait of a user that counts when the next tasks are planned. */
const PATIENCE_MS = 60_000;
/** Every so many ticks a flow's trace is stored although nothing failed. */
const TRACE_EVERY = 3;

interface CompiledFlow {
  flow: Flow;
  name: SpanName;
  requests: CompiledRequest[];
  /** Part of the next task that is due. */
  due: number;
}

/** How many of `count` equal requests the next walk stands for. */
function part(count: number, first: boolean): number {
  return first && count >= MANY ? Math.ceil(count / 2) : count;
}

/** Traffic of one application; its programs run in `runtime`. */
export function createTraffic(options: TrafficOptions): Traffic {
  const { application, runtime, clock, logs, kubelet } = options;
  const { behaviour } = application;
  const { processes, network } = runtime;
  const random = options.random.fork(`traffic/${application.id}`);
  const tickMs = options.tickMs ?? TICK_MS;
  const metrics = createSpanMetrics(options.metrics, behaviour.serviceNamespace);
  const topics = createTopics(behaviour, application.namespace, processes, options.metrics);
  const flags = createFlags(behaviour, network);
  const compiled = compileBehaviour(behaviour);
  const crashes: { process: Process; crash: Crash }[] = [];
  const recorder = createRecorder({
    behaviour,
    metrics,
    logs,
    traces: options.traces,
    clock,
    random: random.fork("recording"),
  });
  const walker = createWalker({
    compiled,
    processes,
    network,
    flags,
    topics,
    recorder,
    logs,
    clock,
    random: random.fork("walk"),
    crashed: (process, crash) => crashes.push({ process, crash }),
  });
  const flows: CompiledFlow[] = (behaviour.users?.flows ?? []).map((flow) => ({
    flow,
    name: spanName(flow.name, "internal", {}),
    requests: compileRequests(behaviour, flow.requests),
    due: 0.5,
  }));
  const consumers = Object.entries(behaviour.programs).filter(([, program]) => program.consumes !== undefined);
  const brokers = Object.entries(behaviour.programs)
    .filter(([, program]) => program.role === "broker")
    .map(([name]) => name);
  const burdened = Object.entries(behaviour.programs).filter(([, program]) => program.burdens !== undefined);
  /** How long a task took in the last tick, by load generator. */
  const taskMs = new WeakMap<Process, number>();
  let ticks = 0;
  let timer: { cancel(): void } | undefined;

  function tick(): void {
    const from = clock.now() - tickMs;
    for (const process of processes.all()) process.busyMs = 0;
    const keep = ticks++ % TRACE_EVERY === 0;
    if (behaviour.users !== undefined) {
      for (const source of processes.ofProgram(behaviour.users.program)) playUsers(source, from, keep);
    }
    consume(keep);
    burden();
    for (const process of processes.all()) {
      const cores = Math.min(process.cores, process.busyMs / tickMs);
      process.cpuCores = process.cpuCores === 0 ? cores : 0.5 * process.cpuCores + 0.5 * cores;
      process.queueMs = Math.min(
        LONGEST_QUEUE_MS,
        Math.max(0, process.queueMs + process.busyMs / process.cores - tickMs),
      );
    }
    recorder.endTick();
    for (const { process, crash } of crashes.splice(0)) {
      kubelet.crash(process.namespace, process.podName, process.container, { code: crash.code, reason: "Error" });
    }
  }

  /** The tasks of one load generator in this tick, in the order in which they begin. */
  function playUsers(source: Process, from: number, keep: boolean): void {
    const users = behaviour.users!;
    if (users.pause !== undefined && flags.value(source, users.pause) === 0) return;
    const ready = flows.filter(
      ({ flow: { when } }) =>
        when === undefined || (source.variables.get(when.env) ?? "").toLowerCase() === when.equals,
    );
    const total = ready.reduce((sum, { flow }) => sum + flow.weight, 0);
    // A user thinks, then waits for the answer: slow answers make for fewer requests.
    const seconds = users.thinkSeconds + (taskMs.get(source) ?? 0) / 1000;
    const tasks = (activeUsers(source, users) * tickMs) / 1000 / seconds;
    const fragile = isFragile();
    const slot = tickMs / Math.max(1, ready.length);
    let sumMs = 0;
    let sumTasks = 0;
    ready.forEach((compiled, index) => {
      const { flow, name, requests } = compiled;
      const flood = flow.flood === undefined ? 0 : Number(flags.value(source, flow.flood)) || 0;
      let count = tasksOf(compiled, (tasks * flow.weight * (1 + flood)) / total);
      const start = from + slot * (index + 0.9 * random.next());
      for (let first = true; count > 0; first = false) {
        // A process that dies of its next request gets that request alone: those after it find it gone.
        const weight = first && fragile ? 1 : part(count, first);
        const elapsed = walker.task(source, name, requests, weight, start, keep && first);
        sumMs += Math.min(elapsed, PATIENCE_MS) * weight;
        sumTasks += weight;
        count -= weight;
      }
    });
    taskMs.set(source, sumTasks === 0 ? 0 : sumMs / sumTasks);
  }

  function activeUsers(source: Process, users: Users): number {
    const { env, flag } = users.users;
    const flagged = flag === undefined ? 0 : Number(flags.value(source, flag));
    const wanted = flagged || Number(source.variables.get(env)) || 0;
    const spawnRate = Number(source.variables.get(users.spawnRate.env)) || users.spawnRate.default;
    return Math.min(wanted, (spawnRate * (clock.now() - source.startedAt)) / 1000);
  }

  /** How often a flow is done in a tick. Rare ones come at nearly even distances, so that no service is ever without traffic. */
  function tasksOf(flow: CompiledFlow, mean: number): number {
    if (mean > 2) return random.poisson(mean);
    flow.due += mean * (0.6 + 0.8 * random.next());
    const count = Math.floor(flow.due);
    flow.due -= count;
    return count;
  }

  /** True while a process runs that a request will kill. */
  function isFragile(): boolean {
    for (const process of processes.all()) if (process.missing.size > 0) return true;
    return false;
  }

  /** Lets each consumer group take what its members can take in a tick. */
  function consume(keep: boolean): void {
    const members = new Map<Group, { process: Process; perTick: number }[]>();
    for (const [name, program] of consumers) {
      for (const process of processes.ofProgram(name)) {
        for (const consumer of program.consumes ?? []) join(process, program, consumer, members);
      }
    }
    for (const name of brokers) {
      for (const broker of processes.ofProgram(name)) {
        // Groups without members stay known: their backlog counts.
        for (const topic of topics.known(broker)) {
          for (const group of topic.groups.values()) take(topic, group, members.get(group) ?? [], keep);
        }
      }
    }
  }

  function join(
    process: Process,
    program: Program,
    consumer: Consumer,
    members: Map<Group, { process: Process; perTick: number }[]>,
  ): void {
    const broker = brokerFor(process, program, consumer.address);
    if (broker === undefined) {
      process.failedPolls++;
      return;
    }
    process.failedPolls = 0;
    const topic = topics.topic(broker, process.variables.get(consumer.topic.env) || "");
    const group = topic.groups.get(consumer.group);
    if (group === undefined) return;
    const { slowdown } = consumer;
    const slow = slowdown !== undefined && flags.value(process, slowdown.flag);
    const perSecond = slow ? slowdown.perSecond : consumer.perSecond;
    members.set(group, [...(members.get(group) ?? []), { process, perTick: (perSecond * tickMs) / 1000 }]);
  }

  function take(topic: Topic, group: Group, members: { process: Process; perTick: number }[], keep: boolean): void {
    group.members = members.length;
    group.pace = 0;
    for (const { process, perTick } of members) {
      group.pace += perTick;
      let messages = Math.min(group.lag, perTick);
      group.lag -= messages;
      group.consumed += messages;
      for (let first = true; messages > 0; first = false) {
        const weight = part(messages, first);
        const start = clock.now() - 0.1 * tickMs * random.next();
        walker.message(process, topic, group.consumer.operation, weight, start, keep && first);
        messages -= weight;
      }
    }
  }

  /** The broker that a consumer reaches; says in its log, now and then, that it reaches none. */
  function brokerFor(
    process: Process,
    program: Program,
    source: Parameters<typeof processAddress>[1],
  ): Process | undefined {
    let address = processAddress(process, source);
    for (let hop = 0; hop < 2; hop++) {
      if ("problem" in address) return undefined;
      const result = network.connect(process, address);
      const attempt = {
        language: program.language,
        protocol: "kafka" as const,
        host: address.host,
        port: address.port,
        ip: result.ip,
        dnsServer: network.dnsServer,
        timeoutMs: 5000,
      };
      const kafka = result.process !== undefined && result.process.ports.get(result.port) === "kafka";
      if (!kafka) {
        if (process.failedPolls % 3 === 0) {
          print(process, logs, clock.now(), attemptFailure(result.failure ?? "protocol", attempt).text, "WARN");
        }
        return undefined;
      }
      if (hop === 1) return result.process;
      address = advertised(result.process);
    }
    return undefined;
  }

  /** Flags that make a program burn CPU or leak memory; who leaks beyond its limit is killed. */
  function burden(): void {
    for (const [name, program] of burdened) {
      for (const process of processes.ofProgram(name)) {
        for (const effect of program.burdens ?? []) {
          const value = flags.value(process, effect.flag);
          if (!value) continue;
          const amount = value === true ? 1 : Number(value) || 0;
          process.busyMs += (effect.cores ?? 0) * tickMs;
          process.leakedBytes += (effect.leakBytesPerSecond ?? 0) * amount * (tickMs / 1000);
        }
        if (process.leakedBytes > 0 && memoryOf(process, clock.now()) >= process.memoryLimit) {
          processes.kill(process);
          kubelet.crash(process.namespace, process.podName, process.container, { code: 137, reason: "OOMKilled" });
        }
      }
    }
  }

  return {
    start() {
      timer ??= clock.every(tickMs, tick);
    },
    stop() {
      timer?.cancel();
      timer = undefined;
    },
    exporters: [
      metrics.exporter,
      createCounters(compiled, behaviour.serviceNamespace, options.metrics),
      topics.exporter,
    ],
    callGraph() {
      const edges = new Map<string, { namespace: string; caller: string; callee: string }>();
      const add = (caller: string, callee: string) =>
        edges.set(`${caller} ${callee}`, { namespace: application.namespace, caller, callee });
      const visit = (caller: string, steps: readonly Step[]) => {
        for (const step of steps) {
          if ("publish" in step) for (const broker of brokers) add(caller, broker);
          else if ("internal" in step) visit(caller, step.steps ?? []);
          else add(caller, step.to);
        }
      };
      if (behaviour.users !== undefined) add(behaviour.users.program, behaviour.users.entry);
      for (const [name, program] of Object.entries(behaviour.programs)) {
        const operations = Object.values(program.operations ?? {});
        for (const operation of operations) visit(name, operation.steps ?? []);
        if (program.consumes !== undefined) for (const broker of brokers) add(name, broker);
        const asks = operations.some((operation) => (operation.effects?.length ?? 0) > 0);
        if (asks && behaviour.flags !== undefined) add(name, behaviour.flags.program);
      }
      return [...edges.values()];
    },
  };
}
