/**
 * Runs scripts in the language of Prometheus' promqltest package (`load`, `eval`, `expect`) against our engine.
 * Evaluations that touch native histograms are told apart: the store holds floats only.
 */

import { createMetricStore, labelKey } from "../../testbed/telemetry/metric-store.js";
import type { Labels, MetricStore } from "../../testbed/telemetry/metrics.js";
import { STALE } from "../../testbed/telemetry/metrics.js";
import type { QueryResult } from "../../testbed/telemetry/promql/index.js";
import { parse, parseDuration, prepare, selectors } from "../../testbed/telemetry/promql/index.js";
import { stringLiteral } from "../../testbed/telemetry/promql/lexer.js";

export interface Outcome {
  line: number;
  query: string;
  kind: "passed" | "failed" | "native";
  problem?: string;
}

interface Evaluation {
  line: number;
  query: string;
  start: number;
  end: number;
  /** 0 for an instant. */
  step: number;
  fails: boolean;
  lines: string[];
}

const OPTIONS = { experimental: true };
const EPSILON = 1e-6;

/** Runs one script; one outcome an evaluation. */
export function runScript(text: string): Outcome[] {
  const lines = text.split("\n").map((line) => (line.trim().startsWith("#") ? "" : line.trim()));
  const outcomes: Outcome[] = [];
  let data = createData();
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    if (line === "") continue;
    const body: string[] = [];
    const start = i;
    if (/^(load|eval)/.test(line)) while (i + 1 < lines.length && lines[i + 1] !== "") body.push(lines[++i]!);
    if (line === "clear") data = createData();
    else if (line.startsWith("load")) data.load(line, body);
    else if (line.startsWith("eval")) outcomes.push(evaluate(parseEvaluation(line, body, start + 1), data));
    else throw new Error(`line ${i + 1}: unknown command ${line}`);
  }
  return outcomes;
}

function seconds(text: string): number {
  const negative = text.startsWith("-");
  const bare = negative ? text.slice(1) : text;
  const ms = parseDuration(bare) ?? Number(bare) * 1000;
  if (Number.isNaN(ms)) throw new Error(`bad time ${text}`);
  return negative ? -ms : ms;
}

function parseEvaluation(line: string, lines: string[], at: number): Evaluation {
  const instant = /^eval(_fail|_warn|_ordered|_info)?\s+instant\s+(?:at\s+(\S+))?\s*(.*)$/.exec(line);
  if (instant) {
    const time = seconds(instant[2] ?? "0");
    if (instant[1] && instant[1] !== "_fail") lines = [`expect ${instant[1].slice(1)}`, ...lines];
    return { line: at, query: instant[3]!, start: time, end: time, step: 0, fails: instant[1] === "_fail", lines };
  }
  const range = /^eval(_fail)?\s+range\s+from\s+(\S+)\s+to\s+(\S+)\s+step\s+(\S+)\s+(.*)$/.exec(line);
  if (!range) throw new Error(`line ${at}: ${line}`);
  return {
    line: at,
    query: range[5]!,
    start: seconds(range[2]!),
    end: seconds(range[3]!),
    step: seconds(range[4]!),
    fails: range[1] !== undefined,
    lines,
  };
}

/** `name{a="b", "c d"="e"} rest`: labels and the rest. */
export function parseSeries(line: string): { labels: Labels; rest: string } {
  const labels: Record<string, string> = {};
  const name = /^[A-Za-z_:][A-Za-z0-9_:]*/.exec(line)?.[0] ?? "";
  if (name !== "") labels.__name__ = name;
  let at = name.length;
  if (line[at] === "{") {
    at++;
    for (;;) {
      while (/[\s,]/.test(line[at] ?? "")) at++;
      if (line[at] === "}") break;
      let key: string;
      if (line[at] === '"' || line[at] === "'") {
        const [value, length] = stringLiteral(line, at);
        key = value;
        at += length;
      } else {
        key = /^[\w.]+/.exec(line.slice(at))![0];
        at += key.length;
      }
      while (/\s/.test(line[at] ?? "")) at++;
      if (line[at] !== "=") {
        labels.__name__ = key;
        continue;
      }
      at++;
      while (/\s/.test(line[at] ?? "")) at++;
      const [value, length] = stringLiteral(line, at);
      at += length;
      labels[key] = value;
    }
    at++;
  }
  return { labels, rest: line.slice(at).trim() };
}

const NUMBER = String.raw`[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|[Ii]nf|[Nn]a[Nn]|0x[0-9a-fA-F]+)`;

