/** What real models and servers do, played to the whole loop over the wire: OpenAI's protocol and Ollama's. */
import { tool } from "@langchain/core/tools";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { ProtocolName } from "../../../agents/index.js";
import { runReact } from "../../../agents/react/index.js";
import { ChatOllama } from "../../../models/ollama.js";
import { createOpenAIModel } from "../../../models/openai.js";
import { DEFAULT_RETRY } from "../../../models/retry.js";
import { events, testContext } from "../../support/agent-context.js";
import type { Recorded, TestServer } from "../../support/http.js";
import { ScriptedModel } from "../../support/scripted-model.js";
import { baseUrlOf, serveModel, type WireAnswer, type WireKind, type WireTurn } from "../../support/wire-model.js";

let server: TestServer | undefined;
const ran: string[] = [];
beforeEach(() => {
  ran.length = 0;
});
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const run_command = tool(
  async ({ command }: { command: string }) => {
    ran.push(command);
    return `ran ${command}`;
  },
  { name: "run_command", description: "Runs.", schema: z.object({ command: z.string() }) },
);
const alerts = tool(
  async () => {
    ran.push("alerts");
    return "none";
  },
  { name: "alerts", description: "Lists alerts.", schema: z.object({}) },
);

const submit: WireAnswer = { calls: [{ name: "submit", args: { answer: "42" } }] };
const command = (text: string) => ({ name: "run_command", args: { command: text } });

async function play(
  kind: WireKind,
  turns: readonly WireTurn[],
  options: { streaming?: boolean; protocol?: ProtocolName; maxSteps?: number } = {},
) {
  server = await serveModel(kind, turns);
  const baseUrl = baseUrlOf(kind, server);
  const streaming = options.streaming ?? false;
  const chat =
    kind === "openai"
      ? createOpenAIModel({ model: "m", apiKey: "none", baseUrl, parameters: {}, streaming, fetch })
      : new ChatOllama({ model: "m", baseUrl, parameters: {}, streaming, retry: { ...DEFAULT_RETRY, retries: 0 } });
  const context = testContext(new ScriptedModel([]), {
    model: chat as any,
    protocol: options.protocol ?? "tool-calling",
    limits: { maxSteps: options.maxSteps ?? 8 },
  });
  const outcome = await runReact<{ answer: string }>(
    {
      persona: "sre",
      task: "test",
      system: { name: "test", variant: "default", text: "You are tested.", hash: "0" },
      message: "Begin.",
      tools: () => [run_command as any, alerts as any],
      submit: { name: "submit", description: "Gives the answer.", schema: z.object({ answer: z.string() }) },
    },
    context,
  );
  return { outcome, context, requests: server.requests };
}

/** What the model was sent in the request after the first answer. */
const sent = ({ body }: Recorded): any[] => body.messages;
const lastWords = (requests: Recorded[], n = 1) => sent(requests[n]!).at(-1);

const KINDS: { kind: WireKind; streaming: boolean }[] = [
  { kind: "openai", streaming: false },
  { kind: "openai", streaming: true },
  { kind: "ollama", streaming: false },
  { kind: "ollama", streaming: true },
];

