import { describe, expect, it } from "vitest";
import { cutMiddle, wellFormed } from "../../../tools/render/cut.js";
import { renderLogs } from "../../../tools/render/logs.js";
import { renderMetrics } from "../../../tools/render/series.js";
import { compactNumber, duration } from "../../../tools/render/text.js";
import { type JaegerSpan, renderTraces } from "../../../tools/render/traces.js";

const note = (bytes: number) => `[${bytes}]`;

describe("cutMiddle", () => {
  const texts = {
    ascii: "x".repeat(5000),
    lines: Array.from({ length: 500 }, (_, i) => `line ${i}`).join("\n"),
    "two bytes": "ä".repeat(3000),
    "three bytes": "€".repeat(2000),
    "four bytes": "🙂".repeat(1500),
    mixed: "aä€🙂\n".repeat(800),
    "lone surrogates": `a\uD83Db\uDE42c${"🙂".repeat(500)}`,
  };
  it.each(Object.entries(texts))("%s: keeps beginning and end, and never half a character", (_name, text) => {
    for (let max = 100; max < 130; max++) {
      const cut = cutMiddle(text, max, note);
      const [head, tail] = cut.text.split(/\n\[\d+\]\n/) as [string, string];
      expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeLessThanOrEqual(max);
      expect(wellFormed(text).startsWith(head)).toBe(true);
      expect(wellFormed(text).endsWith(tail)).toBe(true);
      expect(cut.bytes).toBe(Buffer.byteLength(wellFormed(text)));
      expect(Buffer.from(cut.text).toString()).toBe(cut.text);
    }
  });

  it("leaves what fits as it is", () => {
    expect(cutMiddle("äöü", 6, note)).toEqual({ text: "äöü", bytes: 6, left: 0 });
  });
});

describe("numbers and durations", () => {
  it.each([
    [0, "0"],
    [12, "12"],
    [0.123456, "0.1235"],
    [123456.7, "123457"],
    [1e15, "1.00e+15"],
    [0.00001, "1.00e-5"],
    [Number.NaN, "NaN"],
    [Number.POSITIVE_INFINITY, "+Inf"],
  ])("%f is %s", (value, text) => expect(compactNumber(value)).toBe(text));

  it.each([
    [0.0000005, "1 us"],
    [0.0123, "12.3 ms"],
    [1.5, "1.5 s"],
    [90, "1m30s"],
    [120, "2m"],
    [7500, "2h5m"],
  ])("%f s is %s", (seconds, text) => expect(duration(seconds)).toBe(text));
});

describe("renderMetrics", () => {
  const labels = (pod: string) => ({ namespace: "shop", pod });
  it("shows an instant vector as a table, what is common once, large values first", () => {
    const data = {
      resultType: "vector" as const,
      result: [
        { metric: labels("a"), value: [1, "1"] as [number, string] },
        { metric: labels("b"), value: [1, "22.5"] as [number, string] },
      ],
    };
    expect(renderMetrics(data)).toBe(
      ['2 series, all with {namespace="shop"}', "pod  value", "b    22.5", "a    1"].join("\n"),
    );
  });

  it("shows a matrix with at most ten times, and gaps", () => {
    const values = Array.from({ length: 60 }, (_, i): [number, string] => [i * 60, String(i)]);
    const text = renderMetrics({
      resultType: "matrix",
      result: [
        { metric: labels("a"), values },
        { metric: labels("b"), values: values.slice(0, 1) },
      ],
    })!;
    const [, head, a, b] = text.split("\n");
    expect(head!.split(/\s+/)).toEqual([
      "pod",
      "min",
      "max",
      "00:00:00",
      ...Array(8).fill(expect.any(String)),
      "00:59:00",
    ]);
    expect(a!.split(/\s+/).slice(0, 4)).toEqual(["a", "0", "59", "0"]);
    expect(b!.split(/\s+/).slice(3)).toEqual(["0", ...Array(9).fill("-")]);
  });

  it("says how many series it left out", () => {
    const result = Array.from({ length: 45 }, (_, i) => ({
      metric: labels(`p${i}`),
      value: [1, "1"] as [number, string],
    }));
    expect(renderMetrics({ resultType: "vector", result })).toMatch(/\.\.\. and 5 more; narrow/);
  });

  it("is undefined when empty", () => expect(renderMetrics({ resultType: "vector", result: [] })).toBeUndefined());
});

