/** Functions of a vector that need more than each sample's value. */
import type { Call, Expr } from "../ast.js";
import { unwrap } from "../ast.js";
import type { Compiler, Context, VectorNode } from "../context.js";
import { inform, warn } from "../context.js";
import { PromqlExecutionError } from "../errors.js";
import { formatNumber } from "../format.js";
import { EMPTY_LABELS, Metric, withoutLabels } from "../metric.js";
import { compileSelector } from "../select.js";
import { Vector } from "../vector.js";
import type { Bucket } from "./histogram.js";
import { bucketFraction, bucketQuantile, tidyBuckets } from "./histogram.js";
import { compileInfo } from "./info.js";
import { absentMetric, compileLabelJoin, compileLabelReplace, compileSort, compileSortByLabel } from "./labels.js";
import { DATE_FUNCTIONS } from "./math.js";

export type VectorFunctionCompiler = (compiler: Compiler, call: Call) => VectorNode;

const NO_LABELS = new Metric(EMPTY_LABELS);

/** Applies `compute` to each value, with scalar arguments evaluated once a step; undefined drops the sample. */
function mapped(
  compiler: Compiler,
  call: Call,
  compute: (value: number, parameters: readonly number[]) => number | undefined,
): VectorNode {
  const input = compiler.vector(call.args[0]!);
  const parameterNodes = call.args.slice(1).map((arg) => compiler.scalar(arg));
  const out = new Vector();
  return (t) => {
    const vector = input(t);
    out.length = 0;
    const parameters = parameterNodes.map((node) => node(t));
    for (let i = 0; i < vector.length; i++) {
      const value = compute(vector.values[i]!, parameters);
      if (value !== undefined) out.push(vector.metrics[i]!.dropped, value);
    }
    return out;
  };
}

function compileDate(compiler: Compiler, call: Call): VectorNode {
  const read = DATE_FUNCTIONS[call.name]!;
  if (call.args.length > 0) return mapped(compiler, call, read);
  const out = new Vector();
  return (t) => {
    out.clear().push(NO_LABELS, read(t / 1000));
    return out;
  };
}

function compileAbsent(compiler: Compiler, call: Call): VectorNode {
  const input = compiler.vector(call.args[0]!);
  const metric = absentMetric(call.args[0]!);
  const out = new Vector();
  return (t) => {
    const present = input(t).length > 0;
    out.length = 0;
    if (!present) out.push(metric, 1);
    return out;
  };
}

function compileAbsentOverTime(compiler: Compiler, call: Call): VectorNode {
  const input = compiler.matrix(call.args[0]!);
  const metric = absentMetric(call.args[0]!);
  const out = new Vector();
  return (t) => {
    let present = false;
    input.each(t, () => {
      present = true;
    });
    out.length = 0;
    if (!present) out.push(metric, 1);
    return out;
  };
}

/** Of a selector, when each sample was taken; of anything else, when it was evaluated. */
function compileTimestamp(compiler: Compiler, call: Call): VectorNode {
  const argument = unwrap(call.args[0]!);
  const out = new Vector();
  const input =
    argument.kind === "selector" ? compileSelector(compiler, argument, true) : compiler.vector(call.args[0]!);
  return (t) => {
    const vector = input(t);
    out.length = 0;
    for (let i = 0; i < vector.length; i++) {
      out.push(vector.metrics[i]!.dropped, argument.kind === "selector" ? vector.values[i]! : t / 1000);
    }
    return out;
  };
}

interface Histogram {
  metric: Metric;
  buckets: Bucket[];
  /** The step that filled it last, and how many buckets that had: their objects are used again. */
  round: number;
  used: number;
}

