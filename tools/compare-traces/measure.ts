/** What a service's spans say: how many, how slow, how many failed, and whom they call. */
import type { JaegerSpan, JaegerTrace } from "../nl2traces/index.js";

export interface Operation {
  /** Seconds, of each span. */
  durations: number[];
  failed: number;
  /** Calls made while such a span lasted, by callee: `service: operation`. */
  calls: Map<string, Call>;
}

export interface Call {
  count: number;
  failed: number;
  /** Seconds. */
  durations: number[];
}

/** Deeper than this a trace is broken, or a loop. */
const MAX_DEPTH = 100;

/**
 * The operations by which `service` is entered (its spans that no other span of its own holds), over all traces.
 *
 * @param only one operation; all when left out
 */
export function measure(traces: readonly JaegerTrace[], service: string, only?: string): Map<string, Operation> {
  const operations = new Map<string, Operation>();
  for (const trace of traces) {
    const byId = new Map(trace.spans.map((span) => [span.spanID, span]));
    const children = new Map<string, JaegerSpan[]>();
    for (const span of trace.spans) {
      const parent = parentOf(span);
      if (parent === undefined) continue;
      const list = children.get(parent);
      if (list === undefined) children.set(parent, [span]);
      else list.push(span);
    }
    const serviceOf = (span: JaegerSpan) => trace.processes[span.processID]?.serviceName ?? "?";
    for (const span of trace.spans) {
      if (serviceOf(span) !== service) continue;
      const parent = byId.get(parentOf(span) ?? "");
      const entry = parent === undefined || serviceOf(parent) !== service;
      if (only === undefined ? !entry : span.operationName !== only) continue;
      const operation: Operation = operations.get(span.operationName) ?? { durations: [], failed: 0, calls: new Map() };
      operations.set(span.operationName, operation);
      operation.durations.push(span.duration / 1e6);
      if (isError(span)) operation.failed++;
      const visit = (one: JaegerSpan, depth: number): void => {
        if (depth > MAX_DEPTH) return;
        for (const child of children.get(one.spanID) ?? []) {
          const own = serviceOf(child) === service;
          const below = children.get(child.spanID) ?? [];
          // A client span with its server span below is the call that the server span stands for.
          const stands = own && below.some((grandchild) => serviceOf(grandchild) !== service);
          if (!stands) count(operation, callName(child, serviceOf(child), own), child);
          if (own) visit(child, depth + 1);
        }
      };
      visit(span, 1);
    }
  }
  return operations;
}

function count(operation: Operation, name: string, span: JaegerSpan): void {
  const call = operation.calls.get(name) ?? { count: 0, failed: 0, durations: [] };
  call.count++;
  if (isError(span)) call.failed++;
  call.durations.push(span.duration / 1e6);
  operation.calls.set(name, call);
}

/** A span of its own that calls something untraced names it by its address. */
function callName(span: JaegerSpan, service: string, own: boolean): string {
  if (!own) return `${service}: ${span.operationName}`;
  const tags = new Map((span.tags ?? []).map((tag) => [tag.key, String(tag.value)]));
  const peer = ["server.address", "net.peer.name", "peer.service", "messaging.system", "db.system"]
    .map((key) => tags.get(key))
    .find((value) => value !== undefined);
  return peer === undefined ? `(own) ${span.operationName}` : `(own) ${span.operationName} to ${peer}`;
}

function parentOf(span: JaegerSpan): string | undefined {
  // Consumers follow from producers: that is a call as well.
  return (span.references ?? []).find((one) => one.refType === "CHILD_OF" || one.refType === "FOLLOWS_FROM")?.spanID;
}

export function isError(span: JaegerSpan): boolean {
  return (span.tags ?? []).some(
    (tag) =>
      (tag.key === "error" && (tag.value === true || tag.value === "true")) ||
      (tag.key === "otel.status_code" && String(tag.value).toUpperCase() === "ERROR"),
  );
}

/** The value below which a share of the values lies (nearest rank); NaN for an empty list. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.length === 0) return Number.NaN;
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
}
