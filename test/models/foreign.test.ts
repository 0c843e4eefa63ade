/** Models of other packages: their errors, waits and silences are treated like our own backends'. */
import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { withRetries } from "../../models/foreign.js";
import { ModelError, toModelError } from "../../models/index.js";
import { DEFAULT_RETRY } from "../../models/retry.js";
import { ScriptedModel, type ScriptedTurn } from "../support/scripted-model.js";

/** An error as clients throw it. */
const failure = (status: number, extra: object = {}) =>
  Object.assign(new Error(`status ${status}`), { status, ...extra });

function wrapped(turns: ScriptedTurn[], retries = 3, timeoutSeconds = 60) {
  const model = new ScriptedModel(turns);
  const waits: number[] = [];
  const asked: number[] = [];
  const chat = withRetries(model, {
    ...DEFAULT_RETRY,
    retries,
    timeoutSeconds,
    sleep: async (ms) => void waits.push(ms),
    onRetryAfter: (ms) => void asked.push(ms),
  });
  return { chat, model, waits, asked };
}

describe("a model of another package", () => {
  it.each([
    { name: "Headers", extra: { headers: new Headers({ "retry-after": "7" }) } },
    { name: "an object", extra: { headers: { "Retry-After": "7" } } },
    { name: "a response", extra: { response: { headers: new Headers({ "retry-after": "7" }) } } },
  ])("is asked again after what Retry-After says: $name", async ({ extra }) => {
    const { chat, waits, asked } = wrapped([failure(429, extra), failure(429, extra), "at last"]);
    expect((await chat.invoke("hi")).text).toBe("at last");
    expect(waits).toEqual([7000, 7000]);
    expect(asked).toEqual([7000, 7000]);
  });

  it.each([500, 503, 529, 408])("is asked again on %d, with back-off", async (status) => {
    const { chat, waits } = wrapped([failure(status), failure(status), "at last"]);
    expect((await chat.invoke("hi")).text).toBe("at last");
    expect(waits).toHaveLength(2);
    expect(waits[1]!).toBeGreaterThan(waits[0]!);
  });

  it.each([
    { error: failure(401), kind: "auth" },
    { error: failure(400), kind: "bad-request" },
    { error: Object.assign(new Error("prompt is too long: 300000 tokens"), { status: 400 }), kind: "context-overflow" },
    { error: Object.assign(new Error("no such model"), { status: 404 }), kind: "not-found" },
  ])("is not asked again: $kind", async ({ error, kind }) => {
    const { chat, model } = wrapped([error, "never"]);
    expect(await chat.invoke("hi").catch(toModelError)).toMatchObject({ kind, attempts: 1 });
    expect(model.requests).toHaveLength(1);
  });

  it("is given up after the last attempt", async () => {
    const { chat } = wrapped([failure(503), failure(503)], 1);
    const error = await chat.invoke("hi").catch(toModelError);
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ kind: "server", attempts: 2, message: expect.stringContaining("(2 attempts)") });
  });

  it("is given up when it is silent", async () => {
    const hang: ScriptedTurn = (_messages, signal) =>
      new Promise<never>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    const { chat, model } = wrapped([hang, hang], 1, 0.02);
    expect(await chat.invoke("hi").catch(toModelError)).toMatchObject({ kind: "timeout", attempts: 2 });
    expect(model.requests).toHaveLength(2);
  });

  it("can be aborted, and keeps tools and settings", async () => {
    const controller = new AbortController();
    const hang: ScriptedTurn = (_messages, signal) => {
      setImmediate(() => controller.abort());
      return new Promise<never>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    };
    const { chat, model } = wrapped([hang, "x"]);
    const bound = chat.bindTools!(
      [{ name: "t", description: "", schema: { type: "object" } }] as any,
      { stop: ["s"] } as any,
    );
    await expect(bound.invoke([new HumanMessage("hi")], { signal: controller.signal })).rejects.toThrow();
    expect(model.requests).toHaveLength(1);
    expect(model.requests[0]!.tools).toEqual(["t"]);
    expect(model.requests[0]!.options.stop).toEqual(["s"]);
  });
});
