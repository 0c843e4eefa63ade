/** Selectors: from the store's columns to vectors and windows. */
import type { Matcher, MetricStore, Series } from "../metrics.js";
import { isStale } from "../metrics.js";
import type { AtModifier, DurationExpr, MatrixSelector, Subquery, VectorSelector } from "./ast.js";
import type { Compiler, Context, MatrixNode, VectorNode } from "./context.js";
import { charge } from "./context.js";
import { durationSeconds } from "./durations.js";
import { PromqlExecutionError } from "./errors.js";
import { Metric } from "./metric.js";
import type { Window } from "./vector.js";
import { Vector } from "./vector.js";

/** The series of a selector, looked up anew only when the store has new ones. */
export interface Source {
  readonly series: readonly Series[];
  readonly metrics: readonly Metric[];
  refresh(): void;
}

/** One metric a series and store, so that all queries share what is derived from it. */
const metricsOfStores = new WeakMap<MetricStore, Metric[]>();

function metricsOf(store: MetricStore): Metric[] {
  let metrics = metricsOfStores.get(store);
  if (metrics === undefined) {
    metrics = [];
    metricsOfStores.set(store, metrics);
  }
  return metrics;
}

export function createSource(store: MetricStore, matchers: readonly Matcher[]): Source {
  let generation = -1;
  let series: readonly Series[] = [];
  const metrics: Metric[] = [];
  const shared = metricsOf(store);
  return {
    get series() {
      return series;
    },
    metrics,
    refresh() {
      if (generation === store.generation) return;
      generation = store.generation;
      const found = store.select(matchers);
      if (found === series) return;
      // Series come in order of id and are never removed: what is known stays where it is.
      if (series.some((s, i) => found[i] !== s)) metrics.length = 0;
      for (let i = metrics.length; i < found.length; i++) {
        const { id, labels } = found[i]!;
        shared[id] ??= new Metric(labels);
        metrics.push(shared[id]);
      }
      series = found;
    },
  };
}

