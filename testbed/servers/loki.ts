/** Loki's HTTP API over the log store: the read side, as far as clients ask for it. */
import { type Context, Hono } from "hono";
import type { VirtualClock } from "../clock.js";
import { lowerBound, upperBound } from "../telemetry/log-store.js";
import {
  LogQLEvaluationError,
  LogQLParseError,
  type LogQLResult,
  metadataOf,
  parseDuration,
  parseQuery,
  parseStreamSelector,
  type QueryStats,
  queryInstant,
  queryRange,
  selectStreams,
} from "../telemetry/logql/index.js";
import type { LogStore } from "../telemetry/logs.js";
import { formatNumber } from "../telemetry/promql/index.js";
import { Re2Error } from "../telemetry/re2.js";
import { minePatterns } from "./loki-patterns.js";
import { type Face, requireToken, type ServeOptions, serveApp } from "./serve.js";

export interface LokiOptions extends ServeOptions {
  logs: LogStore;
  clock: VirtualClock;
  /** Bearer token to ask for; default: none. */
  token?: string;
}

const DEFAULT_LIMIT = 100;
/** Loki's default `max_entries_limit_per_query`. */
const MAX_LIMIT = 5000;
const HOUR_MS = 3600_000;

/** A request that Loki answers with 400 and the message as text. */
class BadRequest extends Error {}

/** Serves Loki's API on 127.0.0.1. @throws EnvironmentError when the port is in use */
export function serveLoki(options: LokiOptions): Promise<Face> {
  return serveApp(lokiApp(options), "Loki", options);
}

