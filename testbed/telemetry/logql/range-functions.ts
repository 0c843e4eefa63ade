/** What each `..._over_time` function makes of the samples of one window. */
import type { RangeOp } from "./ast.js";

/** Samples of one series, by time. */
export interface Samples {
  times: number[];
  values: number[];
}

/** Value over samples [from, to), which is never empty. */
export type RangeFunction = (samples: Samples, from: number, to: number, window: RangeWindow) => number;

export interface RangeWindow {
  rangeMs: number;
  /** Left (exclusive) and right (inclusive) ends, milliseconds. */
  startMs: number;
  endMs: number;
  parameter: number;
}

function sum({ values }: Samples, from: number, to: number): number {
  let total = 0;
  for (let i = from; i < to; i++) total += values[i]!;
  return total;
}

const perSecond: RangeFunction = (samples, from, to, { rangeMs }) => sum(samples, from, to) / (rangeMs / 1000);

/** Welford's algorithm: mean and sum of squared deviations in one pass. */
function variance({ values }: Samples, from: number, to: number): number {
  let mean = 0;
  let squares = 0;
  for (let i = from; i < to; i++) {
    const delta = values[i]! - mean;
    mean += delta / (i - from + 1);
    squares += delta * (values[i]! - mean);
  }
  return squares / (to - from);
}

/** The q-quantile with linear interpolation, as Prometheus defines it. */
export function quantile(q: number, values: readonly number[]): number {
  if (values.length === 0 || Number.isNaN(q)) return Number.NaN;
  if (q < 0) return Number.NEGATIVE_INFINITY;
  if (q > 1) return Number.POSITIVE_INFINITY;
  const sorted = [...values].sort((a, b) => a - b);
  const rank = q * (sorted.length - 1);
  const low = Math.floor(rank);
  const high = Math.min(sorted.length - 1, low + 1);
  const weight = rank - low;
  return sorted[low]! * (1 - weight) + sorted[high]! * weight;
}

/** A counter's per-second increase, resets added back, extrapolated to the window as Prometheus' rate does. */
const rateCounter: RangeFunction = ({ times, values }, from, to, { rangeMs, startMs, endMs }) => {
  if (to - from < 2) return Number.NaN;
  let increase = values[to - 1]! - values[from]!;
  for (let i = from + 1; i < to; i++) if (values[i]! < values[i - 1]!) increase += values[i - 1]!;
  const sampled = times[to - 1]! - times[from]!;
  if (sampled === 0) return Number.NaN;
  const average = sampled / (to - from - 1);
  const threshold = average * 1.1;
  let toStart = times[from]! - startMs;
  const toEnd = endMs - times[to - 1]!;
  if (increase > 0 && values[from]! >= 0) toStart = Math.min(toStart, sampled * (values[from]! / increase));
  const extended = sampled + (toStart < threshold ? toStart : average / 2) + (toEnd < threshold ? toEnd : average / 2);
  return (increase * (extended / sampled)) / (rangeMs / 1000);
};

/** `absent_over_time` is not here: it speaks of windows without samples. */
export const RANGE_FUNCTIONS: Readonly<Record<Exclude<RangeOp, "absent_over_time">, RangeFunction>> = {
  rate: perSecond,
  bytes_rate: perSecond,
  rate_counter: rateCounter,
  count_over_time: (_samples, from, to) => to - from,
  bytes_over_time: sum,
  sum_over_time: sum,
  avg_over_time: (samples, from, to) => sum(samples, from, to) / (to - from),
  min_over_time: ({ values }, from, to) => {
    let least = values[from]!;
    for (let i = from + 1; i < to; i++) if (values[i]! < least) least = values[i]!;
    return least;
  },
  max_over_time: ({ values }, from, to) => {
    let most = values[from]!;
    for (let i = from + 1; i < to; i++) if (values[i]! > most) most = values[i]!;
    return most;
  },
  stdvar_over_time: variance,
  stddev_over_time: (samples, from, to) => Math.sqrt(variance(samples, from, to)),
  quantile_over_time: ({ values }, from, to, { parameter }) => quantile(parameter, values.slice(from, to)),
  first_over_time: ({ values }, from) => values[from]!,
  last_over_time: ({ values }, _from, to) => values[to - 1]!,
};
