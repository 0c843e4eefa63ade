/** Prometheus' HTTP API over the metric store and the rule engine: the read side. */
import { type Context, Hono } from "hono";
import type { VirtualClock } from "../clock.js";
import type { Labels, Matcher, MetricStore, Series } from "../telemetry/metrics.js";
import { isStale } from "../telemetry/metrics.js";
import {
  formatNumber,
  PromqlExecutionError,
  PromqlParseError,
  parse,
  parseDuration,
  parseSelector,
  prepare,
  print,
  type QueryResult,
  type QueryValue,
} from "../telemetry/promql/index.js";
import type { AlertRecord, RuleEngine, RuleStatus } from "../telemetry/rules/index.js";
import { type Face, requireToken, type ServeOptions, serveApp } from "./serve.js";

export interface PrometheusOptions extends ServeOptions {
  store: MetricStore;
  clock: VirtualClock;
  /** Without rules, the lists of rules and alerts are empty. */
  rules?: RuleEngine;
  /** Bearer token to ask for; default: none. */
  token?: string;
  /** Allows functions that Prometheus keeps behind feature flags. */
  experimental?: boolean;
  /** For `targets`; default 30,000. */
  scrapeIntervalMs?: number;
}

/** The release whose API and language this follows. */
const VERSION = "3.5.0";
/** Prometheus' own limit of points per series in a range query. */
const MAX_POINTS = 11_000;
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[-+]\d\d:\d\d)$/;
const NEVER = "0001-01-01T00:00:00Z";

/** A request that Prometheus answers with 400 and `bad_data`. */
class BadRequest extends Error {}

/** Serves Prometheus' API on 127.0.0.1. @throws EnvironmentError when the port is in use */
export function servePrometheus(options: PrometheusOptions): Promise<Face> {
  return serveApp(prometheusApp(options), "Prometheus", options);
}