/** The API without a socket, for tests and for embedding. */
export function lokiApp({ logs, clock, token }: Omit<LokiOptions, "port" | "host">): Hono {
  const app = new Hono();
  app.use("/loki/*", requireToken(token));
  app.onError((error, context) => {
    const known =
      error instanceof BadRequest ||
      error instanceof LogQLParseError ||
      error instanceof LogQLEvaluationError ||
      error instanceof Re2Error;
    return context.text(known ? error.message : `internal error: ${error.message}`, known ? 400 : 500);
  });
  app.notFound((context) => context.text("404 page not found\n", 404));

  app.get("/ready", (context) => context.text("ready\n"));
  app.get("/loki/api/v1/status/buildinfo", (context) =>
    context.json({ version: "3.5.0", revision: "simulated", branch: "", buildUser: "", buildDate: "", goVersion: "" }),
  );
  const route = (path: string, handler: (params: URLSearchParams, context: Context) => Response) => {
    const handle = async (context: Context) => handler(await parameters(context), context);
    app.get(path, handle);
    app.post(path, handle);
  };

  route("/loki/api/v1/query", (params, context) => {
    const timeMs = readTime(params.get("time"), "time") ?? clock.now();
    readLimit(params);
    return context.json(success(queryInstant(logs, required(params, "query"), timeMs), false));
  });

  route("/loki/api/v1/query_range", (params, context) => {
    const { startMs, endMs } = readWindow(params, clock.now());
    const categorize = (context.req.header("x-loki-response-encoding-flags") ?? "").includes("categorize-labels");
    const direction = (params.get("direction") ?? "backward").toLowerCase();
    if (direction !== "forward" && direction !== "backward") throw new BadRequest(`invalid direction '${direction}'`);
    const stepMs = readStep(params.get("step")) ?? Math.max(1000, Math.floor((endMs - startMs) / 250 / 1000) * 1000);
    const result = queryRange(logs, required(params, "query"), {
      startMs,
      endMs,
      stepMs,
      limit: readLimit(params),
      direction,
      categorize,
    });
    return context.json(success(result, categorize));
  });

  const streamsIn = (params: URLSearchParams, selector: string | null) => {
    const { startMs, endMs } = readWindow(params, clock.now(), 6 * HOUR_MS);
    const matchers = selector === null || selector === "" ? [] : parseStreamSelector(selector);
    const from = (entries: Parameters<typeof lowerBound>[0]) => lowerBound(entries, startMs);
    const to = (entries: Parameters<typeof lowerBound>[0]) => upperBound(entries, endMs);
    return selectStreams(logs, matchers)
      .map(({ labels, entries }) => ({ labels, entries: entries.slice(from(entries), to(entries)) }))
      .filter(({ entries }) => entries.length > 0);
  };

  const labelNames = (params: URLSearchParams, context: Context) => {
    const names = new Set(streamsIn(params, params.get("query")).flatMap(({ labels }) => Object.keys(labels)));
    return context.json(names.size === 0 ? { status: "success" } : { status: "success", data: [...names].sort() });
  };
  route("/loki/api/v1/labels", labelNames);
  route("/loki/api/v1/label", labelNames);

  route("/loki/api/v1/label/:name/values", (params, context) => {
    const name = context.req.param("name")!;
    const values = streamsIn(params, params.get("query")).flatMap(({ labels }) => labels[name] ?? []);
    const data = [...new Set(values)].sort();
    return context.json(data.length === 0 ? { status: "success" } : { status: "success", data });
  });

  route("/loki/api/v1/series", (params, context) => {
    const selectors = [...params.getAll("match[]"), ...params.getAll("match")];
    const found = new Map<string, unknown>();
    for (const selector of selectors.length > 0 ? selectors : [""]) {
      for (const { labels } of streamsIn(params, selector)) found.set(JSON.stringify(labels), labels);
    }
    return context.json({ status: "success", data: [...found.values()] });
  });

  route("/loki/api/v1/index/stats", (params, context) => {
    const streams = streamsIn(params, required(params, "query"));
    const entries = streams.reduce((sum, stream) => sum + stream.entries.length, 0);
    const bytes = streams.reduce((sum, { entries: all }) => sum + byteLength(all), 0);
    return context.json({ streams: streams.length, chunks: streams.length, bytes, entries });
  });

  const volume = (params: URLSearchParams) => {
    const wanted = params.get("targetLabels")?.split(",");
    const totals = new Map<string, { metric: Record<string, string>; bytes: number }>();
    for (const { labels, entries } of streamsIn(params, required(params, "query"))) {
      const metric = wanted
        ? Object.fromEntries(wanted.flatMap((name) => (labels[name] ? [[name, labels[name]]] : [])))
        : labels;
      const key = JSON.stringify(metric);
      const total = totals.get(key) ?? { metric, bytes: 0 };
      total.bytes += byteLength(entries);
      totals.set(key, total);
    }
    return [...totals.values()].sort((a, b) => b.bytes - a.bytes).slice(0, readLimit(params));
  };
  route("/loki/api/v1/index/volume", (params, context) => {
    const seconds = readWindow(params, clock.now()).endMs / 1000;
    const result = volume(params).map(({ metric, bytes }) => ({ metric, value: [seconds, String(bytes)] }));
    return context.json({ status: "success", data: { resultType: "vector", result, stats: statistics(NO_WORK) } });
  });

  route("/loki/api/v1/detected_labels", (params, context) => {
    const values = new Map<string, Set<string>>();
    for (const { labels } of streamsIn(params, params.get("query"))) {
      for (const [name, value] of Object.entries(labels)) values.set(name, (values.get(name) ?? new Set()).add(value));
    }
    const detectedLabels = [...values].map(([label, set]) => ({ label, cardinality: set.size }));
    return context.json({ detectedLabels: detectedLabels.sort((a, b) => (a.label < b.label ? -1 : 1)) });
  });

  route("/loki/api/v1/detected_fields", (params, context) => {
    const values = new Map<string, Set<string>>();
    for (const { entries } of streamsIn(params, selectorOf(required(params, "query")))) {
      for (const entry of entries.slice(-1000)) {
        for (const [name, value] of Object.entries(metadataOf(entry))) {
          values.set(name, (values.get(name) ?? new Set()).add(value));
        }
      }
    }
    const fields = [...values].map(([label, set]) => ({ label, type: "string", cardinality: set.size, parsers: null }));
    return context.json({ fields, limit: 1000 });
  });

  route("/loki/api/v1/patterns", (params, context) => {
    const streams = streamsIn(params, selectorOf(required(params, "query")));
    const stepMs = readStep(params.get("step")) ?? 10_000;
    return context.json({
      status: "success",
      data: minePatterns(
        streams.flatMap(({ entries }) => entries),
        stepMs,
      ),
    });
  });

  return app;
}

/** Query string and form body together; the body counts first, as Go's ParseForm has it. */
async function parameters(context: Context): Promise<URLSearchParams> {
  const url = new URL(context.req.url);
  if (context.req.method !== "POST") return url.searchParams;
  const body = new URLSearchParams(await context.req.text());
  for (const [name, value] of url.searchParams) body.append(name, value);
  return body;
}

function required(params: URLSearchParams, name: string): string {
  return params.get(name) ?? "";
}

/** The selector of a log query, for endpoints that look at streams only. */
function selectorOf(query: string): string {
  const expr = parseQuery(query);
  if (expr.type !== "log") throw new BadRequest("only log selectors are supported here");
  const matchers = expr.matchers.map(({ name, op, value }) => `${name}${op}${JSON.stringify(value)}`);
  return `{${matchers.join(",")}}`;
}

/**
 * A time in milliseconds: nanoseconds or seconds as digits (ten digits or fewer are seconds, as in Loki), seconds with
 * a fraction, or RFC 3339. Undefined when there is none.
 */
