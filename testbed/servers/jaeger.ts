/** Jaeger's query API (the one that its own user interface calls) over the trace store. */
import { type Context, Hono } from "hono";
import type { VirtualClock } from "../clock.js";
import { parseDuration } from "../telemetry/logql/index.js";
import type { Span, TraceQuery, TraceStore } from "../telemetry/traces.js";
import { type Face, requireToken, type ServeOptions, serveApp } from "./serve.js";

export interface JaegerOptions extends ServeOptions {
  traces: TraceStore;
  clock: VirtualClock;
  /** Bearer token to ask for; default: none. */
  token?: string;
}

/** Jaeger's defaults: how far back a search looks, and how many traces it gives. */
const DEFAULT_LOOKBACK_MS = 48 * 3600_000;
const DEFAULT_LIMIT = 100;
const DEPENDENCY_LOOKBACK_MS = 24 * 3600_000;

/** A request that Jaeger answers with 400 and its error envelope. */
class BadRequest extends Error {}

/** Serves Jaeger's API on 127.0.0.1. @throws EnvironmentError when the port is in use */
export function serveJaeger(options: JaegerOptions): Promise<Face> {
  return serveApp(jaegerApp(options), "Jaeger", options);
}

/** The API without a socket; it also answers under `/jaeger/ui`, where the OpenTelemetry Demo's proxy puts it. */
export function jaegerApp({ traces, clock, token }: Omit<JaegerOptions, "port" | "host">): Hono {
  const api = new Hono();
  api.use("*", requireToken(token));

  api.get("/services", (context) => context.json(envelope(traces.services())));

  api.get("/services/:service/operations", (context) => {
    const names = traces.operations(context.req.param("service")).map(({ name }) => name);
    return context.json(envelope([...new Set(names)]));
  });

  api.get("/operations", (context) => {
    const service = context.req.query("service");
    if (!service) throw new BadRequest("parameter 'service' is required");
    const operations = traces.operations(service, context.req.query("spanKind"));
    return context.json(envelope(operations.map(({ name, kind }) => ({ name, spanKind: kind }))));
  });

  api.get("/traces", (context) => {
    const ids = context.req.queries("traceID");
    if (ids !== undefined && ids.length > 0) return byIds(context, ids);
    const found = traces.find(readQuery(context, clock.now()));
    return context.json({ ...envelope(found.map(traceJson)), total: 0 });
  });

  const byIds = (context: Context, ids: string[]) => {
    const found = ids.map((id) => ({ id, spans: findTrace(traces, id) }));
    const errors = found
      .filter(({ spans }) => spans === undefined)
      .map(({ id }) => ({ code: 404, msg: "trace not found", traceID: id }));
    const data = found.flatMap(({ spans }) => (spans === undefined ? [] : [traceJson(spans)]));
    return context.json({ ...envelope(data), total: 0, errors: errors.length === 0 ? null : errors });
  };

  api.get("/traces/:id", (context) => {
    const spans = findTrace(traces, context.req.param("id"));
    if (spans === undefined) return failure(context, 404, "trace not found");
    return context.json({ ...envelope([traceJson(spans)]), total: 0 });
  });

  api.get("/dependencies", (context) => {
    const endMs = readInteger(context, "endTs") ?? clock.now();
    const lookbackMs = readInteger(context, "lookback") ?? DEPENDENCY_LOOKBACK_MS;
    return context.json({ ...envelope(traces.dependencies((endMs - lookbackMs) * 1000, endMs * 1000)), total: 0 });
  });

  const app = new Hono();
  app.onError((error, context) =>
    error instanceof BadRequest ? failure(context, 400, error.message) : failure(context, 500, error.message),
  );
  app.notFound((context) => context.text("404 page not found\n", 404));
  app.get("/", (context) => context.text("Jaeger (simulated): the query API is under /api\n"));
  app.route("/api", api);
  app.route("/jaeger/ui/api", api);
  return app;
}

function envelope<T>(data: T[]) {
  return { data, total: data.length, limit: 0, offset: 0, errors: null as null | unknown[] };
}

function failure(context: Context, code: 400 | 404 | 500, msg: string) {
  return context.json({ data: null, total: 0, limit: 0, offset: 0, errors: [{ code, msg }] }, code);
}

/** Identifiers are compared as Jaeger does: hexadecimal numbers, leading zeros left out or not. */
function findTrace(traces: TraceStore, id: string): readonly Span[] | undefined {
  if (!/^[0-9a-fA-F]{1,32}$/.test(id)) {
    throw new BadRequest(
      id.length > 32
        ? `TraceID cannot be longer than 32 hex characters: ${id}`
        : `strconv.ParseUint: parsing ${JSON.stringify(id)}: invalid syntax`,
    );
  }
  const digits = id.toLowerCase();
  return traces.get(digits.padStart(32, "0")) ?? traces.get(digits.padStart(16, "0"));
}

