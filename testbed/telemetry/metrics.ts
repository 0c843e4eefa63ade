/** The metric store: what Prometheus' TSDB holds, in memory, with columns of numbers. */

/** Label names to values, `__name__` among them. */
export type Labels = Readonly<Record<string, string>>;

/** One time series; samples stand in [0, length), oldest first, times in milliseconds. */
export interface Series {
  readonly labels: Labels;
  /** Position in the store, stable. */
  readonly id: number;
  times: Float64Array;
  values: Float64Array;
  length: number;
}

export interface Matcher {
  name: string;
  op: "=" | "!=" | "=~" | "!~";
  value: string;
}

/**
 * The mark that a series ended here. Prometheus uses a NaN with a payload of its own; engines of JavaScript may
 * replace one NaN by another at any time, so here it is a subnormal number that no measurement yields. Only code that
 * reads columns itself meets it, and must skip it; no query returns it.
 */
export const STALE = 2 ** -1030 * 1.25;
export function isStale(value: number): boolean {
  return value === STALE;
}

export interface MetricStore {
  /** The series with exactly these labels, made when it is new. Keep the handle: appending through it is cheap. */
  series(labels: Labels): Series;
  /** Appends a sample; `timeMs` must not be before the last one (equal overwrites). */
  append(series: Series, timeMs: number, value: number): void;
  /** Series that match all matchers, in order of id. The result may be cached: do not change it. */
  select(matchers: readonly Matcher[]): readonly Series[];
  labelNames(matchers?: readonly Matcher[]): string[];
  labelValues(name: string, matchers?: readonly Matcher[]): string[];
  /** Grows when a series is added: a cache of `select` results is valid while it stands. */
  readonly generation: number;
}

/** One scrape target's samples are produced by an exporter; the scraper calls it and writes stale markers. */
export interface Exporter {
  /** Name for messages; the labels `job`, `instance`, ... are the exporter's own to set on each series. */
  readonly name: string;
  /** Emits every sample of this instant. Series not emitted this time, but the last, become stale. */
  collect(emit: (series: Series, value: number) => void, nowMs: number): void;
}
