import { afterEach, describe, expect, it } from "vitest";
import { createRunbookMemory, MemoryTranscript, sreAgent } from "../../../agents/index.js";
import { type RunConfiguration, runTrial, type TrialPhase } from "../../../harness/run/index.js";
import type { Scenario } from "../../../harness/scenario/index.js";
import { json, serve, type TestServer } from "../../support/http.js";
import { ScriptedModel, type ScriptedTurn } from "../../support/scripted-model.js";
import { FakeEnvironment, type FakeOptions } from "../support/fake-environment.js";
import { configuration, model as noModel, scenario } from "../support/fixtures.js";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** An environment whose Prometheus, as the agent sees it, answers with the alerts that fire. */
class ServedEnvironment extends FakeEnvironment {
  address = "";
  override endpoints(role: "read-only" | "read-write") {
    return { ...super.endpoints(role), prometheus: this.address };
  }
}

const diagnose = (name: string): ScriptedTurn => [
  {
    tool: "submit_diagnosis",
    args: { entities: [{ name, contributing_factor: true, reasoning: "r", evidence: "e" }] },
  },
];
const report = (verified: boolean, act?: () => void): ScriptedTurn => {
  return () => {
    act?.();
    return [{ tool: "submit_mitigation", args: { plan: [], actions: [], verified } }];
  };
};
const RIGHT = "shop/Deployment/cart";
const WRONG = "shop/Deployment/web";

interface Options {
  turns: (environment: FakeEnvironment) => ScriptedTurn[];
  changes?: Partial<RunConfiguration>;
  environment?: FakeOptions;
  what?: Scenario;
  runbooks?: string;
}

async function trial({ turns, changes = {}, environment: options = {}, what = scenario(), runbooks }: Options) {
  const environment = new ServedEnvironment(options);
  server = await serve(async (_request, response) => {
    const alerts = (await environment.alerts()).map((alert) => ({ ...alert, activeAt: "2026-01-01T00:00:00Z" }));
    return json(response, { status: "success", data: { alerts } });
  });
  environment.address = server.url;
  const chat = new ScriptedModel(turns(environment));
  const transcript = new MemoryTranscript();
  const phases: TrialPhase[] = [];
  const { record, output } = await runTrial(
    { scenario: what, trial: 1, configuration: configuration([what], { attempts: 3, ...changes }) },
    {
      createEnvironment: async () => ({ environment, namespaces: ["shop"], application: "Shop" }),
      agent: sreAgent,
      model: { ...noModel, chat, price: { input: 1_000_000, output: 0 } },
      transcript,
      ...(runbooks ? { runbooks: await createRunbookMemory([{ source: "r.md", text: runbooks }]) } : {}),
      onPhase: (phase) => phases.push(phase),
    },
  );
  const events = (kind: string): any[] => transcript.events.filter((event) => event.event === kind);
  return { record, output, chat, events, phases, environment };
}

