/** Functions of a range: each looks at one series' samples and yields a number, or nothing. */
import type { Window } from "../vector.js";
import { Mean, quantileOf, Sum, Variance } from "../vector.js";

/** `parameters` are the scalar arguments, in order. */
export type RangeFunction = (window: Window, parameters: readonly number[]) => number | undefined;

export interface RangeFunctionEntry {
  run: RangeFunction;
  /** The result is one of the samples, and keeps the name. */
  keepsName?: true;
  /** Meant for counters: a name that does not look like one gets a note. */
  counter?: true;
}

const sum = new Sum();
const mean = new Mean();
const variance = new Variance();
const moments = { x: new Sum(), y: new Sum(), xy: new Sum(), x2: new Sum() };

/**
 * Increase over the range, extrapolated to its ends when the first and last sample lie near them, but never to below
 * zero for a counter.
 */
function extrapolated(w: Window, counter: boolean, perSecond: boolean): number | undefined {
  const { times, values, from, to } = w;
  if (w.mode !== "plain") return extended(w, counter, perSecond);
  const samples = to - from;
  if (samples < 2) return undefined;
  const first = values[from]!;
  let result = values[to - 1]! - first;
  if (counter) {
    for (let i = from + 1, previous = first; i < to; i++) {
      const current = values[i]!;
      if (current < previous) result += previous;
      previous = current;
    }
  }
  const firstTime = times[from]!;
  const lastTime = times[to - 1]!;
  let toStart = (firstTime - w.start) / 1000;
  let toEnd = (w.end - lastTime) / 1000;
  const sampled = (lastTime - firstTime) / 1000;
  const average = sampled / (samples - 1);
  const threshold = average * 1.1;
  if (toStart >= threshold) toStart = average / 2;
  if (counter && result > 0 && first >= 0) {
    const toZero = sampled * (first / result);
    if (toZero < toStart) toStart = toZero;
  }
  if (toEnd >= threshold) toEnd = average / 2;
  let factor = (sampled + toStart + toEnd) / sampled;
  if (perSecond) factor /= (w.end - w.start) / 1000;
  return result * factor;
}

/** Increase of an anchored or smoothed range: exact between its ends, nothing extrapolated. */
function extended(w: Window, counter: boolean, perSecond: boolean): number {
  const { times, values, from, to } = w;
  const smooth = w.mode === "smoothed";
  let i = from;
  let previous = values[i]!;
  if (smooth && to - from > 1 && times[from]! < w.start) previous = interpolate(w, from, w.start, counter);
  const first = previous;
  let result = 0;
  for (i++; i < to; i++) {
    const current = smooth && times[i]! > w.end ? interpolate(w, i - 1, w.end, counter) : values[i]!;
    if (counter && current < previous) result += previous;
    previous = current;
  }
  result += previous - first;
  return perSecond ? result / ((w.end - w.start) / 1000) : result;
}

/** Value at `t`, between samples i and i + 1; a counter that was reset between them grew from zero. */
function interpolate(w: Window, i: number, t: number, counter: boolean): number {
  const right = w.values[i + 1]!;
  const left = counter && right < w.values[i]! ? 0 : w.values[i]!;
  return left + ((right - left) * (t - w.times[i]!)) / (w.times[i + 1]! - w.times[i]!);
}

/** Difference of the last two samples. */
function lastTwo(w: Window, rate: boolean): number | undefined {
  if (w.to - w.from < 2) return undefined;
  const last = w.values[w.to - 1]!;
  const previous = w.values[w.to - 2]!;
  const interval = w.times[w.to - 1]! - w.times[w.to - 2]!;
  if (interval === 0) return undefined;
  if (!rate) return last - previous;
  return (last < previous ? last : last - previous) / (interval / 1000);
}

/** Least squares; x in seconds from `origin`. */
function regression(w: Window, origin: number): { slope: number; intercept: number } {
  const { times, values, from, to } = w;
  const first = values[from]!;
  let constant = true;
  const { x: sumX, y: sumY, xy: sumXY, x2: sumX2 } = moments;
  sumX.reset();
  sumY.reset();
  sumXY.reset();
  sumX2.reset();
  for (let i = from; i < to; i++) {
    const y = values[i]!;
    if (y !== first) constant = false;
    const x = (times[i]! - origin) / 1000;
    sumX.add(x);
    sumY.add(y);
    sumXY.add(x * y);
    sumX2.add(x * x);
  }
  if (constant) {
    if (!Number.isFinite(first) && !Number.isNaN(first)) return { slope: Number.NaN, intercept: Number.NaN };
    return { slope: 0, intercept: first };
  }
  const n = to - from;
  const covariance = sumXY.value - (sumX.value * sumY.value) / n;
  const spread = sumX2.value - (sumX.value * sumX.value) / n;
  const slope = covariance / spread;
  return { slope, intercept: sumY.value / n - (slope * sumX.value) / n };
}

