import { afterEach, describe, expect, it } from "vitest";
import { type AttemptReport, judgeAttempt, reflectOnAttempt, sreAgent } from "../../../agents/index.js";
import { ModelError } from "../../../models/index.js";
import { promptVariants } from "../../../prompts/index.js";
import { type TestContext, testContext } from "../../support/agent-context.js";
import { json, serve, type TestServer } from "../../support/http.js";
import { ScriptedModel } from "../../support/scripted-model.js";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

type Labels = Record<string, string>;

/** A context whose alerts are what `firing` says at the clock's time, in seconds from the start. */
async function watched(firing: (seconds: number) => Labels[], model = new ScriptedModel([])): Promise<TestContext> {
  const context = testContext(model);
  const start = context.clock.now();
  server = await serve((_request, response) => {
    const alerts = firing((context.clock.now() - start) / 1000).map((labels) => ({
      labels,
      state: labels.state ?? "firing",
      annotations: {},
      activeAt: new Date(start).toISOString(),
    }));
    return json(response, { status: "success", data: { alerts } });
  });
  context.endpoints = { ...context.endpoints, prometheus: server.url };
  return context;
}

const report = (changes: Partial<AttemptReport> = {}): AttemptReport => ({
  attempt: 1,
  of: 3,
  tasks: [
    { task: "diagnosis", outcome: { status: "ok", output: { entities: [] } } },
    { task: "mitigation", outcome: { status: "ok", output: { actions: [] } } },
  ],
  claimsVerified: true,
  events: [],
  ...changes,
});
const failed = [
  { task: "diagnosis", outcome: { status: "ok" as const } },
  { task: "mitigation", outcome: { status: "limit-steps" as const, detail: "20 steps were taken" } },
];
const alert = (name: string, labels: Labels = { namespace: "shop" }): Labels => ({ alertname: name, ...labels });

describe("an attempt is verified by what the agent can see", () => {
  it.each([
    { what: "quiet, and said so", firing: () => [], changes: {}, verified: true, waits: 0 },
    {
      what: "quiet, though not said so",
      firing: () => [],
      changes: { claimsVerified: false },
      verified: true,
      waits: 0,
    },
    {
      what: "alerts that clear soon after",
      firing: (at: number) => (at < 300 ? [alert("Errors")] : []),
      changes: { claimsVerified: false },
      verified: true,
      waits: 300,
    },
    {
      what: "alerts that go on, whatever was said",
      firing: () => [alert("Errors", { namespace: "shop", service_name: "cart" })],
      changes: {},
      verified: false,
      waits: 600,
      problems: ["it was reported that the alerts had cleared, but Errors(cart) still fires"],
    },
    {
      what: "no answer: nothing to wait for",
      firing: () => [alert("Errors")],
      changes: { tasks: failed, claimsVerified: false },
      verified: false,
      waits: 0,
      problems: ["the mitigation ended without an answer (limit-steps: 20 steps were taken)", "Errors still fires"],
    },
    {
      what: "no answer, though the alerts are gone",
      firing: () => [],
      changes: { tasks: failed, claimsVerified: false },
      verified: false,
      waits: 0,
      problems: ["the mitigation ended without an answer (limit-steps: 20 steps were taken)"],
    },
    {
      what: "alerts that are not the task's",
      firing: () => [
        alert("Watchdog", {}),
        alert("Other", { namespace: "elsewhere" }),
        alert("Chatter", { namespace: "shop", severity: "info" }),
        alert("Soon", { namespace: "shop", state: "pending" }),
      ],
      changes: {},
      verified: true,
      waits: 0,
    },
    {
      what: "an alert of the whole cluster",
      firing: () => [alert("NodeDown", {})],
      changes: {},
      verified: false,
      waits: 600,
    },
  ])("$what", async ({ firing, changes, verified, waits, problems }) => {
    const context = await watched(firing);
    let looks = 0;
    const verdict = await judgeAttempt(report(changes), context, {
      onLook: async () => {
        looks++;
      },
    });
    expect(verdict.verified).toBe(verified);
    if (problems) expect(verdict.problems).toEqual(problems);
    if (verified) expect(verdict).toMatchObject({ firing: [], problems: [] });
    expect(context.slept.reduce((sum, seconds) => sum + seconds, 0)).toBe(waits);
    expect(looks).toBe(context.slept.length);
  });

  it.each([true, false])("the agent's word (%s) counts where no server of alerts answers", async (claimsVerified) => {
    const context = testContext(new ScriptedModel([]));
    const verdict = await judgeAttempt(report({ claimsVerified }), context);
    expect(verdict.verified).toBe(claimsVerified);
    expect(verdict.firing).toBeUndefined();
    expect(context.slept).toEqual([]);
  });

  it("a diagnosis alone needs no more than an answer", async () => {
    const context = await watched(() => [alert("Errors")]);
    const tasks = [{ task: "diagnosis", outcome: { status: "ok" as const } }];
    const { claimsVerified: _, ...diagnosisOnly } = report({ tasks });
    expect(await judgeAttempt(diagnosisOnly, context)).toEqual({ verified: true, problems: [] });
    const unanswered = { ...diagnosisOnly, tasks: [{ task: "diagnosis", outcome: { status: "limit-time" as const } }] };
    expect((await judgeAttempt(unanswered, context)).verified).toBe(false);
  });
});