/** Groups `_bucket` series into histograms; which one a series belongs to is remembered. */
function createHistograms(context: Context, expr: Expr): (vector: Vector) => Histogram[] {
  const places = new Map<Metric, { upper: number; histogram: Histogram } | undefined>();
  const byKey = new Map<string, Histogram>();
  const live: Histogram[] = [];
  let round = 0;
  return (vector) => {
    round++;
    live.length = 0;
    for (let i = 0; i < vector.length; i++) {
      const metric = vector.metrics[i]!;
      let place = places.get(metric);
      if (place === undefined && !places.has(metric)) {
        const upper = parseBound(metric.labels.le);
        if (upper !== undefined) {
          const labels = withoutLabels(metric.labels, ["le"]);
          const key = new Metric(labels).key;
          let histogram = byKey.get(key);
          if (histogram === undefined) {
            histogram = { metric: new Metric(labels).stripped, buckets: [], round: 0, used: 0 };
            byKey.set(key, histogram);
          }
          place = { upper, histogram };
        }
        places.set(metric, place);
      }
      if (place === undefined) {
        const le = JSON.stringify(metric.labels.le ?? "");
        const message = `bucket label "le" is missing or has a malformed value of ${le}`;
        warn(context, `${message} for metric name "${metric.name}"`, expr);
        continue;
      }
      const { histogram, upper } = place;
      if (histogram.round !== round) {
        histogram.round = round;
        histogram.used = 0;
        live.push(histogram);
      }
      const bucket = histogram.buckets[histogram.used];
      if (bucket === undefined) histogram.buckets.push({ upper, count: vector.values[i]! });
      else {
        bucket.upper = upper;
        bucket.count = vector.values[i]!;
      }
      histogram.used++;
    }
    for (const histogram of live) histogram.buckets.length = histogram.used;
    return live;
  };
}

/** `le`'s number as Go's ParseFloat reads it. */
function parseBound(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === "" || text !== text.trim()) return undefined;
  if (/^[+-]?inf(inity)?$/i.test(text))
    return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const value = Number(text);
  return Number.isNaN(value) ? undefined : value;
}

function tidied(context: Context, histogram: Histogram, expr: Expr, name: string) {
  const tidy = tidyBuckets(histogram.buckets);
  if (tidy?.repair !== undefined) {
    const { from, to, largest } = tidy.repair;
    inform(
      context,
      `input to histogram_quantile needed to be fixed for monotonicity (see https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile), ` +
        `from buckets ${formatNumber(from)} to ${formatNumber(to)}, with a max diff of ${formatNumber(largest)} for metric name "${name}"`,
      expr,
    );
  }
  return tidy?.buckets;
}

function checkQuantile(context: Context, q: number, expr: Expr): void {
  if (!(q >= 0 && q <= 1)) warn(context, `quantile value should be between 0 and 1, got ${formatNumber(q)}`, expr);
}

function compileHistogramQuantile(compiler: Compiler, call: Call): VectorNode {
  const { context } = compiler;
  const [quantileExpr, vectorExpr] = call.args as [Expr, Expr];
  const quantileNode = compiler.scalar(quantileExpr);
  const input = compiler.vector(vectorExpr);
  const histograms = createHistograms(context, vectorExpr);
  const out = new Vector();
  return (t) => {
    const q = quantileNode(t);
    checkQuantile(context, q, quantileExpr);
    const vector = input(t);
    const name = vector.metrics[0]?.name ?? "";
    out.length = 0;
    for (const histogram of histograms(vector)) {
      const buckets = tidied(context, histogram, vectorExpr, name);
      out.push(histogram.metric, buckets === undefined ? Number.NaN : bucketQuantile(q, buckets));
    }
    return out;
  };
}

/** As OpenMetrics writes a float: whole numbers keep a decimal. */
function openMetricsNumber(value: number): string {
  return Number.isInteger(value) ? `${formatNumber(value)}.0` : formatNumber(value);
}

/** Several quantiles at once, each marked with its own label. */
function compileHistogramQuantiles(compiler: Compiler, call: Call): VectorNode {
  const { context } = compiler;
  const [vectorExpr, labelExpr, ...quantileExprs] = call.args as [Expr, Expr, ...Expr[]];
  const label = compiler.string(labelExpr);
  const input = compiler.vector(vectorExpr);
  const quantileNodes = quantileExprs.map((expr) => compiler.scalar(expr));
  const histograms = createHistograms(context, vectorExpr);
  const out = new Vector();
  return (t) => {
    const quantiles = quantileNodes.map((node) => node(t));
    for (const [i, q] of quantiles.entries()) checkQuantile(context, q, quantileExprs[i]!);
    const vector = input(t);
    const name = vector.metrics[0]?.name ?? "";
    out.length = 0;
    for (const histogram of histograms(vector)) {
      const buckets = tidied(context, histogram, vectorExpr, name);
      for (const q of quantiles) {
        const metric = new Metric({ ...histogram.metric.labels, [label]: openMetricsNumber(q) });
        out.push(metric, buckets === undefined ? Number.NaN : bucketQuantile(q, buckets));
      }
    }
    return out;
  };
}