describe("several attempts", () => {
  it("end with the first that is verified; each begins with what was learnt before; scores are of the last", async () => {
    const { record, output, chat, events, phases } = await trial({
      turns: (env) => [
        diagnose(WRONG),
        report(true),
        "The web was fine. First: look at the cart.",
        diagnose(RIGHT),
        report(true, () => env.repair()),
      ],
    });
    expect(record).toMatchObject({ attempts: 2, diagnosis: 1, mitigation: 1, resolved: 1, reason: null });
    expect(output.entities[0]?.name).toBe(RIGHT);
    expect(record.tasks.map(({ task, attempt }) => [attempt, task])).toEqual([
      [1, "diagnosis"],
      [1, "mitigation"],
      [1, "reflection"],
      [2, "diagnosis"],
      [2, "mitigation"],
    ]);
    expect(record.effort).toMatchObject({ steps: 4, reflections: 1, input_tokens: 50, output_tokens: 25, cost: 50 });
    for (const request of [3, 4]) {
      const system = chat.requests[request]!.messages[0]!.text;
      expect(system).toContain("The web was fine. First: look at the cart.");
      expect(system).toContain(`named ${WRONG} as the root cause`);
    }
    expect(chat.requests[0]!.messages[0]!.text).not.toContain("Notes from earlier attempts");
    expect(events("attempt").map(({ attempt, of, memory }) => [attempt, of, memory.length])).toEqual([
      [1, 3, 0],
      [2, 3, 1],
    ]);
    expect(events("attempt_result")).toMatchObject([
      {
        attempt: 1,
        verified: false,
        firing: ["HighRequestErrorRate"],
        problems: [expect.stringContaining("it was reported that the alerts had cleared, but HighRequestErrorRate")],
        prompt: { name: "reflect-attempt", variant: "default" },
        tokens: { input: 10, output: 5 },
      },
      { attempt: 2, verified: true, firing: [], problems: [] },
    ]);
    expect(events("attempt_result")[1].note).toBeUndefined();
    expect(phases.filter(({ phase }) => phase.startsWith("attempt")).map(({ phase }) => phase)).toEqual([
      ...["attempt", "attempted", "attempt", "attempted"],
    ]);
    // The incident is what fired before the first change, and it took until the second to end it.
    expect(record.observed?.triggering.map((alert) => alert.name)).toEqual(["HighRequestErrorRate"]);
    expect(record.effort.time_to_mitigation).toBeGreaterThan(600);
  });

  it.each([1, undefined])("attempts: %s is one attempt, and no word about it in the transcript", async (attempts) => {
    const changes = { attempts } as Partial<RunConfiguration>;
    const { record, events, chat } = await trial({ turns: () => [diagnose(WRONG), report(false)], changes });
    expect(record).toMatchObject({ attempts: 1, resolved: 0 });
    expect(record.tasks[0]).not.toHaveProperty("attempt");
    expect(events("attempt")).toEqual([]);
    expect(chat.requests).toHaveLength(2);
  });

  it("know nothing of scores: a wrong diagnosis that is verified stops, a right one that is not goes on", async () => {
    const lucky = await trial({ turns: (env) => [diagnose(WRONG), report(true, () => env.repair())] });
    expect(lucky.record).toMatchObject({ attempts: 1, diagnosis: 0, mitigation: 1, resolved: 0 });
    await server?.close();
    const stuck = await trial({
      turns: () => [diagnose(RIGHT), report(true), "note", diagnose(RIGHT), report(false)],
      changes: { attempts: 2 },
    });
    expect(stuck.record).toMatchObject({ attempts: 2, diagnosis: 1, mitigation: 0 });
    expect(stuck.events("attempt_result")[1]).toMatchObject({ attempt: 2, verified: false });
  });

  it("an alert that the first attempt brought counts against the trial", async () => {
    const { record } = await trial({
      turns: (env) => [
        diagnose(WRONG),
        report(true, () => env.raise("NoRequestsReceived")),
        "note",
        diagnose(RIGHT),
        report(true, () => env.repair()),
      ],
      changes: { attempts: 2 },
    });
    const failed = record.details.mitigation?.checks.filter((check) => !check.passed).map((check) => check.name);
    expect(failed).toEqual(["no_new_alert"]);
  });

  it("an attempt without an answer is followed by another, and its reason is not the trial's", async () => {
    const { record } = await trial({
      turns: (env) => [
        diagnose(RIGHT),
        [{ tool: "wait", args: { seconds: 1 } }],
        "no answer",
        "note",
        diagnose(RIGHT),
        report(true, () => env.repair()),
      ],
      changes: { limits: { maxSteps: 1 } },
    });
    expect(record).toMatchObject({ attempts: 2, reason: null, resolved: 1 });
    expect(record.tasks[1]?.status).not.toBe("ok");
  });

  it("a diagnosis stands when the alerts are gone and only the mitigation's answer is missing", async () => {
    const { record, chat, events } = await trial({
      turns: (env) => [
        diagnose(RIGHT),
        () => {
          env.repair();
          return [{ tool: "wait", args: { seconds: 120 } }];
        },
        "no answer",
        "note",
        report(true),
      ],
      changes: { limits: { maxSteps: 1 } },
    });
    expect(record).toMatchObject({ attempts: 2, diagnosis: 1, mitigation: 1, resolved: 1, reason: null });
    expect(events("attempt_result")[0]).toMatchObject({ verified: false, firing: [] });
    expect(record.tasks.map(({ task, attempt }) => `${attempt} ${task}`)).toEqual([
      ...["1 diagnosis", "1 mitigation", "1 reflection", "2 mitigation"],
    ]);
    expect(chat.requests[4]!.messages[1]!.text).toContain(RIGHT);
  });

  it("a model that fails for good ends the attempts; what was changed before is looked at", async () => {
    const { record } = await trial({
      turns: () => [diagnose(RIGHT), report(false), new Error("gone"), new Error("gone"), new Error("gone")],
    });
    expect(record).toMatchObject({ attempts: 2, reason: "model-error", diagnosis: 0, mitigation: 0, resolved: 0 });
    expect(record.observed).not.toBeNull();
    expect(record.tasks.filter((task) => task.task === "reflection")).toHaveLength(1);
  });

  it("a healthy twin is diagnosed once", async () => {
    const healthy = scenario("sre-1", { disruptions: [], ground_truth: undefined as never });
    const turns = () => [[{ tool: "submit_diagnosis", args: { entities: [] } }]];
    const { record } = await trial({ turns, what: healthy });
    expect(record).toMatchObject({ attempts: 1, false_alarm: 0, mitigation: null });
  });
});

