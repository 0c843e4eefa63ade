import { describe, expect, it } from "vitest";
import { checkModel, resolveModel } from "../../models/index.js";
import type { Recorded } from "../support/http.js";
import { closedPort } from "../support/http.js";
import { baseUrlOf, serveModel, type WireKind, type WireTurn } from "../support/wire-model.js";

const retry = { retries: 0 };

async function check(kind: WireKind, turn: (request: Recorded) => WireTurn) {
  const server = await serveModel(kind, [turn]);
  try {
    const model = await resolveModel(`${kind}:m`, { baseUrl: baseUrlOf(kind, server), env: {}, retry });
    const { checks, protocols } = await checkModel(model);
    const ok = Object.fromEntries(checks.map((one) => [one.what, one.ok]));
    return { ok, checks, protocols, requests: server.requests.length };
  } finally {
    await server.close();
  }
}

const format = ({ body }: Recorded) => body.response_format ?? body.format;
const call = { calls: [{ name: "add", args: { a: 19, b: 23 } }] };
const paris = { content: '{"city": "Paris", "population": 2100000}' };

describe.each(["openai", "ollama"] as const)("checking a model on %s", (kind) => {
  it("that can do everything", async () => {
    const result = await check(kind, (request) => {
      if (request.body.tools) return call;
      return format(request) ? paris : { content: "ready" };
    });
    expect(result.ok).toEqual({ "tool call": true, "structured output": true, answers: true, "token counts": true });
    expect(result.protocols).toEqual(["tool-calling", "json-action", "react-text"]);
    expect(result.requests).toBe(3);
  });

  it("that knows no tools", async () => {
    const result = await check(kind, (request) => {
      if (request.body.tools) return { status: 400, message: "m does not support tools" };
      return format(request) ? paris : { content: "ready" };
    });
    expect(result.ok).toMatchObject({ "tool call": false, "structured output": true, answers: true });
    expect(result.checks[0]!.detail).toContain("does not support tools");
    expect(result.protocols).toEqual(["json-action", "react-text"]);
  });

  it("that only talks", async () => {
    const result = await check(kind, () => ({ content: "I am happy to help!" }));
    expect(result.ok).toMatchObject({ "tool call": false, "structured output": false, answers: true });
    expect(result.checks[0]!.detail).toBe("it answered in text: I am happy to help!");
    expect(result.protocols).toEqual(["react-text", "json-action"]);
  });

  it("that calls wrongly", async () => {
    const result = await check(kind, ({ body }) => (body.tools ? { calls: [{ name: "add", args: "{a:" }] } : paris));
    expect(result.checks[0]).toMatchObject({ ok: false, detail: expect.stringContaining("not valid JSON: {a:") });
    const other = await check(kind, ({ body }) => (body.tools ? { calls: [{ name: "add", args: { a: 1 } }] } : paris));
    expect(other.checks[0]).toMatchObject({ ok: false, detail: expect.stringContaining("it called something else") });
  });

  it("that is not there", async () => {
    const url = await closedPort();
    const model = await resolveModel(`${kind}:m`, { baseUrl: url, env: {}, retry });
    const { checks, protocols } = await checkModel(model);
    expect(checks).toMatchObject([{ what: "answers", ok: false, detail: expect.stringContaining("cannot reach") }]);
    expect(protocols).toEqual([]);
  });
});