describe.each(KINDS)("$kind, streaming: $streaming", ({ kind, streaming }) => {
  const ok = { status: "ok", output: { answer: "42" } };

  it("1. a call that was cut off at the token limit never runs", async () => {
    const broken = '{"command":"kubectl delete pod checkout';
    const { outcome, requests } = await play(
      kind,
      [{ calls: [{ name: "run_command", args: broken }], finish: "length" }, submit],
      { streaming },
    );
    expect(ran).toEqual([]);
    expect(lastWords(requests).content).toMatch(/cut off at the token limit in your call to run_command/);
    expect(outcome).toMatchObject(ok);
  });

  it("1. nor does one that was cut off where it looks whole", async () => {
    const turn = { calls: [command("kubectl delete pod checkout")], finish: "length" };
    const { requests } = await play(kind, [turn, submit], { streaming });
    expect(ran).toEqual([]);
    expect(lastWords(requests).content).toContain("cut off at the token limit");
  });

  it("1. nor one that breaks off though the server says nothing of it", async () => {
    const turn = { calls: [{ name: "run_command", args: '{"command":"kubectl delete pod checkout' }] };
    const { requests } = await play(kind, [turn, submit], { streaming });
    expect(ran).toEqual([]);
    expect(lastWords(requests).content).toMatch(/breaks off before its end/);
  });

  it("2. nothing but an invalid call is answered with what was wrong", async () => {
    const turn = { content: null, calls: [{ name: "run_command", args: "kubectl get pods" }] };
    const { outcome, context, requests } = await play(kind, [turn, submit], { streaming });
    expect(lastWords(requests)).toMatchObject({
      role: "user",
      content: expect.stringMatching(/arguments of your call to run_command cannot be read.*kubectl get pods/),
    });
    expect(events(context, "not_understood")).toHaveLength(1);
    expect(outcome).toMatchObject(ok);
  });

  it.each(['{}""', "", "null", '{}{"a": 1}', '""'])("3. arguments %j for a tool without arguments", async (args) => {
    const { outcome } = await play(kind, [{ calls: [{ name: "alerts", args }] }, submit], { streaming });
    expect(ran).toEqual(["alerts"]);
    expect(outcome).toMatchObject(ok);
  });

  it("5. a tool's result carries what ties it to its call", async () => {
    const { requests } = await play(kind, [{ calls: [command("a")] }, submit], { streaming });
    const [, , call, result] = sent(requests[1]!);
    expect(call.tool_calls[0].function.name).toBe("run_command");
    if (kind === "ollama") expect(result).toMatchObject({ role: "tool", tool_name: "run_command" });
    else expect(result).toMatchObject({ role: "tool", tool_call_id: call.tool_calls[0].id });
  });

  it("5. thinking goes back where the server insists", async () => {
    const insists = (turn: WireAnswer) => (request: Recorded) => {
      const missing = sent(request).some((m) => m.role === "assistant" && !(m.reasoning_content ?? m.thinking));
      const message = "Missing `reasoning_content` field in the assistant message";
      return missing ? { status: 400, message } : turn;
    };
    const first = { thinking: "hm", calls: [command("a")] };
    const second = { thinking: "aha", ...submit };
    const refused = kind === "openai" ? [insists(second)] : [];
    const { outcome, requests } = await play(kind, [first, ...refused, insists(second)], { streaming });
    expect(outcome).toMatchObject(ok);
    const assistant = sent(requests.at(-1)!).find((m) => m.role === "assistant");
    expect(assistant.reasoning_content ?? assistant.thinking).toBe("hm");
  });

  it("5. and stays out where the server objects", async () => {
    const objects = (turn: WireAnswer) => (request: Recorded) => {
      const there = sent(request).some((m) => m.reasoning_content !== undefined || m.thinking !== undefined);
      return there ? { status: 400, message: "unexpected field: thinking / reasoning_content" } : turn;
    };
    const first = { thinking: "hm", calls: [command("a")] };
    const refused = kind === "ollama" ? [objects(submit)] : [];
    const { outcome } = await play(kind, [first, ...refused, objects(submit)], { streaming });
    expect(outcome).toMatchObject(ok);
    expect(ran).toEqual(["a"]);
  });

  it.each([
    '{"name": "run_command", "arguments": {"command": "a"}}',
    '```json\n{"name": "run_command", "arguments": {"command": "a"}}\n```',
    '<tool_call>\n{"name": "run_command", "arguments": {"command": "a"}}\n</tool_call>',
    "{'name': 'run_command', 'arguments': {'command': 'a'}}",
  ])("6. a call as text: %s", async (content) => {
    const { outcome, requests } = await play(kind, [{ content }, submit], { streaming });
    expect(ran).toEqual(["a"]);
    expect(outcome).toMatchObject(ok);
    expect(lastWords(requests).role).toBe("tool");
  });

  it("7. parallel calls beyond the limit each get a tool message", async () => {
    const three = { calls: [command("a"), command("b"), command("c")] };
    const { outcome, context, requests } = await play(kind, [three, three], { streaming, maxSteps: 1 });
    expect(ran).toEqual(["a", "b", "c"]);
    expect(sent(requests[1]!).filter((m) => m.role === "tool")).toHaveLength(3);
    expect(outcome.status).toBe("limit-steps");
    expect(events(context, "observation").slice(3)).toMatchObject(
      ["call_4", "call_5", "call_6"].map((id) => ({ id, ok: false, content: "not run: the limit is reached" })),
    );
  });

  it("8. an answer that never fits is sent back with what is wrong, a bounded number of times", async () => {
    const missing = { calls: [{ name: "submit", args: {} }] };
    const { outcome, requests } = await play(kind, [missing, missing, missing, missing, missing, submit], {
      streaming,
      maxSteps: 20,
    });
    expect(lastWords(requests).content).toContain("answer: is missing (string)");
    expect(outcome).toMatchObject({ status: "invalid-output", detail: expect.stringContaining("answer: is missing") });
    expect(requests).toHaveLength(5);
  });

  it("8. prose is no final answer", async () => {
    const { outcome, requests } = await play(kind, [{ content: "The answer is 42." }], { streaming, maxSteps: 20 });
    expect(outcome.status).toBe("invalid-output");
    expect(lastWords(requests).content).toMatch(/you called no tool; call one, or give your answer with submit/);
    expect(requests).toHaveLength(4);
  });

  it("9. thinking only is answered", async () => {
    for (const turn of [{ content: "", thinking: "hm" }, { content: "<think>hm</think>" }]) {
      const { outcome, requests } = await play(kind, [turn, submit], { streaming });
      expect(lastWords(requests).content).toMatch(/you only thought/);
      expect(outcome).toMatchObject(ok);
      await server!.close();
    }
  });

  it.each<[name: string, content: string]>([
    [
      "a fence opened by two ticks and closed by three",
      '``json\n{"action": "run_command", "input": {"command": "a"}}\n```',
    ],
    [
      "a block followed by an invented output",
      '```json\n{"action": "run_command", "input": {"command": "a"}}\n```\nOutput:\n```\n{"action": "run_command", "input": {"command": "b"}}\n```',
    ],
  ])("9. %s", async (_name, content) => {
    const done = { content: '{"action": "submit", "input": {"answer": "42"}}' };
    const { outcome } = await play(kind, [{ content }, done], { streaming, protocol: "json-action" });
    expect(ran).toEqual(["a"]);
    expect(outcome).toMatchObject(ok);
  });
});

