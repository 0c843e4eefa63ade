/** What a walk leaves behind: counted spans, now and then a stored trace, and log lines. */
import type { VirtualClock } from "../clock.js";
import type { Random } from "../random.js";
import type { LogStore } from "../telemetry/logs.js";
import type { Span, TraceStore } from "../telemetry/traces.js";
import type { Behaviour, UserRequest } from "./behaviour.js";
import type { SpanName } from "./compile.js";
import { metricOf } from "./compile.js";
import type { Failure } from "./failures.js";
import { grpcStatus } from "./failures.js";
import type { Process } from "./processes.js";
import { print } from "./processes.js";
import type { SpanMetrics } from "./span-metrics.js";
import { fill } from "./text.js";
import type { Topic } from "./topics.js";

export interface RecorderOptions {
  behaviour: Behaviour;
  metrics: SpanMetrics;
  logs: LogStore;
  traces: TraceStore;
  clock: VirtualClock;
  random: Random;
}

/** A line that waits for the walk's end, when its trace and span have ids. */
export interface Line {
  process: Process;
  template: string;
  /** Position of the span that it belongs to; -1: the root. */
  record: number;
  atMs: number;
  durationMs: number;
  failure?: Failure;
}

export interface Recorder {
  /** Begins a walk that stands for `weight` requests; `keep`: its trace and its healthy lines stay. */
  reset(weight: number, keep: boolean): void;
  readonly keep: boolean;
  /** Begins a span; `parent` is a position, -1 for the root. Returns its position. */
  begin(process: Process, span: SpanName, parent: number, startMs: number): number;
  end(position: number, durationMs: number, failure: Failure | undefined): void;
  /** Whom a client's span called: `host:port`. */
  peer(position: number, address: string): void;
  /** Something failed that has no span. */
  failed(): void;
  /** The request that lines are about from now on. */
  request(request: UserRequest): void;
  /** A line of a request that went well. */
  say(line: Line): void;
  /** A line of one that failed; one a tick for each process and `about`. */
  complain(about: object, line: Line): void;
  /** A message went to a topic from this span: consumers continue its trace. */
  published(topic: Topic, position: number): void;
  /**
   * Ends the walk: counts its spans; stores its trace when it is to be kept, or fails and is the first of `about` in
   * some ticks; prints its lines. `continued` is the trace that it goes on with.
   */
  commit(about: object, continued?: Topic["sample"]): void;
  endTick(): void;
}

/** Two hexadecimal digits for each byte. */
const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
/** A failing trace of each task is stored once in so many ticks. */
const FAILURES_EVERY = 3;
/** One span of the walk. Records are reused from walk to walk. */
interface SpanRecord {
  process: Process;
  span: SpanName;
  parent: number;
  startMs: number;
  durationMs: number;
  failure: Failure | undefined;
  peer: string;
}

export function createRecorder(options: RecorderOptions): Recorder {
  const { behaviour, metrics, logs, traces, clock, random } = options;
  const records: SpanRecord[] = [];
  let used = 0;
  let weight = 1;
  let keep = false;
  let anyFailure = false;
  let request: UserRequest | undefined;
  let published: { topic: Topic; record: number } | undefined;
  let lines: (Line & { request: UserRequest | undefined })[] = [];
  const values = new Map<string, string>();
  /** What has failed lately and been kept: walks by what they are about, lines by process and what failed. */
  const keptFailures = new Set<object>();
  const keptLines = new Map<object, Set<Process>>();
  let ticks = 0;

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
    for (const [name, value] of continued?.values ?? []) values.set(name, value);
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

  function printLine(line: (typeof lines)[number], traceId: string, spanId: string): void {
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
          return line.request === undefined ? "" : `${line.request.method} ${fill(line.request.path, requestValue)}`;
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
    reset(requests, kept) {
      used = 0;
      weight = requests;
      keep = kept;
      anyFailure = false;
      request = undefined;
      published = undefined;
      if (lines.length > 0) lines = [];
      values.clear();
    },
    get keep() {
      return keep;
    },
    begin,
    end,
    peer(position, address) {
      records[position]!.peer = address;
    },
    failed() {
      anyFailure = true;
    },
    request(current) {
      request = current;
    },
    say: (line) => void lines.push({ ...line, request }),
    complain(about, line) {
      const kept = keptLines.get(about);
      if (kept?.has(line.process)) return;
      if (kept === undefined) keptLines.set(about, new Set([line.process]));
      else kept.add(line.process);
      lines.push({ ...line, request });
    },
    published(topic, record) {
      published = { topic, record };
    },
    commit,
    endTick() {
      keptLines.clear();
      if (++ticks % FAILURES_EVERY === 0) keptFailures.clear();
    },
  };
}