/** Position of the extreme sample, the last of equals; NaN loses to every number. */
function extreme(w: Window, better: (a: number, b: number) => boolean): number {
  let best = w.from;
  for (let i = w.from + 1; i < w.to; i++) {
    if (better(w.values[i]!, w.values[best]!) || Number.isNaN(w.values[best]!)) best = i;
  }
  return best;
}
const atLeast = (a: number, b: number): boolean => a >= b;
const atMost = (a: number, b: number): boolean => a <= b;

function list(w: Window): number[] {
  return Array.from(w.values.subarray(w.from, w.to));
}

function varianceOf(w: Window): number {
  variance.reset();
  for (let i = w.from; i < w.to; i++) variance.add(w.values[i]!);
  return variance.value;
}

/** Double exponential smoothing: level factor and trend factor, both in (0, 1). */
function smoothed(w: Window, level: number, trendFactor: number): number | undefined {
  if (w.to - w.from < 2) return undefined;
  let before = 0;
  let current = w.values[w.from]!;
  let trend = w.values[w.from + 1]! - current;
  for (let i = w.from + 1; i < w.to; i++) {
    if (i > w.from + 1) trend = trendFactor * (current - before) + (1 - trendFactor) * trend;
    const next = level * w.values[i]! + (1 - level) * (current + trend);
    before = current;
    current = next;
  }
  return current;
}

export const RANGE_FUNCTIONS: Readonly<Record<string, RangeFunctionEntry>> = {
  rate: { run: (w) => extrapolated(w, true, true), counter: true },
  increase: { run: (w) => extrapolated(w, true, false), counter: true },
  delta: { run: (w) => extrapolated(w, false, false) },
  irate: { run: (w) => lastTwo(w, true), counter: true },
  idelta: { run: (w) => lastTwo(w, false) },
  deriv: { run: (w) => (w.to - w.from < 2 ? undefined : regression(w, w.times[w.from]!).slope) },
  predict_linear: {
    run(w, [seconds]) {
      if (w.to - w.from < 2) return undefined;
      const { slope, intercept } = regression(w, w.now);
      return slope * seconds! + intercept;
    },
  },
  double_exponential_smoothing: { run: (w, [level, trend]) => smoothed(w, level!, trend!) },
  changes: {
    run(w) {
      let changes = 0;
      for (let i = w.from + 1; i < w.to; i++) {
        const a = w.values[i - 1]!;
        const b = w.values[i]!;
        if (a !== b && !(Number.isNaN(a) && Number.isNaN(b))) changes++;
      }
      return changes;
    },
  },
  resets: {
    run(w) {
      let resets = 0;
      for (let i = w.from + 1; i < w.to; i++) if (w.values[i]! < w.values[i - 1]!) resets++;
      return resets;
    },
  },
  avg_over_time: {
    run(w) {
      mean.reset();
      for (let i = w.from; i < w.to; i++) mean.add(w.values[i]!);
      return mean.value;
    },
  },
  sum_over_time: {
    run(w) {
      sum.reset();
      for (let i = w.from; i < w.to; i++) sum.add(w.values[i]!);
      return sum.value;
    },
  },
  count_over_time: { run: (w) => w.to - w.from },
  present_over_time: { run: () => 1 },
  max_over_time: { run: (w) => w.values[extreme(w, atLeast)]! },
  min_over_time: { run: (w) => w.values[extreme(w, atMost)]! },
  last_over_time: { run: (w) => w.values[w.to - 1]!, keepsName: true },
  first_over_time: { run: (w) => w.values[w.from]!, keepsName: true },
  stddev_over_time: { run: (w) => Math.sqrt(varianceOf(w)) },
  stdvar_over_time: { run: varianceOf },
  mad_over_time: {
    run(w) {
      if (list(w).some(Number.isNaN)) return Number.NaN;
      const middle = quantileOf(0.5, list(w));
      return quantileOf(
        0.5,
        list(w).map((value) => Math.abs(value - middle)),
      );
    },
  },
  quantile_over_time: { run: (w, [q]) => quantileOf(q!, list(w)) },
  ts_of_first_over_time: { run: (w) => w.times[w.from]! / 1000 },
  ts_of_last_over_time: { run: (w) => w.times[w.to - 1]! / 1000 },
  ts_of_max_over_time: { run: (w) => w.times[extreme(w, atLeast)]! / 1000 },
  ts_of_min_over_time: { run: (w) => w.times[extreme(w, atMost)]! / 1000 },
};
