/** Range aggregations: samples out of lines, and a function over each window. */
import { type LogStream, upperBound } from "../log-store.js";
import type { LogEntry, LogStore } from "../logs.js";
import type { RangeAggregation, RangeOp, Unwrap } from "./ast.js";
import { pipelineError } from "./errors.js";
import type { QueryStats } from "./evaluate-logs.js";
import { labelFilterStage } from "./pipeline/filters.js";
import { compilePipeline } from "./pipeline/index.js";
import { ERROR_LABEL, LineContext } from "./pipeline/line.js";
import { RANGE_FUNCTIONS, type Samples } from "./range-functions.js";
import { orderedKey, printLabels, selectStreams } from "./select.js";
import { parseBytes, parseDuration, parseNumber } from "./units.js";
import { groupLabels, type Steps, type VectorSeries } from "./vector.js";

interface SampleSeries extends Samples {
  labels: Record<string, string>;
  /** Whether samples of several streams came together, so that they must be sorted. */
  unordered: boolean;
}

/** What the expression around a range aggregation asks of its labels. */
export interface LabelNeeds {
  /** Names that a grouping keeps. */
  names: ReadonlySet<string>;
  /** The aggregation around it keeps no label: what parsers could not read is then not looked at, nor complained of. */
  none: boolean;
  /** Set where a sum by these names stands right around: samples may be put together before they are counted. */
  sumBy?: readonly string[];
}

/** Whose values over two series add up to the value over both. */
const ADDITIVE: ReadonlySet<RangeOp> = new Set([
  "rate",
  "count_over_time",
  "bytes_rate",
  "bytes_over_time",
  "sum_over_time",
]);

/** Identifiers of single requests would make one series a line; they stay out unless a grouping asks for them. */
const PER_LINE_LABELS = ["trace_id", "span_id"];

export function evaluateRange(
  expr: RangeAggregation,
  store: LogStore,
  steps: Steps,
  needs: LabelNeeds,
  stats: QueryStats,
): VectorSeries[] {
  const collected = collect(expr, store, steps, needs, stats);
  if (expr.op === "absent_over_time") return [absent(expr, collected, steps)];
  const apply = RANGE_FUNCTIONS[expr.op];
  const results: VectorSeries[] = [];
  for (const series of collected) {
    const points: (number | undefined)[] = new Array(steps.count);
    let from = 0;
    let to = 0;
    let any = false;
    for (let i = 0; i < steps.count; i++) {
      const endMs = steps.startMs + i * steps.stepMs - expr.offsetMs;
      const startMs = endMs - expr.rangeMs;
      while (to < series.times.length && series.times[to]! <= endMs) to++;
      while (from < to && series.times[from]! <= startMs) from++;
      if (from === to) continue;
      points[i] = apply(series, from, to, { rangeMs: expr.rangeMs, startMs, endMs, parameter: expr.parameter ?? 0 });
      any = true;
    }
    if (any) results.push({ labels: series.labels, points });
  }
  return results;
}

