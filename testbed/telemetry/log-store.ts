/** Log lines in memory: one array a stream, bounded by age and by number of lines, so that a long run stays small. */
import type { LogEntry, LogStore, StreamLabels } from "./logs.js";

export interface LogStoreOptions {
  /** Lines kept in one stream; default 20,000. */
  maxEntriesPerStream?: number;
  /** Lines kept over all streams; the longest stream gives way first; default 100,000. */
  maxEntries?: number;
  /** Lines older than this, counted from the newest line of the store, go; default 24 h (milliseconds). */
  maxAgeMs?: number;
}

/** One stream. `entries` is the store's own array: read it, never change it. */
export interface LogStream {
  readonly labels: StreamLabels;
  readonly entries: readonly LogEntry[];
}

/** What the in-memory store offers beyond `LogStore`. */
export interface MemoryLogStore extends LogStore {
  streams(): readonly LogStream[];
  /** Streams whose label `name` has exactly `value`, in order of first appearance. */
  streamsWith(name: string, value: string): readonly LogStream[];
  /** The stream with exactly these labels. */
  stream(labels: StreamLabels): LogStream | undefined;
  /** Lines held now. */
  readonly size: number;
}

interface MutableStream {
  labels: StreamLabels;
  entries: LogEntry[];
}

/** How much a bound may be exceeded before lines are cut, so that cutting (a move of the whole array) stays rare. */
const SLACK = 1.25;

/**
 * A log store. A label set is looked up by identity first: callers that keep their `labels` object append in constant
 * time. Lines may come out of order; they are put where they belong.
 */
export function createLogStore(options: LogStoreOptions = {}): MemoryLogStore {
  const maxPerStream = options.maxEntriesPerStream ?? 20_000;
  const maxEntries = options.maxEntries ?? 100_000;
  const maxAgeMs = options.maxAgeMs ?? 24 * 3600_000;
  const byIdentity = new WeakMap<StreamLabels, MutableStream>();
  const byKey = new Map<string, MutableStream>();
  const index = new Map<string, Map<string, MutableStream[]>>();
  const all: MutableStream[] = [];
  let size = 0;
  let newest = Number.NEGATIVE_INFINITY;
  let oldestKept = Number.NEGATIVE_INFINITY;

  function open(labels: StreamLabels): MutableStream {
    const key = streamKey(labels);
    let stream = byKey.get(key);
    if (stream === undefined) {
      stream = { labels: Object.freeze({ ...labels }), entries: [] };
      byKey.set(key, stream);
      all.push(stream);
      for (const [name, value] of Object.entries(labels)) {
        let values = index.get(name);
        if (values === undefined) {
          values = new Map();
          index.set(name, values);
        }
        const streams = values.get(value);
        if (streams === undefined) values.set(value, [stream]);
        else streams.push(stream);
      }
    }
    byIdentity.set(labels, stream);
    return stream;
  }

  function cut(stream: MutableStream, count: number): void {
    stream.entries.splice(0, count);
    size -= count;
  }

  function dropOld(): void {
    const limit = newest - maxAgeMs;
    for (const stream of all) cut(stream, lowerBound(stream.entries, limit));
    oldestKept = limit;
  }

  return {
    append(labels, entry) {
      const stream = byIdentity.get(labels) ?? open(labels);
      const entries = stream.entries;
      const last = entries[entries.length - 1];
      if (last === undefined || last.timeMs <= entry.timeMs) entries.push(entry);
      else entries.splice(upperBound(entries, entry.timeMs), 0, entry);
      size++;
      if (entry.timeMs > newest) newest = entry.timeMs;
      if (entries.length > maxPerStream * SLACK) cut(stream, entries.length - maxPerStream);
      if (newest - maxAgeMs > oldestKept + maxAgeMs / 4) dropOld();
      while (size > maxEntries * SLACK) {
        const longest = all.reduce((a, b) => (b.entries.length > a.entries.length ? b : a));
        cut(longest, Math.max(1, Math.min(longest.entries.length >> 1, size - maxEntries)));
      }
    },
    streams: () => all,
    streamsWith: (name, value) => index.get(name)?.get(value) ?? [],
    stream: (labels) => byIdentity.get(labels) ?? byKey.get(streamKey(labels)),
    get size() {
      return size;
    },
  };
}

/** A text that is equal for equal label sets. */
export function streamKey(labels: StreamLabels): string {
  const names = Object.keys(labels).sort();
  let key = "";
  for (const name of names) key += `${name}\u0001${labels[name]}\u0002`;
  return key;
}

/** Position of the first entry at or after `timeMs`. */
export function lowerBound(entries: readonly LogEntry[], timeMs: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle]!.timeMs < timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Position of the first entry after `timeMs`. */
export function upperBound(entries: readonly LogEntry[], timeMs: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle]!.timeMs <= timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
