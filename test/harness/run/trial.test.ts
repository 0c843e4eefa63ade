import { describe, expect, it } from "vitest";
import { MemoryTranscript } from "../../../agents/react/transcript.js";
import { runTrial, type TrialPhase, TrialSetupError } from "../../../harness/run/index.js";
import type { Scenario } from "../../../harness/scenario/index.js";
import { FakeEnvironment, type FakeOptions } from "../support/fake-environment.js";
import { configuration, model, type ScriptedAgent, scenario, scriptedAgent } from "../support/fixtures.js";

const RIGHT = "shop/Deployment/cart";

async function trial(
  script: (environment: FakeEnvironment) => ScriptedAgent,
  options: FakeOptions = {},
  what: Scenario = scenario(),
) {
  const environment = new FakeEnvironment(options);
  const phases: TrialPhase[] = [];
  const transcript = new MemoryTranscript();
  const result = await runTrial(
    { scenario: what, trial: 1, configuration: configuration([what]) },
    {
      createEnvironment: async () => ({ environment, namespaces: ["shop"] }),
      agent: scriptedAgent(script(environment)),
      model,
      transcript,
      onPhase: (phase) => phases.push(phase),
    },
  );
  return { ...result, environment, phases, transcript };
}

const failed = (record: Awaited<ReturnType<typeof trial>>["record"]) =>
  record.details.mitigation?.checks.filter((check) => !check.passed).map((check) => check.name);

