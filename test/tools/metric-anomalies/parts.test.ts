import { describe, expect, it } from "vitest";
import { coursesOf, type RawSeries } from "../../../tools/metric-anomalies/series.js";
import { shiftOf } from "../../../tools/metric-anomalies/shift.js";

describe("shiftOf", () => {
  const steady = [10, 10.5, 9.5, 10.2, 9.8, 10, 10.1];
  it.each<[string, number[], number[], object | undefined]>([
    ["nothing", steady, [10, 10.1, 9.9], { kind: "shifted", score: 0 }],
    ["a rise", [1, 2, 3, 4, 5], [12, 13, 14], { before: 3, after: 13, score: expect.closeTo(6.745, 2) }],
    ["a fall", [1, 2, 3, 4, 5], [-7, -7], { score: expect.closeTo(-6.745, 2) }],
    ["one odd value is no shift", steady, [10, 10, 500], { score: 0 }],
    ["of what never varied", [1, 1, 1, 1], [0, 0], { before: 1, after: 0, score: -20 }],
    ["from nothing, bounded", [0, 0, 0, 0], [5, 5], { score: 99 }],
    ["zero stays zero", [0, 0, 0, 0], [0, 0], { score: 0 }],
    ["a little of what never varied", [100, 100, 100, 100], [101, 101], { score: expect.closeTo(0.2, 2) }],
    ["began", [], [1, 2], { kind: "began", before: undefined, after: 1.5 }],
    ["stopped", [1, 1, 1, 1], [], { kind: "stopped", after: undefined }],
    ["too few before", [1], [1, 2], undefined],
    ["too few after", [1, 1, 1, 1], [1], undefined],
    ["none at all", [], [], undefined],
  ])("%s", (_name, before, after, shift) => {
    if (shift === undefined) expect(shiftOf(before, after)).toBeUndefined();
    else expect(shiftOf(before, after)).toMatchObject(shift);
  });
});

describe("coursesOf", () => {
  const series = (name: string, labels: Record<string, string>, values: number[]): RawSeries => ({
    metric: { __name__: name, ...labels },
    values: values.map((value, i) => [i * 30, String(value)]),
  });
  const courses = (...all: RawSeries[]) =>
    coursesOf(all, (label) => label === "service").map(({ name, labels, kind, points }) => [
      name,
      labels,
      kind,
      [...points.values()].map((value) => Number(value.toFixed(4))),
    ]);

  it.each<[string, RawSeries[], unknown[]]>([
    ["counters as rates", [series("a_total", {}, [0, 30, 90])], [["a_total", {}, "rate", [1, 2]]]],
    ["a counter that began anew", [series("a_total", {}, [300, 330, 15])], [["a_total", {}, "rate", [1, 0.5]]]],
    [
      "pods of one workload: counters summed",
      [series("a_total", { pod: "x-1" }, [0, 30]), series("a_total", { pod: "x-2" }, [0, 60])],
      [["a_total", {}, "rate", [3]]],
    ],
    [
      "pods of one workload: gauges averaged",
      [series("mem", { pod: "x-1", uid: "u" }, [10, 20]), series("mem", { pod: "x-2", uid: "v" }, [20, 40])],
      [["mem", {}, "value", [15, 30]]],
    ],
    [
      "labels that tell",
      [
        series("a_total", { code: "500", service: "s" }, [0, 30]),
        series("a_total", { code: "200", service: "s" }, [0, 60]),
      ],
      [
        ["a_total", { code: "500" }, "rate", [1]],
        ["a_total", { code: "200" }, "rate", [2]],
      ],
    ],
    [
      "sums by counts",
      [series("d_sum", {}, [0, 300, 300]), series("d_count", {}, [0, 30, 30])],
      [
        ["d", {}, "mean", [10]],
        ["d_count", {}, "rate", [1, 0]],
      ],
    ],
    ["a sum alone", [series("d_sum", {}, [0, 300])], [["d_sum", {}, "rate", [10]]]],
    [
      "clocks and descriptions",
      ["node_time_seconds", "kube_pod_info", "kube_pod_created", "x_timestamp_seconds", "d_bucket"].map((name) =>
        series(name, {}, [1, 2]),
      ),
      [],
    ],
    ["what is no number", [series("mem", {}, [1, Number.NaN, 3])], [["mem", {}, "value", [1, 3]]]],
  ])("%s", (_name, all, found) => expect(courses(...all)).toEqual(found));
});