function collect(
  expr: RangeAggregation,
  store: LogStore,
  steps: Steps,
  needs: LabelNeeds,
  stats: QueryStats,
): SampleSeries[] {
  const pipeline = compilePipeline(expr.log.stages);
  const extract = extractor(expr);
  const readsLabels = expr.log.stages.some((stage) => stage.type === "labelFilter") || expr.unwrap !== undefined;
  const ignoreErrors = needs.none && !readsLabels;
  const hidden = PER_LINE_LABELS.filter((name) => !needs.names.has(name) && !expr.grouping?.labels.includes(name));
  const firstMs = steps.startMs - expr.offsetMs - expr.rangeMs;
  const lastMs = steps.startMs + (steps.count - 1) * steps.stepMs - expr.offsetMs;
  const byKey = new Map<string, SampleSeries>();
  const context = new LineContext();
  const sumBy = ADDITIVE.has(expr.op) ? needs.sumBy : undefined;

  /** The labels of the line's series; only those that the sum keeps, where it can be made here. */
  function labelsOf(): Record<string, string> {
    if (sumBy === undefined) return context.labels();
    const labels: Record<string, string> = {};
    for (const name of sumBy) {
      const value = context.get(name);
      if (value !== undefined && value !== "") labels[name] = value;
    }
    return labels;
  }

  function seriesOf(labels: Record<string, string>): SampleSeries {
    for (const name of hidden) delete labels[name];
    if (expr.unwrap !== undefined) delete labels[expr.unwrap.label];
    const grouped = expr.grouping === undefined ? labels : groupLabels(labels, expr.grouping);
    const key = orderedKey(grouped);
    let series = byKey.get(key);
    if (series === undefined) {
      series = { labels: grouped, times: [], values: [], unordered: false };
      byKey.set(key, series);
    }
    return series;
  }

  for (const stream of selectStreams(store, expr.log.matchers)) {
    /** Series of lines whose labels no stage touched: they differ by severity only. */
    const untouched = new Map<string, SampleSeries>();
    for (const entry of between(stream, firstMs, lastMs)) {
      stats.linesProcessed++;
      stats.bytesProcessed += entry.line.length;
      context.reset(stream.labels, entry);
      if (!pipeline(context)) continue;
      const value = extract(context);
      if (value === undefined) continue;
      if (context.error !== undefined) {
        if (!ignoreErrors) throw pipelineError(context.error, printLabels(context.labels()));
        context.delete(ERROR_LABEL);
      }
      let series: SampleSeries | undefined;
      const plain = context.unchanged && (hidden.length === PER_LINE_LABELS.length || entry.traceId === undefined);
      const level = plain ? context.get("detected_level")! : "";
      if (plain) series = untouched.get(level);
      if (series === undefined) {
        series = seriesOf(labelsOf());
        if (plain) untouched.set(level, series);
      }
      if (series.times.length > 0 && series.times.at(-1)! > entry.timeMs) series.unordered = true;
      series.times.push(entry.timeMs);
      series.values.push(value);
    }
  }
  for (const series of byKey.values()) if (series.unordered) sortByTime(series);
  return [...byKey.values()];
}

/** Entries in (afterMs, untilMs]. */
function* between(stream: LogStream, afterMs: number, untilMs: number): Generator<LogEntry> {
  const end = upperBound(stream.entries, untilMs);
  for (let i = upperBound(stream.entries, afterMs); i < end; i++) yield stream.entries[i]!;
}

function sortByTime(series: SampleSeries): void {
  const order = series.times.map((_time, i) => i).sort((a, b) => series.times[a]! - series.times[b]! || a - b);
  const { times, values } = series;
  series.times = order.map((i) => times[i]!);
  series.values = order.map((i) => values[i]!);
}

/** The sample value of a kept line; undefined when the line has none. */
function extractor(expr: RangeAggregation): (line: LineContext) => number | undefined {
  if (expr.unwrap !== undefined) return unwrapper(expr.unwrap);
  if (expr.op === "bytes_rate" || expr.op === "bytes_over_time") return (line) => Buffer.byteLength(line.text);
  return () => 1;
}

function unwrapper(unwrap: Unwrap): (line: LineContext) => number | undefined {
  const filters = unwrap.filters.map(labelFilterStage);
  const read = unwrap.conversion === "bytes" ? parseBytes : unwrap.conversion === undefined ? parseNumber : seconds;
  return (line) => {
    const text = line.get(unwrap.label);
    if (text === undefined || text === "") return undefined;
    const value = read(text);
    if (value === undefined) {
      line.fail("SampleExtractionErr", `strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`);
    }
    for (const filter of filters) if (!filter(line)) return undefined;
    return value ?? 0;
  };
}

function seconds(text: string): number | undefined {
  const duration = parseDuration(text);
  return duration === undefined ? undefined : duration / 1000;
}

/** One series, 1 where no stream had a sample; its labels are what the selector says by equality. */
function absent(expr: RangeAggregation, collected: readonly SampleSeries[], steps: Steps): VectorSeries {
  const points: (number | undefined)[] = new Array(steps.count);
  for (let i = 0; i < steps.count; i++) {
    const endMs = steps.startMs + i * steps.stepMs - expr.offsetMs;
    const startMs = endMs - expr.rangeMs;
    const present = collected.some(({ times }) => times.some((time) => time > startMs && time <= endMs));
    if (!present) points[i] = 1;
  }
  const labels: Record<string, string> = {};
  for (const { name, op, value } of expr.log.matchers) {
    if (op === "=" && expr.log.matchers.filter((other) => other.name === name).length === 1) labels[name] = value;
  }
  return { labels, points };
}
