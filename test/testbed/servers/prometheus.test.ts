import { afterEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../../../testbed/clock.js";
import { prometheusApp, servePrometheus } from "../../../testbed/servers/prometheus.js";
import { createMetricStore } from "../../../testbed/telemetry/metric-store.js";
import { createRuleEngine, loadRules } from "../../../testbed/telemetry/rules/index.js";

const START = Date.UTC(2026, 0, 15, 9);
const SECONDS = START / 1000;

function bench(options: { token?: string } = {}) {
  const clock = new VirtualClock(START);
  const store = createMetricStore();
  clock.every(30_000, () => {
    const n = (clock.now() - START) / 30_000;
    for (const job of ["a", "b"]) {
      store.append(store.series({ __name__: "up", job, instance: `${job}:80` }), clock.now(), job === "a" ? 1 : 0);
      store.append(store.series({ __name__: "requests_total", job }), clock.now(), n * 10);
    }
  });
  const rules = createRuleEngine({
    clock,
    store,
    groups: loadRules(
      [
        {
          groups: [
            {
              name: "g",
              rules: [
                { record: "job:up", expr: "up" },
                {
                  alert: "Down",
                  expr: "up == 0",
                  for: "1m",
                  labels: { severity: "x" },
                  annotations: { s: "{{ $labels.job }}" },
                },
              ],
            },
          ],
        },
      ],
      { source: "r.yaml" },
    ),
  });
  clock.advance(5 * 60_000);
  const app = prometheusApp({ clock, store, rules, ...options });
  const get = async (path: string, init?: RequestInit) => {
    const response = await app.request(path, init);
    const text = await response.text();
    return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : text };
  };
  return { clock, store, rules, get };
}

const post = (form: Record<string, string>): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams(form).toString(),
});

describe("query", () => {
  it("answers at the clock's time, at a time given, by GET and by POST", async () => {
    const { get } = bench();
    const now = await get("/api/v1/query?query=requests_total");
    expect(now).toEqual({
      status: 200,
      body: {
        status: "success",
        data: {
          resultType: "vector",
          result: ["a", "b"].map((job) => ({
            metric: { __name__: "requests_total", job },
            value: [SECONDS + 300, "100"],
          })),
        },
      },
    });
    const earlier = { query: 'requests_total{job="a"}', time: new Date(START + 60_000).toISOString() };
    const posted = await get("/api/v1/query", post(earlier));
    expect(posted.body.data.result[0].value).toEqual([SECONDS + 60, "20"]);
    expect(await get(`/api/v1/query?${new URLSearchParams(earlier)}`)).toEqual(posted);
  });

  it.each([
    ["1/0", { resultType: "scalar", result: [SECONDS + 300, "+Inf"] }],
    ["1e-9", { resultType: "scalar", result: [SECONDS + 300, "1e-09"] }],
    ['"text"', { resultType: "string", result: [SECONDS + 300, "text"] }],
    ["sum(up)", { resultType: "vector", result: [{ metric: {}, value: [SECONDS + 300, "1"] }] }],
    [
      'up{job="a"}[1m]',
      {
        resultType: "matrix",
        result: [
          {
            metric: { __name__: "up", job: "a", instance: "a:80" },
            values: [
              [SECONDS + 270, "1"],
              [SECONDS + 300, "1"],
            ],
          },
        ],
      },
    ],
  ])("%s", async (query, data) => {
    const { get } = bench();
    expect((await get(`/api/v1/query?query=${encodeURIComponent(query)}`)).body.data).toEqual(data);
  });

  it("tells infos and warnings", async () => {
    const { get } = bench();
    expect((await get("/api/v1/query?query=rate(up[5m])")).body.infos).toEqual([
      expect.stringContaining('might not be a counter, name does not end in _total/_sum/_count/_bucket: "up" (1:6)'),
    ]);
    expect((await get("/api/v1/query?query=quantile(2,up)")).body.warnings).toHaveLength(1);
  });

  it.each([
    ["/api/v1/query", 400, "bad_data", "no expression found"],
    ["/api/v1/query?query=sum(", 400, "bad_data", 'invalid parameter "query": 1:5: parse error'],
    ["/api/v1/query?query=up&time=yesterday", 400, "bad_data", 'cannot parse "yesterday" to a valid timestamp'],
    ["/api/v1/query?query=up&time=1 Jan 2026", 400, "bad_data", "to a valid timestamp"],
    ["/api/v1/query?query=up&time=Infinity", 400, "bad_data", "to a valid timestamp"],
    ["/api/v1/query?query=up*on()up", 422, "execution", "many-to-many"],
    ["/api/v1/query_range?query=up&start=1&end=2", 400, "bad_data", 'invalid parameter "step"'],
    ["/api/v1/query_range?query=up&start=1&end=2&step=0", 400, "bad_data", "zero or negative"],
    ["/api/v1/query_range?query=up&start=3&end=2&step=1", 400, "bad_data", "end timestamp must not be before start"],
    ["/api/v1/query_range?query=up&start=0&end=99999&step=1", 400, "bad_data", "exceeded maximum resolution"],
    ["/api/v1/query_range?query=up[5m]&start=0&end=9&step=1", 422, "execution", "must be Scalar or instant Vector"],
    ["/api/v1/series", 400, "bad_data", "no match[]"],
    ["/api/v1/series?match[]={}", 400, "bad_data", "match[]"],
    ["/api/v1/label/a-b/values", 400, "bad_data", "invalid label name"],
    ["/api/v1/rules?type=x", 400, "bad_data", "not supported value"],
    ["/api/v1/labels?limit=x", 400, "bad_data", "limit"],
  ])("%s is refused with %d %s", async (path, status, errorType, message) => {
    const { get } = bench();
    const answer = await get(path);
    expect(answer).toEqual({
      status,
      body: { status: "error", errorType, error: expect.stringContaining(message) },
    });
  });
});

