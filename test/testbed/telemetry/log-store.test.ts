import { describe, expect, it } from "vitest";
import { createLogStore } from "../../../testbed/telemetry/log-store.js";

const at = (timeMs: number, line = `line ${timeMs}`) => ({ timeMs, line });

describe("log store", () => {
  it("joins equal label sets into one stream, whatever their order or identity", () => {
    const store = createLogStore();
    store.append({ pod: "a", app: "x" }, at(1));
    store.append({ app: "x", pod: "a" }, at(2));
    store.append({ app: "x", pod: "b" }, at(3));
    expect(store.streams().map((stream) => stream.entries.length)).toEqual([2, 1]);
    expect(store.streamsWith("app", "x")).toHaveLength(2);
    expect(store.streamsWith("pod", "b")[0]!.entries).toEqual([at(3)]);
    expect(store.streamsWith("pod", "c")).toEqual([]);
    expect(store.stream({ pod: "a", app: "x" })!.entries).toHaveLength(2);
  });

  it("does not follow later changes of a caller's label object", () => {
    const store = createLogStore();
    const labels: Record<string, string> = { app: "x" };
    store.append(labels, at(1));
    labels.app = "y";
    expect(store.streams()[0]!.labels).toEqual({ app: "x" });
  });

  it("keeps lines in order of time; equal times in order of arrival", () => {
    const store = createLogStore();
    const labels = { app: "x" };
    for (const [time, line] of [
      [5, "a"],
      [3, "b"],
      [5, "c"],
      [4, "d"],
    ] as const)
      store.append(labels, at(time, line));
    expect(store.streams()[0]!.entries.map((entry) => entry.line)).toEqual(["b", "d", "a", "c"]);
  });

  it.each([
    { name: "lines of a stream", options: { maxEntriesPerStream: 100 }, most: 125 },
    { name: "lines of the store", options: { maxEntries: 80 }, most: 100 },
    { name: "age", options: { maxAgeMs: 50 }, most: 70 },
  ])("is bounded by $name, and keeps the newest", ({ options, most }) => {
    const store = createLogStore(options);
    const labels = [{ app: "x" }, { app: "y" }];
    for (let i = 0; i < 2000; i++) store.append(labels[options.maxEntriesPerStream ? 0 : i % 2]!, at(i));
    const total = store.streams().reduce((sum, stream) => sum + stream.entries.length, 0);
    expect(total).toBe(store.size);
    expect(total).toBeLessThanOrEqual(most);
    expect(total).toBeGreaterThan(20);
    expect(Math.max(...store.streams().flatMap((stream) => stream.entries.map((entry) => entry.timeMs)))).toBe(1999);
  });
});
