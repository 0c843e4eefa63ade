/** The metric store: series as growing columns of numbers, found through an inverted index. */
import type { Labels, Matcher, MetricStore, Series } from "./metrics.js";
import { compileRe2 } from "./re2.js";

export interface MetricStoreOptions {
  /** Samples older than this before a series' newest are dropped when its columns are full. Default: 6 hours. */
  retentionMs?: number;
}

/** A mutable view of `Series`, this file's own. */
interface Column {
  labels: Labels;
  id: number;
  times: Float64Array;
  values: Float64Array;
  length: number;
}

interface Selection {
  /** Series with an id below this have been looked at; the rest are looked at on the next call. */
  upTo: number;
  series: Series[];
  tests: Test[];
}

interface Test {
  name: string;
  /** Only for `=` with a value: the posting list may be used. */
  equals: string | undefined;
  matches: (value: string) => boolean;
}

const SLAB_SAMPLES = 1 << 15;
/** Samples of about an hour: most environments live no longer, so that their columns never grow. */
const FIRST_CAPACITY = 128;

/** Compiles the value test of a matcher; a missing label counts as "". @throws RegexError */
export function valueTest(matcher: Matcher): (value: string) => boolean {
  const wanted = matcher.value;
  switch (matcher.op) {
    case "=":
      return (value) => value === wanted;
    case "!=":
      return (value) => value !== wanted;
    case "=~":
      return regexTest(wanted);
    case "!~": {
      const test = regexTest(wanted);
      return (value) => !test(value);
    }
  }
}

/** A regular expression that is a list of plain words is answered by a set. */
function regexTest(pattern: string): (value: string) => boolean {
  if (pattern === ".*") return () => true;
  if (pattern === ".+") return (value) => value !== "";
  if (/^[\w\-/:,;@ ]*(\|[\w\-/:,;@ ]*)*$/.test(pattern)) {
    const words = new Set(pattern.split("|"));
    return (value) => words.has(value);
  }
  return compileRe2(pattern, { anchored: true, dotAll: true }).test;
}

