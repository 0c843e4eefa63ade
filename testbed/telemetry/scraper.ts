/** The scraper: collects every exporter's samples at an interval, and marks as stale what one no longer shows. */
import type { VirtualClock } from "../clock.js";
import type { Exporter, MetricStore, Series } from "./metrics.js";
import { STALE } from "./metrics.js";

export interface ScraperOptions {
  /** Milliseconds between scrapes; the first is one interval from now. Default: 30,000. */
  intervalMs?: number;
}

export interface Scraper {
  /** Scrapes all exporters in this instant. */
  scrape(): void;
  /** When the exporters were scraped last, milliseconds since the epoch. */
  readonly lastScrape: number | undefined;
  readonly exporters: readonly Exporter[];
  readonly intervalMs: number;
  stop(): void;
}

/** Starts scraping `exporters` into `store` on the clock. */
export function startScraper(
  clock: VirtualClock,
  store: MetricStore,
  exporters: readonly Exporter[],
  options: ScraperOptions = {},
): Scraper {
  const intervalMs = options.intervalMs ?? 30_000;
  const targets = exporters.map((exporter) => createTarget(exporter, store));
  let lastScrape: number | undefined;

  function scrape(): void {
    lastScrape = clock.now();
    for (const target of targets) target(lastScrape);
  }

  const timer = clock.every(intervalMs, scrape);
  return {
    scrape,
    exporters,
    intervalMs,
    get lastScrape() {
      return lastScrape;
    },
    stop: () => timer.cancel(),
  };
}

/** One exporter's scrape: remembers, by the position in the store, in which round each series was seen. */
function createTarget(exporter: Exporter, store: MetricStore): (nowMs: number) => void {
  let seen = new Int32Array(1024);
  let round = 0;
  /** The series of the last round that was completed, and its number. */
  let previous: Series[] = [];
  let previousRound = -1;
  let current: Series[] = [];
  /** How many of the previous round's series were seen in this one. */
  let again = 0;
  let now = 0;

  const emit = (series: Series, value: number): void => {
    const id = series.id;
    if (id >= seen.length) {
      const larger = new Int32Array(Math.max(seen.length * 2, id + 1));
      larger.set(seen);
      seen = larger;
    }
    if (seen[id] !== round) {
      if (seen[id] === previousRound) again++;
      seen[id] = round;
      current.push(series);
    }
    store.append(series, now, value);
  };

  return (nowMs) => {
    now = nowMs;
    round++;
    again = 0;
    current.length = 0;
    exporter.collect(emit, nowMs);
    for (let i = 0; again < previous.length && i < previous.length; i++) {
      const series = previous[i]!;
      if (seen[series.id] === round) continue;
      store.append(series, nowMs, STALE);
    }
    [previous, current] = [current, previous];
    previousRound = round;
  };
}
