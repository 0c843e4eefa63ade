/** Prometheus' query API. */
import type { ToolContext } from "../context.js";
import { getJson } from "../http.js";
import { valueMatches } from "../label-match.js";
import { type MetricResult, renderMetrics } from "../render/series.js";
import { timestamp } from "../render/text.js";
import { didYouMean, listing } from "../suggest.js";
import { type Selector, scanPromql } from "./scan.js";

export interface MetricsQuery {
  promql: string;
  /** Minutes to look back for a series over time; absent for the value now. */
  minutes?: number;
}

/** Points over time that a look back asks for; Prometheus' default scrape interval bounds the step from below. */
const POINTS = 30;
const MIN_STEP_SECONDS = 30;

/** Runs the query and renders its result; an empty one comes with what does exist. */
export async function runMetricsQuery(query: MetricsQuery, context: ToolContext): Promise<string> {
  const now = context.clock.now();
  const head = `promql: ${query.promql}`;
  if (query.minutes === undefined) {
    const json = await get(context, "/api/v1/query", { query: query.promql, time: now / 1000 });
    const text = renderMetrics(json.data as MetricResult);
    return [`${head}\nat ${timestamp(now)}:`, text ?? (await emptyResult(query.promql, context))].join(" ");
  }
  const step = Math.max(MIN_STEP_SECONDS, Math.ceil((query.minutes * 60) / POINTS));
  const json = await get(context, "/api/v1/query_range", {
    query: query.promql,
    start: now / 1000 - query.minutes * 60,
    end: now / 1000,
    step,
  });
  const text = renderMetrics(json.data as MetricResult);
  return [
    `${head}\nlast ${query.minutes} minutes to ${timestamp(now)}:`,
    text ?? (await emptyResult(query.promql, context)),
  ].join(" ");
}

export async function metricNames(context: ToolContext): Promise<string[]> {
  return labelValues(context, "__name__");
}

/** Values of a label, on series that match `selector` when given. */
export async function labelValues(context: ToolContext, label: string, selector?: string): Promise<string[]> {
  const json = await get(context, `/api/v1/label/${encodeURIComponent(label)}/values`, window(context, selector));
  return (json.data as string[]) ?? [];
}

/** Names of the labels on series that match `selector`. */
export async function labelNames(context: ToolContext, selector: string): Promise<string[]> {
  const json = await get(context, "/api/v1/labels", window(context, selector));
  return ((json.data as string[]) ?? []).filter((name) => name !== "__name__");
}

function get(context: ToolContext, path: string, parameters: Record<string, string | number | undefined>) {
  return getJson(context.endpoints, "prometheus", path, parameters, context.signal);
}

/** The last hour: old enough for what just vanished, young enough to leave out what is long gone. */
function window(context: ToolContext, selector: string | undefined) {
  const now = context.clock.now() / 1000;
  return { "match[]": selector, start: now - 3600, end: now };
}

/** Why nothing came back: which matcher of which selector nothing satisfies, and what there is instead. */
async function emptyResult(promql: string, context: ToolContext): Promise<string> {
  const lines = ["no series"];
  for (const selector of scanPromql(promql).selectors.slice(0, 3)) {
    const reason = await emptyReason(selector, context);
    if (reason !== undefined && !lines.includes(reason)) lines.push(reason);
  }
  if (lines.length === 1) {
    lines.push(
      "the selectors match series, but the expression keeps none of them (a comparison, an `and`, or too short a range)",
    );
  }
  return lines.join("\n");
}

async function emptyReason({ metric, matchers }: Selector, context: ToolContext): Promise<string | undefined> {
  if (metric === undefined) return undefined;
  const labels = await labelNames(context, metric);
  if (labels.length === 0) return `metric ${metric} has no series${didYouMean(metric, await metricNames(context))}`;
  for (const { label, operator, value } of matchers) {
    if (label === "__name__" || operator.startsWith("!") || value === "") continue;
    if (!labels.includes(label)) return `${metric} has no label "${label}"; its labels: ${listing(labels)}`;
    const values = await labelValues(context, label, metric);
    const fits = operator === "=" ? values.includes(value) : values.some((one) => valueMatches(value, one));
    if (!fits) return `no series of ${metric} has ${label}${operator}"${value}"; its values: ${listing(values)}`;
  }
  return undefined;
}