describe("renderLogs", () => {
  const at = (seconds: number) => `${Date.parse("2026-01-01T12:00:00Z") / 1000 + seconds}000000000`;
  it("puts lines together that differ in numbers and ids only, latest first", () => {
    const text = renderLogs(
      [
        {
          labels: { service_name: "cart", pod: "cart-1" },
          values: [
            [at(0), "request 12 failed after 30ms id=4bf92f3577b34da6"],
            [at(9), "request 99 failed after 4ms id=00f067aa0ba902b7"],
          ],
        },
        { labels: { pod: "x" }, values: [[at(20), "started\n  at main"]] },
      ],
      100,
    )!;
    expect(text.split("\n").slice(1)).toEqual([
      "[x] 12:00:20  started | at main",
      "[cart] 12:00:00..12:00:09 x2  request 99 failed after 4ms id=00f067aa0ba902b7",
    ]);
    expect(text).toMatch(/^3 lines in 2 groups/);
  });

  it("says when the limit was reached", () => {
    expect(renderLogs([{ labels: {}, values: [[at(0), "a"]] }], 1)).toMatch(/only the latest 1 lines/);
  });
});

describe("renderTraces", () => {
  const span = (
    id: string,
    parent: string | undefined,
    process: string,
    extra: Partial<JaegerSpan> = {},
  ): JaegerSpan => ({
    traceID: "t",
    spanID: id,
    operationName: `op-${id}`,
    references: parent === undefined ? [] : [{ refType: "CHILD_OF", spanID: parent }],
    startTime: 1_767_268_800_000_000,
    duration: 1500,
    processID: process,
    ...extra,
  });
  const processes = { p1: { serviceName: "frontend" }, p2: { serviceName: "cart" } };
  const failed = {
    tags: [
      { key: "error", value: true },
      { key: "rpc.grpc.status_code", value: 14 },
    ],
  };

  it("shows one tree for each shape, failed ones first", () => {
    const good = { traceID: "good", spans: [span("a", undefined, "p1"), span("b", "a", "p2")], processes };
    const bad = {
      traceID: "bad",
      spans: [span("a", undefined, "p1", failed), span("b", "a", "p2", failed)],
      processes,
    };
    const text = renderTraces([good, good, bad])!;
    expect(text).toContain("service   spans  errors");
    const trees = text.split("\n\n").slice(1);
    expect(trees[0]).toContain("1 trace of this shape, such as bad at 12:00:00 (2 spans, 2 errors)");
    expect(trees[0]).toContain("    cart: op-b  1.5 ms  ERROR  rpc.grpc.status_code=14");
    expect(trees[1]).toContain("2 traces of this shape, such as good");
  });

  it("folds what went well in a trace that failed, and says once what a failed call says too", () => {
    const tag = (key: string, value: string) => ({ key, value });
    const refused = [
      tag("error", "true"),
      tag("exception.message", "refused"),
      tag("otel.status_description", "refused"),
    ];
    const spans = [
      span("a", undefined, "p1", { tags: [...refused, tag("http.response.status_code", "500")] }),
      span("b", "a", "p2"),
      span("c", "b", "p2"),
      span("d", "a", "p1", { tags: [...refused, tag("server.address", "-")] }),
    ];
    const [, ...lines] = renderTraces([{ traceID: "t", spans, processes }])!
      .split("\n\n")[1]!
      .split("\n");
    expect(lines).toEqual([
      "  frontend: op-a  1.5 ms  ERROR  http.response.status_code=500",
      "    cart: op-b  1.5 ms  (and 1 span below, without error)",
      "    frontend: op-d  1.5 ms  ERROR  exception.message=refused",
    ]);
  });

  it("survives missing parents and circles", () => {
    const spans = [span("a", "gone", "p1"), span("b", "c", "p2"), span("c", "b", "p2")];
    expect(renderTraces([{ traceID: "t", spans, processes }])).toContain("frontend: op-a");
  });
});
