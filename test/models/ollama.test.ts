import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { resolveModel, toModelError } from "../../models/index.js";
import { closedPort, json, serve, type TestServer } from "../support/http.js";

let server: TestServer | undefined;
afterEach(async () => {
  vi.restoreAllMocks();
  await server?.close();
  server = undefined;
});

const pods = tool(async () => "", {
  name: "pods",
  description: "Lists pods.",
  schema: z.object({ namespace: z.string() }),
});
const done = { model: "m", done: true, done_reason: "stop", prompt_eval_count: 30, eval_count: 4 };
const retry = { retries: 1, sleep: async () => undefined };

const open = async (baseUrl: string, extra: object = {}) =>
  (await resolveModel("ollama:qwen3:8b", { baseUrl, env: {}, retry, ...extra })).chat;

function ndjson(response: Parameters<Parameters<typeof serve>[0]>[1], lines: object[]): void {
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  // Lines are cut anywhere on their way.
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  for (let i = 0; i < text.length; i += 17) response.write(text.slice(i, i + 17));
  response.end();
}

describe("Ollama", () => {
  it("is sent messages, tools and parameters", async () => {
    server = await serve((_, response) =>
      json(response, {
        ...done,
        message: {
          role: "assistant",
          content: "",
          tool_calls: [{ function: { name: "pods", arguments: { namespace: "shop" } } }],
        },
      }),
    );
    const chat = await open(server.url);
    const answer = (await chat.bindTools!([pods]).invoke([
      new SystemMessage("be brief"),
      new HumanMessage("hi"),
      new AIMessage({ content: "", tool_calls: [{ id: "x", name: "pods", args: { namespace: "a" } }] }),
      new ToolMessage({ content: "none", tool_call_id: "x", name: "pods" }),
    ])) as AIMessage;
    expect(answer.tool_calls).toMatchObject([{ name: "pods", args: { namespace: "shop" }, id: "ollama_1" }]);
    expect(answer.usage_metadata).toEqual({ input_tokens: 30, output_tokens: 4, total_tokens: 34 });
    const { url, body } = server.requests[0]!;
    expect(url.pathname).toBe("/api/chat");
    expect(body).toMatchObject({
      model: "qwen3:8b",
      stream: false,
      options: { temperature: 0, seed: 42, num_ctx: 32768 },
      messages: [
        { role: "system", content: "be brief" },
        { role: "user", content: "hi" },
        { role: "assistant", tool_calls: [{ function: { name: "pods", arguments: { namespace: "a" } } }] },
        { role: "tool", content: "none", tool_name: "pods" },
      ],
    });
    expect(body.tools[0]).toMatchObject({
      type: "function",
      function: { name: "pods", parameters: { required: ["namespace"] } },
    });
  });

  it.each([
    { option: { format: { type: "object" } }, format: { type: "object" } },
    { option: { format: "json" }, format: "json" },
    { option: { response_format: { type: "json_object" } }, format: "json" },
    {
      option: { response_format: { type: "json_schema", json_schema: { schema: { type: "array" } } } },
      format: { type: "array" },
    },
    { option: {}, format: undefined },
  ])("passes a format on: $option", async ({ option, format }) => {
    server = await serve((_, response) => json(response, { ...done, message: { role: "assistant", content: "{}" } }));
    const chat = await open(server.url);
    await chat.invoke("hi", { ...option, stop: ["\nObservation:"] } as any);
    expect(server.requests[0]!.body.format).toEqual(format);
    expect(server.requests[0]!.body.options.stop).toEqual(["\nObservation:"]);
    expect(server.requests[0]!.body.tools).toBeUndefined();
  });

  const lines = [
    { model: "m", done: false, message: { role: "assistant", content: "grüße ", thinking: "hm" } },
    { model: "m", done: false, message: { role: "assistant", content: "dich" } },
    {
      model: "m",
      done: false,
      message: {
        role: "assistant",
        content: "",
        tool_calls: [{ function: { name: "pods", arguments: { namespace: "a" } } }],
      },
    },
    {
      model: "m",
      done: false,
      message: {
        role: "assistant",
        content: "",
        tool_calls: [{ function: { name: "pods", arguments: { namespace: "b" } } }],
      },
    },
    { ...done, message: { role: "assistant", content: "" } },
  ];

  it("streams text, tool calls and counts", async () => {
    server = await serve((_, response) => ndjson(response, lines));
    const chat = await open(server.url);
    let whole: any;
    const parts: string[] = [];
    for await (const chunk of await chat.stream("hi")) {
      parts.push(chunk.text);
      whole = whole === undefined ? chunk : whole.concat(chunk);
    }
    expect(parts.filter(Boolean)).toEqual(["grüße ", "dich"]);
    expect(whole.tool_calls.map((call: any) => [call.id, call.args.namespace])).toEqual([
      ["ollama_1", "a"],
      ["ollama_2", "b"],
    ]);
    expect(whole.usage_metadata).toMatchObject({ input_tokens: 30, output_tokens: 4 });
    expect(server.requests[0]!.body.stream).toBe(true);
  });

  it("streams below a caller that takes the whole", async () => {
    server = await serve((_, response) => ndjson(response, lines));
    const { ChatOllama } = await import("../../models/ollama.js");
    const chat = new ChatOllama({
      model: "m",
      baseUrl: server.url,
      parameters: {},
      streaming: true,
      retry: { retries: 0, timeoutSeconds: 5, backoffSeconds: 1 },
    });
    const answer = (await chat.invoke("hi")) as unknown as AIMessage;
    expect(answer.text).toBe("grüße dich");
    expect(answer.tool_calls).toHaveLength(2);
    expect(answer.usage_metadata).toMatchObject({ input_tokens: 30 });
  });

  it.each([
    {
      name: "an unknown model",
      status: 404,
      body: { error: 'model "qwen3:8b" not found' },
      kind: "not-found",
      requests: 1,
    },
    {
      name: "a model without tools",
      status: 400,
      body: { error: "qwen3:8b does not support tools" },
      kind: "bad-request",
      requests: 1,
    },
    { name: "a server in trouble", status: 500, body: { error: "out of memory" }, kind: "server", requests: 2 },
  ])("$name is a typed error, and nothing is printed", async ({ status, body, kind, requests }) => {
    const log = vi.spyOn(console, "log");
    server = await serve((_, response) => json(response, body, status));
    const chat = await open(server.url);
    const error = await chat.invoke("hi").catch(toModelError);
    expect(error).toMatchObject({ kind, status, message: expect.stringContaining(body.error) });
    expect(server.requests).toHaveLength(requests);
    expect(log).not.toHaveBeenCalled();
  });

  it("an error inside the stream, and a stream that breaks off, are typed errors", async () => {
    for (const tail of [[{ error: "the runner crashed" }], []]) {
      server = await serve((_, response) => ndjson(response, [lines[0]!, ...tail]));
      const chat = await open(server.url);
      const read = async () => {
        for await (const _ of await chat.stream("hi")) {
          // Only the end matters.
        }
      };
      const error = await read().catch(toModelError);
      expect(error).toMatchObject({ name: "ModelError", kind: "server" });
      await server.close();
    }
  });

  it("does not let Ollama drop the beginning of a conversation that is too long", async () => {
    server = await serve((_, response) => json(response, { ...done, message: { role: "assistant", content: "x" } }));
    const chat = await open(server.url, { parameters: { num_ctx: 2048 } });
    const error = await chat.invoke("y".repeat(4000)).catch(toModelError);
    expect(error).toMatchObject({ kind: "context-overflow" });
    expect(server.requests).toHaveLength(0);
    await chat.invoke("y".repeat(2000));
  });

  it("nothing at the address is a typed error", async () => {
    const chat = await open(await closedPort());
    expect(await chat.invoke("hi").catch(toModelError)).toMatchObject({ kind: "unreachable", attempts: 2 });
  });

  it("can be aborted though it does not stream", async () => {
    const controller = new AbortController();
    server = await serve(() => controller.abort());
    const chat = await open(server.url);
    await expect(chat.invoke("hi", { signal: controller.signal })).rejects.toThrow(/abort/i);
  });
});