/** Expands `1 _ 2x3 0+10x5 stale`; undefined stands for no sample. */
export function parseValues(text: string): (number | undefined)[] {
  const values: (number | undefined)[] = [];
  for (const item of text.split(/\s+/).filter((part) => part !== "")) {
    const gaps = /^_(?:x(\d+))?$/.exec(item);
    const stale = /^stale(?:x(\d+))?$/.exec(item);
    const run = new RegExp(`^(${NUMBER})(?:([-+])(${NUMBER}))?(?:x(\\d+))?$`).exec(item);
    if (gaps) for (let i = 0; i < Number(gaps[1] ?? 1); i++) values.push(undefined);
    else if (stale) for (let i = 0; i <= Number(stale[1] ?? 0); i++) values.push(STALE);
    else if (run) {
      const first = goNumber(run[1]!);
      const step = run[3] === undefined ? 0 : goNumber(run[3]) * (run[2] === "-" ? -1 : 1);
      if (run[4] === undefined) values.push(first);
      else for (let i = 0, value = first; i <= Number(run[4]); i++, value += step) values.push(value);
    } else throw new Error(`bad values: ${item}`);
  }
  return values;
}

function goNumber(text: string): number {
  if (/^[-+]?inf$/i.test(text)) return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/^[-+]?nan$/i.test(text)) return Number.NaN;
  return Number(text);
}

export function createData() {
  const samples = new Map<string, { labels: Labels; points: Map<number, number> }>();
  /** Series that hold native histograms: an evaluation that selects one is none of ours. */
  const natives = createMetricStore();
  let store: MetricStore | undefined;

  function load(command: string, lines: string[]): void {
    store = undefined;
    const [, custom, interval] = /^load(_with_nhcb)?\s+(\S+)$/.exec(command)!;
    const step = seconds(interval!);
    for (const line of lines) {
      const { labels, rest } = parseSeries(line);
      if (rest.startsWith("@st")) continue;
      if (rest.includes("{{")) {
        natives.series(labels);
        continue;
      }
      const name = labels.__name__ ?? "";
      if (custom && name.endsWith("_bucket")) {
        const { le: _, ...others } = labels;
        natives.series({ ...others, __name__: name.slice(0, -"_bucket".length) });
      }
      const key = labelKey(labels);
      const row = samples.get(key) ?? { labels, points: new Map() };
      samples.set(key, row);
      for (const [i, value] of parseValues(rest).entries()) if (value !== undefined) row.points.set(i * step, value);
    }
  }

  function build(): MetricStore {
    if (store !== undefined) return store;
    store = createMetricStore({ retentionMs: Number.POSITIVE_INFINITY });
    for (const { labels, points } of samples.values()) {
      const series = store.series(labels);
      for (const [time, value] of [...points].sort(([a], [b]) => a - b)) store.append(series, time, value);
    }
    return store;
  }

  return { load, build, natives };
}

function touchesNative(evaluation: Evaluation, natives: MetricStore): boolean {
  if (evaluation.lines.some((line) => line.includes("{{"))) return true;
  try {
    return selectors(parse(evaluation.query, OPTIONS)).some(({ matchers }) => natives.select(matchers).length > 0);
  } catch (error) {
    return /native histograms/.test((error as Error).message);
  }
}

function evaluate(evaluation: Evaluation, data: ReturnType<typeof createData>): Outcome {
  const { line, query } = evaluation;
  let problem: string | undefined;
  try {
    problem = check(evaluation, data.build());
  } catch (error) {
    problem = `crash: ${(error as Error).stack}`;
  }
  if (touchesNative(evaluation, data.natives)) return { line, query, kind: "native" };
  return problem === undefined ? { line, query, kind: "passed" } : { line, query, kind: "failed", problem };
}

