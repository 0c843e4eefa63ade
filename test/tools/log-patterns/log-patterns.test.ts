import { afterEach, describe, expect, it } from "vitest";
import { createLogPatterns } from "../../../tools/log-patterns/index.js";
import { json, serve, type TestServer } from "../../support/http.js";
import { toolContext } from "../../support/tool-context.js";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const LABELS: Record<string, string[]> = {
  namespace: ["shop", "other"],
  service_name: ["cart", "checkout"],
  pod: ["cart-1"],
};

interface Entry {
  at: string;
  line: string;
  service?: string;
}

/** A Loki that gives the lines inside the time that is asked for, the latest first, up to the limit. */
async function run(input: Record<string, unknown>, entries: readonly Entry[], alert?: string): Promise<string> {
  server = await serve(({ url }, response) => {
    const data = (value: unknown) => json(response, { status: "success", data: value });
    if (url.pathname === "/api/v1/alerts") {
      const alerts = alert ? [{ labels: { alertname: "A" }, state: "firing", activeAt: `2026-01-01T${alert}Z` }] : [];
      return data({ alerts });
    }
    const values = /^\/loki\/api\/v1\/label\/(.*)\/values$/.exec(url.pathname)?.[1];
    if (values !== undefined) return data(LABELS[values] ?? []);
    if (url.pathname.endsWith("/labels")) return data(Object.keys(LABELS));
    const [start, end] = ["start", "end"].map((name) => Number(BigInt(url.searchParams.get(name)!) / 1_000_000n));
    const found = entries
      .map((one) => ({ ...one, time: Date.parse(`2026-01-01T${one.at}Z`) }))
      .filter(({ time }) => time >= start! && time < end!)
      .sort((a, b) => b.time - a.time)
      .slice(0, Number(url.searchParams.get("limit")));
    return data({
      resultType: "streams",
      result: found.map(({ time, line, service }) => ({
        stream: { namespace: "shop", service_name: service ?? "cart" },
        values: [[`${time}000000`, line]],
      })),
    });
  });
  return createLogPatterns(toolContext(server.url)).invoke(input as any) as Promise<string>;
}

const every = (minutes: readonly number[], line: string, service?: string): Entry[] =>
  minutes.map((minute) => ({ at: `11:${String(minute).padStart(2, "0")}:00`, line, ...(service ? { service } : {}) }));

describe("log_patterns", () => {
  it("marks what is new and what has stopped, the alarming first", async () => {
    const text = await run({ service: "cart", minutes: 60 }, [
      ...every([1, 10, 20, 40, 50], "request done"),
      ...every([1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 32], "order placed"),
      ...every([2, 12, 22], "seldom seen"),
      ...every([1], "starting"),
      ...every([1], "starting"),
      ...every([1], "starting"),
      ...every([40, 50], "cache refreshed"),
      ...every([41], "error: cannot reach db 12"),
      ...every([51], "error: cannot reach db 13"),
    ]);
    expect(text.split("\n")).toEqual([
      '{namespace="shop", service_name="cart"}, 2026-01-01 11:00:00Z to 12:00:00: 26 lines in 6 patterns; before and after 11:30:00 (29m and 30m):',
      "NEW 0 -> 2  11:41:00..11:51:00  error: cannot reach db <*>",
      "NEW 0 -> 2  11:40:00..11:50:00  cache refreshed",
      "STOPPED 10 -> 1  11:01:00..11:32:00  order placed",
      "3 -> 2  11:01:00..11:50:00  request done",
      "3 -> 0  11:01:00..11:01:00  starting",
      "3 -> 0  11:02:00..11:22:00  seldom seen",
    ]);
  });

  it.each<[Record<string, unknown>, string | undefined, string]>([
    [{ since: "11:10:00", minutes: 60 }, undefined, "before and after 11:10:00"],
    [{ since: "5m" }, undefined, "before and after 11:55:00"],
    [{}, "11:50:00", "before and after 11:47:00"],
    [{}, "10:00:00", "before and after 11:45:00"],
    [{ minutes: 60 }, undefined, "before and after 11:30:00"],
  ])(
    "parts the time at what is asked, or shortly before the alert, or in the middle: %o, alert at %s",
    async (input, alert, says) => {
      expect(await run(input, every([1, 20, 40], "x"), alert)).toContain(says);
    },
  );

  it("reads a namespace, and names the services", async () => {
    const text = await run({ namespace: "shop", minutes: 60 }, [
      ...every([40], "x y"),
      ...every([41], "x y", "checkout"),
    ]);
    expect(text).toContain('{namespace="shop"}, ');
    expect(text).toContain("[cart, checkout]  x y");
  });

  it("says when not all was read, and does not call a pattern new for sure then", async () => {
    const many = Array.from({ length: 3000 }, (_, i) => ({
      at: `11:20:${String(i % 60).padStart(2, "0")}`,
      line: "busy",
    }));
    const text = await run({ minutes: 60 }, [...many, ...every([45], "surprise")]);
    expect(text).toContain("NEW? 0 -> 1  11:45:00..11:45:00  surprise");
    expect(text).toContain(
      "[only the latest 2500 lines before 11:30:00 were read: name one service, or fewer minutes]",
    );
  });

  it("stays short whatever the lines are", async () => {
    const text = await run(
      { minutes: 60 },
      every(
        Array.from({ length: 59 }, (_, i) => i),
        "",
      ).map((one, i) => ({ ...one, line: `${"w ".repeat(i)}${"x".repeat(100_000)}` })),
    );
    expect(text.length).toBeLessThan(20_000);
    expect(text).toContain("... and 19 more patterns");
  });

  it.each<[Record<string, unknown>, string]>([
    [{ service: "cart", match: "zzz" }, 'no lines\nwithout "match" there may be some'],
    [{ service: "cart" }, "no lines\nits streams exist, but are silent"],
  ])("an empty result is an answer: %o", async (input, says) => expect(await run(input, [])).toContain(says));

  it.each<[Record<string, unknown>, string]>([
    [{ service: "card" }, 'no logs of "card"; did you mean cart?; there are: cart, checkout'],
    [{ namespace: "shopp" }, 'no logs of namespace "shopp"; did you mean shop?'],
    [{ since: "3h" }, "is outside of the window"],
    [{ since: "later" }, "is no time"],
  ])("%o: %s", async (input, says) => {
    await expect(run(input, [])).rejects.toThrow(says);
  });

  it("escapes what is asked for", async () => {
    await run({ service: "cart", match: '"} or {x="' }, []);
    const query = server!.requests.at(-1)!.url.searchParams.get("query");
    expect(query).toBe('{namespace="shop", service_name="cart"} |= "\\"} or {x=\\""');
  });
});
