import { describe, expect, it } from "vitest";
import { differences, scenarioHash, summarize, type TrialRecord } from "../../../harness/run/index.js";
import { spread } from "../../../harness/run/summary.js";
import { configuration, scenario } from "../support/fixtures.js";

function record(name: string, trial: number, changes: Partial<TrialRecord> = {}): TrialRecord {
  return {
    schema: "itbench-baselines/trial/1",
    scenario: name,
    trial,
    seed: "1",
    model: "m",
    is_llm: true,
    reason: null,
    diagnosis: 1,
    mitigation: 1,
    resolved: 1,
    false_alarm: null,
    details: { diagnosis: { value: 1, why: "", root_cause_entity: { f1: 1 } as never }, mitigation: null },
    attempts: 1,
    tasks: [],
    effort: {
      steps: trial,
      tool_calls: 0,
      input_tokens: 100,
      output_tokens: 10,
      cached_tokens: 0,
      nested_calls: 0,
      lint_findings: 0,
      reflections: 0,
      cost: 0.5,
      virtual_seconds: 60,
      wall_seconds: 1,
      time_to_diagnosis: 30,
      time_to_mitigation: null,
    },
    alerts: [],
    observed: null,
    warnings: [],
    ...changes,
  };
}

describe("the summary", () => {
  it("counts failed trials, never drops them", () => {
    const lost = { diagnosis: 0, mitigation: 0, resolved: 0, reason: "model-error" } as const;
    const summary = summarize([record("a", 1), record("a", 2, lost), record("b", 1, lost), record("b", 2)]);
    expect(summary.resolved).toMatchObject({ passed: 2, total: 4, rate: 0.5 });
    expect(summary.reasons).toEqual({ "model-error": 2 });
    expect(summary.resolved_pass_at_k).toEqual({ 1: 0.5, 2: 1 });
    expect(summary.resolved_pass_hat_k).toEqual({ 1: 0.5, 2: 0 });
    expect(summary).toMatchObject({ trials: 4, scenarios: 2, cost: 2, false_alarm: null, time_to_mitigation: null });
    expect(summary.effort.steps.quartiles[1]).toBe(1.5);
    expect(summary.effort.tokens.mean).toBe(110);
  });
  it("keeps healthy twins out of the mitigation, and unknown prices unknown", () => {
    const twin = record("a", 1, { mitigation: null, false_alarm: 1, diagnosis: 0, resolved: 0 });
    twin.effort.cost = null;
    const summary = summarize([twin, record("b", 1)]);
    expect(summary.mitigation).toMatchObject({ passed: 1, total: 1 });
    expect(summary.false_alarm).toMatchObject({ passed: 1, total: 1 });
    expect(summary.cost).toBeNull();
    expect(summarize([twin]).mitigation).toBeNull();
  });
  it("of nothing is nothing", () => {
    expect(summarize([])).toMatchObject({ trials: 0, resolved: { total: 0 }, resolved_pass_at_k: {} });
  });
  it("interpolates quartiles", () => {
    expect(spread([4, 1, 3, 2])).toEqual({ mean: 2.5, quartiles: [1.75, 2.5, 3.25] });
    expect(spread([7])).toEqual({ mean: 7, quartiles: [7, 7, 7] });
  });
});

describe("differences of configurations", () => {
  const [a, b] = [scenario("sre-1"), scenario("sre-2")];
  const stored = configuration([a]);
  it.each([
    ["none", {}, []],
    ["more trials", { trials: 9 }, []],
    ["more scenarios", { scenarios: configuration([a, b]).scenarios }, []],
    ["the seed", { seed: "2" }, ['seed: "1" -> "2"']],
    ["a limit", { limits: { maxSteps: 20, maxTokens: 5 } }, ["limits.maxTokens: none -> 5"]],
    [
      "a modality",
      { options: { ...stored.options, modalities: { traces: false, logs: true, metrics: true } } },
      ["options.modalities.traces: true -> false"],
    ],
  ])("%s", (_what, changes, found) => {
    expect(differences(stored, { ...stored, ...changes })).toEqual(found);
  });
  it("a scenario that was edited", () => {
    const edited = scenario("sre-1", { description: "edited" });
    expect(differences(stored, configuration([edited]))).toEqual([
      `scenario sre-1 has changed (${scenarioHash(a)} -> ${scenarioHash(edited)})`,
    ]);
  });
});
