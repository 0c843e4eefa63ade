/**
 * One request's way through the call graph. A walk stands for `weight` equal requests: its spans are counted that often.
 * What it does, it does to state (processes, topics); what it sees, it writes to span metrics, spans and log lines.
 */
import type { VirtualClock } from "../clock.js";
import type { Random } from "../random.js";
import type { LogStore } from "../telemetry/logs.js";
import { accountProblem } from "./accounts.js";
import type { Address } from "./address.js";
import { parseAddress } from "./address.js";
import type { Behaviour, Crash, Program, UserRequest } from "./behaviour.js";
import type { CallStep, CompiledOperation, CompiledProgram, CompiledStep, PublishStep, SpanName } from "./compile.js";
import { compileCall } from "./compile.js";
import type { Attempt, Failure, FailureKind } from "./failures.js";
import { answeredFailure, attemptFailure } from "./failures.js";
import type { Flags } from "./flags.js";
import type { Network } from "./network.js";
import type { Process, ProcessTable } from "./processes.js";
import { print, processAddress } from "./processes.js";
import type { Recorder } from "./recording.js";
import { fill } from "./text.js";
import type { Topic, Topics } from "./topics.js";

export interface WalkOptions {
  compiled: ReadonlyMap<Program, CompiledProgram>;
  processes: ProcessTable;
  network: Network;
  flags: Flags;
  topics: Topics;
  recorder: Recorder;
  logs: LogStore;
  clock: VirtualClock;
  random: Random;
  /** Told of each process that dies of a request. */
  crashed(process: Process, crash: Crash): void;
}

/** `keep` stores the walk's trace and its healthy log lines; of failing walks some are kept anyhow (see Recorder). */
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
}

export interface CompiledRequest {
  call: CallStep;
  times: number;
  def: UserRequest;
}

const PUBLISH_FAILED =
  '{"time":"{time}","level":"ERROR","msg":"Failed to write message: {error}","trace_id":"{trace}","span_id":"{spanId}"}';
const REQUEST_FAILED = 'time="{time}" level=warning msg="Request Failed" error="{request}: {error}"';
/** A hop's share of the network: milliseconds there and back. */
const HOP_MS = 0.3;
const DNS_MS = 4;
const REFUSED_MS = 1.5;
const TIMEOUT_MS = 5000;

export function createWalker(options: WalkOptions): Walker {
  const { compiled, processes, network, flags, topics, logs, clock, random, recorder } = options;
  const { begin, end } = recorder;
  const normals = Float64Array.from({ length: 4096 }, () => random.normal());
  let failure: Failure | undefined;
  let weight = 1;
  let duplicate = false;
  const redirects = new Map<string, Address | { problem: string }>();

  function sample(ms: number, spread: number): number {
    return ms * Math.exp(spread * normals[random.uint32() & 4095]!);
  }

  function reset(requests: number, keep: boolean): void {
    recorder.reset(requests, keep);
    failure = undefined;
    weight = requests;
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
      if (def.errorLog !== undefined) {
        const line = { process, template: def.errorLog, record: own, atMs: startMs + elapsed, durationMs: elapsed };
        recorder.complain(operation, { ...line, failure: failed });
      }
    } else if (recorder.keep && def.log !== undefined) {
      recorder.say({ process, template: def.log, record: own, atMs: startMs + elapsed, durationMs: elapsed });
    }
    if (own >= 0) end(own, elapsed, failed);
    return elapsed;
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
          if (refusal !== undefined && target.program?.refusalLog !== undefined) {
            const line = { process: target, template: target.program.refusalLog, record: own, atMs: startMs };
            recorder.complain(target.program, { ...line, durationMs: elapsed, failure: { ...failed, text: refusal } });
          }
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
      if (own >= 0) recorder.peer(own, address.name);
    }
    if (own >= 0) end(own, elapsed, failed);
    else if (failed !== undefined) recorder.failed();
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
        if (recorder.keep) recorder.published(topic, own);
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
      const line = { process, template: PUBLISH_FAILED, record: own, atMs: startMs + elapsed, durationMs: elapsed };
      recorder.complain(step, { ...line, failure: failed });
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

  return {
    task(source, name, requests, weightOfTask, startMs, kept) {
      reset(weightOfTask, kept);
      const root = begin(source, name, -1, startMs);
      let elapsed = 0.5;
      let first: Failure | undefined;
      for (const { call: step, times, def } of requests) {
        for (let i = 0; i < times; i++) {
          recorder.request(def);
          elapsed += call(source, step, startMs + elapsed, root) + 1;
          if (failure === undefined) continue;
          first ??= failure;
          const line = { process: source, template: REQUEST_FAILED, record: root, atMs: startMs + elapsed };
          recorder.complain(def, { ...line, durationMs: elapsed, failure });
        }
      }
      end(root, elapsed, first);
      recorder.commit(name);
      return elapsed;
    },
    message(consumer, topic, operation, weightOfMessages, startMs, kept) {
      reset(weightOfMessages, kept);
      const handling = consumer.program && compiled.get(consumer.program)?.operations.get(operation);
      if (handling === undefined) return;
      const sampled = kept ? topic.sample : undefined;
      duplicate = topic.repeated > 0 && random.next() < topic.repeated;
      serve(consumer, handling, startMs, -1);
      duplicate = false;
      recorder.commit(handling, sampled);
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