/** The API without a socket. */
export function prometheusApp(options: Omit<PrometheusOptions, "port" | "host">): Hono {
  const { store, clock, rules } = options;
  const started = clock.now();
  const app = new Hono();
  app.use("*", requireToken(options.token));
  app.get("/-/healthy", (context) => context.text("Prometheus Server is Healthy.\n"));
  app.get("/-/ready", (context) => context.text("Prometheus Server is Ready.\n"));

  /** Answers GET, and POST with a form, where Prometheus does. */
  const both = (path: string, answer: (parameters: URLSearchParams, context: Context) => unknown): void => {
    const handler = async (context: Context) => context.json(answer(await parametersOf(context), context) as object);
    app.get(path, handler);
    app.post(path, handler);
  };

  both("/api/v1/query", (parameters) => {
    const time = readTime(parameters, "time") ?? clock.now();
    const query = compile(parameters);
    return answerOf(query.instant(time), parameters);
  });

  both("/api/v1/query_range", (parameters) => {
    const start = required(readTime(parameters, "start"), "start");
    const end = required(readTime(parameters, "end"), "end");
    if (end < start) throw new BadRequest('invalid parameter "end": end timestamp must not be before start time');
    const step = readStep(parameters);
    if ((end - start) / step > MAX_POINTS) {
      throw new BadRequest(
        "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)",
      );
    }
    return answerOf(compile(parameters).range(start, end, step), parameters);
  });

  both("/api/v1/series", (parameters) => {
    const selections = readMatches(parameters);
    if (selections.length === 0) throw new BadRequest("no match[] parameter provided");
    const found = seriesOf(selections, parameters).map((series) => series.labels);
    return success(limited(found, parameters));
  });

  both("/api/v1/labels", (parameters) => {
    const selections = readMatches(parameters);
    const names =
      selections.length === 0
        ? store.labelNames()
        : unique(seriesOf(selections, parameters).flatMap((series) => Object.keys(series.labels)));
    return success(limited(names, parameters));
  });

  app.get("/api/v1/label/:name/values", async (context) => {
    const parameters = await parametersOf(context);
    const name = decodeLabelName(context.req.param("name"));
    if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name)) throw new BadRequest(`invalid label name: ${JSON.stringify(name)}`);
    const selections = readMatches(parameters);
    const values =
      selections.length === 0
        ? store.labelValues(name)
        : unique(seriesOf(selections, parameters).flatMap((series) => series.labels[name] ?? []));
    return context.json(success(limited(values, parameters)) as object);
  });

  app.get("/api/v1/metadata", (context) => {
    const wanted = context.req.query("metric");
    const names = !wanted ? store.labelValues("__name__") : [wanted];
    const known = names.filter((name) => store.select([{ name: "__name__", op: "=", value: name }]).length > 0);
    const limit = Number(context.req.query("limit") ?? -1);
    const listed = limit >= 0 ? known.slice(0, limit) : known;
    const entries = listed.map((name) => [name, [{ type: guessType(name), help: "", unit: "" }]]);
    return context.json(success(Object.fromEntries(entries)));
  });

  app.get("/api/v1/targets/metadata", (context) => context.json(success([])));
  both("/api/v1/format_query", (parameters) =>
    success(print(parse(parameters.get("query") ?? "", { experimental: options.experimental ?? false }))),
  );

  both("/api/v1/query_exemplars", (parameters) => {
    compile(parameters);
    return success([]);
  });

  app.get("/api/v1/alerts", (context) =>
    context.json(success({ alerts: (rules?.records() ?? []).map((record) => alertJson(record)) })),
  );

  app.get("/api/v1/rules", async (context) => {
    const parameters = await parametersOf(context);
    return context.json(success({ groups: ruleGroups(rules, parameters) }));
  });

  app.get("/api/v1/targets", (context) => {
    const state = context.req.query("state") ?? "any";
    const active = state === "dropped" ? [] : targets(store, clock.now(), options.scrapeIntervalMs ?? 30_000);
    return context.json(success({ activeTargets: active, droppedTargets: [], droppedTargetCounts: {} }));
  });

  app.get("/api/v1/alertmanagers", (context) =>
    context.json(success({ activeAlertmanagers: [], droppedAlertmanagers: [] })),
  );
  app.get("/api/v1/status/buildinfo", (context) =>
    context.json(
      success({
        version: VERSION,
        revision: "simulated",
        branch: "HEAD",
        buildUser: "itbench-baselines",
        buildDate: "",
        goVersion: "",
      }),
    ),
  );
  app.get("/api/v1/status/runtimeinfo", (context) =>
    context.json(
      success({
        startTime: new Date(started).toISOString(),
        CWD: "/prometheus",
        serverTime: new Date(clock.now()).toISOString(),
        reloadConfigSuccess: true,
        lastConfigTime: new Date(started).toISOString(),
        corruptionCount: 0,
        goroutineCount: 1,
        GOMAXPROCS: 1,
        GOMEMLIMIT: 0,
        GOGC: "",
        GODEBUG: "",
        storageRetention: "6h",
      }),
    ),
  );
  app.get("/api/v1/status/walreplay", (context) => context.json(success({ min: 0, max: 0, current: 0 })));
  app.get("/api/v1/status/config", (context) => context.json(success({ yaml: "" })));
  app.get("/api/v1/status/flags", (context) => context.json(success({})));
  app.get("/api/v1/status/tsdb", (context) => context.json(success(tsdbStatus(store, context.req.query("limit")))));

  app.get("/federate", async (context) => {
    const lines = readMatches(await parametersOf(context))
      .flatMap((matchers) => store.select(matchers))
      .flatMap((series) => exposition(series, clock.now()));
    return context.text(unique(lines).join(""));
  });

  app.notFound((context) => context.text("404 page not found\n", 404));
  app.onError((error, context) => {
    if (error instanceof PromqlExecutionError) return context.json(failure("execution", error.message), 422);
    if (error instanceof PromqlParseError) {
      return context.json(failure("bad_data", `invalid parameter "query": ${error.message}`), 400);
    }
    if (error instanceof BadRequest) return context.json(failure("bad_data", error.message), 400);
    return context.json(failure("internal", error.message), 500);
  });
  return app;

  function compile(parameters: URLSearchParams) {
    const lookback = parameters.get("lookback_delta");
    return prepare(store, parameters.get("query") ?? "", {
      experimental: options.experimental ?? false,
      ...(lookback ? { lookbackMs: durationOf(lookback, "lookback_delta") } : {}),
    });
  }

  /** The series of any selection, with a sample between `start` and `end` where those are given. */
  function seriesOf(selections: Matcher[][], parameters: URLSearchParams): Series[] {
    const start = readTime(parameters, "start") ?? Number.NEGATIVE_INFINITY;
    const end = readTime(parameters, "end") ?? Number.POSITIVE_INFINITY;
    const found = new Set(selections.flatMap((matchers) => store.select(matchers)));
    return [...found].filter(({ times, length }) => length > 0 && times[0]! <= end && times[length - 1]! >= start);
  }
}

