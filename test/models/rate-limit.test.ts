import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { RateLimiter, resolveModel } from "../../models/index.js";
import { json, serve } from "../support/http.js";

/** A clock that stands still but for sleeping. */
function clock() {
  let now = 0;
  return {
    now: () => now,
    sleep: async (ms: number, signal?: AbortSignal) => {
      signal?.throwIfAborted();
      now += ms;
    },
  };
}

describe("the rate limiter", () => {
  it.each([
    { name: "requests", limit: { requests_per_minute: 2 }, sizes: [1, 1, 1, 1, 1], at: [0, 0, 60, 60, 120] },
    { name: "tokens", limit: { tokens_per_minute: 100 }, sizes: [60, 40, 10, 90, 1], at: [0, 0, 60, 60, 120] },
    {
      name: "both",
      limit: { requests_per_minute: 3, tokens_per_minute: 100 },
      sizes: [10, 10, 10, 95],
      at: [0, 0, 0, 60],
    },
    { name: "none", limit: {}, sizes: [1, 1e9, 1], at: [0, 0, 0] },
    {
      name: "a request larger than the limit, once it is alone",
      limit: { tokens_per_minute: 10 },
      sizes: [5, 50, 1],
      at: [0, 60, 120],
    },
  ])("holds a limit of $name in every minute", async ({ limit, sizes, at }) => {
    const time = clock();
    const limiter = new RateLimiter(limit, time);
    const went = await Promise.all(sizes.map(async (size) => limiter.take(size).then(() => time.now() / 1000)));
    expect(went).toEqual(at);
  });

  it("counts what was really used", async () => {
    const time = clock();
    const limiter = new RateLimiter({ tokens_per_minute: 100 }, time);
    (await limiter.take(10))(100);
    await limiter.take(10);
    expect(time.now()).toBe(60_000);
  });

  it("pauses for everyone when the backend asks for it", async () => {
    const time = clock();
    const limiter = new RateLimiter({ requests_per_minute: 100 }, time);
    await limiter.take(1);
    limiter.pause(7000);
    await Promise.all([limiter.take(1), limiter.take(1)]);
    expect(time.now()).toBe(7000);
  });

  it("lets the others go when one in the queue is aborted", async () => {
    const time = clock();
    const limiter = new RateLimiter({ requests_per_minute: 1 }, time);
    await limiter.take(1);
    const gone = new AbortController();
    gone.abort(new Error("gone"));
    const [aborted, next] = await Promise.allSettled([limiter.take(1, gone.signal), limiter.take(1)]);
    expect(aborted).toMatchObject({ status: "rejected", reason: { message: "gone" } });
    expect(next.status).toBe("fulfilled");
    expect(time.now()).toBe(60_000);
  });
});

describe("a backend with a rate limit", () => {
  const folder = mkdtempSync(join(tmpdir(), "itbench-limit-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  it("shares it between models made for different trials", async () => {
    const server = await serve((_, response) =>
      json(response, { choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }] }),
    );
    try {
      const modelsFile = join(folder, "models.yaml");
      writeFileSync(
        modelsFile,
        `models: {m: {provider: openai, model: m, base_url: "${server.url}/v1", rate_limit: {requests_per_minute: 2}}}`,
      );
      const trials = await Promise.all([1, 2, 3].map(() => resolveModel("m", { modelsFile, env: {} })));
      const abort = new AbortController();
      const answers = trials.map(({ chat }) => chat.invoke("hello", { signal: abort.signal }));
      await Promise.all(answers.slice(0, 2));
      expect(server.requests).toHaveLength(2);
      abort.abort();
      await expect(answers[2]).rejects.toThrow();
      expect(server.requests).toHaveLength(2);
    } finally {
      await server.close();
    }
  });
});