function compileHistogramFraction(compiler: Compiler, call: Call): VectorNode {
  const { context } = compiler;
  const [lowerExpr, upperExpr, vectorExpr] = call.args as [Expr, Expr, Expr];
  const lowerNode = compiler.scalar(lowerExpr);
  const upperNode = compiler.scalar(upperExpr);
  const input = compiler.vector(vectorExpr);
  const histograms = createHistograms(context, vectorExpr);
  const out = new Vector();
  return (t) => {
    const lower = lowerNode(t);
    const upper = upperNode(t);
    const vector = input(t);
    out.length = 0;
    for (const histogram of histograms(vector)) {
      const tidy = tidyBuckets(histogram.buckets);
      out.push(histogram.metric, tidy === undefined ? Number.NaN : bucketFraction(lower, upper, tidy.buckets));
    }
    return out;
  };
}

/** Functions of native histograms: the store holds floats only, for which they yield nothing. */
function compileNativeOnly(compiler: Compiler, call: Call): VectorNode {
  const input = compiler.vector(call.args[0]!);
  const out = new Vector();
  return (t) => {
    input(t);
    return out.clear();
  };
}

const clampTo = (value: number, low: number, high: number): number =>
  Number.isNaN(low) || Number.isNaN(high) ? Number.NaN : Math.max(low, Math.min(high, value));

export const VECTOR_FUNCTIONS: Readonly<Record<string, VectorFunctionCompiler>> = {
  absent: compileAbsent,
  absent_over_time: compileAbsentOverTime,
  clamp: (compiler, call) =>
    mapped(compiler, call, (value, [low, high]) => (high! < low! ? undefined : clampTo(value, low!, high!))),
  clamp_max: (compiler, call) =>
    mapped(compiler, call, (value, [high]) => clampTo(value, Number.NEGATIVE_INFINITY, high!)),
  clamp_min: (compiler, call) =>
    mapped(compiler, call, (value, [low]) => clampTo(value, low!, Number.POSITIVE_INFINITY)),
  ...Object.fromEntries(Object.keys(DATE_FUNCTIONS).map((name) => [name, compileDate])),
  histogram_avg: compileNativeOnly,
  histogram_count: compileNativeOnly,
  histogram_fraction: compileHistogramFraction,
  histogram_quantile: compileHistogramQuantile,
  histogram_quantiles: compileHistogramQuantiles,
  histogram_stddev: compileNativeOnly,
  histogram_stdvar: compileNativeOnly,
  histogram_sum: compileNativeOnly,
  info: compileInfo,
  label_join: compileLabelJoin,
  label_replace: compileLabelReplace,
  round: (compiler, call) =>
    mapped(compiler, call, (value, [to]) => {
      const inverse = 1 / (to ?? 1);
      return Math.floor(value * inverse + 0.5) / inverse;
    }),
  sort: compileSort,
  sort_by_label: compileSortByLabel,
  sort_by_label_desc: compileSortByLabel,
  sort_desc: compileSort,
  // Start timestamps are not kept: no sample has one.
  start_timestamp: compileNativeOnly,
  timestamp: compileTimestamp,
  vector(compiler, call) {
    const input = compiler.scalar(call.args[0]!);
    const out = new Vector();
    return (t) => {
      out.clear().push(NO_LABELS, input(t));
      return out;
    };
  },
};

/** Checks of a range function's scalar arguments. @throws PromqlExecutionError */
export function checkParameters(context: Context, call: Call, parameters: readonly number[]): void {
  if (call.name === "quantile_over_time") checkQuantile(context, parameters[0]!, call.args[0]!);
  if (call.name !== "double_exponential_smoothing") return;
  for (const [i, what] of ["smoothing factor", "trend factor"].entries()) {
    const value = parameters[i]!;
    if (!(value > 0 && value < 1)) {
      throw new PromqlExecutionError(`invalid ${what}. Expected: 0 < ${i === 0 ? "sf" : "tf"} < 1, got: ${value}`);
    }
  }
}