function success(data: unknown): object {
  return { status: "success", data };
}

function failure(errorType: string, error: string) {
  return { status: "error", errorType, error };
}

/** Parameters of the address, and of a posted form. */
async function parametersOf(context: Context): Promise<URLSearchParams> {
  const parameters = new URL(context.req.url).searchParams;
  if (context.req.method === "POST") {
    const type = context.req.header("content-type") ?? "";
    if (type === "" || type.includes("application/x-www-form-urlencoded")) {
      for (const [name, value] of new URLSearchParams(await context.req.text())) parameters.append(name, value);
    }
  }
  return parameters;
}

function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new BadRequest(`invalid parameter "${name}": cannot parse "" to a valid timestamp`);
  return value;
}

/** Milliseconds of a time given as seconds or as RFC 3339. */
function readTime(parameters: URLSearchParams, name: string): number | undefined {
  const text = parameters.get(name);
  if (text === null || text === "") return undefined;
  const seconds = Number(text);
  const ms = Number.isFinite(seconds)
    ? Math.round(seconds * 1000)
    : RFC_3339.test(text)
      ? Date.parse(text)
      : Number.NaN;
  if (Number.isNaN(ms)) {
    throw new BadRequest(`invalid parameter "${name}": cannot parse "${text}" to a valid timestamp`);
  }
  return ms;
}

function durationOf(text: string, name: string): number {
  const seconds = Number(text);
  const ms = text !== "" && Number.isFinite(seconds) ? Math.round(seconds * 1000) : parseDuration(text);
  if (ms === undefined) throw new BadRequest(`invalid parameter "${name}": cannot parse "${text}" to a valid duration`);
  return ms;
}

function readStep(parameters: URLSearchParams): number {
  const step = durationOf(parameters.get("step") ?? "", "step");
  if (step <= 0) {
    throw new BadRequest(
      'invalid parameter "step": zero or negative query resolution step widths are not accepted. Try a positive integer',
    );
  }
  return step;
}

function readMatches(parameters: URLSearchParams): Matcher[][] {
  return parameters.getAll("match[]").map((text) => {
    try {
      return parseSelector(text);
    } catch (error) {
      if (!(error instanceof PromqlParseError)) throw error;
      throw new BadRequest(`invalid parameter "match[]": ${error.message}`);
    }
  });
}

function limited<T>(items: T[], parameters: URLSearchParams): T[] {
  const text = parameters.get("limit");
  if (text === null || text === "") return items;
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 0) {
    throw new BadRequest(`invalid parameter "limit": cannot parse "${text}" to a non-negative integer`);
  }
  return limit === 0 ? items : items.slice(0, limit);
}

function unique(items: string[]): string[] {
  return [...new Set(items)].sort();
}

