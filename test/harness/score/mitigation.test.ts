import { describe, expect, it } from "vitest";
import {
  type AlertInstance,
  alertKey,
  DEFAULT_VERIFICATION,
  mitigation,
  type ObservedState,
} from "../../../harness/score/index.js";

const alert = (name: string, labels: Record<string, string> = {}): AlertInstance => ({ name, labels });
const ERRORS = alert("HighRequestErrorRate", { service_name: "frontend" });
const OK = { ok: true, reason: "done" };

/** Looks each minute from the end of the mitigation on; `firing` gives the names that fire at each. */
function observed(firing: string[][], changes: Partial<ObservedState> = {}): ObservedState {
  return {
    baseline: [],
    triggering: [ERRORS],
    mitigationEnded: 0,
    looks: firing.map((names, minute) => ({ at: minute * 60_000, firing: names.map((name) => alert(name)) })),
    healthyWorkloads: [
      { entity: "shop/Deployment/a", desired: 2, ready: 2 },
      { entity: "shop/Deployment/b", desired: 1, ready: 1 },
      { entity: "shop/Deployment/off", desired: 0, ready: 0 },
    ],
    finalWorkloads: [
      { entity: "shop/Deployment/a", desired: 2, ready: 2 },
      { entity: "shop/Deployment/b", desired: 1, ready: 1 },
    ],
    ...changes,
  };
}
const E = "HighRequestErrorRate";
const N = "NoRequestsReceived";
const times = (count: number, ...names: string[]) => Array.from({ length: count }, () => names);

describe("mitigation", () => {
  const cases: [string, ObservedState, string[]][] = [
    ["clear at once and for good", observed(times(6)), []],
    ["clear after a while", observed([...times(10, E), ...times(6)]), []],
    ["clear at the last moment", observed([...times(15, E), ...times(6)]), []],
    ["clear a minute too late", observed([...times(16, E), ...times(6)]), ["alerts_cleared"]],
    ["never clear", observed(times(16, E)), ["alerts_cleared", "stayed_cleared"]],
    ["clear for too short a time", observed([...times(10, E), ...times(4)]), ["stayed_cleared"]],
    ["come back and go again", observed([...times(3), ...times(2, E), ...times(6)]), []],
    ["come back at the end", observed([...times(6), [E]]), ["alerts_cleared", "stayed_cleared"]],
    ["fire under another label", observed(times(16, E)), ["alerts_cleared", "stayed_cleared"]],
    ["another alert to the end", observed(times(16, N)), ["no_new_alert"]],
    ["another alert that passed before the window", observed([...times(3, N), ...times(6)]), []],
    ["another alert inside of the window", observed([...times(4), [N], ...times(2)]), ["no_new_alert"]],
    ["clear while the agent still looks on", observed([...times(3, E), ...times(9)], { mitigationEnded: 360_000 }), []],
    [
      "quiet before the end does not count as staying",
      observed(times(9), { mitigationEnded: 360_000 }),
      ["stayed_cleared"],
    ],
    ["no incident", observed(times(6), { triggering: [] }), ["incident_present"]],
    ["no look at all", observed([]), ["alerts_cleared", "stayed_cleared"]],
    ["a workload gone", observed(times(6), { finalWorkloads: [] }), ["no_workload_lost"]],
    [
      "a workload at zero",
      observed(times(6), {
        finalWorkloads: [
          { entity: "shop/Deployment/a", desired: 0, ready: 0 },
          { entity: "shop/Deployment/b", desired: 1, ready: 1 },
        ],
      }),
      ["no_workload_lost"],
    ],
  ];
  it.each(cases)("%s", (_what, state, failed) => {
    const score = mitigation(state, OK);
    expect(score.checks.filter((check) => !check.passed).map((check) => check.name)).toEqual(failed);
    expect(score.value).toBe(failed.length === 0 ? 1 : 0);
    for (const check of score.checks) expect(check.saw).not.toBe("");
  });

  it("says what it saw", () => {
    const seen = (state: ObservedState, name: string) =>
      mitigation(state, { ok: false, reason: "limit-steps: 20 steps" }).checks.find((one) => one.name === name)?.saw;
    expect(seen(observed(times(16, E)), "answered")).toBe("limit-steps: 20 steps");
    expect(seen(observed(times(16, E)), "incident_present")).toBe("firing: HighRequestErrorRate(frontend)");
    expect(seen(observed(times(16, E)), "alerts_cleared")).toBe("still firing: HighRequestErrorRate");
    expect(seen(observed([...times(2, E), ...times(6)]), "alerts_cleared")).toBe(
      "all cleared 120 s after the mitigation",
    );
    const early = observed([...times(2, E), ...times(9)], { mitigationEnded: 300_000 });
    expect(seen(early, "alerts_cleared")).toBe("all cleared 180 s before the mitigation ended");
    expect(seen(observed(times(6), { finalWorkloads: [] }), "no_workload_lost")).toBe(
      "shop/Deployment/a is gone; shop/Deployment/b is gone",
    );
  });

  it("tells when it was over, and lets a scenario allow losses and windows", () => {
    expect(mitigation(observed([...times(2, E), ...times(6)]), OK).clearedAt).toBe(120_000);
    expect(mitigation(observed(times(16, N)), OK).clearedAt).toBeUndefined();
    const lost = observed(times(6), { finalWorkloads: [] });
    const allowed = ["shop/Deployment/a", "shop/Deployment/b"];
    expect(mitigation(lost, OK, DEFAULT_VERIFICATION, allowed).value).toBe(1);
    const short = { clearWithinSeconds: 60, stayClearedSeconds: 60 };
    expect(mitigation(observed([[E], [], []]), OK, short).value).toBe(1);
    expect(mitigation(observed([[E], [E], [], []]), OK, short).value).toBe(0);
  });
});

it("an alert is the same with the same labels, in whatever order", () => {
  expect(alertKey(alert("A", { a: "1", b: "2" }))).toBe(alertKey(alert("A", { b: "2", a: "1" })));
  expect(alertKey(alert("A", { a: "1,b=2" }))).not.toBe(alertKey(alert("A", { a: "1", b: "2" })));
});
