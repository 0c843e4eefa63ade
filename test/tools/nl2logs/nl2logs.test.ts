import { afterEach, describe, expect, it } from "vitest";
import { createNl2Logs } from "../../../tools/index.js";
import { readLogsQuery } from "../../../tools/nl2logs/generate.js";
import { json, serve, type TestServer } from "../../support/http.js";
import { toolContext } from "../../support/tool-context.js";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const LABELS: Record<string, string[]> = { service_name: ["cart", "checkout"], pod: ["cart-1"] };

async function loki(data: unknown): Promise<string> {
  server = await serve(({ url }, response) => {
    const values = /^\/loki\/api\/v1\/label\/(.*)\/values$/.exec(url.pathname)?.[1];
    if (values !== undefined) return json(response, { status: "success", data: LABELS[values] ?? [] });
    if (url.pathname === "/loki/api/v1/labels") return json(response, { status: "success", data: Object.keys(LABELS) });
    if (data === undefined) {
      response.writeHead(400, { "content-type": "text/plain" });
      return void response.end("parse error at line 1, col 5: syntax error");
    }
    return json(response, { status: "success", data });
  });
  return server.url;
}

const streams = (...lines: string[]) => ({
  resultType: "streams",
  result: [{ stream: { service_name: "cart" }, values: lines.map((line, i) => [`176726880${i}000000000`, line]) }],
});

describe("nl2logs", () => {
  it("runs a literal query over the time asked for", async () => {
    const context = toolContext(await loki(streams("failed: x", "failed: x")));
    const text = await createNl2Logs(context).invoke({
      query: '{service_name="cart"} |= "fail"',
      minutes: 30,
      limit: 10,
    });
    expect(text).toContain(
      'logql: {service_name="cart"} |= "fail"\nlast 30 minutes to 2026-01-01 12:00:00Z: 2 lines in 1 group',
    );
    const { searchParams } = server!.requests.at(-1)!.url;
    expect(BigInt(searchParams.get("end")!) - BigInt(searchParams.get("start")!)).toBe(1_800_000_000_000n);
    expect(searchParams.get("limit")).toBe("10");
  });

  it("shows metric queries as a table", async () => {
    const context = toolContext(
      await loki({ resultType: "matrix", result: [{ metric: { a: "b" }, values: [[1, "2"]] }] }),
    );
    expect(await createNl2Logs(context).invoke({ query: 'sum(rate({service_name="cart"}[1m]))' })).toContain(
      "1 series",
    );
  });

  it("has a question written as LogQL, knowing the labels", async () => {
    const context = toolContext(await loki(streams("x")), ['```logql\n{service_name="cart"}\n```']);
    await createNl2Logs(context).invoke({ question: "what does cart say?" });
    expect(context.asked[0]).toContain("service_name: cart, checkout");
  });

  it.each([
    { query: '{service="cart"}', says: 'streams have no label "service"; did you mean service_name?' },
    { query: '|= "error"', says: "begins with a stream selector" },
    { query: "{}", says: "the stream selector is empty" },
    { query: '{service_name=~".*"}', says: "at least one matcher must rule something in" },
    { query: '{service_name!="cart"}', says: "at least one matcher must rule something in" },
    { query: "{service_name='cart'}", says: "in double quotes" },
    { query: '{service_name="cart"} |= "x', says: "is not closed" },
    { query: 'sum(rate({service_name="cart"}[5m])', says: "is not closed" },
  ])("does not run $query: $says", async ({ query, says }) => {
    const context = toolContext(await loki(streams("x")));
    await expect(createNl2Logs(context).invoke({ query })).rejects.toThrow(says);
  });

  it.each([
    { query: '{service_name="card"}', says: 'no stream has service_name="card"; its values: cart, checkout' },
    { query: '{service_name=~"cart|checkout"} |= "}{"', says: "widen the time" },
  ])("an empty result says what there is: $query", async ({ query, says }) => {
    const context = toolContext(await loki({ resultType: "streams", result: [] }));
    expect(await createNl2Logs(context).invoke({ query })).toContain(says);
  });

  it("passes the backend's own complaint about the query on, with its place", async () => {
    const context = toolContext(await loki(undefined));
    await expect(createNl2Logs(context).invoke({ query: '{pod="x"} |' })).rejects.toThrow(
      "LogQL: syntax error (at position 5",
    );
  });
});

describe("readLogsQuery", () => {
  it.each([
    ['{"query": "{a=\\"b\\"} |= \\"x\\"", "minutes": 5}', { logql: '{a="b"} |= "x"', minutes: 5, limit: 500 }],
    ['{a="b"} |~ "(?i)error"', { logql: '{a="b"} |~ "(?i)error"', minutes: 15, limit: 500 }],
    ['```\n{a="b"}\n```', { logql: '{a="b"}', minutes: 15, limit: 500 }],
    ['{"logql": "{a=\\"b\\"}", "minutes": 99999, "limit": 99999}', { logql: '{a="b"}', minutes: 1440, limit: 5000 }],
  ])("%s", (answer, query) => expect(readLogsQuery(answer)).toEqual(query));

  it("refuses prose", () => expect(() => readLogsQuery("I do not know")).toThrow("no query found"));
});
