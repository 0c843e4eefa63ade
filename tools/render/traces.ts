/** Jaeger traces: a summary by service, then one tree for each shape that occurs. */
import { duration, plural, table, timeOfDay } from "./text.js";

export interface JaegerSpan {
  traceID: string;
  spanID: string;
  operationName: string;
  references?: { refType: string; spanID: string }[];
  /** Microseconds. */
  startTime: number;
  duration: number;
  tags?: { key: string; value: unknown }[];
  logs?: { fields: { key: string; value: unknown }[] }[];
  processID: string;
}

export interface JaegerTrace {
  traceID: string;
  spans: JaegerSpan[];
  processes: Record<string, { serviceName: string }>;
}

const MAX_SHAPES = 6;
const MAX_TREE_LINES = 60;
const MAX_DEPTH = 100;
/** Tags worth a reader's time on a span that failed, in this order. */
const TELLING = [
  "http.response.status_code",
  "http.status_code",
  "rpc.grpc.status_code",
  "db.system",
  "server.address",
  "net.peer.name",
  "exception.type",
  "exception.message",
  "otel.status_description",
  "error.message",
];

/** The traces as text; undefined when there is none. */
export function renderTraces(traces: readonly JaegerTrace[]): string | undefined {
  if (traces.length === 0) return undefined;
  const shapes = new Map<string, { traces: JaegerTrace[]; tree: Line[] }>();
  for (const trace of traces) {
    const tree = treeOf(trace);
    const key = tree.map((line) => `${line.depth} ${line.service} ${line.operation} ${line.failed}`).join("\n");
    const shape = shapes.get(key);
    if (shape === undefined) shapes.set(key, { traces: [trace], tree });
    else shape.traces.push(trace);
  }
  const ordered = [...shapes.values()].sort(
    (a, b) => Number(hasError(b.tree)) - Number(hasError(a.tree)) || b.traces.length - a.traces.length,
  );
  const parts = [summary(traces)];
  for (const { traces: same, tree } of ordered.slice(0, MAX_SHAPES)) parts.push(renderShape(same, tree));
  if (ordered.length > MAX_SHAPES) {
    parts.push(`... and ${ordered.length - MAX_SHAPES} more shapes; narrow with operation, tags or min_duration`);
  }
  return parts.join("\n\n");
}

interface Line {
  depth: number;
  service: string;
  operation: string;
  seconds: number;
  failed: boolean;
  /** Telling tags of a failed span that no failed call of its own repeats. */
  details: readonly string[];
  /** Spans below this one. */
  below: number;
  /** Some of them, or this one, failed. */
  onFailure: boolean;
}

function treeOf(trace: JaegerTrace): Line[] {
  const children = new Map<string, JaegerSpan[]>();
  const known = new Set(trace.spans.map((span) => span.spanID));
  const roots: JaegerSpan[] = [];
  for (const span of [...trace.spans].sort((a, b) => a.startTime - b.startTime || (a.spanID < b.spanID ? -1 : 1))) {
    const parent = span.references?.find((ref) => ref.refType === "CHILD_OF")?.spanID;
    if (parent === undefined || !known.has(parent)) roots.push(span);
    else children.set(parent, [...(children.get(parent) ?? []), span]);
  }
  const lines: Line[] = [];
  const visit = (span: JaegerSpan, depth: number): void => {
    const at = lines.length;
    const failed = isError(span);
    const calls = depth < MAX_DEPTH ? (children.get(span.spanID) ?? []) : [];
    const repeated = new Set(calls.filter(isError).flatMap(telling));
    const line: Line = {
      depth,
      service: trace.processes[span.processID]?.serviceName ?? "?",
      operation: span.operationName,
      seconds: span.duration / 1e6,
      failed,
      details: failed ? telling(span).filter((pair) => !repeated.has(pair)) : [],
      below: 0,
      onFailure: failed,
    };
    lines.push(line);
    for (const child of calls) visit(child, depth + 1);
    line.below = lines.length - at - 1;
    line.onFailure = lines.slice(at).some((one) => one.failed);
  };
  for (const root of roots) visit(root, 0);
  return lines;
}

function renderShape(traces: JaegerTrace[], tree: Line[]): string {
  const example = traces[0]!;
  const start = Math.min(...example.spans.map((span) => span.startTime));
  const errors = tree.filter((line) => line.failed).length;
  const head = `${plural(traces.length, "trace")} of this shape, such as ${example.traceID} at ${timeOfDay(start / 1000)} (${plural(tree.length, "span")}, ${plural(errors, "error")}):`;
  const lines: string[] = [];
  for (let i = 0; i < tree.length; i++) {
    const line = tree[i]!;
    // In a trace that failed, what went well is told in one line.
    const folded = errors > 0 && !line.onFailure && line.below > 0;
    const more = folded ? `  (and ${plural(line.below, "span")} below, without error)` : "";
    const marks = [...(line.failed ? ["ERROR"] : []), ...line.details].map((mark) => `  ${mark}`).join("");
    lines.push(
      `${"  ".repeat(line.depth + 1)}${line.service}: ${line.operation}  ${duration(line.seconds)}${marks}${more}`,
    );
    if (folded) i += line.below;
  }
  const left = lines.length - MAX_TREE_LINES;
  return [head, ...lines.slice(0, MAX_TREE_LINES), ...(left > 0 ? [`  ... and ${left} more lines`] : [])].join("\n");
}

function summary(traces: readonly JaegerTrace[]): string {
  const services = new Map<string, { spans: number; errors: number; durations: number[] }>();
  for (const trace of traces) {
    for (const span of trace.spans) {
      const name = trace.processes[span.processID]?.serviceName ?? "?";
      const entry = services.get(name) ?? { spans: 0, errors: 0, durations: [] };
      entry.spans++;
      if (isError(span)) entry.errors++;
      entry.durations.push(span.duration / 1e6);
      services.set(name, entry);
    }
  }
  const rows = [...services]
    .sort(([a, x], [b, y]) => y.errors - x.errors || y.spans - x.spans || a.localeCompare(b))
    .map(([name, entry]) => {
      const sorted = entry.durations.sort((a, b) => a - b);
      return [
        name,
        String(entry.spans),
        String(entry.errors),
        duration(sorted[Math.floor((sorted.length - 1) / 2)]!),
        duration(sorted.at(-1)!),
      ];
    });
  return `${plural(traces.length, "trace")}\n${table([["service", "spans", "errors", "median", "max"], ...rows])}`;
}

function hasError(tree: readonly Line[]): boolean {
  return tree.some((line) => line.failed);
}

function isError(span: JaegerSpan): boolean {
  return (span.tags ?? []).some(
    (tag) =>
      (tag.key === "error" && (tag.value === true || tag.value === "true")) ||
      (tag.key === "otel.status_code" && String(tag.value).toUpperCase() === "ERROR"),
  );
}

/** `key=value` of the span's telling tags and log fields; what says the same under another name is left out. */
function telling(span: JaegerSpan): string[] {
  const found = new Map<string, string>();
  for (const { key, value } of [...(span.tags ?? []), ...(span.logs ?? []).flatMap((log) => log.fields)]) {
    const text = String(value).replace(/\s+/g, " ").trim();
    if (TELLING.includes(key) && !found.has(key) && text !== "" && text !== "-") found.set(key, text.slice(0, 200));
  }
  const values = new Set<string>();
  return TELLING.flatMap((key) => {
    const value = found.get(key);
    if (value === undefined || values.has(value)) return [];
    values.add(value);
    return [`${key}=${value}`];
  });
}
