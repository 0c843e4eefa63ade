/**
 * Runs LogQL test scripts, in the manner of promqltest:
 *
 *     clear
 *     hide detected_level                    # leaves the label out of what is printed from here on
 *     load 10s                               # one line each 10 s from time 0, or each at its own time
 *       {app="x"} info hello world           # stream, severity (or -), text of the line
 *       {app="x"} @45s error boom            # at its own time; the clock of `load` does not move on
 *       {app="x"} @45s error trace=abc boom
 *     eval instant at 1m sum(count_over_time({app="x"}[1m]))
 *       {} 3
 *     eval range from 0s to 1m step 30s <query>
 *       {app="x"} 1 _ 3                      # a value each step, _ for none
 *     eval logs from 0s to 1m [limit 10] [forward] <query>
 *       {app="x"} 10s hello world            # in order of the answer
 *     eval scalar at 1m <query>
 *       3
 *     fail <query>
 *       expected message (part of it; one line)
 *
 * A query ends with its line; expectations are indented. Lines that begin with `#` are comments.
 */
import { createLogStore, type MemoryLogStore } from "../../../../testbed/telemetry/log-store.js";
import {
  parseDuration,
  parseStreamSelector,
  printLabels,
  queryInstant,
  queryRange,
} from "../../../../testbed/telemetry/logql/index.js";
import type { LogEntry } from "../../../../testbed/telemetry/logs.js";

export interface Evaluation {
  line: number;
  query: string;
  actual: string[];
  expected: string[];
  /** `fail`: the message has to contain the expectation. */
  partial: boolean;
}

/** Runs a script; comparing is the caller's. @throws Error naming the line, for a malformed script */
export function runScript(source: string): Evaluation[] {
  const lines = source.split("\n");
  const evaluations: Evaluation[] = [];
  const hidden = new Set<string>();
  let store = createLogStore();
  let at = 0;

  function block(): string[] {
    const body: string[] = [];
    for (; at < lines.length && /^(\s+\S|\s*$|#)/.test(lines[at]!); at++) {
      const text = lines[at]!.trim();
      if (text !== "" && !text.startsWith("#")) body.push(text);
    }
    return body;
  }

  while (at < lines.length) {
    const number = at + 1;
    const text = lines[at++]!.trim();
    if (text === "" || text.startsWith("#")) continue;
    if (text === "clear") store = createLogStore();
    else if (text.startsWith("hide ")) hidden.add(text.slice(5).trim());
    else if (text.startsWith("load ")) load(store, duration(text.slice(5)), block());
    else if (text.startsWith("fail ")) {
      const query = text.slice(5).trim();
      evaluations.push({ line: number, query, actual: [failure(store, query)], expected: block(), partial: true });
    } else if (text.startsWith("eval ")) {
      const { query, actual } = evaluate(store, text.slice(5), hidden);
      evaluations.push({ line: number, query, actual, expected: block(), partial: false });
    } else throw new Error(`line ${number}: unknown command: ${text}`);
  }
  return evaluations;
}

function duration(text: string): number {
  const parsed = parseDuration(text.trim());
  if (parsed === undefined) throw new Error(`not a duration: ${text}`);
  return parsed;
}

function load(store: MemoryLogStore, stepMs: number, body: string[]): void {
  let timeMs = 0;
  for (const text of body) {
    const match = /^(\{[^}]*\})\s+(?:@(\S+)\s+)?(\w+|-)\s(?:trace=(\S+)\s)?(.*)$/.exec(text);
    if (match === null) throw new Error(`cannot read line to load: ${text}`);
    const [, selector, own, severity, traceId, line] = match;
    const labels = labelsOf(selector!);
    store.append(labels, {
      timeMs: own === undefined ? timeMs : duration(own),
      line: line!.replaceAll("\\e", "\u001b").replaceAll("\\n", "\n"),
      ...(severity === "-" ? {} : { severity: severity!.toUpperCase() as NonNullable<LogEntry["severity"]> }),
      ...(traceId === undefined ? {} : { traceId }),
    });
    if (own === undefined) timeMs += stepMs;
  }
}

function labelsOf(selector: string): Record<string, string> {
  return Object.fromEntries(parseStreamSelector(selector).map(({ name, value }) => [name, value]));
}

function evaluate(
  store: MemoryLogStore,
  text: string,
  hidden: ReadonlySet<string>,
): { query: string; actual: string[] } {
  const print = (labels: Record<string, string>) =>
    printLabels(Object.fromEntries(Object.entries(labels).filter(([name]) => !hidden.has(name))));
  const instant = /^instant at (\S+) (.*)$/.exec(text);
  if (instant !== null) {
    const result = queryInstant(store, instant[2]!, duration(instant[1]!));
    if (result.type !== "vector") return { query: text, actual: [`<${result.type}>`] };
    return {
      query: instant[2]!,
      actual: result.series.map(({ labels, value }) => `${print(labels)} ${number(value)}`),
    };
  }
  const scalar = /^scalar at (\S+) (.*)$/.exec(text);
  if (scalar !== null) {
    const result = queryInstant(store, scalar[2]!, duration(scalar[1]!));
    return { query: scalar[2]!, actual: [result.type === "scalar" ? number(result.value) : `<${result.type}>`] };
  }
  const range = /^range from (\S+) to (\S+) step (\S+) (.*)$/.exec(text);
  if (range !== null) {
    const [startMs, endMs, stepMs] = [duration(range[1]!), duration(range[2]!), duration(range[3]!)];
    const options = { startMs, endMs, stepMs, limit: 100, direction: "backward" as const };
    const result = queryRange(store, range[4]!, options);
    if (result.type !== "matrix") return { query: text, actual: [`<${result.type}>`] };
    const steps = Math.floor((endMs - startMs) / stepMs) + 1;
    const actual = result.series.map(({ labels, points }) => {
      const byTime = new Map(points);
      const values = Array.from({ length: steps }, (_unused, i) => byTime.get(startMs + i * stepMs));
      return `${print(labels)} ${values.map((value) => (value === undefined ? "_" : number(value))).join(" ")}`;
    });
    return { query: range[4]!, actual };
  }
  const logs = /^logs from (\S+) to (\S+)(?: limit (\d+))?( forward)? (.*)$/.exec(text);
  if (logs !== null) {
    const result = queryRange(store, logs[5]!, {
      startMs: duration(logs[1]!),
      endMs: duration(logs[2]!),
      stepMs: 1000,
      limit: Number(logs[3] ?? 100),
      direction: logs[4] === undefined ? "backward" : "forward",
    });
    if (result.type !== "streams") return { query: text, actual: [`<${result.type}>`] };
    const actual = result.streams.flatMap(({ labels, lines }) =>
      lines.map(({ timeMs, line }) => `${print(labels)} ${timeMs / 1000}s ${line}`.trim()),
    );
    return { query: logs[5]!, actual };
  }
  throw new Error(`cannot read evaluation: ${text}`);
}

/** Eight digits are enough to tell results apart, few enough to write down. */
function number(value: number): string {
  return Number.isFinite(value) ? String(Number(value.toPrecision(8))) : String(value);
}

function failure(store: MemoryLogStore, query: string): string {
  try {
    queryRange(store, query, { startMs: 0, endMs: 600_000, stepMs: 10_000, limit: 100, direction: "backward" });
    return "no error";
  } catch (error) {
    return (error as Error).message;
  }
}