function readQuery(context: Context, nowMs: number): TraceQuery {
  const service = context.req.query("service");
  if (!service) throw new BadRequest("parameter 'service' is required");
  const lookback = context.req.query("lookback");
  const lookbackMs = lookback === undefined || lookback === "custom" ? DEFAULT_LOOKBACK_MS : parseDuration(lookback);
  const endUs = readInteger(context, "end") ?? nowMs * 1000;
  const startUs = readInteger(context, "start") ?? endUs - (lookbackMs ?? DEFAULT_LOOKBACK_MS) * 1000;
  const limit = readInteger(context, "limit") ?? DEFAULT_LIMIT;
  const minDurationUs = readDuration(context, "minDuration");
  const maxDurationUs = readDuration(context, "maxDuration");
  if (minDurationUs !== undefined && maxDurationUs !== undefined && minDurationUs > maxDurationUs) {
    throw new BadRequest("'maxDuration' should be greater than 'minDuration'");
  }
  const operation = context.req.query("operation");
  const tags = readTags(context);
  return {
    service,
    startUs,
    endUs,
    // Jaeger takes 0 for "no limit given".
    limit: limit > 0 ? limit : DEFAULT_LIMIT,
    ...(operation && operation !== "all" ? { operation } : {}),
    ...(tags === undefined ? {} : { tags }),
    ...(minDurationUs === undefined ? {} : { minDurationUs }),
    ...(maxDurationUs === undefined ? {} : { maxDurationUs }),
  };
}

function readInteger(context: Context, name: string): number | undefined {
  const text = context.req.query(name);
  if (text === undefined || text === "") return undefined;
  if (!/^-?\d+$/.test(text)) {
    throw new BadRequest(
      `unable to parse param '${name}': strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  return Number(text);
}

/** Microseconds of `1.2s`, `100ms`, `500us`. */
function readDuration(context: Context, name: string): number | undefined {
  const text = context.req.query(name);
  if (text === undefined || text === "") return undefined;
  const duration = parseDuration(text);
  if (duration === undefined) {
    throw new BadRequest(`unable to parse param '${name}': time: invalid duration ${JSON.stringify(text)}`);
  }
  return duration * 1000;
}

/** `tags={"error":"true"}` and `tag=key:value`, any number of each. */
function readTags(context: Context): Record<string, string> | undefined {
  const tags: Record<string, string> = {};
  for (const text of context.req.queries("tag") ?? []) {
    const colon = text.indexOf(":");
    if (colon === -1) throw new BadRequest(`malformed 'tag' parameter, expecting key:value, received: ${text}`);
    tags[text.slice(0, colon)] = text.slice(colon + 1);
  }
  for (const text of context.req.queries("tags") ?? []) {
    if (text === "") continue;
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch (error) {
      throw new BadRequest(`malformed 'tags' parameter, cannot unmarshal JSON: ${(error as Error).message}`);
    }
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
      throw new BadRequest("malformed 'tags' parameter, cannot unmarshal JSON: an object of strings is expected");
    }
    for (const [name, value] of Object.entries(parsed)) {
      if (typeof value !== "string") {
        throw new BadRequest(
          `malformed 'tags' parameter, cannot unmarshal JSON: json: cannot unmarshal ${typeof value} into Go value of type string`,
        );
      }
      tags[name] = value;
    }
  }
  return Object.keys(tags).length === 0 ? undefined : tags;
}

type Attribute = string | number | boolean;

function tag(key: string, value: Attribute) {
  const type =
    typeof value === "string"
      ? "string"
      : typeof value === "boolean"
        ? "bool"
        : Number.isInteger(value)
          ? "int64"
          : "float64";
  return { key, type, value };
}

/** One trace as the user interface reads it; spans by start, one process for each service instance. */
function traceJson(spans: readonly Span[]) {
  const ordered = [...spans].sort((a, b) => a.startUs - b.startUs);
  const processes: Record<string, { serviceName: string; tags: ReturnType<typeof tag>[] }> = {};
  const ids = new Map<string, string>();
  const processOf = (span: Span): string => {
    const key = JSON.stringify([span.service, span.resource]);
    let id = ids.get(key);
    if (id === undefined) {
      id = `p${ids.size + 1}`;
      ids.set(key, id);
      const tags = Object.entries(span.resource).map(([name, value]) => tag(name, value));
      processes[id] = { serviceName: span.service, tags };
    }
    return id;
  };
  const list = ordered.map((span) => ({
    traceID: span.traceId,
    spanID: span.spanId,
    operationName: span.name,
    references:
      span.parentSpanId === undefined
        ? []
        : [{ refType: "CHILD_OF", traceID: span.traceId, spanID: span.parentSpanId }],
    startTime: Math.round(span.startUs),
    duration: Math.round(span.durationUs),
    tags: spanTags(span),
    logs: (span.events ?? []).map((event) => ({
      timestamp: Math.round(event.timeUs),
      fields: [tag("event", event.name), ...Object.entries(event.attributes).map(([name, value]) => tag(name, value))],
    })),
    processID: processOf(span),
    warnings: null,
  }));
  return { traceID: spans[0]!.traceId, spans: list, processes, warnings: null };
}

/** Attributes, then what Jaeger makes of the span's kind and status. */
function spanTags(span: Span) {
  const tags = Object.entries(span.attributes).map(([name, value]) => tag(name, value));
  tags.push(tag("span.kind", span.kind));
  if (span.status !== "unset") tags.push(tag("otel.status_code", span.status.toUpperCase()));
  if (span.status === "error") tags.push(tag("error", true));
  if (span.statusMessage) tags.push(tag("otel.status_description", span.statusMessage));
  return tags;
}
