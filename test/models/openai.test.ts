import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { ModelError, resolveModel, toModelError } from "../../models/index.js";
import { closedPort, json, type Recorded, serve, type TestServer } from "../support/http.js";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const KEY = "sk-test-0123456789abcdefghij";
const pods = tool(async () => "", {
  name: "pods",
  description: "Lists pods.",
  schema: z.object({ namespace: z.string() }),
});

function completion(message: object, extra: object = {}) {
  return {
    id: "c1",
    object: "chat.completion",
    created: 0,
    model: "test-model",
    choices: [{ index: 0, message: { role: "assistant", content: null, ...message }, finish_reason: "stop" }],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 7,
      total_tokens: 107,
      prompt_tokens_details: { cached_tokens: 64 },
    },
    ...extra,
  };
}

const waits: number[] = [];
async function open(url: string, options: Parameters<typeof resolveModel>[1] = {}) {
  waits.length = 0;
  return resolveModel("openai:test-model", {
    baseUrl: `${url}/v1`,
    env: { OPENAI_API_KEY: KEY },
    retry: { sleep: async (ms) => void waits.push(ms) },
    modelsFile: undefined,
    ...options,
  } as Parameters<typeof resolveModel>[1]);
}

async function failure(run: () => Promise<unknown>): Promise<ModelError> {
  try {
    await run();
  } catch (error) {
    return toModelError(error);
  }
  throw new Error("it did not fail");
}

