/** From a selector to streams of the store. */
import { type LogStream, type MemoryLogStore, streamKey } from "../log-store.js";
import type { LogStore, StreamLabels } from "../logs.js";
import type { StreamMatcher } from "./ast.js";
import { compileMatcher } from "./pipeline/filters.js";

/** Streams whose labels meet every matcher, in the store's order. */
export function selectStreams(store: LogStore, matchers: readonly StreamMatcher[]): readonly LogStream[] {
  const tests = matchers.map((matcher) => ({ name: matcher.name, test: compileMatcher(matcher) }));
  return candidates(store, matchers).filter(({ labels }) => tests.every(({ name, test }) => test(labels[name])));
}

/** The shortest list that an index of the store gives for one of the equality matchers. */
function candidates(store: LogStore, matchers: readonly StreamMatcher[]): readonly LogStream[] {
  let best: readonly LogStream[] = store.streams();
  if (!("streamsWith" in store)) return best;
  for (const { name, op, value } of matchers) {
    if (op !== "=" || value === "") continue;
    const indexed = (store as MemoryLogStore).streamsWith(name, value);
    if (indexed.length < best.length) best = indexed;
  }
  return best;
}

/** `{a="x", b="y"}`, as Loki prints label sets. */
export function printLabels(labels: StreamLabels): string {
  const names = Object.keys(labels).sort();
  return `{${names.map((name) => `${name}=${JSON.stringify(labels[name])}`).join(", ")}}`;
}

/** The same as `labelsKey`, for label sets whose names stand in order already. */
export function orderedKey(labels: StreamLabels): string {
  let key = "";
  for (const name in labels) key += `${name}\u0001${labels[name]}\u0002`;
  return key;
}

export { streamKey as labelsKey };
