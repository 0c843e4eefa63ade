/** Log queries: which lines, in which order, under which labels. */
import { type LogStream, lowerBound } from "../log-store.js";
import type { LogEntry, LogStore } from "../logs.js";
import type { LogExpr } from "./ast.js";
import { compilePipeline } from "./pipeline/index.js";
import { LineContext } from "./pipeline/line.js";
import { orderedKey, selectStreams } from "./select.js";

export interface LogQueryOptions {
  /** Window [startMs, endMs), milliseconds since the epoch. */
  startMs: number;
  endMs: number;
  direction: "forward" | "backward";
  /** Lines over all streams. */
  limit: number;
  /** Keys streams by stream labels alone and gives the other labels with each line. */
  categorize?: boolean;
}

export interface LogLine {
  timeMs: number;
  line: string;
  /** With `categorize` only. */
  structuredMetadata?: Record<string, string>;
  parsed?: Record<string, string>;
}

export interface LogStreamResult {
  labels: Record<string, string>;
  lines: LogLine[];
}

/** Work done, for the statistics of an answer. */
export interface QueryStats {
  linesProcessed: number;
  bytesProcessed: number;
  entriesReturned: number;
}

/** Runs a log query: lines in the direction's order inside each stream; streams by their first line. */
export function evaluateLogs(
  expr: LogExpr,
  store: LogStore,
  options: LogQueryOptions,
  stats: QueryStats,
): LogStreamResult[] {
  const pipeline = compilePipeline(expr.stages);
  const context = new LineContext();
  const results = new Map<string, LogStreamResult>();
  let taken = 0;
  for (const { stream, entry } of merged(selectStreams(store, expr.matchers), options)) {
    if (taken >= options.limit) break;
    stats.linesProcessed++;
    stats.bytesProcessed += entry.line.length;
    context.reset(stream.labels, entry);
    if (!pipeline(context)) continue;
    taken++;
    const line: LogLine = { timeMs: entry.timeMs, line: context.text };
    let labels: Record<string, string>;
    if (options.categorize) {
      const { stream: own, structuredMetadata, parsed } = context.categories();
      labels = own;
      line.structuredMetadata = structuredMetadata;
      line.parsed = parsed;
    } else labels = context.labels();
    const key = orderedKey(labels);
    const result = results.get(key);
    if (result === undefined) results.set(key, { labels, lines: [line] });
    else result.lines.push(line);
  }
  stats.entriesReturned += taken;
  return [...results.values()];
}

/** Entries of the window over all streams, in order of time; equal times in order of stream, then of arrival. */
function* merged(
  streams: readonly LogStream[],
  options: LogQueryOptions,
): Generator<{ stream: LogStream; entry: LogEntry }> {
  const backward = options.direction === "backward";
  const cursors = streams
    .map((stream) => {
      const from = lowerBound(stream.entries, options.startMs);
      const to = lowerBound(stream.entries, options.endMs);
      return { stream, at: backward ? to - 1 : from, left: to - from };
    })
    .filter(({ left }) => left > 0);
  while (cursors.length > 0) {
    let best = 0;
    for (let i = 1; i < cursors.length; i++) {
      const a = cursors[i]!.stream.entries[cursors[i]!.at]!.timeMs;
      const b = cursors[best]!.stream.entries[cursors[best]!.at]!.timeMs;
      if (backward ? a > b : a < b) best = i;
    }
    const cursor = cursors[best]!;
    yield { stream: cursor.stream, entry: cursor.stream.entries[cursor.at]! };
    cursor.at += backward ? -1 : 1;
    cursor.left--;
    if (cursor.left === 0) cursors.splice(best, 1);
  }
}
