/** Loki's query API. */
import type { ToolContext } from "../context.js";
import { getJson } from "../http.js";
import { valueMatches } from "../label-match.js";
import { type LogStream, renderLogs } from "../render/logs.js";
import { type MetricResult, renderMetrics } from "../render/series.js";
import { timestamp } from "../render/text.js";
import { listing } from "../suggest.js";
import { scanSelector } from "./scan.js";

export interface LogsQuery {
  logql: string;
  /** Minutes to look back. */
  minutes: number;
  /** Lines to read at most. */
  limit: number;
}

export const DEFAULT_MINUTES = 15;
export const DEFAULT_LIMIT = 500;

/** Runs the query and renders its result; an empty one comes with what does exist. */
export async function runLogsQuery(query: LogsQuery, context: ToolContext): Promise<string> {
  const now = context.clock.now();
  const json = await getJson(
    context.endpoints,
    "loki",
    "/loki/api/v1/query_range",
    {
      query: query.logql,
      start: nanoseconds(now - query.minutes * 60_000),
      end: nanoseconds(now),
      limit: query.limit,
      direction: "backward",
      step: Math.max(30, Math.ceil((query.minutes * 60) / 30)),
    },
    context.signal,
  );
  const { resultType, result } = json.data as { resultType: string; result: unknown };
  const text =
    resultType === "streams"
      ? renderLogs(
          (result as { stream: Record<string, string>; values: [string, string][] }[]).map(
            (one): LogStream => ({ labels: one.stream, values: one.values }),
          ),
          query.limit,
        )
      : renderMetrics(json.data as MetricResult);
  const head = `logql: ${query.logql}\nlast ${query.minutes} minutes to ${timestamp(now)}:`;
  return `${head} ${text ?? (await emptyResult(query, context))}`;
}

export async function logLabels(context: ToolContext): Promise<string[]> {
  const json = await getJson(context.endpoints, "loki", "/loki/api/v1/labels", window(context), context.signal);
  return ((json.data as string[] | undefined) ?? []).sort();
}

export async function logLabelValues(context: ToolContext, label: string): Promise<string[]> {
  const path = `/loki/api/v1/label/${encodeURIComponent(label)}/values`;
  const json = await getJson(context.endpoints, "loki", path, window(context), context.signal);
  return ((json.data as string[] | undefined) ?? []).sort();
}

/** Nanoseconds since the epoch; beyond what a number can hold exactly. */
function nanoseconds(ms: number): string {
  return (BigInt(Math.round(ms)) * 1_000_000n).toString();
}

function window(context: ToolContext) {
  const now = context.clock.now();
  return { start: nanoseconds(now - 3_600_000), end: nanoseconds(now) };
}

async function emptyResult(query: LogsQuery, context: ToolContext): Promise<string> {
  const selector = scanSelector(query.logql);
  const lines = ["no lines"];
  const labels = await logLabels(context);
  for (const { label, operator, value } of selector ?? []) {
    if (operator.startsWith("!") || value === "" || !labels.includes(label)) continue;
    const values = await logLabelValues(context, label);
    const fits = operator === "=" ? values.includes(value) : values.some((one) => valueMatches(value, one));
    if (!fits) lines.push(`no stream has ${label}${operator}"${value}"; its values: ${listing(values, 40)}`);
  }
  if (lines.length === 1) {
    lines.push("the streams exist: widen the time (minutes) or loosen the line filters");
  }
  return lines.join("\n");
}
