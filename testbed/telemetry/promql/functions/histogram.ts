/** Quantiles and fractions of classic histograms: cumulative counts by upper bound. */

export interface Bucket {
  upper: number;
  count: number;
}

/** Counts that differ by less than this share are taken as equal: floating point, not a bucket that shrank. */
const SMALL_DELTA = 1e-12;
const SMALLEST_NORMAL = 2.2250738585072014e-308;

function almostEqual(a: number, b: number, epsilon: number): boolean {
  if (a === b || (Number.isNaN(a) && Number.isNaN(b))) return true;
  const total = Math.abs(a) + Math.abs(b);
  const difference = Math.abs(a - b);
  if (a === 0 || b === 0 || total < SMALLEST_NORMAL) return difference < epsilon * SMALLEST_NORMAL;
  return difference / Math.min(total, Number.MAX_VALUE) < epsilon;
}

/** Where counts had to be raised to be monotonic. */
export interface Repair {
  from: number;
  to: number;
  largest: number;
}

/**
 * Sorts, joins equal bounds and makes counts monotonic, in place.
 * @returns undefined when there is no +Inf bucket
 */
export function tidyBuckets(buckets: Bucket[]): { buckets: Bucket[]; repair: Repair | undefined } | undefined {
  // Series mostly come in order of their bounds already.
  if (buckets.some((bucket, i) => i > 0 && bucket.upper < buckets[i - 1]!.upper)) {
    buckets.sort((a, b) => (a.upper === b.upper ? 0 : a.upper - b.upper));
  }
  if (buckets.at(-1)?.upper !== Number.POSITIVE_INFINITY) return undefined;
  const joined: Bucket[] = [];
  for (const bucket of buckets) {
    const last = joined.at(-1);
    if (last !== undefined && last.upper === bucket.upper) last.count += bucket.count;
    else joined.push(bucket);
  }
  let repair: Repair | undefined;
  let previous = joined[0]!.count;
  for (const bucket of joined) {
    const { count } = bucket;
    if (count === previous) continue;
    if (almostEqual(previous, count, SMALL_DELTA)) bucket.count = previous;
    else if (count < previous) {
      repair = {
        from: Math.min(repair?.from ?? bucket.upper, bucket.upper),
        to: Math.max(repair?.to ?? bucket.upper, bucket.upper),
        largest: Math.max(repair?.largest ?? 0, previous - count),
      };
      bucket.count = previous;
    } else previous = count;
  }
  return { buckets: joined, repair };
}

/** The q-quantile of tidy buckets, interpolated linearly within one. */
export function bucketQuantile(q: number, buckets: readonly Bucket[]): number {
  if (Number.isNaN(q)) return Number.NaN;
  if (q < 0) return Number.NEGATIVE_INFINITY;
  if (q > 1) return Number.POSITIVE_INFINITY;
  const last = buckets.length - 1;
  if (last < 1) return Number.NaN;
  const observations = buckets[last]!.count;
  if (observations === 0 || Number.isNaN(observations)) return Number.NaN;
  let rank = q * observations;
  let b = 0;
  while (b < last && !(buckets[b]!.count >= rank)) b++;
  if (b === last) return buckets[last - 1]!.upper;
  if (b === 0 && buckets[0]!.upper <= 0) return buckets[0]!.upper;
  let start = 0;
  const end = buckets[b]!.upper;
  let count = buckets[b]!.count;
  if (b > 0) {
    start = buckets[b - 1]!.upper;
    count -= buckets[b - 1]!.count;
    rank -= buckets[b - 1]!.count;
  }
  return start + (end - start) * (rank / count);
}

/** Share of the observations between `lower` and `upper`. */
export function bucketFraction(lower: number, upper: number, buckets: readonly Bucket[]): number {
  const count = buckets.at(-1)!.count;
  if (!(count !== 0) || Number.isNaN(count) || Number.isNaN(lower) || Number.isNaN(upper)) return Number.NaN;
  if (lower >= upper) return 0;
  return (rankOf(upper, buckets, count) - rankOf(lower, buckets, count)) / count;
}

/** Estimated number of observations up to `value`. */
function rankOf(value: number, buckets: readonly Bucket[], total: number): number {
  let rank = 0;
  for (const [i, bucket] of buckets.entries()) {
    const below = i > 0 ? buckets[i - 1]!.upper : bucket.upper > 0 ? 0 : Number.NEGATIVE_INFINITY;
    if (below >= value) break;
    if (bucket.upper > value) {
      const width = bucket.upper - below;
      // Where in an endless bucket its observations lie nobody knows: they count as lying at its finite bound.
      let share = (value - below) / width;
      if (below === Number.NEGATIVE_INFINITY) share = 1;
      else if (width === Number.POSITIVE_INFINITY) share = 0;
      return Math.min(rank + (bucket.count - rank) * share, total);
    }
    rank = bucket.count;
  }
  return Math.min(rank, total);
}