/** `U__` names are Prometheus' way to write any name in an address. */
function decodeLabelName(name: string): string {
  if (!name.startsWith("U__")) return name;
  return name
    .slice(3)
    .replace(/__|_([0-9a-fA-F]+)_/g, (_, hex?: string) =>
      hex === undefined ? "_" : String.fromCodePoint(Number.parseInt(hex, 16)),
    );
}

function answerOf({ value, warnings, infos }: QueryResult, parameters: URLSearchParams): object {
  const limit = Number(parameters.get("limit") ?? 0);
  return {
    status: "success",
    data: valueJson(value, Number.isInteger(limit) && limit > 0 ? limit : Number.POSITIVE_INFINITY),
    ...(warnings.length > 0 ? { warnings } : {}),
    ...(infos.length > 0 ? { infos } : {}),
  };
}

/** A query's value in the API's form: times in seconds, values as text. */
function valueJson(value: QueryValue, limit: number): object {
  switch (value.type) {
    case "scalar":
      return { resultType: "scalar", result: [value.time / 1000, sampleText(value.value)] };
    case "string":
      return { resultType: "string", result: [value.time / 1000, value.value] };
    case "vector":
      return {
        resultType: "vector",
        result: value.samples.slice(0, limit).map(({ labels, value: sample }) => ({
          metric: labels,
          value: [value.time / 1000, sampleText(sample)],
        })),
      };
    case "matrix":
      return {
        resultType: "matrix",
        result: value.rows.slice(0, limit).map(({ labels, times, values }) => ({
          metric: labels,
          values: times.map((time, i) => [time / 1000, sampleText(values[i]!)]),
        })),
      };
  }
}

/** Plain decimals between 1e-6 and 1e21, as JSON has them; an exponent beyond. */
function sampleText(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && Number.isFinite(value) && (size < 1e-6 || size >= 1e21)) {
    return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  }
  return formatNumber(value);
}