describe("total limits", () => {
  const endless = (): ScriptedTurn[] =>
    Array.from({ length: 9 }, () => [diagnose(WRONG), report(false), "note"] as ScriptedTurn[]).flat();

  it.each([
    ["steps", { maxSteps: 4 }, 2, /no attempt after 2 of 5: the total of 4 steps is used up/],
    ["tokens", { maxTokens: 70 }, 2, /no attempt after 2 of 5: the total of 70 tokens is used up/],
    ["cost", { maxCost: 20 }, 1, /no attempt after 1 of 5: the total of 20 dollars is used up/],
    ["time", { wallSeconds: 0.000001 }, 1, /no attempt after 1 of 5: the total of .* wall seconds is used up/],
  ])("of %s end the attempts, and are said", async (_what, total_limits, attempts, warning) => {
    const { record } = await trial({ turns: endless, changes: { attempts: 5, total_limits } });
    expect(record.attempts).toBe(attempts);
    expect(record.warnings).toEqual([expect.stringMatching(warning)]);
  });

  it("bound a task to what is left, and never widen its own", async () => {
    const { events } = await trial({
      turns: endless,
      changes: {
        attempts: 1,
        limits: { maxSteps: 20, maxTokens: 40 },
        total_limits: { maxSteps: 3, maxTokens: 1_000 },
      },
    });
    expect(events("task").map(({ limits }) => limits)).toEqual([
      { maxSteps: 3, maxTokens: 40 },
      { maxSteps: 2, maxTokens: 40 },
    ]);
  });
});

it("nothing of the scenario is in what a model is told, in any attempt", async () => {
  const mark = (where: string) => `zz-${where}-zz`;
  const what = scenario("sre-1", {
    id: mark("id"),
    title: mark("title"),
    description: mark("description"),
    tags: [mark("tag")],
    provenance: { note: mark("note") },
    disruptions: [{ injections: [{ id: mark("injection"), args: { x: mark("args") } }] }] as never,
    solutions: [[{ steps: [{ text: mark("solution") }] }]] as never,
    ground_truth: {
      fault: [{ entity: { name: mark("fault") } }],
      groups: [{ id: mark("group"), kind: "Deployment", namespace: "shop", name: mark("name"), root_cause: true }],
      aliases: [[mark("alias")]],
      propagations: [{ source: mark("source"), target: mark("target"), condition: mark("condition"), effect: "" }],
      recommended_actions: [{ solution: { actions: [mark("action")] } }],
      alerts: [],
    } as never,
  });
  const { chat, events, record } = await trial({
    what,
    runbooks: "# Runbook\nHighRequestErrorRate: undo the rollout.",
    turns: () => [
      diagnose(WRONG),
      report(false),
      "note",
      diagnose(WRONG),
      report(false),
      "note",
      diagnose(RIGHT),
      report(false),
    ],
  });
  expect(record.attempts).toBe(3);
  const told = chat.requests.map(({ messages, options }) => JSON.stringify([messages, options.boundTools])).join("\n");
  expect(told).toContain("undo the rollout");
  expect(told).toContain("Notes from earlier attempts");
  expect(told).not.toMatch(/zz-|ground.?truth/i);
  expect(JSON.stringify(events("message"))).not.toMatch(/zz-/);
});
