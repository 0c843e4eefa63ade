import { afterEach, describe, expect, it } from "vitest";
import { composeSreOutput, EXTRA_TOOLS, sreAgent } from "../../../agents/index.js";
import { events, testContext } from "../../support/agent-context.js";
import { json, serve, type TestServer } from "../../support/http.js";
import { ScriptedModel, type ScriptedTurn } from "../../support/scripted-model.js";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const diagnosis = {
  entities: [
    { name: "shop/Service/cart", contributing_factor: true, reasoning: "wrong port", evidence: "targetPort 81" },
  ],
  propagations: [
    { source: "shop/Service/cart", target: "shop/Service/frontend", condition: "closed port", effect: "errors" },
  ],
  alerts_explained: [{ alert: "Errors", explanation: "calls fail", explained: true }],
};
const mitigation = { plan: ["fix"], actions: [{ command: "kubectl patch ...", result: "patched" }], verified: true };

const submitDiagnosis = (args: object): ScriptedTurn => [
  { tool: "submit_diagnosis", args: args as Record<string, unknown> },
];

const BASE = ["nl2kubectl", "nl2alerts"];
const EXTRA = ["topology", "changes"];

describe("the SRE agent", () => {
  it.each([
    { options: {}, tools: [...BASE, "nl2metrics", "nl2logs", "nl2traces", ...EXTRA, "wait", "summarize"] },
    { options: { summarizer: false }, tools: [...BASE, "nl2metrics", "nl2logs", "nl2traces", ...EXTRA, "wait"] },
    {
      options: { extraTools: [] },
      tools: [...BASE, "nl2metrics", "nl2logs", "nl2traces", "wait", "summarize"],
    },
    {
      options: { extraTools: [...EXTRA_TOOLS] },
      tools: [...BASE, "nl2metrics", "nl2logs", "nl2traces", ...EXTRA_TOOLS, "wait", "summarize"],
    },
    {
      options: { extraTools: [...EXTRA_TOOLS], modalities: { traces: false, logs: true, metrics: false } },
      tools: [...BASE, "nl2logs", "topology", "changes", "log_patterns", "nl2script", "wait", "summarize"],
    },
  ])("gets the tools that $options leave on", async ({ options, tools }) => {
    const model = new ScriptedModel([submitDiagnosis(diagnosis)]);
    const outcome = await sreAgent.run({ task: "diagnosis", application: "Shop" }, testContext(model, { options }));
    expect(outcome).toMatchObject({ status: "ok", output: diagnosis });
    expect(model.requests[0]!.tools).toEqual([...tools, "submit_diagnosis"]);
    const system = model.requests[0]!.messages[0]!.text;
    for (const name of ["nl2metrics", "nl2logs", "nl2traces", "summarize", ...EXTRA_TOOLS]) {
      expect(new RegExp(`^- ${name}:`, "m").test(system)).toBe(tools.includes(name));
    }
  });

  it("names application and namespaces, each on a line of its own", async () => {
    const model = new ScriptedModel([submitDiagnosis(diagnosis)]);
    await sreAgent.run(
      { task: "diagnosis", application: "Shop" },
      testContext(model, { namespaces: ["shop", "shop-db"] }),
    );
    expect(model.requests[0]!.messages[1]!.text.split("\n").slice(1)).toEqual([
      "Application: Shop",
      "Namespaces: shop, shop-db",
    ]);
  });

  it.each([
    { args: {}, says: "entities: is missing" },
    {
      args: { entities: [{ ...diagnosis.entities[0], name: "cart" }] },
      says: 'entities.0.name: must have the form "namespace/Kind/name"',
    },
    { args: { entities: [{ name: "a/Pod/b" }] }, says: "entities.0.contributing_factor: is missing" },
    { args: { entities: "none" }, says: "entities" },
  ])("turns a malformed answer down, and takes the next: $says", async ({ args, says }) => {
    const model = new ScriptedModel([submitDiagnosis(args), submitDiagnosis(diagnosis)]);
    const outcome = await sreAgent.run({ task: "diagnosis" }, testContext(model));
    expect(model.requests[1]!.messages.at(-1)!.text).toContain(says);
    expect(outcome.status).toBe("ok");
  });

  it("takes an empty list: nothing is wrong", async () => {
    const model = new ScriptedModel([submitDiagnosis({ entities: [], summary: "all healthy" })]);
    const outcome = await sreAgent.run({ task: "diagnosis" }, testContext(model));
    expect(outcome.output).toEqual({ entities: [], propagations: [], alerts_explained: [], summary: "all healthy" });
  });

  it("takes cluster-scoped entities", async () => {
    const entities = [{ ...diagnosis.entities[0], name: "/Node/node-1" }];
    const model = new ScriptedModel([submitDiagnosis({ entities })]);
    expect((await sreAgent.run({ task: "diagnosis" }, testContext(model))).status).toBe("ok");
  });

  it("hands the diagnosis, or its absence, and notes of earlier attempts to the mitigation", async () => {
    for (const given of [diagnosis, undefined]) {
      const model = new ScriptedModel([[{ tool: "submit_mitigation", args: mitigation }]]);
      const task = {
        task: "mitigation" as const,
        memory: ["the flag was no cause"],
        ...(given ? { diagnosis: given } : {}),
      };
      const outcome = await sreAgent.run(task, testContext(model));
      expect(outcome).toMatchObject({ status: "ok", output: mitigation });
      const [system, user] = model.requests[0]!.messages.map((m) => m.text);
      expect(system).toContain("- the flag was no cause");
      expect(user).toContain(given ? '"shop/Service/cart"' : "There is no diagnosis");
    }
  });

  it("asks, reflects and runs inside a tool, and counts it all", async () => {
    server = await serve(({ url }, response) => {
      if (url.pathname.endsWith("/values")) return json(response, { status: "success", data: ["up"] });
      return json(response, {
        status: "success",
        data: { resultType: "vector", result: [{ metric: { job: "x" }, value: [1, "1"] }] },
      });
    });
    const model = new ScriptedModel([
      [{ tool: "nl2metrics", args: { question: "what is up?" } }],
      '{"query": "upp"}',
      '{"query": "up"}',
      submitDiagnosis(diagnosis),
    ]);
    const base = testContext(model);
    const context = testContext(model, { endpoints: { ...base.endpoints, prometheus: server.url } });
    const outcome = await sreAgent.run({ task: "diagnosis" }, context);
    expect(outcome.usage).toMatchObject({
      steps: 2,
      toolCalls: 2,
      nestedCalls: 2,
      lintFindings: 1,
      reflections: 1,
      inputTokens: 40,
    });
    const inTool = ["generate", "lint", "reflection", "execute"];
    expect(context.transcript.events.filter((e) => inTool.includes(e.event)).map((e) => e.event)).toEqual([
      ...["generate", "lint", "reflection", "generate", "execute"],
    ]);
    expect(events(context, "lint")[0]).toMatchObject({ id: "call_1", tool: "nl2metrics", command: "upp" });
    expect(events(context, "generate")[0].prompt).toMatchObject({ name: "nl2metrics", variant: "default" });
    expect(events(context, "observation")[0].content).toContain("promql: up");
    expect(model.requests[1]!.tools).toEqual([]);
  });

  it("a question that is too long for the nested model does not end the task", async () => {
    const { ModelError } = await import("../../../models/index.js");
    const model = new ScriptedModel([
      [{ tool: "summarize", args: { observation: "a long text", question: "?" } }],
      new ModelError("maximum context length exceeded", { kind: "context-overflow" }),
      submitDiagnosis(diagnosis),
    ]);
    expect(await sreAgent.run({ task: "diagnosis" }, testContext(model))).toMatchObject({ status: "ok" });
    expect(model.requests[2]!.messages.at(-1)!.text).toContain("too long for the model");
  });

  it("a nested model that fails for good ends the task as model-error", async () => {
    const { ModelError } = await import("../../../models/index.js");
    const model = new ScriptedModel([
      [{ tool: "nl2traces", args: { question: "x" } }],
      new ModelError("cannot reach it", { kind: "unreachable" }),
    ]);
    server = await serve((_, response) => json(response, { data: [] }));
    const context = testContext(model, { endpoints: { ...testContext(model).endpoints, jaeger: server.url } });
    expect(await sreAgent.run({ task: "diagnosis" }, context)).toMatchObject({ status: "model-error" });
  });
});

describe("composeSreOutput", () => {
  it.each([
    { d: diagnosis, m: mitigation, out: { ...diagnosis, mitigation } },
    { d: diagnosis, m: undefined, out: diagnosis },
    { d: undefined, m: undefined, out: { entities: [], propagations: [], alerts_explained: [] } },
  ])("puts both parts together", ({ d, m, out }) => expect(composeSreOutput(d, m)).toEqual(out));
});
