import { describe, expect, it } from "vitest";
import { compareRuns, type StoredRun, type TrialRecord } from "../../../harness/run/index.js";
import { configuration, scenario } from "../support/fixtures.js";

const [one, two] = [scenario("sre-1"), scenario("sre-2")];

function trialOf(name: string, trial: number, resolved: 0 | 1, changes: object = {}): TrialRecord {
  return {
    scenario: name,
    trial,
    diagnosis: 1,
    mitigation: resolved,
    resolved,
    false_alarm: null,
    effort: { steps: resolved ? 10 : 20, input_tokens: 100, output_tokens: 10 },
    ...changes,
  } as unknown as TrialRecord;
}

const run = (name: string, trials: TrialRecord[], changes: object = {}): StoredRun => ({
  name,
  trials,
  configuration: configuration([one, two], changes),
});

describe("two runs", () => {
  it("are paired by scenario and trial, whatever their order", () => {
    const a = run("a", [
      trialOf("sre-1", 1, 1),
      trialOf("sre-1", 2, 1),
      trialOf("sre-2", 1, 1),
      trialOf("sre-2", 2, 0),
    ]);
    const b = run("b", [trialOf("sre-2", 2, 1), trialOf("sre-2", 1, 0), trialOf("sre-1", 1, 0)]);
    const { total, scenarios, only_in_a, only_in_b } = compareRuns(a, b);
    expect(total).toMatchObject({
      pairs: 3,
      resolved: { a: { passed: 2, total: 3 }, b: { passed: 1, total: 3 }, only_a: 2, only_b: 1 },
      diagnosis: { difference: 0, only_a: 0, only_b: 0 },
      false_alarm: null,
      tokens: { a: 110, b: 110, difference: 0 },
    });
    expect(total.resolved!.difference).toBeCloseTo(-1 / 3);
    expect(total.steps.difference).toBeCloseTo(10 / 3);
    expect(scenarios.map(({ scenario: id, pairs }) => [id, pairs])).toEqual([
      ["sre-1", 1],
      ["sre-2", 2],
    ]);
    expect([only_in_a, only_in_b]).toEqual([1, 0]);
  });

  it("keep healthy twins apart", () => {
    const twin = (alarm: 0 | 1) =>
      trialOf("sre-1", 1, 1, { false_alarm: alarm, diagnosis: 1 - alarm, mitigation: null, resolved: 1 - alarm });
    const { total } = compareRuns(
      run("a", [twin(0), trialOf("sre-2", 1, 1)]),
      run("b", [twin(1), trialOf("sre-2", 1, 1)]),
    );
    expect(total).toMatchObject({
      pairs: 2,
      diagnosis: { a: { total: 1 }, difference: 0 },
      resolved: { a: { total: 1 }, difference: 0 },
      false_alarm: { a: { passed: 0, total: 1 }, b: { passed: 1, total: 1 }, difference: 1, only_b: 1 },
    });
  });

  it.each([
    ["nothing", {}, []],
    ["the number of trials", { trials: 9 }, []],
    ["an absent number of attempts, which is 1", { attempts: 1 }, []],
    ["attempts", { attempts: 3 }, [{ path: "attempts", a: 1, b: 3 }]],
    ["a total limit", { total_limits: { maxSteps: 5 } }, [{ path: "total_limits", a: null, b: { maxSteps: 5 } }]],
    ["the model", { model: "other" }, [{ path: "model", a: "scripted", b: "other" }]],
    [
      "a modality",
      { options: { ...configuration([]).options, modalities: { traces: false, logs: true, metrics: true } } },
      [{ path: "options.modalities.traces", a: true, b: false }],
    ],
  ])("differ in %s", (_what, changes, options) => {
    const trials = [trialOf("sre-1", 1, 1)];
    expect(compareRuns(run("a", trials), run("b", trials, changes)).options).toEqual(options);
  });

  it("leave out a scenario that was edited in between", () => {
    const edited = scenario("sre-1", { description: "edited" });
    const trials = [trialOf("sre-1", 1, 1), trialOf("sre-2", 1, 1)];
    const b = { name: "b", trials, configuration: configuration([edited, two]) };
    const { changed_scenarios, total } = compareRuns(run("a", trials), b);
    expect([changed_scenarios, total.pairs]).toEqual([["sre-1"], 1]);
  });

  it("may have nothing in common", () => {
    const { total } = compareRuns(run("a", [trialOf("sre-1", 1, 1)]), run("b", []));
    expect(total).toMatchObject({ pairs: 0, resolved: null, steps: { a: 0, b: 0, difference: 0 } });
  });
});
