/**
 * One request's way through the call graph. A walk stands for `weight` equal requests: its spans are counted that often.
 * What it does, it does to state (processes, topics); what it sees, it writes to span metrics, spans and log lines.
 */
import type { VirtualClock } from "../clock.js";
import type { Random } from "../random.js";
import type { LogStore } from "../telemetry/logs.js";
import type { Span, TraceStore } from "../telemetry/traces.js";
import type { Address } from "./address.js";
import { parseAddress } from "./address.js";
import type { Behaviour, Crash, Program, UserRequest } from "./behaviour.js";
import type { CallStep, CompiledOperation, CompiledProgram, CompiledStep, PublishStep, SpanName } from "./compile.js";
import { compileCall, metricOf } from "./compile.js";
import type { Attempt, Failure, FailureKind } from "./failures.js";
import { answeredFailure, attemptFailure, grpcStatus } from "./failures.js";
import type { Flags } from "./flags.js";
import type { Network } from "./network.js";
import type { Process, ProcessTable } from "./processes.js";
import { print, processAddress } from "./processes.js";
import { accountProblem } from "./runtime.js";
import type { SpanMetrics } from "./span-metrics.js";
import { fill } from "./text.js";
import type { Topic, Topics } from "./topics.js";

export interface WalkOptions {
  behaviour: Behaviour;
  compiled: ReadonlyMap<Program, CompiledProgram>;
  processes: ProcessTable;
  network: Network;
  flags: Flags;
  topics: Topics;
  metrics: SpanMetrics;
  logs: LogStore;
  traces: TraceStore;
  clock: VirtualClock;
  random: Random;
  /** Told of each process that dies of a request. */
  crashed(process: Process, crash: Crash): void;
}

/**
 * `keep` stores the walk's trace and its healthy log lines; those of failing walks are kept while there is room in the
 * tick.
 */
export interface Walker {
  /** A user's task, from the process that plays the user. Returns how long it took, milliseconds. */
  task(
    source: Process,
    name: SpanName,
    requests: readonly CompiledRequest[],
    weight: number,
    startMs: number,
    keep: boolean,
  ): number;
  /** A message that a consumer takes from a topic. */
  message(consumer: Process, topic: Topic, operation: string, weight: number, startMs: number, keep: boolean): void;
  /** Ends a tick: failing traces and lines may be kept again. */
  endTick(): void;
}

export interface CompiledRequest {
  call: CallStep;
  times: number;
  def: UserRequest;
}

/** Two hexadecimal digits for each byte. */
const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
/** A failing trace of each task is stored once in so many ticks. */
const FAILURES_EVERY = 3;
/** A hop's share of the network: milliseconds there and back. */
const HOP_MS = 0.3;
const DNS_MS = 4;
const REFUSED_MS = 1.5;
const TIMEOUT_MS = 5000;

/** One span of the walk. Records are reused from walk to walk. */
interface Record_ {
  process: Process;
  span: SpanName;
  parent: number;
  startMs: number;
  durationMs: number;
  failure: Failure | undefined;
  peer: string;
}

interface Line {
  process: Process;
  template: string;
  record: number;
  atMs: number;
  failure: Failure | undefined;
  durationMs: number;
}

