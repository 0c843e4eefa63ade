import { describe, expect, it } from "vitest";
import { createMetricStore } from "../../../../testbed/telemetry/metric-store.js";
import { STALE } from "../../../../testbed/telemetry/metrics.js";
import { PromqlExecutionError, prepare } from "../../../../testbed/telemetry/promql/index.js";

const MINUTE = 60_000;

function samples(query: ReturnType<typeof prepare>, time: number): Record<string, number> {
  const { value } = query.instant(time);
  if (value.type !== "vector") throw new Error(value.type);
  return Object.fromEntries(value.samples.map((s) => [Object.values(s.labels).join("/"), s.value]));
}

describe("a prepared query", () => {
  it("sees series that come after it was prepared, through every kind of node", () => {
    const store = createMetricStore();
    const add = (pod: string, from: number) => {
      for (const name of ["a_total", "b_total"]) {
        const series = store.series({ __name__: name, pod });
        for (let i = from; i < from + 10; i++) store.append(series, i * 30_000, i * 3);
      }
    };
    const query = prepare(store, "sum by (pod) (rate(a_total[2m])) / on (pod) sum by (pod) (rate(b_total[2m]))");
    expect(samples(query, 4 * MINUTE)).toEqual({});
    add("x", 0);
    expect(samples(query, 4 * MINUTE)).toEqual({ x: 1 });
    add("y", 0);
    expect(samples(query, 4 * MINUTE)).toEqual({ x: 1, y: 1 });
    add("z", 10);
    expect(samples(query, 4 * MINUTE)).toEqual({ x: 1, y: 1 });
    expect(samples(query, 9 * MINUTE)).toEqual({ z: 1 });
  });

  it("answers the same whatever was asked before: forwards, backwards, at random", () => {
    const store = createMetricStore();
    const series = store.series({ __name__: "a_total", pod: "x" });
    for (let i = 0; i < 200; i++) store.append(series, i * 30_000, i % 17 === 0 ? STALE : i * i);
    const text = "increase(a_total[3m]) + on () group_left () sum(a_total offset 1m)";
    const reused = prepare(store, text);
    const times = Array.from({ length: 200 }, (_, i) => ((i * 7919) % 211) * 29_000);
    for (const time of times) expect(samples(reused, time)).toEqual(samples(prepare(store, text), time));
  });

  it("keeps apart what two runs return", () => {
    const store = createMetricStore();
    const series = store.series({ __name__: "a" });
    store.append(series, 0, 1);
    store.append(series, MINUTE, 2);
    const query = prepare(store, "a");
    const first = query.instant(0);
    query.instant(MINUTE);
    expect(first.value).toEqual({ type: "vector", time: 0, samples: [{ labels: { __name__: "a" }, value: 1 }] });
  });

  it("gives a range the same numbers as instants", () => {
    const store = createMetricStore();
    for (const pod of ["x", "y", "z"]) {
      const series = store.series({ __name__: "a_total", pod });
      for (let i = 0; i < 100; i++) store.append(series, i * 15_000, pod === "y" ? 100 - i : i * i);
    }
    for (const text of ["rate(a_total[1m])", "sum(a_total)", "max_over_time(sum(a_total)[5m:1m])", "a_total > 50"]) {
      const { value } = prepare(store, text).range(0, 20 * MINUTE, 45_000);
      if (value.type !== "matrix") throw new Error(value.type);
      const instant = prepare(store, text);
      for (const row of value.rows) {
        for (const [i, time] of row.times.entries()) {
          const at = instant.instant(time).value;
          const found = at.type === "vector" ? at.samples.find((s) => s.labels.pod === row.labels.pod) : undefined;
          expect(found?.value).toBe(row.values[i]);
        }
      }
    }
  });
});

describe("staleness", () => {
  const store = createMetricStore();
  const series = store.series({ __name__: "a" });
  store.append(series, 0, 1);
  store.append(series, MINUTE, STALE);
  store.append(series, 2 * MINUTE, 0);
  store.append(series, 3 * MINUTE, Number.NaN);

  it.each([
    [0, [1]],
    [MINUTE - 1, [1]],
    [MINUTE, []],
    [2 * MINUTE, [0]],
    [3 * MINUTE, [Number.NaN]],
    [8 * MINUTE - 1, [Number.NaN]],
    [8 * MINUTE, []],
  ])("at %d", (time, values) => {
    expect(Object.values(samples(prepare(store, "a"), time))).toEqual(values);
  });

  it("leaves the mark out of ranges", () => {
    expect(Object.values(samples(prepare(store, "count_over_time(a[10m])"), 3 * MINUTE))).toEqual([3]);
    expect(Object.values(samples(prepare(store, "absent(a)"), MINUTE))).toEqual([1]);
  });
});

it.each([
  ["a * on (x) b", "many-to-many matching not allowed"],
  ["b * on (x) a", "many-to-many matching not allowed"],
  ["a * on (x) group_left b", "many-to-many matching not allowed"],
  ["c * on (x) a", "many-to-many matching not allowed"],
  ["a * on (x) c", "many-to-one matching must be explicit"],
  ["ceil({__name__=~'a|c'})", "same labelset"],
  ["label_replace(a, 'y', 'same', '', '')", "same labelset"],
  ["label_replace(a, 'y', '', '', '(')", "invalid regular expression"],
])("%s fails at run time and says why", (text, message) => {
  const store = createMetricStore();
  for (const name of ["a", "b"]) {
    for (const y of ["1", "2"]) store.append(store.series({ __name__: name, x: "1", y }), 0, 1);
  }
  store.append(store.series({ __name__: "c", x: "1" }), 0, 1);
  if (text.startsWith("ceil")) store.append(store.series({ __name__: "c", x: "1", y: "1" }), 0, 1);
  const run = () => prepare(store, text).instant(0);
  expect(run).toThrow(PromqlExecutionError);
  expect(run).toThrow(message);
});

describe("a query that would take too much is refused, and the next one is not", () => {
  const store = createMetricStore();
  for (let i = 0; i < 100; i++) {
    const series = store.series({ __name__: "a_total", i: String(i) });
    for (let t = 0; t < 100; t++) store.append(series, t * 30_000, t);
  }
  it.each([
    ["count(count_over_time(vector(1)[1d:1ms]))", 0],
    ["sum(sum_over_time(a_total[30m:1s]))", 0],
    ["a_total", 1000],
    ["sum(a_total)", 100],
    ["sum(rate(a_total[30m]))", 100],
  ])("%s", (text, step) => {
    const query = prepare(store, text, { maxSamples: 100_000 });
    const run = () => (step > 0 ? query.range(0, 3_000_000, step) : query.instant(3_000_000));
    expect(run).toThrow(PromqlExecutionError);
    expect(run).toThrow("too many samples");
    if (step > 0) expect(query.range(0, 300_000, 60_000).value.type).toBe("matrix");
  });
});

it("long chains of operators neither overflow nor take for ever", () => {
  const store = createMetricStore();
  store.append(store.series({ __name__: "a" }), 0, 1);
  const query = prepare(store, Array.from({ length: 400 }, () => "a").join(" + "));
  expect(Object.values(samples(query, 0))).toEqual([400]);
});