/** Makes an empty store. */
export function createMetricStore(options: MetricStoreOptions = {}): MetricStore {
  const retentionMs = options.retentionMs ?? 6 * 3600_000;
  const all: Column[] = [];
  const byKey = new Map<string, Column>();
  /** label -> value -> series in order of id */
  const index = new Map<string, Map<string, Column[]>>();
  const selections = new Map<string, Selection>();
  const columns = columnPool();

  function series(labels: Labels): Series {
    const names = Object.keys(labels).sort();
    const key = keyOf(names, labels);
    const known = byKey.get(key);
    if (known !== undefined) return known;
    const kept: Record<string, string> = {};
    for (let i = 0; i < names.length; i++) {
      const value = labels[names[i]!]!;
      if (value !== "") kept[names[i]!] = value;
    }
    const column: Column = {
      labels: Object.freeze(kept),
      id: all.length,
      times: columns.take(FIRST_CAPACITY),
      values: columns.take(FIRST_CAPACITY),
      length: 0,
    };
    all.push(column);
    byKey.set(key, column);
    for (const name in kept) {
      let values = index.get(name);
      if (values === undefined) {
        values = new Map();
        index.set(name, values);
      }
      const postings = values.get(kept[name]!);
      if (postings === undefined) values.set(kept[name]!, [column]);
      else postings.push(column);
    }
    return column;
  }

  function append(target: Series, timeMs: number, value: number): void {
    const at = target.length;
    if (at > 0) {
      const last = target.times[at - 1]!;
      if (timeMs === last) {
        target.values[at - 1] = value;
        return;
      }
      if (timeMs < last) {
        throw new RangeError(
          `out of order sample: ${JSON.stringify(target.labels)} has one at ${last}, got one at ${timeMs}`,
        );
      }
    }
    if (at === target.times.length) makeRoom(target, timeMs);
    target.times[target.length] = timeMs;
    target.values[target.length] = value;
    target.length++;
  }

  /** Shifts expired samples out when that frees a quarter at least, else doubles the columns. */
  function makeRoom(target: Series, nowMs: number): void {
    const { times, values, length } = target;
    const horizon = nowMs - retentionMs;
    let expired = 0;
    while (expired < length && times[expired]! < horizon) expired++;
    if (expired * 4 >= length) {
      times.copyWithin(0, expired, length);
      values.copyWithin(0, expired, length);
      target.length = length - expired;
      return;
    }
    target.times = columns.grow(times);
    target.values = columns.grow(values);
  }

  function select(matchers: readonly Matcher[]): readonly Series[] {
    const key = matcherKey(matchers);
    let selection = selections.get(key);
    if (selection === undefined) {
      const tests = matchers.map((m) => ({
        name: m.name,
        equals: m.op === "=" && m.value !== "" ? m.value : undefined,
        matches: valueTest(m),
      }));
      selection = { upTo: 0, series: [], tests };
      // Ad-hoc queries of a long session must not pile up.
      if (selections.size >= 5000) selections.clear();
      selections.set(key, selection);
    }
    if (selection.upTo < all.length) extend(selection);
    return selection.series;
  }

  /** Looks only at the series that are new since the last call: series are never removed. */
  function extend(selection: Selection): void {
    let candidates: Column[] = all;
    for (const test of selection.tests) {
      if (test.equals === undefined) continue;
      const postings = index.get(test.name)?.get(test.equals);
      if (postings === undefined) {
        selection.upTo = all.length;
        return;
      }
      if (postings.length < candidates.length) candidates = postings;
    }
    let found: Column[] | undefined;
    for (
      let i = candidates === all ? selection.upTo : firstFrom(candidates, selection.upTo);
      i < candidates.length;
      i++
    ) {
      const column = candidates[i]!;
      if (matchesAll(column.labels, selection.tests)) {
        found ??= [];
        found.push(column);
      }
    }
    selection.upTo = all.length;
    // A new array tells holders of the old one that it changed.
    if (found !== undefined) selection.series = [...selection.series, ...found];
  }

  function labelNames(matchers?: readonly Matcher[]): string[] {
    if (matchers === undefined || matchers.length === 0) return [...index.keys()].sort();
    const names = new Set<string>();
    for (const s of select(matchers)) for (const name in s.labels) names.add(name);
    return [...names].sort();
  }

  function labelValues(name: string, matchers?: readonly Matcher[]): string[] {
    if (matchers === undefined || matchers.length === 0) return [...(index.get(name)?.keys() ?? [])].sort();
    const values = new Set<string>();
    for (const s of select(matchers)) {
      const value = s.labels[name];
      if (value !== undefined) values.add(value);
    }
    return [...values].sort();
  }

  return {
    series,
    append,
    select,
    labelNames,
    labelValues,
    get generation() {
      return all.length;
    },
  };
}

/** Identity of a label set: names in order, empty values left out. */
export function labelKey(labels: Labels): string {
  return keyOf(Object.keys(labels).sort(), labels);
}

function keyOf(names: readonly string[], labels: Labels): string {
  let key = "";
  for (let i = 0; i < names.length; i++) {
    const value = labels[names[i]!]!;
    if (value !== "") key += `${names[i]}\u0001${value}\u0002`;
  }
  return key;
}

function matcherKey(matchers: readonly Matcher[]): string {
  let key = "";
  for (const m of matchers) key += `${m.name}\u0001${m.op}${m.value}\u0002`;
  return key;
}

function matchesAll(labels: Labels, tests: readonly Test[]): boolean {
  for (const test of tests) if (!test.matches(labels[test.name] ?? "")) return false;
  return true;
}

/** Position of the first series whose id is at least `id`. */
function firstFrom(postings: readonly Column[], id: number): number {
  let low = 0;
  let high = postings.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (postings[middle]!.id < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Columns cut from large slabs: thousands of small ArrayBuffers cost more to make than the samples to write. A column
 * that was outgrown is given to the next series that asks for its size.
 */
function columnPool() {
  const free = new Map<number, Float64Array[]>();
  let slab = new Float64Array(0);
  let used = 0;

  function take(capacity: number): Float64Array {
    const reused = free.get(capacity)?.pop();
    if (reused !== undefined) return reused;
    if (capacity > SLAB_SAMPLES / 4) return new Float64Array(capacity);
    if (used + capacity > slab.length) {
      slab = new Float64Array(SLAB_SAMPLES);
      used = 0;
    }
    used += capacity;
    return slab.subarray(used - capacity, used);
  }

  function grow(column: Float64Array): Float64Array {
    const larger = take(column.length * 2);
    larger.set(column);
    let list = free.get(column.length);
    if (list === undefined) {
      list = [];
      free.set(column.length, list);
    }
    list.push(column);
    return larger;
  }

  return { take, grow };
}
