/** Spans in memory, grouped by trace, bounded by traces and by spans; the oldest traces go first. */
import type { Span, TraceQuery, TraceStore } from "./traces.js";

export interface TraceStoreOptions {
  /** Traces kept; default 3,000. */
  maxTraces?: number;
  /** Spans kept over all traces; default 30,000. */
  maxSpans?: number;
}

interface Trace {
  id: string;
  spans: Span[];
  /** Earliest start of its spans, microseconds. */
  startUs: number;
}

/** Default number of traces in an answer, Jaeger's own. */
const DEFAULT_LIMIT = 20;

/**
 * A trace store. A trace matches a query when one of its spans meets every condition (service, operation, tags,
 * duration, start inside the window), which is what Jaeger's in-memory storage does. Names of services and operations
 * outlive their traces, as they do in Jaeger's indices.
 */
export function createTraceStore(options: TraceStoreOptions = {}): TraceStore {
  const maxTraces = options.maxTraces ?? 3_000;
  const maxSpans = options.maxSpans ?? 30_000;
  const traces = new Map<string, Trace>();
  /** Traces in which a service has a span, in order of arrival. */
  const byService = new Map<string, Map<string, Trace>>();
  /** Service to operation to the kinds of span that it had. */
  const operations = new Map<string, Map<string, string[]>>();
  let spanCount = 0;

  function forget(trace: Trace): void {
    traces.delete(trace.id);
    spanCount -= trace.spans.length;
    for (const span of trace.spans) byService.get(span.service)?.delete(trace.id);
  }

  function traceOf(span: Span): Trace {
    let trace = traces.get(span.traceId);
    if (trace === undefined) {
      trace = { id: span.traceId, spans: [], startUs: span.startUs };
      traces.set(span.traceId, trace);
    }
    return trace;
  }

  function addSpan(trace: Trace, span: Span): void {
    trace.spans.push(span);
    if (span.startUs < trace.startUs) trace.startUs = span.startUs;
    spanCount++;
    let ofService = byService.get(span.service);
    if (ofService === undefined) {
      ofService = new Map();
      byService.set(span.service, ofService);
    }
    if (!ofService.has(span.traceId)) ofService.set(span.traceId, trace);
    let named = operations.get(span.service);
    if (named === undefined) {
      named = new Map();
      operations.set(span.service, named);
    }
    const kinds = named.get(span.name);
    if (kinds === undefined) named.set(span.name, [span.kind]);
    else if (!kinds.includes(span.kind)) kinds.push(span.kind);
  }

  return {
    add(spans) {
      let trace: Trace | undefined;
      for (const span of spans) {
        if (trace?.id !== span.traceId) trace = traceOf(span);
        addSpan(trace, span);
      }
      while (traces.size > 1 && (traces.size > maxTraces || spanCount > maxSpans)) {
        forget(traces.values().next().value!);
      }
    },
    get: (traceId) => traces.get(traceId)?.spans,
    find(query) {
      const candidates = query.service === undefined ? traces : byService.get(query.service);
      if (candidates === undefined) return [];
      const found = [...candidates.values()].filter((trace) => trace.spans.some((span) => matches(span, query)));
      found.sort((a, b) => b.startUs - a.startUs || (a.id < b.id ? -1 : 1));
      return found.slice(0, query.limit ?? DEFAULT_LIMIT).map((trace) => trace.spans);
    },
    services: () => [...operations.keys()].sort(),
    operations(service, kind) {
      const named = [...(operations.get(service) ?? [])].flatMap(([name, kinds]) =>
        kinds.map((one) => ({ name, kind: one })),
      );
      const wanted = kind === undefined || kind === "" ? named : named.filter((operation) => operation.kind === kind);
      return wanted.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.kind < b.kind ? -1 : 1));
    },
    dependencies(startUs, endUs) {
      const calls = new Map<string, { parent: string; child: string; callCount: number }>();
      for (const trace of traces.values()) {
        let bySpan: Map<string, Span> | undefined;
        for (const span of trace.spans) {
          if (span.parentSpanId === undefined || span.startUs < startUs || span.startUs > endUs) continue;
          bySpan ??= new Map(trace.spans.map((other) => [other.spanId, other]));
          const parent = bySpan.get(span.parentSpanId);
          if (parent === undefined || parent.service === span.service) continue;
          const key = `${parent.service}\u0000${span.service}`;
          const call = calls.get(key);
          if (call === undefined) calls.set(key, { parent: parent.service, child: span.service, callCount: 1 });
          else call.callCount++;
        }
      }
      return [...calls.values()].sort((a, b) =>
        a.parent === b.parent ? (a.child < b.child ? -1 : 1) : a.parent < b.parent ? -1 : 1,
      );
    },
  };
}

function matches(span: Span, query: TraceQuery): boolean {
  if (query.service !== undefined && span.service !== query.service) return false;
  if (query.operation !== undefined && span.name !== query.operation) return false;
  if (query.startUs !== undefined && span.startUs < query.startUs) return false;
  if (query.endUs !== undefined && span.startUs > query.endUs) return false;
  if (query.minDurationUs !== undefined && span.durationUs < query.minDurationUs) return false;
  if (query.maxDurationUs !== undefined && span.durationUs > query.maxDurationUs) return false;
  if (query.tags !== undefined) {
    for (const [name, value] of Object.entries(query.tags)) if (!hasTag(span, name, value)) return false;
  }
  return true;
}

/** Whether a tag of the span, of its resource or of one of its events has the value, compared as text. */
function hasTag(span: Span, name: string, value: string): boolean {
  const own = span.attributes[name] ?? span.resource[name] ?? derivedTag(span, name);
  if (own !== undefined && String(own) === value) return true;
  return span.events?.some((event) => String(eventField(event, name)) === value) ?? false;
}

function eventField(event: NonNullable<Span["events"]>[number], name: string): unknown {
  return name === "event" ? event.name : event.attributes[name];
}

/** Tags that Jaeger makes of an OpenTelemetry span's own fields. */
function derivedTag(span: Span, name: string): string | undefined {
  switch (name) {
    case "error":
      return span.status === "error" ? "true" : undefined;
    case "span.kind":
      return span.kind;
    case "otel.status_code":
      return span.status === "unset" ? undefined : span.status.toUpperCase();
    case "otel.status_description":
      return span.statusMessage;
    default:
      return undefined;
  }
}