describe("a trial", () => {
  it("goes through its phases, with the role that each task allows, and takes the environment down", async () => {
    const { record, environment, phases, transcript, output } = await trial((env) => ({
      diagnosis: [RIGHT],
      act: () => env.repair(),
    }));
    expect(phases.map((phase) => phase.phase)).toEqual([
      "starting",
      "injected",
      "alerts",
      "task",
      "diagnosed",
      "task",
      "mitigated",
      "verified",
      "scored",
    ]);
    expect(environment.roles).toEqual(["read-only", "read-write"]);
    expect(environment.stopped).toBe(1);
    expect(record).toMatchObject({ diagnosis: 1, mitigation: 1, resolved: 1, false_alarm: null, reason: null });
    expect(record.effort).toMatchObject({ steps: 4, input_tokens: 200, virtual_seconds: 40, time_to_diagnosis: 20 });
    expect(record.effort.time_to_mitigation).toBeGreaterThanOrEqual(40);
    expect(transcript.events).toHaveLength(2);
    expect(output.entities[0]?.name).toBe(RIGHT);
    expect(output.mitigation?.verified).toBe(true);
  });

  it("tells right from wrong in each part", async () => {
    const wrong = await trial((env) => ({ diagnosis: ["shop/Deployment/web"], act: () => env.repair() }));
    expect(wrong.record).toMatchObject({ diagnosis: 0, mitigation: 1, resolved: 0 });
    const idle = await trial(() => ({ diagnosis: [RIGHT] }));
    expect(idle.record).toMatchObject({ diagnosis: 1, mitigation: 0, resolved: 0 });
    expect(failed(idle.record)).toEqual(["alerts_cleared", "stayed_cleared"]);
    expect(idle.record.effort.time_to_mitigation).toBeNull();
  });

  it("counts the time to mitigation up to where alerts cleared, also while the agent looks on", async () => {
    const { record } = await trial((env) => ({
      diagnosis: [RIGHT],
      onTask: async (context, task) => {
        if (task === "diagnosis") return;
        env.repair();
        for (let step = 0; step < 30; step++) await context.onStep?.();
      },
    }));
    expect(record.mitigation).toBe(1);
    expect(record.effort.virtual_seconds).toBe(20 + 320);
    expect(record.effort.time_to_mitigation).toBe(20 + 30);
  });

  const breakages: [string, (env: FakeEnvironment) => void, string[]][] = [
    ["clears too late", (env) => env.raise("HighRequestErrorRate", 0, 1200), ["alerts_cleared", "stayed_cleared"]],
    ["comes back", (env) => env.raise("HighRequestErrorRate", 200), ["alerts_cleared", "stayed_cleared"]],
    ["brings another alert", (env) => env.raise("NoRequestsReceived", 60), ["no_new_alert"]],
    ["deletes a workload", (env) => delete env.replicas["shop/Deployment/web"], ["no_workload_lost"]],
    ["scales a workload to zero", (env) => (env.replicas["shop/Deployment/web"] = 0), ["no_workload_lost"]],
    ["has an alert that passes", (env) => env.raise("NoRequestsReceived", 60, 120), []],
    ["scales a workload down", (env) => (env.replicas["shop/Deployment/web"] = 1), []],
  ];
  it.each(breakages)("a mitigation that %s", async (_what, act, checks) => {
    const { record } = await trial((env) => ({
      diagnosis: [RIGHT],
      act: () => {
        env.repair();
        act(env);
      },
    }));
    expect(failed(record)).toEqual(checks);
    expect(record.mitigation).toBe(checks.length === 0 ? 1 : 0);
  });

  it("lets a scenario say which workloads may go", async () => {
    const what = scenario("sre-1", { desired: { may_remove: ["shop/Deployment/web"] } });
    const act = (env: FakeEnvironment) => () => {
      env.repair();
      delete env.replicas["shop/Deployment/web"];
    };
    const { record } = await trial((env) => ({ diagnosis: [RIGHT], act: act(env) }), {}, what);
    expect(record.mitigation).toBe(1);
  });

  it("counts alerts of the baseline nowhere", async () => {
    const { record } = await trial((env) => ({ diagnosis: [RIGHT], act: () => env.repair() }), {
      baseline: ["Watchdog", "NodeClockSkew"],
    });
    expect(record.mitigation).toBe(1);
    expect(record.alerts.map((alert) => alert.name)).toEqual(["HighRequestErrorRate"]);
  });

  it.each(["limit-steps", "limit-time", "invalid-output"] as const)(
    "a diagnosis that ends in %s scores 0, and the mitigation still has its turn",
    async (status) => {
      const { record } = await trial((env) => ({ diagnosisStatus: status, act: () => env.repair() }));
      expect(record).toMatchObject({ diagnosis: 0, mitigation: 1, resolved: 0, reason: status });
      expect(record.reason_detail).toBe("as scripted");
    },
  );

  it("a mitigation without an answer scores 0, whatever became of the alerts", async () => {
    const { record } = await trial((env) => ({
      diagnosis: [RIGHT],
      mitigationStatus: "limit-steps",
      act: () => env.repair(),
    }));
    expect(record).toMatchObject({ diagnosis: 1, mitigation: 0, reason: "limit-steps" });
    expect(failed(record)).toEqual(["answered"]);
  });

  it("a model that cannot be reached ends the trial, recorded", async () => {
    const { record, environment } = await trial(() => ({ diagnosisStatus: "model-error" }));
    expect(record).toMatchObject({ diagnosis: 0, mitigation: 0, resolved: 0, reason: "model-error", observed: null });
    expect(record.tasks.map((task) => task.task)).toEqual(["diagnosis"]);
    expect(environment.stopped).toBe(1);
  });

  it("an environment that breaks under the agent makes an errored trial", async () => {
    const { record } = await trial((env) => ({
      diagnosis: [RIGHT],
      act: () => {
        env.alerts = async () => {
          throw new Error("prometheus is gone");
        };
      },
    }));
    expect(record).toMatchObject({ reason: "environment-error", reason_detail: "prometheus is gone", mitigation: 0 });
    expect(record.diagnosis).toBe(1);
  });

  const setups: [string, FakeOptions, RegExp][] = [
    ["does not start", { failStart: () => new Error("no memory") }, /no memory/],
    ["is sick before the fault", { baseline: ["HighRequestErrorRate"] }, /HighRequestErrorRate fires already/],
    ["never alerts", { onsetSeconds: 100_000 }, /900 s after the injection none of HighRequestErrorRate fires/],
  ];
  it.each(setups)("an environment that %s is a setup error, and is taken down", async (_what, options, message) => {
    const environment = new FakeEnvironment(options);
    const what = scenario();
    const running = runTrial(
      { scenario: what, trial: 1, configuration: configuration([what]) },
      {
        createEnvironment: async () => ({ environment, namespaces: [] }),
        agent: scriptedAgent({}),
        model,
        transcript: new MemoryTranscript(),
      },
    );
    await expect(running).rejects.toThrow(TrialSetupError);
    await expect(running).rejects.toThrow(message);
    expect(environment.stopped).toBe(1);
  });

  it("goes on when only some of the expected alerts fire, and says so", async () => {
    const what = scenario("sre-1", { alerts: ["HighRequestErrorRate", "KubePodCrashLooping"] });
    const { record } = await trial((env) => ({ diagnosis: [RIGHT], act: () => env.repair() }), {}, what);
    expect(record.warnings).toEqual(["within 900 s these alerts did not fire: KubePodCrashLooping"]);
    expect(record.mitigation).toBe(1);
  });

  it("a healthy twin asks for the diagnosis alone, and counts false alarms", async () => {
    const healthy = scenario("sre-1", { disruptions: [], ground_truth: undefined as never });
    const quiet = await trial(() => ({ diagnosis: [] }), {}, healthy);
    expect(quiet.record).toMatchObject({ diagnosis: 1, mitigation: null, resolved: 1, false_alarm: 0 });
    const alarmed = await trial(() => ({ diagnosis: [RIGHT] }), {}, healthy);
    expect(alarmed.record).toMatchObject({ diagnosis: 0, mitigation: null, resolved: 0, false_alarm: 1 });
  });
});
