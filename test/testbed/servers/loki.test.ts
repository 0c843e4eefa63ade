import { afterEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../../../testbed/clock.js";
import { lokiApp, serveLoki } from "../../../testbed/servers/loki.js";
import type { Face } from "../../../testbed/servers/serve.js";
import { createLogStore } from "../../../testbed/telemetry/log-store.js";

const START = Date.UTC(2026, 0, 15, 9, 0, 0);

function sample() {
  const clock = new VirtualClock(START);
  const logs = createLogStore();
  const cart = { namespace: "otel-demo", service_name: "cart", pod: "cart-1" };
  const ad = { namespace: "otel-demo", service_name: "ad", pod: "ad-1" };
  for (let i = 0; i < 150; i++) {
    logs.append(i % 3 === 0 ? ad : cart, {
      timeMs: START + i * 1000,
      line: `request ${i} took ${i}ms`,
      severity: "INFO",
    });
  }
  logs.append(cart, {
    timeMs: START + 150_000,
    line: '{"msg":"no redis"}',
    severity: "ERROR",
    traceId: "abc",
    spanId: "def",
  });
  clock.advanceTo(START + 200_000);
  return { clock, logs };
}

const app = lokiApp(sample());

async function get(path: string, params: Record<string, string | number> = {}, headers: Record<string, string> = {}) {
  const query = new URLSearchParams(
    Object.entries(params).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const response = await app.request(`${path}?${query}`, { headers });
  const text = await response.text();
  return { status: response.status, text, json: text.startsWith("{") ? JSON.parse(text) : undefined };
}

const ns = (ms: number) => `${ms}000000`;
const WINDOW = { start: ns(START), end: ns(START + 200_000) };

describe("Loki face", () => {
  it("answers log queries with streams, newest first, 100 lines by default", async () => {
    const { status, json } = await get("/loki/api/v1/query_range", { query: '{namespace="otel-demo"}', ...WINDOW });
    expect(status).toBe(200);
    expect(json).toMatchObject({ status: "success", data: { resultType: "streams" } });
    const lines = json.data.result.flatMap((one: any) => one.values);
    expect(lines).toHaveLength(100);
    expect(json.data.result[0]).toEqual({
      stream: {
        namespace: "otel-demo",
        service_name: "cart",
        pod: "cart-1",
        detected_level: "error",
        trace_id: "abc",
        span_id: "def",
      },
      values: [[ns(START + 150_000), '{"msg":"no redis"}']],
    });
    expect(json.data.stats.summary).toMatchObject({ totalLinesProcessed: 100, totalEntriesReturned: 100 });
  });

  it("keeps labels of a line apart when the client asks for categories", async () => {
    const { json } = await get(
      "/loki/api/v1/query_range",
      { query: '{service_name="cart"} |= "redis" | json', ...WINDOW },
      { "X-Loki-Response-Encoding-Flags": "categorize-labels" },
    );
    expect(json.data.encodingFlags).toEqual(["categorize-labels"]);
    expect(json.data.result).toEqual([
      {
        stream: { namespace: "otel-demo", service_name: "cart", pod: "cart-1" },
        values: [
          [
            ns(START + 150_000),
            '{"msg":"no redis"}',
            {
              structuredMetadata: { detected_level: "error", trace_id: "abc", span_id: "def" },
              parsed: { msg: "no redis" },
            },
          ],
        ],
      },
    ]);
  });

  it.each([
    ["nanoseconds", { start: ns(START + 10_000), end: ns(START + 13_000) }],
    ["seconds", { start: (START + 10_000) / 1000, end: (START + 13_000) / 1000 }],
    ["seconds with a fraction", { start: `${(START + 10_000) / 1000}.0`, end: `${(START + 13_000) / 1000}.0` }],
    ["RFC 3339", { start: "2026-01-15T09:00:10Z", end: "2026-01-15T09:00:13.000000000Z" }],
    ["RFC 3339 with an offset", { start: "2026-01-15T10:00:10+01:00", end: "2026-01-15T10:00:13+01:00" }],
  ])("reads times as %s", async (_name, window) => {
    const { json } = await get("/loki/api/v1/query_range", {
      query: '{service_name=~".+"}',
      direction: "forward",
      ...window,
    });
    expect(json.data.result.flatMap((one: any) => one.values.map((value: any) => value[1])).sort()).toEqual([
      "request 10 took 10ms",
      "request 11 took 11ms",
      "request 12 took 12ms",
    ]);
  });

  it("looks back an hour from the environment's clock by default, or as far as `since` says", async () => {
    expect((await get("/loki/api/v1/query_range", { query: '{service_name="cart"}' })).json.data.result).not.toEqual(
      [],
    );
    expect(
      (await get("/loki/api/v1/query_range", { query: '{service_name="cart"}', since: "10s" })).json.data.result,
    ).toEqual([]);
  });

  it("answers metric queries with a matrix, and instant ones with a vector", async () => {
    const query = 'sum by (service_name) (count_over_time({namespace="otel-demo"}[1m]))';
    const range = await get("/loki/api/v1/query_range", {
      query,
      start: START / 1000 + 60,
      end: START / 1000 + 120,
      step: "1m",
    });
    expect(range.json.data.resultType).toBe("matrix");
    expect(range.json.data.result).toContainEqual({
      metric: { service_name: "ad" },
      values: [
        [START / 1000 + 60, "20"],
        [START / 1000 + 120, "20"],
      ],
    });
    const instant = await get("/loki/api/v1/query", { query, time: START / 1000 + 60 });
    expect(instant.json.data).toMatchObject({ resultType: "vector" });
    expect(instant.json.data.result).toContainEqual({
      metric: { service_name: "cart" },
      value: [START / 1000 + 60, "40"],
    });
    const scalar = await get("/loki/api/v1/query", { query: "1 + 1", time: START / 1000 });
    expect(scalar.json.data).toMatchObject({ resultType: "scalar", result: [START / 1000, "2"] });
  });

  it.each([
    ["2 ^ 80", "1208925819614629200000000"],
    ["1 / 2 ^ 30", "0.0000000009313225746154785"],
    ["1 / 0", "NaN"],
    ["10 ^ 400", "+Inf"],
    ["-10 ^ 401", "-Inf"],
    ["0.1 + 0.2", "0.30000000000000004"],
  ])("writes numbers as Go does: %s", async (query, expected) => {
    expect((await get("/loki/api/v1/query", { query })).json.data.result[1]).toBe(expected);
  });

  it("takes forms by POST", async () => {
    const response = await app.request("/loki/api/v1/query_range", {
      method: "POST",
      body: new URLSearchParams({ query: '{service_name="ad"}', limit: "1", ...WINDOW }),
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    const json: any = await response.json();
    expect(json.data.result[0].values).toEqual([[ns(START + 147_000), "request 147 took 147ms"]]);
  });

  it("lists labels, values and series", async () => {
    expect((await get("/loki/api/v1/labels")).json).toEqual({
      status: "success",
      data: ["namespace", "pod", "service_name"],
    });
    expect((await get("/loki/api/v1/label/service_name/values")).json.data).toEqual(["ad", "cart"]);
    expect((await get("/loki/api/v1/label/pod/values", { query: '{service_name="ad"}' })).json.data).toEqual(["ad-1"]);
    expect((await get("/loki/api/v1/label/nope/values")).json).toEqual({ status: "success" });
    expect((await get("/loki/api/v1/series", { "match[]": '{service_name=~"a.*"}' })).json.data).toEqual([
      { namespace: "otel-demo", service_name: "ad", pod: "ad-1" },
    ]);
    const stats = await get("/loki/api/v1/index/stats", { query: '{service_name="ad"}' });
    expect(stats.json).toMatchObject({ streams: 1, entries: 50 });
    expect((await get("/loki/api/v1/detected_labels")).json.detectedLabels).toContainEqual({
      label: "service_name",
      cardinality: 2,
    });
    expect(
      (await get("/loki/api/v1/index/volume", { query: '{namespace="otel-demo"}', targetLabels: "service_name" })).json
        .data.result,
    ).toHaveLength(2);
    expect((await get("/loki/api/v1/patterns", { query: '{service_name="ad"}' })).json.data[0]).toMatchObject({
      pattern: "request <_> took <_>",
      level: "info",
    });
    expect(
      (await get("/loki/api/v1/detected_fields", { query: '{service_name="cart"}' })).json.fields.map(
        (one: any) => one.label,
      ),
    ).toContain("trace_id");
  });

  it.each([
    [
      "a bad query",
      "query_range",
      { query: '{service_name="ad"' },
      "parse error at line 1, col 19: syntax error: unexpected $end, expecting } or ,",
    ],
    ["an empty query", "query_range", {}, "parse error at line 1, col 1: syntax error: unexpected $end"],
    [
      "an unselective query",
      "query_range",
      { query: "{}" },
      "parse error : queries require at least one regexp or equality matcher",
    ],
    ["a bad time", "query_range", { query: '{a="b"}', start: "yesterday" }, "could not parse 'start' parameter"],
    [
      "an end before the start",
      "query_range",
      { query: '{a="b"}', start: 20, end: 10 },
      "end timestamp must not be before or equal to start time",
    ],
    ["a bad limit", "query_range", { query: '{a="b"}', limit: "many" }, 'strconv.Atoi: parsing "many": invalid syntax'],
    ["a negative limit", "query_range", { query: '{a="b"}', limit: -1 }, "limit must be a positive value"],
    [
      "too high a limit",
      "query_range",
      { query: '{a="b"}', limit: 9999 },
      "max entries limit per query exceeded, limit > max_entries_limit_per_query (9999 > 5000)",
    ],
    ["a bad direction", "query_range", { query: '{a="b"}', direction: "up" }, "invalid direction 'up'"],
    [
      "a bad step",
      "query_range",
      { query: "vector(1)", step: "0" },
      "zero or negative query resolution step widths are not accepted",
    ],
    [
      "too fine a step",
      "query_range",
      { query: "vector(1)", start: 0, end: 100_000, step: 1 },
      "exceeded maximum resolution of 11,000 points per timeseries",
    ],
    ["an instant log query", "query", { query: '{a="b"}' }, "log queries are not supported as an instant query type"],
    ["a bad selector", "series", { "match[]": "{a}" }, "parse error at line 1, col 3: syntax error: unexpected }"],
    ["a bad regular expression", "query_range", { query: '{a=~"b["}' }, "error parsing regexp"],
  ])("answers %s with 400 and the message as text", async (_name, endpoint, params, message) => {
    const { status, text } = await get(`/loki/api/v1/${endpoint}`, params as Record<string, string>);
    expect(status).toBe(400);
    expect(text).toContain(message);
  });

  it("refuses more series than Loki's limit", async () => {
    const { clock, logs } = sample();
    for (let i = 0; i < 501; i++) logs.append({ app: "many", pod: `p${i}` }, { timeMs: START + 1, line: "x" });
    const many = lokiApp({ clock, logs });
    const ask = (query: string) => many.request(`/loki/api/v1/query?query=${encodeURIComponent(query)}`);
    const refused = await ask('count_over_time({app="many"}[1h])');
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain("maximum of series (500) reached for a single query");
    expect((await ask('sum(count_over_time({app="many"}[1h]))')).status).toBe(200);
  });

  it("knows nothing else", async () => {
    expect((await get("/ready")).text).toBe("ready\n");
    expect((await get("/loki/api/v1/push")).status).toBe(404);
  });

  describe("on a socket", () => {
    const faces: Face[] = [];
    afterEach(() => Promise.all(faces.splice(0).map((face) => face.close())));

    it("asks for the token, and closes", async () => {
      const face = await serveLoki({ ...sample(), token: "secret" });
      faces.push(face);
      expect((await fetch(`${face.url}/loki/api/v1/labels`)).status).toBe(401);
      const answer = await fetch(`${face.url}/loki/api/v1/labels`, { headers: { authorization: "Bearer secret" } });
      expect(answer.status).toBe(200);
      await answer.text();
      await face.close();
      await face.close();
      await expect(fetch(`${face.url}/ready`)).rejects.toThrow();
    });

    it("says which port is in use", async () => {
      const face = await serveLoki(sample());
      faces.push(face);
      const port = Number(new URL(face.url).port);
      await expect(serveLoki({ ...sample(), port })).rejects.toThrow(`port ${port} for Loki is in use`);
    });
  });
});
