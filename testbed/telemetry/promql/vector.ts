/** The evaluator's values. A node of the compiled query owns one vector and fills it anew at every step. */
import type { RangeMode } from "./ast.js";
import type { Metric } from "./metric.js";

export class Vector {
  length = 0;
  readonly metrics: Metric[] = [];
  readonly values: number[] = [];

  push(metric: Metric, value: number): void {
    this.metrics[this.length] = metric;
    this.values[this.length] = value;
    this.length++;
  }

  clear(): Vector {
    this.length = 0;
    return this;
  }
}

/** The samples of one series in a range, [from, to) of the columns; times in milliseconds, no stale marks. */
export interface Window {
  times: Float64Array;
  values: Float64Array;
  from: number;
  to: number;
  /** The range itself: samples lie in (start, end]. */
  start: number;
  end: number;
  /** When the query is evaluated, milliseconds: `end` without offset. */
  now: number;
  /**
   * `anchored`: the first sample is the last one at or before the start, where there is one. `smoothed`: the window
   * has the neighbours of both ends too, to interpolate.
   */
  mode: RangeMode;
}

/** Kahan-Neumaier summation, as Prometheus sums. */
export class Sum {
  #sum = 0;
  #compensation = 0;

  reset(): void {
    this.#sum = 0;
    this.#compensation = 0;
  }

  add(value: number): void {
    const total = this.#sum + value;
    if (!Number.isFinite(total)) this.#compensation = 0;
    else if (Math.abs(this.#sum) >= Math.abs(value)) this.#compensation += this.#sum - total + value;
    else this.#compensation += value - total + this.#sum;
    this.#sum = total;
  }

  get value(): number {
    return this.#sum + this.#compensation;
  }
}

/**
 * Mean as Prometheus computes it: a compensated sum divided, and where that overflows, an incremental mean.
 */
export class Mean {
  #count = 0;
  #sum = 0;
  #compensation = 0;
  #incremental = false;

  reset(): void {
    this.#count = 0;
    this.#sum = 0;
    this.#compensation = 0;
    this.#incremental = false;
  }

  get count(): number {
    return this.#count;
  }

  add(value: number): void {
    this.#count++;
    const n = this.#count;
    if (n === 1) {
      this.#sum = value;
      return;
    }
    if (!this.#incremental) {
      const sum = this.#sum;
      const total = sum + value;
      if (Math.abs(total) !== Number.POSITIVE_INFINITY) {
        this.#compensation += Math.abs(sum) >= Math.abs(value) ? sum - total + value : value - total + sum;
        this.#sum = total;
        return;
      }
      this.#incremental = true;
      this.#sum = sum / (n - 1);
      this.#compensation /= n - 1;
    }
    const share = (n - 1) / n;
    const part = value / n;
    const mean = share * this.#sum;
    const total = mean + part;
    this.#compensation *= share;
    if (Math.abs(total) === Number.POSITIVE_INFINITY) this.#compensation = 0;
    else this.#compensation += Math.abs(mean) >= Math.abs(part) ? mean - total + part : part - total + mean;
    this.#sum = total;
  }

  get value(): number {
    if (this.#incremental) return this.#sum + this.#compensation;
    return this.#sum / this.#count + this.#compensation / this.#count;
  }
}

/** Variance after Welford; the aggregations' one, which Prometheus does not compensate. */
export class PlainVariance {
  #count = 0;
  #mean = 0;
  #squares = 0;

  reset(): void {
    this.#count = 0;
    this.#mean = 0;
    this.#squares = 0;
  }

  add(value: number): void {
    this.#count++;
    const delta = value - this.#mean;
    this.#mean += delta / this.#count;
    this.#squares += delta * (value - this.#mean);
  }

  get value(): number {
    return this.#squares / this.#count;
  }
}

/** Variance after Welford, compensated; that of a range. */
export class Variance {
  count = 0;
  readonly #mean = new Sum();
  readonly #squares = new Sum();

  reset(): void {
    this.count = 0;
    this.#mean.reset();
    this.#squares.reset();
  }

  add(value: number): void {
    this.count++;
    const delta = value - this.#mean.value;
    this.#mean.add(delta / this.count);
    this.#squares.add(delta * (value - this.#mean.value));
  }

  get value(): number {
    return this.#squares.value / this.count;
  }
}

/** Ascending, NaN first. */
export function compareNumbers(a: number, b: number): number {
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : -1;
  if (Number.isNaN(b)) return 1;
  return a - b || 0;
}

/** The q-quantile of unsorted `values`, linearly interpolated; sorts them in place. */
export function quantileOf(q: number, values: number[]): number {
  if (values.length === 0 || Number.isNaN(q)) return Number.NaN;
  if (q < 0) return Number.NEGATIVE_INFINITY;
  if (q > 1) return Number.POSITIVE_INFINITY;
  values.sort(compareNumbers);
  const n = values.length;
  const rank = q * (n - 1);
  const lower = Math.max(0, Math.floor(rank));
  const upper = Math.min(n - 1, lower + 1);
  const weight = rank - Math.floor(rank);
  return values[lower]! * (1 - weight) + values[upper]! * weight;
}