export function createWalker(options: WalkOptions): Walker {
  const { behaviour, compiled, processes, network, flags, topics, metrics, logs, traces, clock, random } = options;
  const normals = Float64Array.from({ length: 4096 }, () => random.normal());
  const records: Record_[] = [];
  let used = 0;
  let lines: Line[] = [];
  let failure: Failure | undefined;
  let anyFailure = false;
  let weight = 1;
  let keep = false;
  let published: { topic: Topic; record: number } | undefined;
  /** What has failed in this tick and been kept: tasks by their name, lines by process and operation. */
  const keptFailures = new Set<object>();
  const keptLines = new Map<object, Set<Process>>();
  let ticks = 0;
  let requestLine = "";
  let duplicate = false;
  const values = new Map<string, string>();
  const redirects = new Map<string, Address | { problem: string }>();

  function sample(ms: number, spread: number): number {
    return ms * Math.exp(spread * normals[random.uint32() & 4095]!);
  }

  function begin(process: Process, span: SpanName, parent: number, startMs: number): number {
    const record = records[used];
    if (record === undefined) {
      records.push({ process, span, parent, startMs, durationMs: 0, failure: undefined, peer: "" });
    } else {
      record.process = process;
      record.span = span;
      record.parent = parent;
      record.startMs = startMs;
      record.failure = undefined;
      record.peer = "";
    }
    return used++;
  }

  function end(index: number, durationMs: number, failed: Failure | undefined): void {
    const record = records[index]!;
    record.durationMs = durationMs;
    if (failed !== undefined) {
      record.failure = failed;
      anyFailure = true;
    }
  }

  /** What a server does with a request. Leaves `failure` set when it answers with an error. */
  function serve(process: Process, operation: CompiledOperation, startMs: number, parent: number): number {
    const { def } = operation;
    const own = operation.span === undefined ? -1 : begin(process, operation.span, parent, startMs);
    process.busyMs += operation.cpuMs * weight;
    let elapsed = sample(def.ms, operation.spread);
    failure = undefined;
    let factor = 1;
    for (const effect of operation.effects) {
      const value = flags.value(process, effect.flag);
      if (!value || (effect.share !== undefined && random.next() >= effect.share)) continue;
      const amount = value === true ? 1 : Number(value) || 0;
      if (effect.effect === "delay") elapsed += amount * (effect.ms ?? 1);
      else if (effect.effect === "slow") factor *= effect.factor ?? 1;
      else if (random.next() < amount) {
        failure = {
          kind: "application",
          code: effect.code ?? "INTERNAL",
          status: 500,
          text: effect.message ?? "failed",
        };
      }
    }
    elapsed = elapsed * factor + process.queueMs;
    if (failure === undefined) elapsed += run(process, operation.steps, startMs + elapsed / 2, own < 0 ? parent : own);
    if (failure === undefined && def.duplicate !== undefined && duplicate) {
      failure = { kind: "application", code: "INTERNAL", status: 500, text: def.duplicate.message };
    }
    let failed = failure as Failure | undefined;
    if (failed !== undefined) {
      const text =
        def.failure === undefined
          ? failed.text
          : fill(def.failure, (name) => (name === "error" ? failed!.text : undefined));
      const proxy = process.program?.language === "envoy";
      failed = {
        kind: "application",
        code:
          failed.kind === "application" ? failed.code : process.program?.language === "python" ? "UNKNOWN" : "INTERNAL",
        status: proxy ? failed.status : 500,
        text,
      };
      failure = failed;
      if (def.errorLog !== undefined) note(operation, process, def.errorLog, own, startMs + elapsed, failed, elapsed);
    } else if (keep && def.log !== undefined) {
      lines.push({
        process,
        template: def.log,
        record: own,
        atMs: startMs + elapsed,
        failure: undefined,
        durationMs: elapsed,
      });
    }
    if (own >= 0) end(own, elapsed, failed);
    return elapsed;
  }

  /** An error line; one a tick of each process and thing that fails. */
  function note(
    about: object,
    process: Process,
    template: string,
    record: number,
    atMs: number,
    failed: Failure,
    durationMs: number,
  ): void {
    const kept = keptLines.get(about);
    if (kept?.has(process)) return;
    if (kept === undefined) keptLines.set(about, new Set([process]));
    else kept.add(process);
    lines.push({ process, template, record, atMs, failure: failed, durationMs });
  }

  /** Steps in order; stops at the first that fails and is not optional, or when the process dies. */
  function run(process: Process, steps: readonly CompiledStep[], startMs: number, parent: number): number {
    let elapsed = 0;
    for (const step of steps) {
      if (step.type === "call") {
        const { when, unless, chance } = step.def;
        if (when !== undefined && !holds(process, when)) continue;
        if (unless !== undefined && holds(process, unless)) continue;
        if (chance !== undefined && random.next() >= chance) continue;
        for (let i = 0; i < step.times && failure === undefined; i++)
          elapsed += call(process, step, startMs + elapsed, parent);
      } else if (step.type === "publish") {
        elapsed += publish(process, step, startMs + elapsed, parent);
      } else {
        const own = begin(process, step.span, parent, startMs + elapsed);
        let inner = sample(step.def.ms, 0.35);
        inner += run(process, step.steps, startMs + elapsed + inner / 2, own);
        end(own, inner, failure);
        elapsed += inner;
      }
      if (!process.alive) return elapsed;
      if (failure === undefined) continue;
      if (step.type === "internal" || !step.def.optional) return elapsed;
      failure = undefined;
    }
    return elapsed;
  }

  function holds(process: Process, condition: { env: string; equals: string }): boolean {
    return (process.variables.get(condition.env) ?? "").toLowerCase() === condition.equals;
  }

  function attempt(process: Process, step: CallStep | PublishStep, address: Address | undefined, ip: string): Attempt {
    return {
      language: process.program?.language ?? "native",
      protocol: step.type === "publish" ? "kafka" : step.def.protocol,
      host: address?.host ?? "",
      port: address?.port ?? 0,
      ip,
      dnsServer: network.dnsServer,
      timeoutMs: step.def.timeoutMs ?? TIMEOUT_MS,
      ...(address?.user === undefined ? {} : { user: address.user }),
    };
  }

  /** A request to another program, as the caller sees it. */
  function call(process: Process, step: CallStep, startMs: number, parent: number): number {
    const { def } = step;
    const own = step.span === undefined ? -1 : begin(process, step.span, parent, startMs);
    let address = processAddress(process, def.address);
    if (def.redirect !== undefined && flags.value(process, def.redirect.flag))
      address = redirected(def.redirect.address);
    let elapsed: number;
    let failed: Failure | undefined;
    failure = undefined;
    if ("problem" in address) {
      failed = attemptFailure("address", attempt(process, step, undefined, ""), address.problem);
      elapsed = 0.2;
    } else {
      const result = network.connect(process, address);
      if (result.failure !== undefined) {
        failed = attemptFailure(result.failure, attempt(process, step, address, result.ip));
        elapsed =
          result.failure === "timeout" ? (def.timeoutMs ?? TIMEOUT_MS) : result.failure === "dns" ? DNS_MS : REFUSED_MS;
        elapsed = sample(elapsed, result.failure === "timeout" ? 0 : 0.3);
      } else {
        const target = result.process;
        const operation = target.program && compiled.get(target.program)?.operations.get(def.operation);
        const refusal = def.protocol === "postgres" ? accountProblem(target, address) : undefined;
        let problem: Exclude<FailureKind, "application"> | undefined;
        if (operation === undefined || target.ports.get(result.port) !== def.protocol) problem = "protocol";
        else if (refusal !== undefined) problem = "credentials";
        else if (def.shedMs !== undefined && target.queueMs > def.shedMs) problem = "overflow";
        else if (def.timeoutMs !== undefined && target.queueMs > def.timeoutMs) problem = "timeout";
        if (problem !== undefined || operation === undefined) {
          failed = attemptFailure(problem ?? "protocol", attempt(process, step, address, result.ip), refusal ?? "");
          elapsed = problem === "timeout" ? def.timeoutMs! : 2;
        } else {
          elapsed = HOP_MS + serve(target, operation, startMs + HOP_MS / 2, own < 0 ? parent : own);
          const answer = failure as Failure | undefined;
          if (!target.alive) failed = attemptFailure("reset", attempt(process, step, address, result.ip));
          else if (def.timeoutMs !== undefined && elapsed > def.timeoutMs) {
            failed = attemptFailure("timeout", attempt(process, step, address, result.ip));
            elapsed = def.timeoutMs;
          } else if (answer !== undefined) {
            failed = answeredFailure(process.program?.language ?? "native", def.protocol, answer);
            failed.status = answer.status;
          }
        }
      }
      if (own >= 0) records[own]!.peer = `${address.host}:${address.port}`;
    }
    if (own >= 0) end(own, elapsed, failed);
    else if (failed !== undefined) anyFailure = true;
    failure = failed;
    return elapsed;
  }

  function redirected(text: string): Address | { problem: string } {
    let address = redirects.get(text);
    if (address === undefined) {
      address = parseAddress(text, undefined);
      redirects.set(text, address);
    }
    return address;
  }

  /** A message to a topic. A producer that could not be made at start is a nil pointer: the program dies of it. */
  function publish(process: Process, step: PublishStep, startMs: number, parent: number): number {
    const { def } = step;
    if (def.withoutProducer !== undefined && process.missing.has("kafka")) {
      for (const line of def.withoutProducer.log) print(process, logs, Math.min(startMs, clock.now()), line, "FATAL");
      processes.kill(process);
      options.crashed(process, def.withoutProducer);
      return 1;
    }
    const own = begin(process, step.span, parent, startMs);
    const connected = broker(process, step);
    let failed: Failure | undefined;
    let elapsed = sample(3, 0.4);
    if ("failed" in connected) {
      failed = connected.failed;
      elapsed = def.timeoutMs;
    } else {
      const topic = topics.topic(connected.broker, process.variables.get(def.publish.env) ?? "orders");
      const extra = def.extra === undefined ? 0 : Number(flags.value(process, def.extra.flag)) || 0;
      connected.broker.busyMs += 0.4 * weight * (1 + extra);
      if (topics.publish(topic, weight, extra)) {
        if (keep) published = { topic, record: own };
      } else {
        failed = {
          kind: "timeout",
          code: "DEADLINE_EXCEEDED",
          status: 504,
          text: "kafka server: Request exceeded the user-specified time limit in the request",
        };
        elapsed = def.timeoutMs;
      }
    }
    end(own, elapsed, failed);
    if (failed !== undefined) {
      const line = `{"time":"{time}","level":"ERROR","msg":"Failed to write message: {error}","trace_id":"{trace}","span_id":"{spanId}"}`;
      note(step, process, line, own, startMs + elapsed, failed, elapsed);
    }
    failure = failed;
    return elapsed;
  }

  /** The broker behind an address: first the bootstrap server, then the listener that it advertises. */
  function broker(process: Process, step: PublishStep): { broker: Process } | { failed: Failure } {
    let address = processAddress(process, step.def.address);
    for (let hop = 0; hop < 2; hop++) {
      if ("problem" in address)
        return { failed: attemptFailure("address", attempt(process, step, undefined, ""), address.problem) };
      const result = network.connect(process, address);
      if (result.failure !== undefined)
        return { failed: attemptFailure(result.failure, attempt(process, step, address, result.ip)) };
      if (result.process.ports.get(result.port) !== "kafka") {
        return { failed: attemptFailure("protocol", attempt(process, step, address, result.ip)) };
      }
      if (hop === 1) return { broker: result.process };
      address = advertised(result.process);
    }
    return { failed: attemptFailure("refused", attempt(process, step, undefined, "")) };
  }

  function clear(requests: number, kept: boolean): void {
    used = 0;
    lines = [];
    failure = undefined;
    anyFailure = false;
    published = undefined;
    weight = requests;
    keep = kept;
    values.clear();
  }

  /** Counts the walk's spans; stores the trace and prints the lines that are to be kept. */
  function commit(about: object, continued?: Topic["sample"]): void {
    for (let i = 0; i < used; i++) {
      const record = records[i]!;
      // A process that died takes the spans along that it had not sent yet.
      if (!record.process.alive) continue;
      metrics.record(
        metricOf(record.span, record.process, metrics),
        record.failure !== undefined,
        record.durationMs,
        weight,
      );
    }
    const store = keep || (anyFailure && !keptFailures.has(about));
    if (store && anyFailure) keptFailures.add(about);
    if (!store && lines.length === 0) return;
    const traceId = continued?.traceId ?? random.hex(32);
    const ids = spanIds();
    if (published !== undefined) {
      published.topic.sample = { traceId, spanId: ids[published.record] ?? "", values: new Map(values) };
    }
    for (const line of lines) {
      if (!line.process.alive) continue;
      printLine(line, traceId, ids[line.record] ?? ids[0] ?? "");
    }
    if (store) traces.add(spansOf(traceId, ids, continued?.spanId));
  }

  /** An id for each record: a random half, and one that a random number and the record's position make. */
  function spanIds(): string[] {
    const ids: string[] = [];
    const low = random.hex(8);
    const high = random.uint32();
    for (let i = 0; i < used; i++) {
      const mixed = high ^ Math.imul(i + 1, 0x9e3779b1);
      ids.push(HEX[mixed >>> 24]! + HEX[(mixed >>> 16) & 255]! + HEX[(mixed >>> 8) & 255]! + HEX[mixed & 255]! + low);
    }
    return ids;
  }

  function printLine(line: Line, traceId: string, spanId: string): void {
    const at = Math.max(line.process.startedAt, Math.min(line.atMs, clock.now()));
    const text = fill(line.template, (name) => {
      switch (name) {
        case "time":
          return new Date(at).toISOString();
        case "trace":
          return traceId;
        case "spanId":
          return spanId;
        case "error":
          return line.failure?.text ?? "";
        case "status":
          return String(line.failure?.status ?? 200);
        case "upstream":
          return records[line.record + 1]?.peer ?? "-";
        case "duration":
          return String(Math.round(line.durationMs));
        case "request":
          return requestLine;
        case "responseFlags":
          return line.failure?.status === 503 ? "UF,URX" : line.failure?.status === 504 ? "UT" : "-";
        case "responseDetails":
          return line.failure?.status === 503
            ? "upstream_reset_before_response_started{connection_failure}"
            : "via_upstream";
        default:
          return requestValue(name);
      }
    });
    print(line.process, logs, at, text, line.failure === undefined ? "INFO" : "ERROR", traceId, spanId);
  }

  /** A value of the request: the same name has the same value throughout a walk. */
  function requestValue(name: string): string | undefined {
    let value = values.get(name);
    if (value !== undefined) return value;
    const choices = behaviour.values[name];
    if (choices !== undefined) value = random.pick(choices);
    else if (name === "user" || name === "order" || name === "tracking" || name === "transaction")
      value = random.uuid();
    else if (name === "amount") value = (5 + random.int(90_000) / 100).toFixed(2);
    else if (name === "quantity") value = String(1 + random.int(5));
    else if (name === "size") value = String(100 + random.int(9000));
    else return undefined;
    values.set(name, value);
    return value;
  }

  function spansOf(traceId: string, ids: readonly string[], parentSpanId: string | undefined): Span[] {
    const spans: Span[] = [];
    for (let i = 0; i < used; i++) {
      const { process, span, parent, startMs, durationMs, failure: failed, peer } = records[i]!;
      if (!process.alive) continue;
      const up = parent < 0 ? parentSpanId : ids[parent];
      const startUs = Math.round(startMs * 1000);
      const durationUs = Math.max(1, Math.round(durationMs * 1000));
      const attributes: Span["attributes"] = { ...span.attributes };
      if (peer !== "") attributes["server.address"] = peer;
      if (span.protocol === "http")
        attributes["http.response.status_code"] = failed === undefined ? 200 : failed.status;
      else if (span.protocol === "grpc") {
        attributes["rpc.grpc.status_code"] = failed === undefined ? 0 : grpcStatus(failed.code);
      }
      const made: Span = {
        traceId,
        spanId: ids[i]!,
        service: process.service,
        name: span.name,
        kind: span.kind,
        startUs,
        durationUs,
        status: failed === undefined ? "unset" : "error",
        attributes,
        resource: process.resource,
      };
      if (up !== undefined) made.parentSpanId = up;
      if (failed !== undefined) {
        made.statusMessage = failed.text;
        const details = { "exception.message": failed.text };
        made.events = [{ timeUs: startUs + durationUs, name: "exception", attributes: details }];
      }
      spans.push(made);
    }
    return spans;
  }

  return {
    task(source, name, requests, weightOfTask, startMs, kept) {
      clear(weightOfTask, kept);
      const root = begin(source, name, -1, startMs);
      let elapsed = 0.5;
      let first: Failure | undefined;
      for (const { call: step, times, def } of requests) {
        for (let i = 0; i < times; i++) {
          requestLine = kept ? `${def.method} ${fill(def.path, requestValue)}` : `${def.method} ${def.path}`;
          elapsed += call(source, step, startMs + elapsed, root) + 1;
          first ??= failure;
        }
      }
      if (first !== undefined) {
        note(
          name,
          source,
          'time="{time}" level=warning msg="Request Failed" error="{request}: {error}"',
          root,
          startMs + elapsed,
          first,
          elapsed,
        );
      }
      end(root, elapsed, first);
      commit(name);
      return elapsed;
    },
    message(consumer, topic, operation, weightOfMessages, startMs, kept) {
      clear(weightOfMessages, kept);
      const todo = consumer.program && compiled.get(consumer.program)?.operations.get(operation);
      if (todo === undefined) return;
      const sampled = kept ? topic.sample : undefined;
      for (const [name, value] of sampled?.values ?? []) values.set(name, value);
      duplicate = topic.repeated > 0 && random.next() < topic.repeated;
      serve(consumer, todo, startMs, -1);
      duplicate = false;
      commit(todo, sampled);
    },
    endTick() {
      keptLines.clear();
      if (++ticks % FAILURES_EVERY === 0) keptFailures.clear();
    },
  };
}

/** The first listener that a broker tells its clients to use. */
export function advertised(broker: Process): Address | { problem: string } {
  const text = (broker.variables.get("KAFKA_ADVERTISED_LISTENERS") ?? "").split(",")[0]!;
  return parseAddress(text.replace(/^[A-Z_]+:\/\//, ""), 9092);
}

/** Requests of a task, ready to be walked. */
export function compileRequests(behaviour: Behaviour, requests: readonly UserRequest[]): CompiledRequest[] {
  const users = behaviour.users!;
  return requests.map((def) => ({
    def,
    times: def.times ?? 1,
    call: compileCall({
      to: users.entry,
      address: users.target,
      protocol: "http",
      operation: def.operation,
      span: def.method,
      timeoutMs: 60_000,
    }),
  }));
}