/** Position after the last sample with a time <= t; `hint` is where the answer was last time. */
export function after(times: Float64Array, length: number, t: number, hint: number): number {
  if (length === 0 || times[0]! > t) return 0;
  if (times[length - 1]! <= t) return length;
  let low = 0;
  let high = length;
  if (hint > 0 && hint < length && times[hint - 1]! <= t) {
    low = hint;
    // Steps are small against the length: look near the last answer first.
    for (let stride = 1; low + stride < length; stride *= 2) {
      if (times[low + stride - 1]! > t) {
        high = low + stride;
        break;
      }
      low += stride;
    }
  }
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Milliseconds of a duration at run time. */
export function milliseconds(context: Context, expr: DurationExpr | undefined): number {
  if (expr === undefined) return 0;
  if (expr.kind === "constant") return Math.round(expr.seconds * 1000);
  const ms = durationSeconds(expr, context.step / 1000, (context.end - context.start) / 1000) * 1000;
  if (Number.isNaN(ms)) throw new PromqlExecutionError("duration expression is not a number");
  return Math.round(ms);
}

/** The instant that a selector's time modifiers refer to, before its offset. */
export function anchor(context: Context, at: AtModifier | undefined, t: number): number {
  if (at === undefined) return t;
  return at.kind === "time" ? at.ms : at.kind === "start" ? context.start : context.end;
}

/** The value at `t` on the line between the samples around it; after the last one, its value. */
function interpolatedAt(series: Series, t: number, end: number, furthest: number): number {
  const { times, values, length } = series;
  const value = values[end - 1]!;
  const time = times[end - 1]!;
  if (time === t || end === length || times[end]! > furthest || isStale(values[end]!)) return value;
  return value + ((values[end]! - value) * (t - time)) / (times[end]! - time);
}

/** An instant selector; with `timestamps` it yields the samples' times in seconds instead of their values. */
export function compileSelector(compiler: Compiler, node: VectorSelector, timestamps = false): VectorNode {
  const { context } = compiler;
  const source = createSource(context.store, node.matchers);
  const out = new Vector();
  let hints = new Int32Array(0);
  return (t) => {
    source.refresh();
    const { series, metrics } = source;
    out.length = 0;
    const reference = anchor(context, node.at, t) - milliseconds(context, node.offset);
    const oldest = reference - context.lookback;
    if (hints.length < series.length) hints = new Int32Array(series.length + 64);
    for (let i = 0; i < series.length; i++) {
      const s = series[i]!;
      const { times, length } = s;
      let end = length;
      if (length > 0 && times[length - 1]! > reference) {
        end = after(times, length, reference, hints[i]!);
        hints[i] = end;
      }
      if (end === 0 || times[end - 1]! <= oldest) continue;
      const value = s.values[end - 1]!;
      if (isStale(value)) continue;
      if (timestamps) out.push(metrics[i]!, times[end - 1]! / 1000);
      else if (node.mode === "smoothed") {
        out.push(metrics[i]!, interpolatedAt(s, reference, end, reference + context.lookback));
      } else out.push(metrics[i]!, value);
    }
    charge(context, out.length);
    return out;
  };
}

/** A range selector; windows skip stale marks. */
export function compileMatrix(compiler: Compiler, node: MatrixSelector): MatrixNode {
  const { context } = compiler;
  const { selector } = node;
  const source = createSource(context.store, selector.matchers);
  let hints = new Int32Array(0);
  const window = emptyWindow();
  window.mode = selector.mode;
  const filtered = createScratch();
  return {
    each(t, visit) {
      source.refresh();
      const { series, metrics } = source;
      const range = positive(milliseconds(context, node.range));
      let read = 0;
      window.now = t;
      window.end = anchor(context, selector.at, t) - milliseconds(context, selector.offset);
      window.start = window.end - range;
      // What lies outside the range is read by the modes that look beyond its ends.
      const readFrom = selector.mode === "plain" ? window.start : window.start - context.lookback;
      const readTo = selector.mode === "smoothed" ? window.end + context.lookback : window.end;
      if (hints.length < series.length) hints = new Int32Array(series.length + 64);
      for (let i = 0; i < series.length; i++) {
        const s = series[i]!;
        const { times, values, length } = s;
        if (length === 0 || times[length - 1]! <= readFrom) continue;
        let to = length;
        if (times[length - 1]! > readTo) {
          to = after(times, length, readTo, hints[i]!);
          hints[i] = to;
        }
        // Windows are short against the whole: walk back from the end.
        let from = to;
        let stale = false;
        while (from > 0 && times[from - 1]! > readFrom) {
          from--;
          if (isStale(values[from]!)) stale = true;
        }
        if (from === to) continue;
        if (stale) {
          filtered.fill(times, values, from, to);
          if (filtered.length === 0) continue;
          window.times = filtered.times;
          window.values = filtered.values;
          window.from = 0;
          window.to = filtered.length;
        } else {
          window.times = times;
          window.values = values;
          window.from = from;
          window.to = to;
        }
        if (selector.mode !== "plain" && !narrow(window)) continue;
        read += window.to - window.from;
        visit(metrics[i]!, window);
      }
      charge(context, read);
    },
  };
}

/**
 * Leaves of an extended window the range's samples and the neighbours that its mode asks for.
 * @returns false when the range has no value: nothing in it and, where ends are interpolated, not both neighbours
 */
function narrow(window: Window): boolean {
  const { times, start, end } = window;
  let first = window.from;
  while (first < window.to && times[first]! <= start) first++;
  let last = window.to;
  while (last > first && times[last - 1]! > end) last--;
  const before = first > window.from;
  const after = last < window.to;
  if (first === last && !(window.mode === "smoothed" && before && after)) return false;
  window.from = before ? first - 1 : first;
  window.to = window.mode === "smoothed" && after ? last + 1 : last;
  return true;
}

/** A subquery: its expression evaluated at each multiple of the step inside the range. */
export function compileSubquery(compiler: Compiler, node: Subquery): MatrixNode {
  const { context } = compiler;
  const inner = compiler.vector(node.expr);
  const window = emptyWindow();
  return {
    each(t, visit) {
      const range = positive(milliseconds(context, node.range));
      const step = node.step === undefined ? context.defaultStep : positive(milliseconds(context, node.step));
      window.now = t;
      window.end = anchor(context, node.at, t) - milliseconds(context, node.offset);
      window.start = window.end - range;
      let first = Math.trunc(window.start / step) * step;
      if (first <= window.start) first += step;
      const rows = new Map<string, { metric: Metric; times: number[]; values: number[] }>();
      for (let at = first; at <= window.end; at += step) {
        const vector = inner(at);
        charge(context, 1 + vector.length);
        for (let i = 0; i < vector.length; i++) {
          const metric = vector.metrics[i]!;
          let row = rows.get(metric.key);
          if (row === undefined) {
            row = { metric, times: [], values: [] };
            rows.set(metric.key, row);
          }
          if (metric.dropName) row.metric = row.metric.dropped;
          row.times.push(at);
          row.values.push(vector.values[i]!);
        }
      }
      for (const row of rows.values()) {
        window.times = Float64Array.from(row.times);
        window.values = Float64Array.from(row.values);
        window.from = 0;
        window.to = row.times.length;
        visit(row.metric, window);
      }
    },
  };
}

function positive(ms: number): number {
  if (ms <= 0) throw new PromqlExecutionError("duration must be greater than 0");
  return ms;
}

function emptyWindow(): Window {
  const none = new Float64Array(0);
  return { times: none, values: none, from: 0, to: 0, start: 0, end: 0, now: 0, mode: "plain" };
}

/** Columns to copy samples into, kept between calls. */
function createScratch() {
  const scratch = {
    times: new Float64Array(64),
    values: new Float64Array(64),
    length: 0,
    /** Copies [from, to) without the stale marks. */
    fill(times: Float64Array, values: Float64Array, from: number, to: number): void {
      if (scratch.times.length < to - from) {
        scratch.times = new Float64Array((to - from) * 2);
        scratch.values = new Float64Array((to - from) * 2);
      }
      scratch.length = 0;
      for (let i = from; i < to; i++) {
        if (isStale(values[i]!)) continue;
        scratch.times[scratch.length] = times[i]!;
        scratch.values[scratch.length] = values[i]!;
        scratch.length++;
      }
    },
  };
  return scratch;
}