describe("reflection upon an attempt", () => {
  const at = { seq: 1, time: { virtual: "", wall_ms: 0 } };
  const made = report({
    tasks: [
      {
        task: "diagnosis",
        outcome: {
          status: "ok",
          output: { entities: [{ name: "shop/Deployment/cart", contributing_factor: true }, { name: "shop/Pod/x" }] },
        },
      },
      {
        task: "mitigation",
        outcome: { status: "ok", output: { actions: [{ command: "kubectl rollout undo d/cart" }] } },
      },
    ],
    events: [
      { ...at, event: "tool_call", step: 1, id: "call_1", tool: "nl2kubectl", args: { command: "kubectl get pods" } },
      {
        ...at,
        event: "observation",
        step: 1,
        id: "call_1",
        tool: "nl2kubectl",
        ok: false,
        content: "<observation>\nforbidden: hush\nmore\n</observation>",
        bytes: 1,
        cut: false,
      },
    ],
  });
  const verdict = { verified: false, firing: ["Errors"], problems: ["Errors still fires"] };

  it.each(["default", "paper", "minimal", "no-examples"])(
    "the prompt %s tells what was done and said",
    async (variant) => {
      const model = new ScriptedModel(["I never looked at the NetworkPolicies."]);
      const context = testContext(model, { options: { promptVariant: variant }, price: { input: 1, output: 1 } });
      const { note, usage, prompt } = await reflectOnAttempt(made, verdict, context);
      expect(note).toContain("named shop/Deployment/cart as the root cause and ran `kubectl rollout undo d/cart`");
      expect(note).toContain("Errors still fires. I never looked at the NetworkPolicies.");
      expect(usage).toMatchObject({ steps: 0, reflections: 1, inputTokens: 10, outputTokens: 5 });
      expect(usage.cost).toBeGreaterThan(0);
      expect(prompt).toMatchObject({ name: "reflect-attempt", variant });
      const asked = model.requests[0]!.messages[0]!.text;
      expect(asked).toContain("- Errors still fires");
      expect(asked).toContain('nl2kubectl {"command":"kubectl get pods"}\n  failed: forbidden: hush');
      expect(asked).toContain('"shop/Deployment/cart"');
    },
  );

  it.each([new ModelError("gone", { kind: "unreachable" }), new Error("odd"), ""])(
    "a model that fails (%s) leaves a note of the facts",
    async (turn) => {
      const { note, failure, prompt } = await reflectOnAttempt(made, verdict, testContext(new ScriptedModel([turn])));
      expect(note).toMatch(/^Attempt 1 named .* and ran .*; Errors still fires\.$/);
      expect(failure).not.toBe("");
      expect(prompt).toBeUndefined();
    },
  );

  it("keeps secrets out of the note, and the note short", async () => {
    const long = `token hush-hush-hush ${"x".repeat(10_000)}`;
    const context = testContext(new ScriptedModel([long]), { secrets: ["hush-hush-hush"] });
    const { note } = await reflectOnAttempt(made, verdict, context);
    expect(note).not.toContain("hush");
    expect(note.length).toBeLessThan(3_000);
  });

  it("ends when the run is aborted", async () => {
    const abort = new AbortController();
    const model = new ScriptedModel([
      () => {
        abort.abort(new Error("interrupted"));
        return new Error("cut off");
      },
    ]);
    const running = reflectOnAttempt(made, verdict, testContext(model, { signal: abort.signal }));
    await expect(running).rejects.toThrow("interrupted");
  });
});

it.each(promptVariants())("notes of earlier attempts reach both tasks in the variant %s", async (promptVariant) => {
  const answers = {
    diagnosis: { tool: "submit_diagnosis", args: { entities: [] } },
    mitigation: { tool: "submit_mitigation", args: { plan: [], actions: [], verified: false } },
  };
  for (const task of ["diagnosis", "mitigation"] as const) {
    const model = new ScriptedModel([[answers[task]]]);
    await sreAgent.run({ task, memory: ["it is not the cart"] }, testContext(model, { options: { promptVariant } }));
    expect(JSON.stringify(model.requests[0]!.messages)).toContain("it is not the cart");
  }
});