function readTime(text: string | null, name: string): number | undefined {
  if (text === null || text === "") return undefined;
  if (/^-?\d+$/.test(text)) return text.length <= 10 ? Number(text) * 1000 : Number(BigInt(text) / 1_000_000n);
  if (/^-?\d*\.\d+(?:e[+-]?\d+)?$|^-?\d+(?:\.\d+)?e[+-]?\d+$/i.test(text)) return Number(text) * 1000;
  const parsed = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(parsed)) {
    throw new BadRequest(
      `could not parse '${name}' parameter: parsing time "${text}" as "2006-01-02T15:04:05.999999999Z07:00": cannot parse "${text}" as "2006"`,
    );
  }
  return parsed;
}

function readWindow(params: URLSearchParams, nowMs: number, defaultMs = HOUR_MS): { startMs: number; endMs: number } {
  const endMs = readTime(params.get("end"), "end") ?? nowMs;
  const since = params.get("since");
  let span = defaultMs;
  if (since !== null && since !== "") {
    const duration = parseDuration(since);
    if (duration === undefined)
      throw new BadRequest(`could not parse 'since' parameter: not a valid duration string: "${since}"`);
    span = duration;
  }
  const startMs = readTime(params.get("start"), "start") ?? Math.min(endMs, nowMs) - span;
  if (endMs < startMs) throw new BadRequest("end timestamp must not be before or equal to start time");
  return { startMs, endMs };
}

function readStep(text: string | null): number | undefined {
  if (text === null || text === "") return undefined;
  const number = Number(text);
  const stepMs = Number.isNaN(number) ? parseDuration(text) : number * 1000;
  if (stepMs === undefined) throw new BadRequest(`cannot parse "${text}" to a valid duration`);
  if (stepMs <= 0) {
    throw new BadRequest("zero or negative query resolution step widths are not accepted. Try a positive integer");
  }
  return stepMs;
}

function readLimit(params: URLSearchParams): number {
  const text = params.get("limit");
  if (text === null || text === "") return DEFAULT_LIMIT;
  const limit = Number(text);
  if (!Number.isInteger(limit)) throw new BadRequest(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
  if (limit <= 0) throw new BadRequest("limit must be a positive value");
  if (limit > MAX_LIMIT) {
    throw new BadRequest(
      `max entries limit per query exceeded, limit > max_entries_limit_per_query (${limit} > ${MAX_LIMIT})`,
    );
  }
  return limit;
}

function nanoseconds(ms: number): string {
  return `${Math.round(ms)}000000`;
}

function success(result: LogQLResult, categorize: boolean) {
  const stats = statistics(result.stats);
  const answer = (resultType: string, data: unknown, encoding = {}) => ({
    status: "success",
    data: { resultType, ...encoding, result: data, stats },
  });
  switch (result.type) {
    case "streams": {
      const streams = result.streams.map(({ labels, lines }) => ({
        stream: labels,
        values: lines.map(({ timeMs, line, structuredMetadata, parsed }) => {
          if (!categorize) return [nanoseconds(timeMs), line];
          const extra = {
            ...(structuredMetadata && Object.keys(structuredMetadata).length > 0 ? { structuredMetadata } : {}),
            ...(parsed && Object.keys(parsed).length > 0 ? { parsed } : {}),
          };
          return [nanoseconds(timeMs), line, extra];
        }),
      }));
      return answer("streams", streams, categorize ? { encodingFlags: ["categorize-labels"] } : {});
    }
    case "vector":
      return answer(
        "vector",
        result.series.map(({ labels, value }) => ({
          metric: labels,
          value: [result.timeMs / 1000, formatNumber(value)],
        })),
      );
    case "matrix":
      return answer(
        "matrix",
        result.series.map(({ labels, points }) => ({
          metric: labels,
          values: points.map(([timeMs, value]) => [timeMs / 1000, formatNumber(value)]),
        })),
      );
    case "scalar":
      return answer("scalar", [result.timeMs / 1000, formatNumber(result.value)]);
  }
}

const NO_WORK: QueryStats = { linesProcessed: 0, bytesProcessed: 0, entriesReturned: 0 };

/** Loki's statistics object. What was read is counted; times are 0, since the testbed measures none. */
function statistics(stats: QueryStats) {
  return {
    summary: {
      bytesProcessedPerSecond: 0,
      linesProcessedPerSecond: 0,
      totalBytesProcessed: stats.bytesProcessed,
      totalLinesProcessed: stats.linesProcessed,
      execTime: 0,
      queueTime: 0,
      subqueries: 0,
      totalEntriesReturned: stats.entriesReturned,
      splits: 0,
      shards: 0,
      totalPostFilterLines: stats.entriesReturned,
      totalStructuredMetadataBytesProcessed: 0,
    },
  };
}

function byteLength(entries: readonly { line: string }[]): number {
  return entries.reduce((sum, entry) => sum + Buffer.byteLength(entry.line), 0);
}
