import { afterEach, describe, expect, it } from "vitest";
import { type ProtocolName, sreAgent } from "../../../agents/index.js";
import { resolveModel } from "../../../models/index.js";
import { testContext } from "../../support/agent-context.js";
import { json, serve, type TestServer } from "../../support/http.js";
import { ScriptedModel } from "../../support/scripted-model.js";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const answer = { entities: [{ name: "shop/Service/cart", contributing_factor: true, reasoning: "r", evidence: "e" }] };

/** What a model says in each protocol: first a wait, then its answer. */
const turns: Record<ProtocolName, { content: string; calls?: { name: string; args: object }[] }[]> = {
  "tool-calling": [
    { content: "", calls: [{ name: "wait", args: { seconds: 5 } }] },
    { content: "", calls: [{ name: "submit_diagnosis", args: answer }] },
  ],
  "react-text": [
    { content: 'Thought: x\nAction: wait\nAction Input: {"seconds": 5}' },
    { content: `Thought: x\nAction: submit_diagnosis\nAction Input: ${JSON.stringify(answer)}` },
  ],
  "json-action": [
    { content: '{"thought": "x", "action": "wait", "input": {"seconds": 5}}' },
    { content: JSON.stringify({ thought: "x", action: "submit_diagnosis", input: answer }) },
  ],
};

async function backend(kind: "openai" | "ollama", protocol: ProtocolName): Promise<string> {
  server = await serve((_, response, n) => {
    const { content, calls = [] } = turns[protocol][n - 1]!;
    if (kind === "ollama") {
      const tool_calls = calls.map((call) => ({ function: { name: call.name, arguments: call.args } }));
      return json(response, {
        done: true,
        done_reason: "stop",
        prompt_eval_count: 50,
        eval_count: 5,
        message: { role: "assistant", content, tool_calls },
      });
    }
    const tool_calls = calls.map((call, i) => ({
      id: `c${n}_${i}`,
      type: "function",
      function: { name: call.name, arguments: JSON.stringify(call.args) },
    }));
    json(response, {
      choices: [
        {
          index: 0,
          message: { role: "assistant", content, ...(calls.length > 0 ? { tool_calls } : {}) },
          finish_reason: "stop",
        },
      ],
      usage: { prompt_tokens: 50, completion_tokens: 5, total_tokens: 55 },
    });
  });
  return kind === "openai" ? `${server.url}/v1` : server.url;
}

describe.each(["openai", "ollama"] as const)("the agent on %s", (kind) => {
  it.each(["tool-calling", "react-text", "json-action"] as const)("%s", async (protocol) => {
    const model = await resolveModel(`${kind}:m`, { baseUrl: await backend(kind, protocol), env: {} });
    const context = testContext(new ScriptedModel([]), { model: model.chat, protocol });
    const outcome = await sreAgent.run({ task: "diagnosis" }, context);
    expect(outcome).toMatchObject({ status: "ok", output: answer });
    expect(outcome.usage).toMatchObject({ steps: 2, inputTokens: 100, outputTokens: 10 });
    expect(context.slept).toEqual([5]);
    const [, second] = server!.requests.map((request) => request.body);
    expect(second.tools !== undefined).toBe(protocol === "tool-calling");
    expect(second.messages.map((m: any) => m.role)).toEqual(
      protocol === "tool-calling" ? ["system", "user", "assistant", "tool"] : ["system", "user", "assistant", "user"],
    );
    expect(second.messages.at(-1).content).toContain("waited 5 s");
    const stop = kind === "openai" ? second.stop : second.options.stop;
    expect(stop).toEqual(protocol === "react-text" ? ["\nObservation:"] : undefined);
    if (protocol === "json-action") {
      const schema = kind === "openai" ? second.response_format.json_schema.schema : second.format;
      expect(schema.properties.action.enum).toEqual(expect.arrayContaining(["wait", "submit_diagnosis"]));
    }
  });
});

describe("servers that refuse", () => {
  it.each(["openai", "ollama"] as const)("a JSON schema are asked for any JSON object: %s", async (kind) => {
    server = await serve(({ body }, response, n) => {
      if (body.response_format?.type === "json_schema" || typeof body.format === "object") {
        return json(response, { error: { message: "json_schema is not supported" } }, 400);
      }
      const { content } = turns["json-action"][n === 2 ? 0 : 1]!;
      if (kind === "ollama") return json(response, { done: true, message: { role: "assistant", content } });
      json(response, { choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }] });
    });
    const baseUrl = kind === "openai" ? `${server.url}/v1` : server.url;
    const model = await resolveModel(`${kind}:m`, { baseUrl, env: {} });
    const context = testContext(new ScriptedModel([]), { model: model.chat, protocol: "json-action" });
    expect((await sreAgent.run({ task: "diagnosis" }, context)).status).toBe("ok");
    const formats = server.requests.map(({ body }) => body.response_format?.type ?? body.format);
    const weaker = kind === "openai" ? "json_object" : "json";
    expect(formats.slice(1)).toEqual([weaker, weaker]);
  });

  it.each(["react-text", "json-action"] as const)("%s does without stop words and JSON mode", async (protocol) => {
    server = await serve(({ body }, response, n) => {
      if (body.stop ?? body.response_format) return json(response, { error: { message: "unknown field" } }, 400);
      const { content } = turns[protocol][n === (protocol === "json-action" ? 3 : 2) ? 0 : 1]!;
      json(response, { choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }] });
    });
    const model = await resolveModel("openai:m", { baseUrl: `${server.url}/v1`, env: {} });
    const outcome = await sreAgent.run(
      { task: "diagnosis" },
      testContext(new ScriptedModel([]), { model: model.chat, protocol }),
    );
    expect(outcome.status).toBe("ok");
    expect(server.requests).toHaveLength(protocol === "json-action" ? 4 : 3);
  });

  it("tools: the outcome says which protocols need none", async () => {
    server = await serve((_, response) => json(response, { error: "m does not support tools" }, 400));
    const model = await resolveModel("ollama:m", { baseUrl: server.url, env: {} });
    const context = testContext(new ScriptedModel([]), { model: model.chat });
    expect(await sreAgent.run({ task: "diagnosis" }, context)).toMatchObject({
      status: "model-error",
      detail: expect.stringMatching(/bad-request: .*does not support tools.*try the protocol react-text/),
    });
  });
});
