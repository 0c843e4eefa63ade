/** The behaviour in the form that the engine walks: steps sorted by kind, span counters kept where they are used. */
import type {
  Behaviour,
  Call,
  FlagEffect,
  Internal,
  Operation,
  Program,
  Protocol,
  Publish,
  Step,
} from "./behaviour.js";
import type { Process } from "./processes.js";
import type { SpanKind, SpanMetric, SpanMetrics } from "./span-metrics.js";

/** A span's name with its counters, by the service that writes it (one service nearly always). */
export interface SpanName {
  readonly name: string;
  readonly kind: SpanKind;
  /** Decides which attribute tells the outcome. */
  readonly protocol: Protocol | undefined;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  service: string | undefined;
  metric: SpanMetric | undefined;
  readonly others: Map<string, SpanMetric>;
}

export interface CallStep {
  type: "call";
  def: Call;
  times: number;
  span: SpanName | undefined;
}
export interface PublishStep {
  type: "publish";
  def: Publish;
  span: SpanName;
}
export interface InternalStep {
  type: "internal";
  def: Internal;
  span: SpanName;
  steps: readonly CompiledStep[];
}
export type CompiledStep = CallStep | PublishStep | InternalStep;

export interface CompiledOperation {
  readonly name: string;
  readonly def: Operation;
  readonly span: SpanName | undefined;
  readonly steps: readonly CompiledStep[];
  readonly effects: readonly FlagEffect[];
  readonly spread: number;
  readonly cpuMs: number;
}

export interface CompiledProgram {
  readonly program: Program;
  readonly operations: ReadonlyMap<string, CompiledOperation>;
}

/** Deviation of a latency's logarithm where an operation says nothing else. */
const SPREAD = 0.35;

export function compileBehaviour(behaviour: Behaviour): Map<Program, CompiledProgram> {
  const compiled = new Map<Program, CompiledProgram>();
  for (const program of Object.values(behaviour.programs)) {
    const operations = new Map<string, CompiledOperation>();
    for (const [name, def] of Object.entries(program.operations ?? {})) {
      operations.set(name, {
        name,
        def,
        span: serverSpan(program, def),
        steps: (def.steps ?? []).map(compileStep),
        effects: def.effects ?? [],
        spread: def.spread ?? SPREAD,
        cpuMs: def.cpuMs ?? program.cpuMs ?? 1,
      });
    }
    compiled.set(program, { program, operations });
  }
  return compiled;
}

function compileStep(step: Step): CompiledStep {
  if ("publish" in step) {
    const attributes = { "messaging.system": "kafka", "messaging.operation": "publish" };
    return { type: "publish", def: step, span: spanName(step.span, "producer", attributes) };
  }
  if ("internal" in step) {
    return {
      type: "internal",
      def: step,
      span: spanName(step.internal, "internal", {}),
      steps: (step.steps ?? []).map(compileStep),
    };
  }
  return compileCall(step);
}

export function compileCall(def: Call): CallStep {
  const span = def.span === undefined ? undefined : spanName(def.span, "client", clientAttributes(def), def.protocol);
  return { type: "call", def, times: def.times ?? 1, span };
}

function serverSpan(program: Program, def: Operation): SpanName | undefined {
  if (def.span === undefined) return undefined;
  const kind = def.kind ?? "server";
  const protocol = kind === "server" ? program.listens?.[0]?.protocol : undefined;
  return spanName(def.span, kind, def.attributes ?? {}, protocol);
}

export function spanName(
  name: string,
  kind: SpanKind,
  attributes: SpanName["attributes"],
  protocol?: Protocol,
): SpanName {
  return { name, kind, protocol, attributes, service: undefined, metric: undefined, others: new Map() };
}

/** The counters for a span of this process. */
export function metricOf(span: SpanName, process: Process, metrics: SpanMetrics): SpanMetric {
  if (span.service === process.service) return span.metric!;
  let metric = span.others.get(process.service);
  if (metric === undefined) {
    metric = metrics.metric(process, span.name, span.kind);
    span.others.set(process.service, metric);
  }
  span.service = process.service;
  span.metric = metric;
  return metric;
}

function clientAttributes(call: Call): SpanName["attributes"] {
  switch (call.protocol) {
    case "grpc": {
      const [service, method] = call.operation.split("/");
      return { "rpc.system": "grpc", "rpc.service": `oteldemo.${service}`, "rpc.method": method ?? "" };
    }
    case "http":
      return { "http.request.method": call.operation.split(" ")[0]! };
    case "postgres":
      return { "db.system": "postgresql" };
    case "redis":
      return { "db.system": "redis" };
    default:
      return {};
  }
}
