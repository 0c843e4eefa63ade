/** Jaeger's query API. */
import { type ToolContext, ToolFailure } from "../context.js";
import { getJson } from "../http.js";
import { duration, timestamp } from "../render/text.js";
import { type JaegerTrace, renderTraces } from "../render/traces.js";
import { listing } from "../suggest.js";

export interface TracesQuery {
  service?: string;
  operation?: string;
  /** Span tags that must match, such as `error: "true"`. */
  tags?: Record<string, string>;
  /** Minutes to look back, from `end` when that is given. */
  minutes: number;
  /** ISO 8601, or epoch seconds, milliseconds or microseconds; in the place of `minutes`. */
  start?: string;
  /** As `start`; now when absent. */
  end?: string;
  /** Traces to read at most. */
  limit: number;
  /** Such as `500ms`. */
  minDuration?: string;
  maxDuration?: string;
  /** One trace by its id; everything else is left out then. */
  traceId?: string;
  /** Which service calls which, instead of traces. */
  dependencies?: boolean;
  /** Parameters that there are not, for the linter. */
  unknown?: readonly string[];
}

export const DEFAULT_MINUTES = 15;
export const DEFAULT_LIMIT = 20;
export const MAX_MINUTES = 24 * 60;
export const MAX_LIMIT = 200;

/** A point in time in milliseconds since the epoch: ISO 8601, or a number whose size tells its unit. */
export function readTime(text: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) {
    const value = Number(text);
    return value < 1e11 ? value * 1000 : value < 1e14 ? value : value < 1e17 ? value / 1000 : value / 1e6;
  }
  const time = /^\d{4}-\d\d-\d\d/.test(text)
    ? Date.parse(/[Zz]|[+-]\d\d:?\d\d$/.test(text) ? text : `${text}Z`)
    : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** The time that the query speaks of, within bounds whatever it says: linters can be switched off. */
function windowOf(query: TracesQuery, now: number): { startMs: number; endMs: number; limit: number } {
  const bounded = (value: number, max: number, preset: number) =>
    Number.isFinite(value) ? Math.min(Math.max(value, 1), max) : preset;
  const endMs = (query.end === undefined ? undefined : readTime(query.end)) ?? now;
  const minutes = bounded(query.minutes, MAX_MINUTES, DEFAULT_MINUTES);
  const startMs = (query.start === undefined ? undefined : readTime(query.start)) ?? endMs - minutes * 60_000;
  return { startMs, endMs, limit: Math.round(bounded(query.limit, MAX_LIMIT, DEFAULT_LIMIT)) };
}

/** Runs the query and renders its result; an empty one comes with what does exist. */
export async function runTracesQuery(query: TracesQuery, context: ToolContext): Promise<string> {
  const now = context.clock.now();
  if (query.dependencies === true) return renderDependencies(query, context);
  if (query.traceId !== undefined) {
    const json = await get(context, `/api/traces/${encodeURIComponent(query.traceId)}`);
    return renderTraces(json.data as JaegerTrace[]) ?? `no trace ${query.traceId}`;
  }
  if (query.service === undefined) {
    throw new ToolFailure(`traces are asked for by service; there are: ${listing(await traceServices(context), 60)}`);
  }
  const { startMs, endMs, limit } = windowOf(query, now);
  const json = await get(context, "/api/traces", {
    service: query.service,
    operation: query.operation,
    tags: query.tags === undefined ? undefined : JSON.stringify(query.tags),
    start: Math.round(startMs * 1000),
    end: Math.round(endMs * 1000),
    limit,
    minDuration: query.minDuration,
    maxDuration: query.maxDuration,
  });
  const head = `traces of ${showTracesQuery(query)}, to ${timestamp(endMs)}:`;
  return `${head} ${renderTraces(json.data as JaegerTrace[]) ?? (await emptyResult(query, context))}`;
}

export async function traceServices(context: ToolContext): Promise<string[]> {
  const json = await get(context, "/api/services");
  return [...((json.data as string[] | null) ?? [])].sort();
}

export async function traceOperations(context: ToolContext, service: string): Promise<string[]> {
  const json = await get(context, `/api/services/${encodeURIComponent(service)}/operations`);
  return [...((json.data as string[] | null) ?? [])].sort();
}

/** The query as a line of text. */
export function showTracesQuery(query: TracesQuery): string {
  if (query.dependencies === true) return "dependencies between services";
  if (query.traceId !== undefined) return `trace ${query.traceId}`;
  const tags = Object.entries(query.tags ?? {}).map(([key, value]) => `${key}=${value}`);
  return [
    `service ${query.service ?? "?"}`,
    ...(query.operation === undefined ? [] : [`operation ${query.operation}`]),
    ...(tags.length === 0 ? [] : [`tags ${tags.join(" ")}`]),
    ...(query.minDuration === undefined ? [] : [`at least ${query.minDuration}`]),
    ...(query.maxDuration === undefined ? [] : [`at most ${query.maxDuration}`]),
    query.start === undefined ? `last ${query.minutes} minutes` : `from ${query.start}`,
    ...(query.end === undefined ? [] : [`until ${query.end}`]),
    `at most ${query.limit}`,
  ].join(", ");
}

function get(context: ToolContext, path: string, parameters: Record<string, string | number | undefined> = {}) {
  return getJson(context.endpoints, "jaeger", path, parameters, context.signal);
}

async function renderDependencies(query: TracesQuery, context: ToolContext): Promise<string> {
  const { startMs, endMs } = windowOf(query, context.clock.now());
  const json = await get(context, "/api/dependencies", {
    endTs: Math.round(endMs),
    lookback: Math.round(endMs - startMs),
  });
  const edges = ((json.data as { parent: string; child: string; callCount: number }[] | null) ?? []).filter(
    (edge) => query.service === undefined || edge.parent === query.service || edge.child === query.service,
  );
  if (edges.length === 0) return "no calls between services were traced in that time";
  const callees = new Map<string, string[]>();
  for (const edge of [...edges].sort((a, b) => b.callCount - a.callCount || a.child.localeCompare(b.child))) {
    callees.set(edge.parent, [...(callees.get(edge.parent) ?? []), `${edge.child} (${edge.callCount})`]);
  }
  return [...callees]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([parent, children]) => `${parent} -> ${children.join(", ")}`)
    .join("\n");
}

async function emptyResult(query: TracesQuery, context: ToolContext): Promise<string> {
  const { startMs, endMs } = windowOf(query, context.clock.now());
  const json = await get(context, "/api/traces", {
    service: query.service,
    start: Math.round(startMs * 1000),
    end: Math.round(endMs * 1000),
    limit: 20,
  });
  const traces = json.data as JaegerTrace[];
  if (traces.length === 0) {
    return `no traces\n${query.service} has none at all in the last ${duration((endMs - startMs) / 1000)}: it may not run, or nothing calls it`;
  }
  const operations = await traceOperations(context, query.service!);
  return `no traces\n${query.service} has traces in that time, but none that fit; its operations: ${listing(operations, 40)}`;
}
