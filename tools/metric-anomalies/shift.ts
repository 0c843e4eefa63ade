/** How far the values after a time lie from those before it. */

export interface Shift {
  /** Medians; undefined where there are too few values. */
  before: number | undefined;
  after: number | undefined;
  /** Robust z-score of the later median, bounded; infinite where values began or stopped. */
  score: number;
  kind: "shifted" | "began" | "stopped";
}

/** From this on a value counts as an outlier (Iglewicz and Hoaglin, "How to Detect and Handle Outliers", 1993). */
export const THRESHOLD = 3.5;
/** A median absolute deviation times this estimates a standard deviation of normal values. */
const MAD_SCALE = 1.4826;
/** Spread that is granted to values that do not vary: of their size, and of the largest value of both sides. */
const RELATIVE_SPREAD = 0.05;
const SMALLEST_SPREAD = 0.01;
const BOUND = 99;
const MIN_BEFORE = 4;
const MIN_AFTER = 2;

/** Compares two samples; undefined when neither side has enough values to say anything. */
export function shiftOf(before: readonly number[], after: readonly number[]): Shift | undefined {
  const enoughBefore = before.length >= MIN_BEFORE;
  const enoughAfter = after.length >= MIN_AFTER;
  if (!enoughBefore && !enoughAfter) return undefined;
  if (!enoughBefore) {
    // A few early values are no proof that there were none.
    if (before.length > 0) return undefined;
    return { before: undefined, after: median(after), score: Number.POSITIVE_INFINITY, kind: "began" };
  }
  const middle = median(before);
  if (!enoughAfter) {
    if (after.length > 0) return undefined;
    return { before: middle, after: undefined, score: Number.POSITIVE_INFINITY, kind: "stopped" };
  }
  const later = median(after);
  const mad = median(before.map((value) => Math.abs(value - middle))) * MAD_SCALE;
  const largest = [...before, ...after].reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  const spread = Math.max(mad, Math.abs(middle) * RELATIVE_SPREAD, largest * SMALLEST_SPREAD);
  const score = spread === 0 ? 0 : (later - middle) / spread;
  return { before: middle, after: later, score: Math.max(-BOUND, Math.min(BOUND, score)), kind: "shifted" };
}

/** NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
