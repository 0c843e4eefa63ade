import { describe, expect, it } from "vitest";
import { createMetricStore } from "../../../testbed/telemetry/metric-store.js";
import type { Matcher } from "../../../testbed/telemetry/metrics.js";
import { isStale, STALE } from "../../../testbed/telemetry/metrics.js";

function matcher(text: string): Matcher {
  const [, name, op, value] = /^(\w+)(=~|!~|!=|=)(.*)$/s.exec(text)!;
  return { name: name!, op: op as Matcher["op"], value: value! };
}

describe("stale marker", () => {
  it("survives columns, arithmetic-free moves and growth, and is no ordinary number", () => {
    const store = createMetricStore();
    const series = store.series({ __name__: "x" });
    for (let i = 0; i < 1000; i++) store.append(series, i, i % 3 === 0 ? STALE : i % 3 === 1 ? Number.NaN : i);
    for (let i = 0; i < 1000; i++) expect(isStale(series.values[i]!)).toBe(i % 3 === 0);
    for (const value of [0, Number.NaN, 1e-308, Number.MIN_VALUE, -STALE, Number.POSITIVE_INFINITY]) {
      expect(isStale(value)).toBe(false);
    }
  });
});

describe("series", () => {
  it("is one for one label set, whatever the order; empty labels do not count", () => {
    const store = createMetricStore();
    const a = store.series({ __name__: "x", a: "1", b: "2" });
    expect(store.series({ b: "2", a: "1", __name__: "x" })).toBe(a);
    expect(store.series({ b: "2", a: "1", __name__: "x", c: "" })).toBe(a);
    expect(store.series({ __name__: "x", a: "1" })).not.toBe(a);
    expect(store.generation).toBe(2);
    expect(a.labels).toEqual({ __name__: "x", a: "1", b: "2" });
  });

  it("keeps samples in order, overwrites the same instant and refuses an earlier one", () => {
    const store = createMetricStore();
    const s = store.series({ __name__: "x" });
    for (let i = 0; i < 5000; i++) store.append(s, i * 10, i);
    store.append(s, 49_990, 7);
    expect(s.length).toBe(5000);
    expect([s.times[4999], s.values[4999], s.times[16], s.values[16]]).toEqual([49_990, 7, 160, 16]);
    expect(() => store.append(s, 49_989, 1)).toThrow(/out of order.*"x"/);
  });

  it("does not mix the columns of series that grow at the same time", () => {
    const store = createMetricStore();
    const many = Array.from({ length: 50 }, (_, i) => store.series({ __name__: "x", i: String(i) }));
    for (let t = 0; t < 300; t++) for (const s of many) store.append(s, t, s.id * 1000 + t);
    for (const s of many) {
      for (let t = 0; t < 300; t++) expect(s.times[t] === t && s.values[t] === s.id * 1000 + t).toBe(true);
    }
  });

  it("drops what is past the retention instead of growing for ever", () => {
    const store = createMetricStore({ retentionMs: 1000 });
    const s = store.series({ __name__: "x" });
    for (let i = 0; i < 100_000; i++) store.append(s, i * 10, i);
    expect(s.times.length).toBeLessThanOrEqual(256);
    expect(s.times[s.length - 1]).toBe(999_990);
    expect(s.times[0]).toBeLessThanOrEqual(999_990 - 1000);
  });
});

describe("select", () => {
  const store = createMetricStore();
  const sets: Record<string, string>[] = [
    { __name__: "up", job: "api", env: "prod" },
    { __name__: "up", job: "api-gateway" },
    { __name__: "up", job: "web\nserver", env: "dev" },
    { __name__: "down", job: "api" },
    { __name__: "up" },
  ];
  for (const labels of sets) store.series(labels);
  const cases: [string[], number[]][] = [
    [["__name__=up"], [0, 1, 2, 4]],
    [["__name__=up", "job=api"], [0]],
    [
      ["__name__=up", "job!=api"],
      [1, 2, 4],
    ],
    [["__name__=up", "job="], [4]],
    [
      ["__name__=up", "job!="],
      [0, 1, 2],
    ],
    [["__name__=up", "job=~api"], [0]],
    [
      ["__name__=up", "job=~api.*"],
      [0, 1],
    ],
    [
      ["__name__=up", "job=~api|"],
      [0, 4],
    ],
    [["__name__=up", "job=~web.server"], [2]],
    [
      ["__name__=up", "job=~(?i)API.*"],
      [0, 1],
    ],
    [
      ["__name__=up", "job!~api.*"],
      [2, 4],
    ],
    [
      ["__name__=up", "job=~.+"],
      [0, 1, 2],
    ],
    [
      ["__name__=up", "job=~.*"],
      [0, 1, 2, 4],
    ],
    [["env=~prod|dev"], [0, 2]],
    [
      ["__name__=~up|down", "job=api"],
      [0, 3],
    ],
    [["__name__=nothing"], []],
    [["nolabel=x"], []],
    [["nolabel=", "__name__=down"], [3]],
  ];
  it.each(cases)("%j", (matchers, ids) => {
    expect(store.select(matchers.map(matcher)).map((s) => s.id)).toEqual(ids);
  });

  it("takes in series made after it was asked first, and keeps the array while nothing new matches", () => {
    const own = createMetricStore();
    const ask = () => own.select([matcher("__name__=a"), matcher("x=~1|2")]);
    expect(ask()).toHaveLength(0);
    own.series({ __name__: "a", x: "1" });
    const first = ask();
    expect(first).toHaveLength(1);
    own.series({ __name__: "b", x: "1" });
    expect(ask()).toBe(first);
    own.series({ __name__: "a", x: "2" });
    expect(ask().map((s) => s.id)).toEqual([0, 2]);
    expect(first).toHaveLength(1);
  });

  it.each(["(a+)+$", "(a|a)*b", "(.*)*c", "(x+x+)+y"])("answers %s in time, whatever the values", (pattern) => {
    const store = createMetricStore();
    store.series({ __name__: "x", v: `${"a".repeat(60)}!` });
    store.series({ __name__: "x", v: `${"x".repeat(60)}!` });
    expect(store.select([{ name: "v", op: "=~", value: pattern }])).toEqual([]);
  });

  it("refuses a bad pattern by name", () => {
    expect(() => store.select([matcher("job=~a(b")])).toThrow(/a\(b/);
  });

  it("lists label names and values, all or those of a selection", () => {
    expect(store.labelNames()).toEqual(["__name__", "env", "job"]);
    expect(store.labelNames([matcher("__name__=down")])).toEqual(["__name__", "job"]);
    expect(store.labelValues("env")).toEqual(["dev", "prod"]);
    expect(store.labelValues("job", [matcher("env=prod")])).toEqual(["api"]);
    expect(store.labelValues("nothing")).toEqual([]);
  });
});
