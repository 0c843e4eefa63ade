/** A classic histogram of a component that the testbed does not measure: counts fall into one bucket. */
import type { Labels, MetricStore, Series } from "../metrics.js";

export interface Histogram {
  observe(count: number): void;
  emit(emit: (series: Series, value: number) => void): void;
}

/**
 * @param bounds upper bounds of the buckets, rising, without +Inf
 * @param seconds what every observation is taken to have lasted
 */
export function createHistogram(
  store: MetricStore,
  name: string,
  labels: Labels,
  bounds: readonly number[],
  seconds: number,
): Histogram {
  const buckets = [...bounds, Number.POSITIVE_INFINITY].map((bound) => ({
    counts: seconds <= bound,
    series: store.series({
      ...labels,
      __name__: `${name}_bucket`,
      le: bound === Number.POSITIVE_INFINITY ? "+Inf" : String(bound),
    }),
  }));
  const sum = store.series({ ...labels, __name__: `${name}_sum` });
  const total = store.series({ ...labels, __name__: `${name}_count` });
  let count = 0;
  return {
    observe(more) {
      count += more;
    },
    emit(emit) {
      for (const bucket of buckets) emit(bucket.series, bucket.counts ? count : 0);
      emit(sum, count * seconds);
      emit(total, count);
    },
  };
}
