import { expect, it } from "vitest";
import { VirtualClock } from "../../../testbed/clock.js";
import { createMetricStore } from "../../../testbed/telemetry/metric-store.js";
import type { Exporter } from "../../../testbed/telemetry/metrics.js";
import { isStale } from "../../../testbed/telemetry/metrics.js";
import { startScraper } from "../../../testbed/telemetry/scraper.js";

it("appends at each interval, and marks a series stale once when its exporter drops it", () => {
  const clock = new VirtualClock(1_000_000);
  const store = createMetricStore();
  const a = store.series({ __name__: "a" });
  const b = store.series({ __name__: "b" });
  let showB = true;
  const one: Exporter = {
    name: "one",
    collect(emit) {
      emit(a, 1);
      if (showB) emit(b, 2);
    },
  };
  const scraper = startScraper(clock, store, [one], { intervalMs: 1000 });
  clock.advance(2500);
  showB = false;
  clock.advance(3000);
  showB = true;
  clock.advance(1000);
  scraper.stop();
  clock.advance(5000);
  expect(Array.from(a.times.subarray(0, a.length))).toEqual([1, 2, 3, 4, 5, 6].map((s) => 1_000_000 + s * 1000));
  expect(Array.from(b.times.subarray(0, b.length))).toEqual([1, 2, 3, 6].map((s) => 1_000_000 + s * 1000));
  expect(Array.from(b.values.subarray(0, b.length)).map(isStale)).toEqual([false, false, true, false]);
  expect(scraper.lastScrape).toBe(1_006_000);
});

it("does not mark one exporter's series stale because another was scraped", () => {
  const clock = new VirtualClock(0);
  const store = createMetricStore();
  const series = Array.from({ length: 3000 }, (_, i) => store.series({ __name__: "m", i: String(i) }));
  const half = (odd: number): Exporter => ({
    name: String(odd),
    collect(emit) {
      for (let i = odd; i < series.length; i += 2) emit(series[i]!, i);
    },
  });
  startScraper(clock, store, [half(0), half(1)]);
  clock.advance(300_000);
  for (const s of series) {
    expect(s.length).toBe(10);
    expect(s.values.subarray(0, s.length).some(isStale)).toBe(false);
  }
});

it("marks what is gone also when series change places and a scrape in between failed", () => {
  const clock = new VirtualClock(0);
  const store = createMetricStore();
  const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => store.series({ __name__: name }));
  const rounds = [[a, b], [b, c, b], "fails", [c, d], []] as const;
  let turn = 0;
  const one: Exporter = {
    name: "one",
    collect(emit) {
      const round = rounds[turn++]!;
      for (const s of round === "fails" ? [a, b] : round) emit(s!, turn);
      if (round === "fails") throw new Error("broken");
    },
  };
  const scraper = startScraper(clock, store, [one]);
  for (const round of rounds) {
    clock.advance(1000);
    if (round === "fails") expect(() => scraper.scrape()).toThrow("broken");
    else scraper.scrape();
  }
  const shown = [a, b, c, d].map((s) => Array.from(s!.values.subarray(0, s!.length), (v) => (isStale(v) ? "-" : v)));
  expect(shown).toEqual([
    [1, "-", 3],
    [1, 2, 3, "-"],
    [2, 4, "-"],
    [4, "-"],
  ]);
});
