import { afterEach, describe, expect, it } from "vitest";
import { createNl2Metrics } from "../../../tools/index.js";
import { readMetricsQuery } from "../../../tools/nl2metrics/generate.js";
import { scanPromql } from "../../../tools/nl2metrics/scan.js";
import { json, serve, type TestServer } from "../../support/http.js";
import { toolContext } from "../../support/tool-context.js";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const METRICS: Record<string, Record<string, string[]>> = {
  http_requests_total: { service_name: ["cart", "checkout"], status: ["200", "500"] },
  container_memory_bytes: { pod: ["cart-1"] },
};

/** A Prometheus that knows METRICS, and answers queries with what `data` gives. */
async function prometheus(data: (query: string) => unknown): Promise<string> {
  server = await serve(({ url }, response) => {
    const metric = /^[a-z_:]+/.exec(url.searchParams.get("match[]") ?? "")?.[0];
    const labels = metric === undefined ? {} : (METRICS[metric] ?? {});
    const values = /^\/api\/v1\/label\/(.*)\/values$/.exec(url.pathname)?.[1];
    if (values === "__name__") return json(response, { status: "success", data: Object.keys(METRICS) });
    if (values !== undefined) return json(response, { status: "success", data: labels[values] ?? [] });
    if (url.pathname === "/api/v1/labels") {
      return json(response, {
        status: "success",
        data: Object.keys(labels).length ? ["__name__", ...Object.keys(labels)] : [],
      });
    }
    // An older server, which leaves the reading of a query to the linter.
    if (url.pathname === "/api/v1/format_query") return json(response, {}, 404);
    const answer = data(url.searchParams.get("query") ?? "");
    if (answer === undefined)
      return json(response, { status: "error", errorType: "bad_data", error: "parse error: no" }, 400);
    return json(response, { status: "success", data: answer });
  });
  return server.url;
}

const vector = (value: string) => ({
  resultType: "vector",
  result: [{ metric: { service_name: "cart" }, value: [1, value] }],
});
const empty = { resultType: "vector", result: [] };

describe("nl2metrics", () => {
  it("runs a literal query as it is, at the environment's time", async () => {
    const context = toolContext(await prometheus(() => vector("2")));
    const text = await createNl2Metrics(context).invoke({ query: "http_requests_total" });
    expect(text).toContain("promql: http_requests_total\nat 2026-01-01 12:00:00Z: 1 series");
    expect(context.asked).toEqual([]);
    expect(server!.requests.at(-1)!.url.searchParams.get("time")).toBe("1767268800");
  });

  it("looks back where minutes are given", async () => {
    const context = toolContext(
      await prometheus(() => ({ resultType: "matrix", result: [{ metric: {}, values: [[1, "1"]] }] })),
    );
    await createNl2Metrics(context).invoke({ query: "http_requests_total", minutes: 60 });
    const { url } = server!.requests.at(-1)!;
    expect(url.pathname).toBe("/api/v1/query_range");
    expect(Number(url.searchParams.get("end")) - Number(url.searchParams.get("start"))).toBe(3600);
    expect(url.searchParams.get("step")).toBe("120");
  });

  it("has a question written as PromQL, knowing the metrics", async () => {
    const answers = ['{"query": "rate(http_requests_total[5m])", "minutes": null}'];
    const context = toolContext(await prometheus(() => vector("2")), answers);
    expect(await createNl2Metrics(context).invoke({ question: "request rate of cart?" })).toContain(
      "rate(http_requests_total[5m])",
    );
    expect(context.asked[0]).toContain("request rate of cart?");
    expect(context.asked[0]).toContain("container_memory_bytes");
  });

  it.each([
    { query: "http_request_total", says: 'there is no metric "http_request_total"; did you mean http_requests_total' },
    {
      query: 'http_requests_total{service="cart"}',
      says: 'http_requests_total has no label "service"; its labels: service_name, status',
    },
    { query: "sum(rate(http_requests_total[5m])", says: '"(" at position 4 is not closed' },
    { query: "rate(http_requests_total)", says: "rate() needs a range vector" },
    { query: "average(http_requests_total)", says: '"average" is not a PromQL function' },
    { query: 'http_requests_total{status="200}', says: "is not closed" },
    { query: "http_requests_total{status=200}", says: 'must be in quotes: status="..."' },
    { query: 'http_requests_total{status="200" service_name="cart"}', says: "a comma is missing" },
    { query: "  ", says: "the query is empty" },
  ])("does not run $query: $says", async ({ query, says }) => {
    const context = toolContext(await prometheus(() => vector("2")));
    await expect(createNl2Metrics(context).invoke({ query })).rejects.toThrow(says);
    expect(server!.requests.every(({ url }) => !/\/query(_range)?$/.test(url.pathname))).toBe(true);
  });

  it.each(["absent(gone)", 'absent_over_time(gone{a="b"}[5m])', 'ALERTS{alertstate="firing"}'])(
    "runs %s, though there is no such series",
    async (query) => {
      const context = toolContext(await prometheus(() => vector("1")));
      expect(await createNl2Metrics(context).invoke({ query })).toContain("1 series");
    },
  );

  it.each([
    {
      query: 'http_requests_total{service_name="card"}',
      says: 'no series of http_requests_total has service_name="card"; its values: cart, checkout',
    },
    { query: 'http_requests_total{status=~"4.."}', says: 'has status=~"4.."; its values: 200, 500' },
    { query: "http_requests_total > 100", says: "the expression keeps none" },
  ])("an empty result says what there is: $query", async ({ query, says }) => {
    const context = toolContext(await prometheus(() => empty));
    const text = await createNl2Metrics(context).invoke({ query });
    expect(text).toContain("no series");
    expect(text).toContain(says);
  });

  it("passes the backend's own error on", async () => {
    const context = toolContext(await prometheus(() => undefined));
    await expect(createNl2Metrics(context).invoke({ query: "http_requests_total" })).rejects.toThrow(
      "Prometheus: parse error: no",
    );
  });

  it("says that the backend is down, without its address", async () => {
    const url = await prometheus(() => empty);
    await server!.close();
    server = undefined;
    const failure = createNl2Metrics(toolContext(url)).invoke({ query: "x" });
    await expect(failure).rejects.toThrow("Prometheus is not reachable: connection failed");
    await expect(failure).rejects.not.toThrow(/127/);
  });

  it("takes queries only in direct mode, and wants one of the two otherwise", async () => {
    const context = toolContext("http://127.0.0.1:9", [], { mode: "direct" });
    expect(Object.keys((createNl2Metrics(context).schema as any).shape)).toEqual(["query", "minutes"]);
    await expect(createNl2Metrics(toolContext("http://127.0.0.1:9")).invoke({})).rejects.toThrow('"question"');
  });
});

