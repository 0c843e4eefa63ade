import { describe, expect, it } from "vitest";
import { readObject } from "../../tools/answers.js";
import { createSummarize, createWait } from "../../tools/index.js";
import { relevant, suggest } from "../../tools/suggest.js";
import { toolContext } from "../support/tool-context.js";

describe("wait", () => {
  it.each([
    { seconds: 90, slept: 90, says: "waited 1m30s; it is now 2026-01-01 12:01:30Z" },
    { seconds: 86400, slept: 600, says: "you asked for 24h0m" },
  ])("$seconds s", async ({ seconds, slept, says }) => {
    const context = toolContext("");
    expect(await createWait(context).invoke({ seconds })).toContain(says);
    expect(context.slept).toEqual([slept]);
  });
});

describe("summarize", () => {
  it.each(["call_3", "id=call_3", '"call_3"'])("reads a whole observation by its id: %s", async (observation) => {
    const context = toolContext("", ["  two pods  "], {
      observation: (id) => (id === "call_3" ? "the whole text" : undefined),
    });
    expect(await createSummarize(context).invoke({ observation, question: "how many?" })).toBe("two pods");
    expect(context.asked[0]).toMatch(/how many\?[\s\S]*the whole text/);
  });

  it("reads text given to it, cut where it is endless", async () => {
    const context = toolContext("", ["ok"]);
    await createSummarize(context).invoke({ observation: "🙂".repeat(100_000), question: "?" });
    expect(Buffer.byteLength(context.asked[0]!)).toBeLessThan(101_000);
  });

  it("says when there is no such observation", async () => {
    const tool = createSummarize(toolContext(""));
    await expect(tool.invoke({ observation: "call_9", question: "?" })).rejects.toThrow(
      "there is no observation call_9",
    );
  });
});

describe("suggest and relevant", () => {
  const names = ["traces_span_metrics_calls_total", "container_cpu_usage_seconds_total", "up", "kube_pod_status_phase"];
  it.each([
    ["span_metrics_calls", "traces_span_metrics_calls_total"],
    ["container_cpu_usage", "container_cpu_usage_seconds_total"],
    ["kube_pod_status", "kube_pod_status_phase"],
    ["upp", "up"],
  ])("%s is near %s", (wrong, near) => expect(suggest(wrong, names)[0]).toBe(near));

  it("finds nothing near nonsense", () => expect(suggest("zzzzqqqq", names)).toEqual([]));

  it("puts what a question speaks of first", () => {
    expect(relevant(names, "How much CPU do the containers use?", 2)[0]).toBe("container_cpu_usage_seconds_total");
  });
});

describe("readObject", () => {
  it.each([
    ['{"a": 1}', { a: 1 }],
    ['text {"a": {"b": "}"}} more', { a: { b: "}" } }],
    ["```json\n{'a': 1,}\n```", { a: 1 }],
    ['{"a": 1', { a: 1 }],
    ["no", undefined],
    ['{service="cart"}', undefined],
    ["[1]", undefined],
  ])("%j", (text, object) => expect(readObject(text)).toEqual(object));
});