describe("an OpenAI-compatible server", () => {
  it("is sent deterministic parameters, the tools and the key", async () => {
    server = await serve((_, response) => json(response, completion({ content: "hello" })));
    const { chat } = await open(server.url);
    const answer = await chat.bindTools!([pods]).invoke([new HumanMessage("hi")]);
    expect(answer.text).toBe("hello");
    expect(answer.usage_metadata).toMatchObject({
      input_tokens: 100,
      output_tokens: 7,
      input_token_details: { cache_read: 64 },
    });
    const { url, headers, body } = server.requests[0]!;
    expect(url.pathname).toBe("/v1/chat/completions");
    expect(headers.authorization).toBe(`Bearer ${KEY}`);
    expect(body).toMatchObject({
      model: "test-model",
      temperature: 0,
      seed: 42,
      messages: [{ role: "user", content: "hi" }],
    });
    expect(body.tools[0].function).toMatchObject({ name: "pods", parameters: { required: ["namespace"] } });
  });

  it("is not sent an empty list of tools, nor a temperature where the model refuses one", async () => {
    server = await serve((_, response) => json(response, completion({ content: "hello" })));
    const { chat } = await resolveModel("openai:o3-mini", { baseUrl: `${server.url}/v1`, env: {} });
    await chat.bindTools!([], { stop: ["x"] } as any).invoke("hi");
    expect(server.requests[0]!.body).not.toHaveProperty("tools");
    expect(server.requests[0]!.body).not.toHaveProperty("temperature");
    expect(server.requests[0]!.body.stop).toEqual(["x"]);
  });

  it("answers with tool calls, whose broken arguments are kept", async () => {
    const call = (id: string, args: string) => ({ id, type: "function", function: { name: "pods", arguments: args } });
    server = await serve((_, response) =>
      json(response, completion({ tool_calls: [call("a", '{"namespace":"shop"}'), call("b", "{namespace:")] })),
    );
    const { chat } = await open(server.url);
    const answer = await chat.bindTools!([pods]).invoke("hi");
    expect(answer.tool_calls).toMatchObject([{ name: "pods", args: { namespace: "shop" }, id: "a" }]);
    expect(answer.invalid_tool_calls).toMatchObject([{ name: "pods", args: "{namespace:", id: "b" }]);
  });

  const chunks = [
    { choices: [{ index: 0, delta: { role: "assistant", content: "one " } }] },
    { choices: [{ index: 0, delta: { content: "two" } }] },
    {
      choices: [
        {
          index: 0,
          delta: { tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "pods", arguments: "" } }] },
        },
      ],
    },
    { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: '{"namespace":' } }] } }] },
    { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: '"shop"}' } }] } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
    { choices: [], usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 } },
  ];
  const stream = (response: Parameters<Parameters<typeof serve>[0]>[1]) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const chunk of chunks) {
      response.write(
        `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "m", ...chunk })}\n\n`,
      );
    }
    response.end("data: [DONE]\n\n");
  };

  it("streams", async () => {
    server = await serve((_, response) => stream(response));
    const { chat } = await open(server.url);
    const parts: string[] = [];
    for await (const chunk of await chat.stream("hi")) parts.push(chunk.text);
    expect(parts.filter(Boolean)).toEqual(["one ", "two"]);
    expect(server.requests[0]!.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  it("streams below a caller that takes the whole, with the server's own token counts", async () => {
    server = await serve((_, response) => stream(response));
    const { createOpenAIModel } = await import("../../models/openai.js");
    const chat = createOpenAIModel({
      model: "m",
      apiKey: "none",
      baseUrl: `${server.url}/v1`,
      parameters: {},
      streaming: true,
      fetch,
    });
    const answer = await chat.invoke("hi");
    expect(answer.text).toBe("one two");
    expect(answer.tool_calls).toMatchObject([{ name: "pods", args: { namespace: "shop" } }]);
    expect(answer.usage_metadata).toMatchObject({ input_tokens: 9, output_tokens: 4 });
  });
});

describe("retries", () => {
  const busy =
    (status: number, headers: Record<string, string> = {}) =>
    (n: number, until: number) =>
      n < until ? { status, headers } : undefined;

  it.each([
    { name: "429 with Retry-After in seconds", fail: busy(429, { "retry-after": "7" }), waits: [7000, 7000] },
    { name: "429 with retry-after-ms", fail: busy(429, { "retry-after-ms": "250" }), waits: [250, 250] },
    { name: "503 without one", fail: busy(503), waits: [expect.closeTo(1000, -3), expect.closeTo(2000, -3.1)] },
    { name: "500", fail: busy(500), waits: [expect.any(Number), expect.any(Number)] },
    { name: "529", fail: busy(529), waits: [expect.any(Number), expect.any(Number)] },
  ])("$name: tried again until it works", async ({ fail, waits: expected }) => {
    server = await serve((_, response, n) => {
      const failed = fail(n, 3);
      if (failed) json(response, { error: { message: "busy" } }, failed.status, failed.headers);
      else json(response, completion({ content: "at last" }));
    });
    const { chat } = await open(server.url);
    expect((await chat.invoke("hi")).text).toBe("at last");
    expect(server.requests).toHaveLength(3);
    expect(waits).toEqual(expected);
  });

  it("backs off longer each time", async () => {
    server = await serve((_, response) => json(response, { error: { message: "down" } }, 503));
    const { chat } = await open(server.url, { retry: { retries: 3, sleep: async (ms) => void waits.push(ms) } });
    const error = await failure(() => chat.invoke("hi"));
    expect(error).toMatchObject({ kind: "server", status: 503, attempts: 4 });
    expect(waits).toHaveLength(3);
    waits.forEach((ms, i) => {
      expect(ms / (1000 * 2 ** i)).toBeGreaterThanOrEqual(0.75);
      expect(ms / (1000 * 2 ** i)).toBeLessThanOrEqual(1.25);
    });
  });

  it.each([
    { status: 401, body: { error: { message: `Incorrect API key provided: ${KEY}` } }, kind: "auth" },
    {
      status: 404,
      body: { error: { message: "The model `x` does not exist", code: "model_not_found" } },
      kind: "not-found",
    },
    {
      status: 400,
      body: { error: { message: "This model's maximum context length is 8192 tokens" } },
      kind: "context-overflow",
    },
    { status: 400, body: { error: "bad tools" }, kind: "bad-request" },
    {
      status: 429,
      body: { error: { message: "You exceeded your quota", code: "insufficient_quota" } },
      kind: "rate-limit",
    },
  ])("$status is not tried again: $kind", async ({ status, body, kind }) => {
    server = await serve((_, response) => json(response, body, status));
    const { chat } = await open(server.url);
    const error = await failure(() => chat.invoke("hi"));
    expect(error).toMatchObject({ kind, status, attempts: 1 });
    expect(error.message).toContain(typeof body.error === "string" ? body.error : body.error.message.slice(0, 20));
    expect(server.requests).toHaveLength(1);
  });

  it("a server that does not answer in time is tried again, then given up", async () => {
    server = await serve(() => undefined);
    const { chat } = await open(server.url, {
      retry: { retries: 1, timeoutSeconds: 0.05, sleep: async () => undefined },
    });
    const error = await failure(() => chat.invoke("hi"));
    expect(error).toMatchObject({ kind: "timeout", attempts: 2 });
    expect(server.requests).toHaveLength(2);
  });

  it("a stream that goes silent is given up", async () => {
    server = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content: "one" } }] })}\n\n`);
    });
    const { chat } = await open(server.url, { retry: { timeoutSeconds: 1, sleep: async () => undefined } });
    const read = async () => {
      for await (const _ of await chat.stream("hi")) {
        // Only the end matters.
      }
    };
    expect(await failure(read)).toMatchObject({ kind: "timeout", message: expect.stringContaining("went silent") });
    expect(server.requests).toHaveLength(1);
  });

  it("nothing at the address: tried again, then said where", async () => {
    const url = await closedPort();
    const { chat } = await open(url, { retry: { retries: 2, sleep: async (ms) => void waits.push(ms) } });
    const error = await failure(() => chat.invoke("hi"));
    expect(error).toMatchObject({ kind: "unreachable", attempts: 3 });
    expect(error.message).toMatch(/cannot reach http:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED.*\(3 attempts\)/);
    expect(waits).toHaveLength(2);
  });

  it("an answer that is no JSON is an error, not a crash", async () => {
    server = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<html>login</html>");
    });
    const { chat } = await open(server.url);
    const answer = await chat.invoke("hi").catch((error) => toModelError(error));
    expect(answer).toBeInstanceOf(ModelError);
  });

  it("an abort ends it at once", async () => {
    const controller = new AbortController();
    server = await serve((_: Recorded, response) => {
      json(response, { error: { message: "busy" } }, 503);
      controller.abort();
    });
    const { chat } = await open(server.url, { retry: {} });
    const started = performance.now();
    await expect(chat.invoke("hi", { signal: controller.signal })).rejects.toThrow();
    expect(performance.now() - started).toBeLessThan(2000);
    expect(server.requests).toHaveLength(1);
  });
});