describe("scanPromql", () => {
  it.each([
    ["up", ["up"]],
    ["sum by (a, b) (rate(x_total[5m])) / on (a) group_left (c) y", ["x_total", "y"]],
    ['histogram_quantile(0.95, sum(rate(x_bucket{le!=""}[5m])) by (le))', ["x_bucket"]],
    ['label_replace(up, "a", "$1", "b", "(.*)")', ["up"]],
    ["max_over_time(rate(x_total[1m])[10m:1m]) offset 5m", ["x_total"]],
    ["x and y unless z or vector(1)", ["x", "y", "z"]],
    ["topk(3, sum without (pod) (a:b:c))", ["a:b:c"]],
    ['{__name__="x", a="b"}', ["x"]],
    ['{"x.y", a="b"}', ["x.y"]],
    ["x @ end() > bool 0.5e3 # comment", ["x"]],
    ["absent(nonexistent{job='a'})", ["nonexistent"]],
    ["x{a=~`b\\d+`}", ["x"]],
    ["-x ^ 2 % 1h30m", ["x"]],
    ['count_values("v", x)', ["x"]],
    ["Inf + NaN + time()", []],
  ])("%s", (query, metrics) => {
    const scan = scanPromql(query);
    expect(scan.problems).toEqual([]);
    expect(scan.selectors.map((one) => one.metric)).toEqual(metrics);
  });
});

describe("readMetricsQuery", () => {
  it.each([
    ['{"query": "up", "minutes": 30}', { promql: "up", minutes: 30 }],
    ['```json\n{"query": "up", "minutes": "15m"}\n```', { promql: "up", minutes: 15 }],
    ['Sure: {"query": "sum(rate(x{a=\\"b\\"}[5m]))", "minutes": null}', { promql: 'sum(rate(x{a="b"}[5m]))' }],
    ["```promql\nup == 0\n```", { promql: "up == 0" }],
    ["up == 0", { promql: "up == 0" }],
    ['sum(x{a="b"})', { promql: 'sum(x{a="b"})' }],
  ])("%s", (answer, query) => expect(readMetricsQuery(answer)).toEqual(query));

  it.each(["", "I cannot say.\nThere is no such metric."])("refuses %j", (answer) => {
    expect(() => readMetricsQuery(answer)).toThrow("no query found");
  });
});
