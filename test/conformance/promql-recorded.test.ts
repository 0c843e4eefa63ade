/**
 * Answers of a real Prometheus to queries drawn at random, recorded in prometheus/answers.json.gz: ours must be the same
 * series, the same numbers (to twelve digits), and errors where it has errors. How to record them anew:
 * prometheus/README.md.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { packageFile } from "../../paths.js";
import { labelKey } from "../../testbed/telemetry/metric-store.js";
import { parse, prepare, print } from "../../testbed/telemetry/promql/index.js";
import { loadScript, queries, type RecordedQuery } from "./prometheus/queries.js";
import { createData } from "./promqltest.js";

const COUNT = 3000;
const recording = packageFile("test", "conformance", "prometheus", "answers.json.gz");

interface Answer extends RecordedQuery {
  error?: string;
  /** `[labels, [[time in ms, value], ...]]`, for a vector one point each. */
  rows?: [Record<string, string>, [number, string][]][];
}

function ours({ query, start, end, step }: RecordedQuery, store: ReturnType<ReturnType<typeof createData>["build"]>) {
  try {
    // What is printed must mean the same, so it is what we ask.
    const prepared = prepare(store, print(parse(query, { experimental: true })), { experimental: true });
    const { value } = step > 0 ? prepared.range(start, end, step) : prepared.instant(start);
    if (value.type === "vector") {
      return { rows: value.samples.map((s) => [s.labels, [[value.time, s.value]]] as const), error: undefined };
    }
    if (value.type === "matrix") {
      return {
        rows: value.rows.map((r) => [r.labels, r.times.map((t, i) => [t, r.values[i]!])] as const),
        error: undefined,
      };
    }
    return { rows: [[{}, [[start, Number(value.value)]]] as const], error: undefined };
  } catch (error) {
    return { rows: [], error: (error as Error).message };
  }
}

function same(a: number, text: string): boolean {
  const b = text === "+Inf" ? Number.POSITIVE_INFINITY : text === "-Inf" ? Number.NEGATIVE_INFINITY : Number(text);
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b);
  return a === b || Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b), 1e-3);
}

function difference(answer: Answer, store: ReturnType<ReturnType<typeof createData>["build"]>): string | undefined {
  const got = ours(answer, store);
  if ((answer.error === undefined) !== (got.error === undefined)) {
    return `error: Prometheus ${answer.error ?? "has none"}; ours ${got.error ?? "has none"}`;
  }
  const rows = answer.rows ?? [];
  if (rows.length !== got.rows.length) return `${rows.length} series; ours ${got.rows.length}`;
  const byKey = new Map(got.rows.map(([labels, points]) => [labelKey(labels), points]));
  for (const [labels, points] of rows) {
    const mine = byKey.get(labelKey(labels));
    if (mine === undefined) return `${JSON.stringify(labels)} is lacking`;
    if (mine.length !== points.length) return `${JSON.stringify(labels)}: ${points.length} points; ours ${mine.length}`;
    for (const [i, [time, value]] of points.entries()) {
      const [myTime, myValue] = mine[i]!;
      if (time !== myTime || !same(myValue!, value)) {
        return `${JSON.stringify(labels)} at ${time}: ${value}; ours ${myValue} at ${myTime}`;
      }
    }
  }
  return undefined;
}

const { PROMQL_INPUT } = process.env;
if (PROMQL_INPUT) {
  it("writes what to ask", () => {
    writeFileSync(PROMQL_INPUT, JSON.stringify({ load: loadScript(), queries: queries(COUNT) }));
  });
}

it("answers as a real Prometheus does", () => {
  const { load, answers } = JSON.parse(gunzipSync(readFileSync(recording)).toString("utf8")) as {
    load: string;
    answers: Answer[];
  };
  const data = createData();
  const [command, ...lines] = load.trimEnd().split("\n");
  data.load(
    command!,
    lines.map((line) => line.trim()),
  );
  const store = data.build();
  const wrong = answers.flatMap((answer) => {
    const problem = difference(answer, store);
    return problem === undefined
      ? []
      : [`${answer.query} [${answer.start}..${answer.end}/${answer.step}]\n  ${problem}`];
  });
  expect(answers.length).toBe(COUNT);
  expect(wrong).toEqual([]);
});