describe("10. strict servers", () => {
  /** Refuses what the strictest servers refuse. */
  function strictly({ body }: Recorded): string | undefined {
    const messages: any[] = body.messages;
    let before = "";
    for (const [i, m] of messages.entries()) {
      if (m.content === null || m.content === undefined) return "content must not be null";
      if (typeof m.content !== "string") return "content must be a string";
      if (m.role === "system" && i > 0) return "the system message must come first";
      if (m.role === "user" && ["user", "tool"].includes(before)) return `unexpected role user after ${before}`;
      if (m.role === "assistant" && before === "assistant") return "roles must alternate";
      const known = ["role", "content", "tool_calls", "tool_call_id"];
      const extra = Object.keys(m).filter((key) => !known.includes(key));
      if (extra.length > 0) return `extra fields in a message: ${extra.join(", ")}`;
      for (const call of m.tool_calls ?? []) {
        if (!/^[A-Za-z0-9]{9}$/.test(call.id)) return `tool call id "${call.id}" must have nine letters or digits`;
        if (!/^[A-Za-z0-9_-]{1,64}$/.test(call.function.name)) return `bad name ${call.function.name}`;
      }
      if (m.role === "tool" && !/^[A-Za-z0-9]{9}$/.test(m.tool_call_id)) return "bad tool_call_id";
      before = m.role;
    }
    const text = JSON.stringify(body.tools ?? []);
    if (/additionalProperties|\$schema|"strict"/.test(text)) return "unknown name additionalProperties in a schema";
    return undefined;
  }

  const turn = (answer: WireAnswer) => (request: Recorded) => {
    const refused = strictly(request);
    return refused === undefined ? answer : { status: 422, message: refused };
  };

  it("take every request of a run with all that goes wrong in one", async () => {
    const id = (n: number) => `abcdefg0${n}`;
    const { outcome, requests } = await play(
      "openai",
      [
        {
          content: null,
          calls: [
            { ...command("a"), id: id(1) },
            { ...command("b"), id: id(1) },
          ],
        },
        { content: "" },
        { calls: [{ name: "run_command", args: "broken", id: id(2) }] },
        { calls: [{ name: `${"很长的名字 with spaces".repeat(8)}`, args: {}, id: id(3) }] },
        { content: '{"name": "alerts", "arguments": {}}' },
        submit,
      ].map((answer) => turn(answer as WireAnswer)),
      { maxSteps: 5 },
    );
    expect(outcome).toMatchObject({ status: "ok", detail: expect.stringContaining("limit-steps") });
    expect(ran).toEqual(["a", "b", "alerts"]);
    expect(requests).toHaveLength(6);
    expect(lastWords(requests, 5)).toMatchObject({ role: "tool", content: expect.stringContaining("last turn") });
  });

  it.each(["react-text", "json-action"] as const)("take a run in %s", async (protocol) => {
    const say = (name: string, input: object) =>
      protocol === "react-text"
        ? `Action: ${name}\nAction Input: ${JSON.stringify(input)}`
        : JSON.stringify({ action: name, input });
    const { outcome } = await play(
      "openai",
      [say("run_command", { command: "a" }), "", "hm", say("alerts", {}), say("submit", { answer: "42" })].map(
        (content) => turn({ content }),
      ),
      { protocol, maxSteps: 4 },
    );
    expect(outcome.status).toBe("ok");
  });

  it("without a system role get its text with the task", async () => {
    const { outcome, requests } = await play("openai", [
      ({ body }) =>
        body.messages[0].role === "system" ? { status: 400, message: "System role not supported" } : submit,
      ({ body }) => (body.messages[0].role === "system" ? { status: 400, message: "no" } : submit),
    ]);
    expect(outcome.status).toBe("ok");
    expect(sent(requests[1]!)).toEqual([{ role: "user", content: "You are tested.\n\nBegin." }]);
  });

  it("that know no seed or stream options are asked without", async () => {
    server = await serveModel("openai", [
      ({ body }) =>
        body.seed === undefined ? submit : { status: 400, message: "Unrecognized request argument: seed" },
    ]);
    const chat = createOpenAIModel({
      model: "m",
      apiKey: "none",
      baseUrl: `${server.url}/v1`,
      parameters: { seed: 1, temperature: 0 },
      fetch,
    });
    const answer = await chat.invoke("hi");
    expect(answer.tool_calls).toHaveLength(1);
    expect(server.requests.map(({ body }) => body.seed)).toEqual([1, undefined]);
    expect(server.requests[1]!.body.temperature).toBe(0);
  });

  it("are not asked for ever", async () => {
    const { outcome, requests } = await play("openai", [
      { status: 400, message: "system message and thinking and seed" },
    ]);
    expect(outcome.status).toBe("model-error");
    expect(requests.length).toBeLessThan(8);
  });
});
