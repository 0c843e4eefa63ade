import { afterEach, describe, expect, it } from "vitest";
import { createCompareTraces } from "../../../tools/compare-traces/index.js";
import { measure, percentile } from "../../../tools/compare-traces/measure.js";
import type { JaegerTrace } from "../../../tools/nl2traces/index.js";
import { json, serve, type TestServer } from "../../support/http.js";
import { toolContext } from "../../support/tool-context.js";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** `service operation ms [!]`, indented by what calls it; `!` failed. */
function trace(time: string, tree: string, tags: Record<string, string> = {}): JaegerTrace {
  const processes: JaegerTrace["processes"] = {};
  const stack: string[] = [];
  const spans = tree
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line, i) => {
      const depth = (line.length - line.trimStart().length) / 2;
      const [service = "", operationName = "", ms, failed] = line.trim().split(" ");
      processes[service] = { serviceName: service };
      stack[depth] = `s${i}`;
      return {
        traceID: "t",
        spanID: `s${i}`,
        operationName,
        references: depth > 0 ? [{ refType: "CHILD_OF", spanID: stack[depth - 1]! }] : [],
        startTime: Date.parse(`2026-01-01T${time}Z`) * 1000,
        duration: Number(ms) * 1000,
        tags: [
          ...(failed ? [{ key: "error", value: true }] : []),
          ...Object.entries(tags).map(([key, value]) => ({ key, value })),
        ],
        processID: service,
      };
    });
  return { traceID: "t", spans, processes };
}

async function run(input: Record<string, unknown>, traces: readonly JaegerTrace[]): Promise<string> {
  server = await serve(({ url }, response) => {
    if (url.pathname === "/api/v1/alerts") return json(response, { status: "success", data: { alerts: [] } });
    if (url.pathname === "/api/services") return json(response, { data: ["web", "cart"] });
    if (url.pathname.endsWith("/operations")) return json(response, { data: ["GET", "POST"] });
    const [start, end] = ["start", "end"].map((name) => Number(url.searchParams.get(name)));
    const found = traces.filter((one) => one.spans[0]!.startTime >= start! && one.spans[0]!.startTime < end!);
    return json(response, { data: found.slice(0, Number(url.searchParams.get("limit"))) });
  });
  return createCompareTraces(toolContext(server.url)).invoke(input as any) as Promise<string>;
}

const OK = `
web GET 20
  web call 10
    cart Add 8
      cart SET 1
  web render 1
`;

describe("compare_traces", () => {
  it("compares latency, errors, and the calls that are made", async () => {
    const broken = `
web GET 200 !
  web call 90 !
  mail Send 1
`;
    const text = await run({ service: "web", since: "11:50:00" }, [
      trace("11:45:00", OK),
      trace("11:46:00", OK),
      trace("11:55:00", broken, { "server.address": "cart:8080" }),
    ]);
    expect(text.split("\n")).toEqual([
      "web, 2026-01-01 11:40:00Z to 11:50:00 against 11:50:00 to 12:00:00: 2 and 1 trace",
      "operation  requests  errors      p50              p95              max",
      "GET        2 -> 1    0% -> 100%  20 ms -> 200 ms  20 ms -> 200 ms  20 ms -> 200 ms",
      "calls of GET:",
      "  MISSING (own) render (1 -> 0 a request)",
      "  MISSING cart: Add (1 -> 0 a request)",
      "  NEW (own) call to cart:8080 (0 -> 1 a request, 100% errors)",
      "  NEW mail: Send (0 -> 1 a request, 0% errors)",
    ]);
  });

  it.each<[string, string, string]>([
    ["fails", OK.replace("cart Add 8", "cart Add 8 !"), "cart: Add: errors 0% -> 100%"],
    ["is slower", OK.replace("cart Add 8", "cart Add 80"), "cart: Add: p95 8 ms -> 80 ms"],
    ["is called more often", `${OK}  cart Add 8\n`, "cart: Add: 1 -> 2 a request"],
    ["is as before", OK, "the calls that it makes are the same on both sides"],
  ])("a call that %s", async (_name, after, says) => {
    expect(
      await run({ service: "web", since: "11:50:00" }, [trace("11:45:00", OK), trace("11:55:00", after)]),
    ).toContain(says);
  });

  it("an empty result is an answer", async () => {
    expect(await run({ service: "web", since: "11:50:00" }, [])).toContain("no such request on either side");
  });

  it("says when not all traces were read", async () => {
    const many = Array.from({ length: 200 }, () => trace("11:45:00", OK));
    expect(await run({ service: "web", since: "11:50:00" }, many)).toContain(
      "[at most 150 traces are read on each side",
    );
  });

  it.each<[Record<string, unknown>, string]>([
    [{ service: "wep" }, 'no service "wep" sends traces; did you mean web?; there are: cart, web'],
    [{ service: "web", operation: "PUT" }, 'web has no operation "PUT"; its operations: GET, POST'],
    [{ service: "web", since: "2h" }, "is outside of the window"],
  ])("%o: %s", async (input, says) => await expect(run(input, [])).rejects.toThrow(says));
});

describe("measure", () => {
  it("counts a request once, by the span that enters the service", () => {
    const found = measure([trace("11:00:00", OK)], "cart");
    expect([...found.keys()]).toEqual(["Add"]);
    expect([...found.get("Add")!.calls.keys()]).toEqual(["(own) SET"]);
  });

  it("takes an inner operation when it is asked for", () => {
    expect([
      ...measure([trace("11:00:00", OK)], "web", "call")
        .get("call")!
        .calls.keys(),
    ]).toEqual(["cart: Add"]);
  });

  it("does not loop where a trace is its own parent", () => {
    const one = trace("11:00:00", OK);
    for (const span of one.spans) span.references = [{ refType: "CHILD_OF", spanID: one.spans[0]!.spanID }];
    expect(measure([one], "web", "GET").get("GET")!.durations).toEqual([0.02]);
  });
});

it.each([
  [[1, 2, 3, 4], 0.5, 2],
  [[1, 2, 3, 4], 0.95, 4],
  [[5], 0.5, 5],
  [[3, 1, 2], 1, 3],
  [[], 0.5, Number.NaN],
])("percentile of %j at %d", (values, share, found) => expect(percentile(values, share)).toEqual(found));