/** What is wrong with the answer, if anything. */
function check(evaluation: Evaluation, store: MetricStore): string | undefined {
  const expects = evaluation.lines.filter((line) => /^expect\s/.test(line));
  const rows = evaluation.lines.filter((line) => !/^(expect|expected_fail)/.test(line));
  const failure = expects.find((line) => /^expect fail/.test(line));
  let result: QueryResult;
  try {
    const query = prepare(store, evaluation.query, OPTIONS);
    result =
      evaluation.step > 0
        ? query.range(evaluation.start, evaluation.end, evaluation.step)
        : query.instant(evaluation.start);
  } catch (error) {
    const { message, name } = error as Error;
    if (!name.startsWith("Promql")) throw error;
    if (failure === undefined && !evaluation.fails) return `unexpected error: ${message}`;
    return failure === undefined ? undefined : textProblem(failure, [message], true);
  }
  if (failure !== undefined || evaluation.fails) return `expected an error, got ${JSON.stringify(result.value)}`;
  for (const line of expects) {
    const kind = /^expect (\w+)/.exec(line)![1]!;
    const problem =
      kind === "warn"
        ? textProblem(line, result.warnings)
        : kind === "info"
          ? textProblem(line, result.infos)
          : kind === "no_warn"
            ? none(result.warnings)
            : kind === "no_info"
              ? none(result.infos)
              : undefined;
    if (problem !== undefined) return problem;
  }
  const literal = expects.find((line) => line.startsWith("expect string"));
  if (literal !== undefined) {
    const wanted = stringLiteral(literal.slice("expect string".length).trim(), 0)[0];
    return result.value.type === "string" && result.value.value === wanted ? undefined : show(result);
  }
  const bounds = expects
    .map((line) => /^expect range vector from (\S+) to (\S+) step (\S+)$/.exec(line))
    .find((match) => match !== null);
  if (bounds) return checkRange(rows, result, seconds(bounds[1]!), seconds(bounds[3]!));
  if (evaluation.step > 0) return checkRange(rows, result, evaluation.start, evaluation.step);
  return checkInstant(
    rows,
    result,
    expects.some((line) => line === "expect ordered"),
  );
}

function textProblem(line: string, texts: string[], partial = false): string | undefined {
  const wanted = /^expect \w+\s*(?:(msg|regex):\s*(.*))?$/.exec(line);
  if (texts.length === 0) return `${line}: none came`;
  if (!wanted?.[1]) return undefined;
  const matches = (text: string): boolean =>
    wanted[1] === "regex"
      ? new RegExp(wanted[2]!).test(text)
      : partial
        ? text.includes(wanted[2]!)
        : text === wanted[2];
  return texts.some(matches) ? undefined : `${line}: got ${JSON.stringify(texts)}`;
}

function none(texts: string[]): string | undefined {
  return texts.length === 0 ? undefined : `unexpected: ${texts.join("; ")}`;
}

function show(result: QueryResult): string {
  return `got ${JSON.stringify(result.value, (_, value) => (typeof value === "number" ? String(value) : value))}`;
}

function close(a: number, b: number): boolean {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b);
  if (a === b) return true;
  const difference = Math.abs(a - b);
  if (a === 0 || b === 0 || Math.abs(a) + Math.abs(b) < 2.3e-308) return difference < EPSILON * 2.3e-308;
  return difference / Math.min(Math.abs(a) + Math.abs(b), Number.MAX_VALUE) < EPSILON;
}

function checkInstant(rows: string[], { value, ...notes }: QueryResult, ordered: boolean): string | undefined {
  const got = show({ value, ...notes });
  if (value.type === "scalar") {
    const wanted = rows.length === 1 ? parseValues(rows[0]!)[0] : undefined;
    return wanted !== undefined && close(value.value, wanted) ? undefined : got;
  }
  if (value.type !== "vector") return got;
  if (value.samples.length !== rows.length) return got;
  for (const [i, row] of rows.entries()) {
    const { labels, rest } = parseSeries(row);
    const wanted = parseValues(rest)[0]!;
    const key = labelKey(labels);
    const sample = ordered ? value.samples[i]! : value.samples.find((s) => labelKey(s.labels) === key);
    if (sample === undefined || labelKey(sample.labels) !== key || !close(sample.value, wanted))
      return `${row}: ${got}`;
  }
  return undefined;
}

function checkRange(rows: string[], { value, ...notes }: QueryResult, start: number, step: number): string | undefined {
  const got = show({ value, ...notes });
  if (value.type !== "matrix") return got;
  if (rows.length !== value.rows.length) {
    const scalar = rows.length === 0 && value.rows.length === 0;
    return scalar ? undefined : got;
  }
  for (const row of rows) {
    const { labels, rest } = parseSeries(row);
    const found = value.rows.find((r) => labelKey(r.labels) === labelKey(labels));
    if (found === undefined) return `${row}: ${got}`;
    const wanted = new Map<number, number>();
    for (const [i, v] of parseValues(rest).entries()) if (v !== undefined) wanted.set(start + i * step, v);
    if (wanted.size !== found.times.length) return `${row}: ${got}`;
    for (const [i, time] of found.times.entries()) {
      const v = wanted.get(time);
      if (v === undefined || !close(found.values[i]!, v)) return `${row}: ${got}`;
    }
  }
  return undefined;
}