/** Go's 'e' form, as alerts show their values. */
function exponentText(value: number): string {
  if (!Number.isFinite(value)) return formatNumber(value);
  return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

function alertJson(record: AlertRecord) {
  return {
    labels: record.labels,
    annotations: record.annotations,
    state: record.state,
    activeAt: new Date(record.activeAt).toISOString(),
    value: exponentText(record.value),
  };
}

function ruleGroups(rules: RuleEngine | undefined, parameters: URLSearchParams): object[] {
  const type = parameters.get("type") ?? "";
  if (!["", "alert", "record"].includes(type))
    throw new BadRequest(`invalid parameter "type": not supported value "${type}"`);
  const names = new Set([...parameters.getAll("rule_name[]"), ...parameters.getAll("rule_name")]);
  const groupNames = new Set(parameters.getAll("rule_group[]"));
  const files = new Set(parameters.getAll("file[]"));
  const withAlerts = parameters.get("exclude_alerts") !== "true";
  const keeps = ({ rule }: RuleStatus): boolean =>
    (type === "" || (type === "alert") === (rule.kind === "alerting")) && (names.size === 0 || names.has(rule.name));
  const narrowed = type !== "" || names.size > 0;
  return (rules?.groups() ?? [])
    .filter(
      ({ name, source }) => (groupNames.size === 0 || groupNames.has(name)) && (files.size === 0 || files.has(source)),
    )
    .map((group) => ({
      name: group.name,
      file: group.source,
      rules: group.rules.filter(keeps).map((status) => ruleJson(status, withAlerts)),
      interval: group.intervalMs / 1000,
      limit: 0,
      evaluationTime: 0,
      lastEvaluation: instantText(group.lastEvaluation),
    }))
    .filter((group) => !narrowed || group.rules.length > 0);
}

function ruleJson(status: RuleStatus, withAlerts: boolean): object {
  const { rule, alerts } = status;
  const common = {
    name: rule.name,
    query: print(parse(rule.expr)),
    labels: rule.labels,
    health: status.health,
    ...(status.lastError === undefined ? {} : { lastError: status.lastError }),
    evaluationTime: 0,
    lastEvaluation: instantText(status.lastEvaluation),
  };
  if (rule.kind === "recording") return { ...common, type: "recording" };
  const state = alerts.some((alert) => alert.state === "firing")
    ? "firing"
    : alerts.length > 0
      ? "pending"
      : "inactive";
  return {
    state,
    ...common,
    duration: rule.forMs / 1000,
    keepFiringFor: rule.keepFiringMs / 1000,
    annotations: rule.annotations,
    alerts: withAlerts ? alerts.map(alertJson) : [],
    type: "alerting",
  };
}

function instantText(ms: number | undefined): string {
  return ms === undefined ? NEVER : new Date(ms).toISOString();
}

/** Scrape targets as the `up` series tell of them. */
function targets(store: MetricStore, now: number, intervalMs: number): object[] {
  return store
    .select([{ name: "__name__", op: "=", value: "up" }])
    .filter(
      ({ length, times, values }) => length > 0 && now - times[length - 1]! < 300_000 && !isStale(values[length - 1]!),
    )
    .map(({ labels, length, times, values }) => {
      const { __name__: _, ...rest } = labels as Record<string, string>;
      const url = `http://${rest.instance ?? "unknown"}${rest.metrics_path ?? "/metrics"}`;
      const up = values[length - 1] === 1;
      return {
        discoveredLabels: { __address__: rest.instance ?? "", job: rest.job ?? "" },
        labels: rest,
        scrapePool: rest.job ?? "",
        scrapeUrl: url,
        globalUrl: url,
        lastError: up ? "" : "connection refused",
        lastScrape: new Date(times[length - 1]!).toISOString(),
        lastScrapeDuration: 0.01,
        health: up ? "up" : "down",
        scrapeInterval: `${intervalMs / 1000}s`,
        scrapeTimeout: "10s",
      };
    });
}

/** By what its name ends in: the store holds no metadata. */
function guessType(name: string): string {
  if (/_(?:bucket|sum|count)$/.test(name)) return "histogram";
  if (/_total$/.test(name)) return "counter";
  if (/_info$/.test(name)) return "info";
  return "gauge";
}

function tsdbStatus(store: MetricStore, limitText: string | undefined): object {
  const limit = Number(limitText ?? 10);
  const top = (counts: [string, number][]) =>
    counts
      .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
      .slice(0, limit)
      .map(([name, value]) => ({ name, value }));
  const names = store.labelNames();
  const metrics = store.labelValues("__name__");
  const all = store.select([{ name: "__name__", op: "!=", value: "" }]);
  let minTime = Number.POSITIVE_INFINITY;
  let maxTime = Number.NEGATIVE_INFINITY;
  for (const { times, length } of all) {
    if (length === 0) continue;
    minTime = Math.min(minTime, times[0]!);
    maxTime = Math.max(maxTime, times[length - 1]!);
  }
  return {
    headStats: {
      numSeries: store.generation,
      numLabelPairs: names.reduce((sum, name) => sum + store.labelValues(name).length, 0),
      chunkCount: store.generation,
      minTime: Number.isFinite(minTime) ? minTime : 0,
      maxTime: Number.isFinite(maxTime) ? maxTime : 0,
    },
    seriesCountByMetricName: top(
      metrics.map((name) => [name, store.select([{ name: "__name__", op: "=", value: name }]).length]),
    ),
    labelValueCountByLabelName: top(names.map((name) => [name, store.labelValues(name).length])),
  };
}

/** A series' newest sample in the text exposition format, unless it is stale or older than five minutes. */
function exposition(series: Series, now: number): string[] {
  const { labels, times, values, length } = series;
  if (length === 0 || now - times[length - 1]! > 300_000 || isStale(values[length - 1]!)) return [];
  const parts = Object.entries(labels as Labels)
    .filter(([name]) => name !== "__name__")
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return [`${labels.__name__}{${parts.join(",")}} ${sampleText(values[length - 1]!)} ${times[length - 1]}\n`];
}
