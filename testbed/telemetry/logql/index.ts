/** LogQL: parse a query, run it over a log store. */
import type { LogStore } from "../logs.js";
import { LogQLEvaluationError } from "./errors.js";
import { evaluateLogs, type LogStreamResult, type QueryStats } from "./evaluate-logs.js";
import { evaluateMetrics } from "./evaluate-metrics.js";
import { parseQuery } from "./parse.js";
import type { VectorSeries } from "./vector.js";

export type { Expr, LogExpr, MetricExpr, StreamMatcher } from "./ast.js";
export { LogQLEvaluationError, LogQLParseError } from "./errors.js";
export type { LogLine, LogStreamResult, QueryStats } from "./evaluate-logs.js";
export { parseQuery, parseStreamSelector } from "./parse.js";
export { levelOf, metadataOf } from "./pipeline/line.js";
export { printLabels, selectStreams } from "./select.js";
export { parseDuration } from "./units.js";

/** Points that one series of a range query may have, as in Loki. */
const MAX_POINTS = 11_000;

export type LogQLResult =
  | { type: "streams"; streams: LogStreamResult[]; stats: QueryStats }
  /** One point a series, at the query's time. */
  | { type: "vector"; timeMs: number; series: { labels: Record<string, string>; value: number }[]; stats: QueryStats }
  | {
      type: "matrix";
      series: { labels: Record<string, string>; points: [timeMs: number, value: number][] }[];
      stats: QueryStats;
    }
  | { type: "scalar"; timeMs: number; value: number; stats: QueryStats };

export interface RangeQuery {
  startMs: number;
  endMs: number;
  /** For metric queries. */
  stepMs: number;
  /** For log queries. */
  limit: number;
  direction: "forward" | "backward";
  categorize?: boolean;
}

/**
 * A range query: a log query gives streams of the window [start, end), a metric query a matrix with a point each step.
 * @throws LogQLParseError, LogQLEvaluationError
 */
export function queryRange(store: LogStore, query: string, options: RangeQuery): LogQLResult {
  const expr = parseQuery(query);
  const stats = newStats();
  if (expr.type === "log") return { type: "streams", streams: evaluateLogs(expr, store, options, stats), stats };
  const count = Math.floor((options.endMs - options.startMs) / options.stepMs) + 1;
  if (count > MAX_POINTS) {
    throw new LogQLEvaluationError(
      "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)",
    );
  }
  const steps = { startMs: options.startMs, stepMs: options.stepMs, count };
  const value = evaluateMetrics(expr, store, steps, stats);
  const series: VectorSeries[] =
    value.type === "vector" ? value.series : [{ labels: {}, points: new Array(count).fill(value.value) }];
  const matrix = series.map(({ labels, points }) => ({ labels, points: present(points, steps) }));
  return { type: "matrix", series: matrix.filter(({ points }) => points.length > 0), stats };
}

/**
 * An instant query; metric queries only, as in Loki.
 * @throws LogQLParseError, LogQLEvaluationError
 */
export function queryInstant(store: LogStore, query: string, timeMs: number): LogQLResult {
  const expr = parseQuery(query);
  if (expr.type === "log") {
    throw new LogQLEvaluationError(
      "log queries are not supported as an instant query type, please change your query to a range query type",
    );
  }
  const stats = newStats();
  const value = evaluateMetrics(expr, store, { startMs: timeMs, stepMs: 1, count: 1 }, stats);
  if (value.type === "scalar") return { type: "scalar", timeMs, value: value.value, stats };
  const series = value.series.flatMap(({ labels, points }) =>
    points[0] === undefined ? [] : [{ labels, value: points[0] }],
  );
  return { type: "vector", timeMs, series, stats };
}

function present(points: readonly (number | undefined)[], steps: { startMs: number; stepMs: number }) {
  const out: [number, number][] = [];
  for (let i = 0; i < points.length; i++) {
    if (points[i] !== undefined) out.push([steps.startMs + i * steps.stepMs, points[i]!]);
  }
  return out;
}

function newStats(): QueryStats {
  return { linesProcessed: 0, bytesProcessed: 0, entriesReturned: 0 };
}
