/** Counters without a rate, rates of what is no counter, ranges that hold too little, and quantiles without buckets. */
import { type ToolContext, ToolFailure } from "../context.js";
import { getJson } from "../http.js";
import type { Finding } from "../lint/finding.js";
import { labelNames, metricNames } from "./client.js";
import type { Call, Scan, Selector } from "./scan.js";

const RATES = new Set(["rate", "irate", "increase"]);
/** Aggregations that make nonsense of counters that started at different times. */
const MIXING = new Set(["sum", "avg", "quantile", "stddev", "stdvar"]);
/** Around a counter, these make something else of it, or ask something else of it. */
const FAIR = new Set(
  `delta idelta deriv resets changes predict_linear count group count_values timestamp absent scalar`.split(" "),
);
const SECONDS: Record<string, number> = { ms: 1e-3, s: 1, m: 60, h: 3600, d: 86400, w: 604800, y: 31536000 };

export async function rangeFindings(scan: Scan, context: ToolContext): Promise<Finding[]> {
  const findings: Finding[] = [];
  const names = new Set(await metricNames(context));
  for (const selector of scan.selectors) {
    if (selector.metric === undefined) continue;
    const quantile = selector.calls.find(({ name }) => name === "histogram_quantile");
    const joined =
      quantile !== undefined &&
      scan.selectors.some((one) => one !== selector && one.calls.includes(quantile) && one.metric?.endsWith("_bucket"));
    const found =
      rawCounter(selector, scan, names) ??
      rateOfGauge(selector) ??
      (await shortRange(selector, context)) ??
      (joined && !selector.metric.endsWith("_bucket") ? undefined : await quantileWithoutBuckets(selector, context));
    if (found !== undefined) findings.push(found);
  }
  for (const call of scan.calls) {
    const found = badQuantile(call);
    if (found !== undefined) findings.push(found);
  }
  return findings;
}

/** By the naming that exporters keep to: `_total`, and the three series of a histogram. */
function isCounter(metric: string, names: ReadonlySet<string>): boolean {
  if (/_(total|bucket)$/.test(metric)) return true;
  return /_(count|sum)$/.test(metric) && names.has(metric.replace(/_(count|sum)$/, "_bucket"));
}

function rawCounter(
  { metric, at, range, offset, calls }: Selector,
  scan: Scan,
  names: ReadonlySet<string>,
): Finding | undefined {
  if (range !== undefined || offset || !isCounter(metric!, names)) return undefined;
  // Counts of rare events are read as they are.
  if (/_restarts_total$/.test(metric!)) return undefined;
  if (calls.some(({ name, subquery }) => subquery || FAIR.has(name) || RATES.has(name) || name.endsWith("_over_time")))
    return undefined;
  // `x - x offset 5m` is an increase written out.
  if (scan.selectors.some((one) => one.metric === metric && one.offset)) return undefined;
  const quantile = calls.some(({ name }) => name === "histogram_quantile");
  const mixing = calls.findLast(({ name }) => MIXING.has(name));
  if (!quantile && mixing === undefined) return undefined;
  const inside = quantile ? "histogram_quantile" : mixing!.name;
  return {
    message: `${metric} is a counter: take rate(${metric}[5m]) or increase(${metric}[5m]) inside ${inside}(); for the count since the start write last_over_time(${metric}[5m])`,
    word: metric!,
    start: at,
  };
}

function rateOfGauge({ metric, at, calls }: Selector): Finding | undefined {
  const rate = calls.findLast(({ name }) => name !== "");
  if (rate === undefined || !RATES.has(rate.name)) return undefined;
  if (!/^kube_|_bytes$|^container_memory_(rss|cache|swap)$/.test(metric!) || /_(total|bucket|count|sum)$/.test(metric!))
    return undefined;
  return {
    message: `${metric} is a gauge, not a counter: ${rate.name}() takes each fall for a restart; use delta(), deriv() or avg_over_time()`,
    word: metric!,
    start: at,
  };
}

async function shortRange({ range, calls }: Selector, context: ToolContext): Promise<Finding | undefined> {
  const rate = calls.findLast(({ name }) => name !== "");
  if (range === undefined || rate === undefined || !(RATES.has(rate.name) || /^i?delta$|^deriv$/.test(rate.name)))
    return undefined;
  const seconds = secondsOf(range.text);
  if (seconds === undefined || seconds >= 120) return undefined;
  const interval = await scrapeInterval(context);
  if (interval === undefined || seconds > interval) return undefined;
  return {
    message: `[${range.text}] holds at most one sample, since they are taken every ${interval} s, and ${rate.name}() needs two: use [${Math.ceil((4 * interval) / 60)}m] or more`,
    word: range.text,
    start: range.at,
  };
}

async function quantileWithoutBuckets(
  { metric, at, calls }: Selector,
  context: ToolContext,
): Promise<Finding | undefined> {
  const index = calls.findLastIndex(({ name }) => name === "histogram_quantile");
  if (index < 0 || calls.some(({ name }) => name.startsWith("label_"))) return undefined;
  // What is joined to the buckets need not have the label.
  for (const { name, grouping, at: callAt } of metric!.endsWith("_bucket") ? calls.slice(index + 1) : []) {
    const drops =
      grouping === undefined
        ? MIXING.has(name) || name === "max" || name === "min"
        : grouping.kind === "by"
          ? !grouping.labels.some((label) => label.name === "le")
          : grouping.labels.some((label) => label.name === "le");
    if (!drops) continue;
    return {
      message: `${name}() drops the label le, which histogram_quantile needs: write ${name} by (le${grouping?.kind === "by" ? grouping.labels.map((label) => `, ${label.name}`).join("") : ""}) (...)`,
      word: name,
      start: callAt,
    };
  }
  if (metric!.endsWith("_bucket")) return undefined;
  const labels = await labelNames(context, metric!);
  if (labels.length === 0 || labels.includes("le")) return undefined;
  return {
    message: `${metric} has no buckets (no label le), so there is no quantile of it: use a metric that ends in _bucket`,
    word: metric!,
    start: at,
  };
}

function badQuantile({ name, number }: Call): Finding | undefined {
  if ((name !== "histogram_quantile" && name !== "quantile") || number === undefined) return undefined;
  if (!(number.value < 0 || number.value > 1)) return undefined;
  const meant = number.value > 1 && number.value <= 100 ? `: write ${number.value / 100}` : "";
  return { message: `the quantile ${number.text} is not between 0 and 1${meant}`, word: number.text, start: number.at };
}

function secondsOf(text: string): number | undefined {
  // A number alone is seconds.
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  let total = 0;
  let rest = text;
  while (rest !== "") {
    const match = /^(\d+)(ms|[smhdwy])/.exec(rest);
    if (match === null) return undefined;
    total += Number(match[1]) * SECONDS[match[2]!]!;
    rest = rest.slice(match[0].length);
  }
  return total;
}

/** The shortest interval at which a target is scraped, in seconds; undefined when the server does not say. */
async function scrapeInterval(context: ToolContext): Promise<number | undefined> {
  try {
    const json = await getJson(context.endpoints, "prometheus", "/api/v1/targets", { state: "active" }, context.signal);
    const seconds: number[] = (json.data?.activeTargets ?? []).map((one: any) => secondsOf(one.scrapeInterval ?? ""));
    const known = seconds.filter((one) => one > 0);
    return known.length === 0 ? undefined : Math.min(...known);
  } catch (error) {
    if (error instanceof ToolFailure) return undefined;
    throw error;
  }
}