it("query_range gives one row a series, with the steps that have a value", async () => {
  const { get } = bench();
  const { body } = await get(
    "/api/v1/query_range",
    post({ query: "requests_total", start: String(SECONDS), end: String(SECONDS + 60), step: "30s" }),
  );
  expect(body.data).toEqual({
    resultType: "matrix",
    result: ["a", "b"].map((job) => ({
      metric: { __name__: "requests_total", job },
      values: [
        [SECONDS + 30, "10"],
        [SECONDS + 60, "20"],
      ],
    })),
  });
});

describe("metadata of series", () => {
  it.each([
    ["/api/v1/labels?match[]=up", ["__name__", "instance", "job"]],
    ["/api/v1/label/job/values", ["a", "b"]],
    ['/api/v1/label/job/values?match[]=up{instance="a:80"}', ["a"]],
    ["/api/v1/label/alertname/values", ["Down"]],
    ['/api/v1/series?match[]=requests_total{job="a"}', [{ __name__: "requests_total", job: "a" }]],
    ["/api/v1/series?match[]=requests_total&limit=1", [{ __name__: "requests_total", job: "a" }]],
    ["/api/v1/series?match[]=up&end=1", []],
    ["/api/v1/metadata?metric=requests_total", { requests_total: [{ type: "counter", help: "", unit: "" }] }],
    ["/api/v1/query_exemplars?query=up", []],
    ["/api/v1/targets/metadata", []],
    ["/api/v1/format_query?query=sum(up{job='a'})by(job)", 'sum by (job) (up{job="a"})'],
  ])("%s", async (path, data) => {
    const { get } = bench();
    expect((await get(path)).body).toEqual({ status: "success", data });
  });
});

it("alerts and rules show state, value and times", async () => {
  const { get } = bench();
  const alert = {
    labels: { alertname: "Down", instance: "b:80", job: "b", severity: "x" },
    annotations: { s: "b" },
    state: "firing",
    activeAt: new Date(START + 30_000).toISOString(),
    value: "0e+00",
  };
  expect((await get("/api/v1/alerts")).body.data).toEqual({ alerts: [alert] });
  const { groups } = (await get("/api/v1/rules?type=alert")).body.data;
  expect(groups).toMatchObject([
    {
      name: "g",
      file: "r.yaml",
      interval: 30,
      lastEvaluation: new Date(START + 300_000).toISOString(),
      rules: [
        {
          name: "Down",
          type: "alerting",
          state: "firing",
          query: "up == 0",
          duration: 60,
          health: "ok",
          alerts: [alert],
        },
      ],
    },
  ]);
  const all = (await get("/api/v1/rules?exclude_alerts=true")).body.data.groups[0].rules;
  expect(all.map((rule: any) => [rule.name, rule.type])).toEqual([
    ["job:up", "recording"],
    ["Down", "alerting"],
  ]);
  expect((await get("/api/v1/rules?rule_name[]=nope")).body.data.groups).toEqual([]);
});

it("targets come from `up`", async () => {
  const { get } = bench();
  const { activeTargets } = (await get("/api/v1/targets")).body.data;
  expect(activeTargets).toMatchObject([
    { labels: { job: "a", instance: "a:80" }, health: "up", scrapePool: "a" },
    { labels: { job: "b" }, health: "down" },
  ]);
});

it("health, build, storage and federation", async () => {
  const { get } = bench();
  expect((await get("/-/ready")).body).toBe("Prometheus Server is Ready.\n");
  expect((await get("/-/healthy")).status).toBe(200);
  expect((await get("/api/v1/status/buildinfo")).body.data.version).toMatch(/^3\./);
  expect((await get("/api/v1/status/runtimeinfo")).body.data.reloadConfigSuccess).toBe(true);
  expect((await get("/api/v1/status/tsdb")).body.data.headStats.numSeries).toBeGreaterThan(4);
  expect((await get('/federate?match[]=up{job="a"}')).body).toBe(`up{instance="a:80",job="a"} 1 ${START + 300_000}\n`);
  expect((await get("/api/v1/nothing")).status).toBe(404);
});

describe("on a socket", () => {
  let close: (() => Promise<void>) | undefined;
  afterEach(async () => close?.());

  it("asks for its token", async () => {
    const clock = new VirtualClock(START);
    const face = await servePrometheus({ clock, store: createMetricStore(), token: "s3cret" });
    close = face.close;
    const path = `${face.url}/api/v1/query?query=1`;
    expect((await fetch(path)).status).toBe(401);
    expect((await fetch(path, { headers: { authorization: "Bearer wrong" } })).status).toBe(401);
    const answer = await fetch(path, { headers: { authorization: "Bearer s3cret" } });
    expect(await answer.json()).toEqual({ status: "success", data: { resultType: "scalar", result: [SECONDS, "1"] } });
  });
});
