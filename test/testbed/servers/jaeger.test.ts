import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../../testbed/clock.js";
import { jaegerApp, serveJaeger } from "../../../testbed/servers/jaeger.js";
import { createTraceStore } from "../../../testbed/telemetry/trace-store.js";
import type { Span } from "../../../testbed/telemetry/traces.js";

const START = Date.UTC(2026, 0, 15, 9, 0, 0);
const START_US = START * 1000;
const T1 = "0af7651916cd43dd8448eb211c80319c";
const T2 = "000000000000000000000000000000ff";

function span(over: Partial<Span>): Span {
  return {
    traceId: T1,
    spanId: "b7ad6b7169203331",
    service: "frontend",
    name: "GET /api/cart",
    kind: "server",
    startUs: START_US,
    durationUs: 120_000,
    status: "unset",
    attributes: {},
    resource: { "k8s.pod.name": "frontend-1" },
    ...over,
  };
}

function sample() {
  const traces = createTraceStore();
  traces.add([
    span({ attributes: { "http.response.status_code": 500, "url.path": "/api/cart", retry: false, ratio: 0.5 } }),
    span({
      spanId: "c000000000000002",
      parentSpanId: "b7ad6b7169203331",
      service: "cart",
      name: "oteldemo.CartService/GetCart",
      startUs: START_US + 1_000,
      durationUs: 80_000,
      status: "error",
      statusMessage: "connection refused",
      resource: { "k8s.pod.name": "cart-1" },
      events: [{ timeUs: START_US + 2_000, name: "exception", attributes: { "exception.message": "no redis" } }],
    }),
  ]);
  traces.add([span({ traceId: T2, startUs: START_US + 60_000_000, durationUs: 5_000, status: "ok" })]);
  const clock = new VirtualClock(START);
  clock.advanceTo(START + 120_000);
  return { clock, traces };
}

const app = jaegerApp(sample());

async function get(path: string, params: Record<string, string | number> = {}) {
  const query = new URLSearchParams(
    Object.entries(params).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const response = await app.request(`${path}?${query}`);
  return { status: response.status, json: (await response.json()) as any };
}

const ids = (json: any) => json.data.map((trace: any) => trace.traceID);

describe("Jaeger face", () => {
  it("lists services and operations", async () => {
    expect((await get("/api/services")).json).toEqual({
      data: ["cart", "frontend"],
      total: 2,
      limit: 0,
      offset: 0,
      errors: null,
    });
    expect((await get("/api/services/cart/operations")).json.data).toEqual(["oteldemo.CartService/GetCart"]);
    expect((await get("/api/operations", { service: "frontend" })).json.data).toEqual([
      { name: "GET /api/cart", spanKind: "server" },
    ]);
    expect((await get("/api/operations", { service: "frontend", spanKind: "client" })).json.data).toEqual([]);
    expect((await get("/jaeger/ui/api/services")).json.total).toBe(2);
  });

  it("gives a trace in Jaeger's shape", async () => {
    const { json } = await get(`/api/traces/${T1}`);
    expect(json.data).toHaveLength(1);
    const [trace] = json.data;
    expect(trace.processes).toEqual({
      p1: { serviceName: "frontend", tags: [{ key: "k8s.pod.name", type: "string", value: "frontend-1" }] },
      p2: { serviceName: "cart", tags: [{ key: "k8s.pod.name", type: "string", value: "cart-1" }] },
    });
    expect(trace.spans[0]).toEqual({
      traceID: T1,
      spanID: "b7ad6b7169203331",
      operationName: "GET /api/cart",
      references: [],
      startTime: START_US,
      duration: 120_000,
      tags: [
        { key: "http.response.status_code", type: "int64", value: 500 },
        { key: "url.path", type: "string", value: "/api/cart" },
        { key: "retry", type: "bool", value: false },
        { key: "ratio", type: "float64", value: 0.5 },
        { key: "span.kind", type: "string", value: "server" },
      ],
      logs: [],
      processID: "p1",
      warnings: null,
    });
    expect(trace.spans[1]).toMatchObject({
      references: [{ refType: "CHILD_OF", traceID: T1, spanID: "b7ad6b7169203331" }],
      processID: "p2",
      logs: [
        {
          timestamp: START_US + 2_000,
          fields: [
            { key: "event", type: "string", value: "exception" },
            { key: "exception.message", type: "string", value: "no redis" },
          ],
        },
      ],
    });
    expect(trace.spans[1].tags).toEqual([
      { key: "span.kind", type: "string", value: "server" },
      { key: "otel.status_code", type: "string", value: "ERROR" },
      { key: "error", type: "bool", value: true },
      { key: "otel.status_description", type: "string", value: "connection refused" },
    ]);
  });

  it.each([
    ["a service, newest first", { service: "frontend" }, [T2, T1]],
    ["an operation", { service: "cart", operation: "oteldemo.CartService/GetCart" }, [T1]],
    ["all operations", { service: "cart", operation: "all" }, [T1]],
    ["errors", { service: "cart", tags: '{"error":"true"}' }, [T1]],
    ["errors of another service", { service: "frontend", tags: '{"error":"true"}' }, []],
    ["a tag", { service: "frontend", tag: "http.response.status_code:500" }, [T1]],
    ["a minimal duration", { service: "frontend", minDuration: "100ms" }, [T1]],
    ["a maximal duration", { service: "frontend", maxDuration: "5ms" }, [T2]],
    ["a window", { service: "frontend", start: START_US + 1, end: START_US + 90_000_000 }, [T2]],
    ["a lookback", { service: "frontend", lookback: "90s" }, [T2]],
    ["a limit", { service: "frontend", limit: 1 }, [T2]],
    ["an unknown service", { service: "nope" }, []],
    ["identifiers", { traceID: "ff" }, [T2]],
  ])("finds traces by %s", async (_name, params, expected) => {
    const { status, json } = await get("/api/traces", params as Record<string, string>);
    expect(status).toBe(200);
    expect(ids(json)).toEqual(expected);
  });

  it("takes identifiers without leading zeros, in either case", async () => {
    expect(ids((await get("/api/traces/FF")).json)).toEqual([T2]);
  });

  it.each([
    ["no service", "/api/traces", {}, 400, "parameter 'service' is required"],
    ["no service for operations", "/api/operations", {}, 400, "parameter 'service' is required"],
    ["an unknown trace", "/api/traces/abc", {}, 404, "trace not found"],
    ["a trace that is no number", "/api/traces/xyz", {}, 400, 'strconv.ParseUint: parsing "xyz": invalid syntax'],
    [
      "bad tags",
      "/api/traces",
      { service: "cart", tags: "error=true" },
      400,
      "malformed 'tags' parameter, cannot unmarshal JSON",
    ],
    [
      "tags that are no text",
      "/api/traces",
      { service: "cart", tags: '{"error":true}' },
      400,
      "malformed 'tags' parameter",
    ],
    [
      "a bad tag",
      "/api/traces",
      { service: "cart", tag: "error" },
      400,
      "malformed 'tag' parameter, expecting key:value, received: error",
    ],
    ["a bad limit", "/api/traces", { service: "cart", limit: "x" }, 400, "unable to parse param 'limit'"],
    [
      "a bad duration",
      "/api/traces",
      { service: "cart", minDuration: "5" },
      400,
      "unable to parse param 'minDuration'",
    ],
    [
      "crossed durations",
      "/api/traces",
      { service: "cart", minDuration: "5s", maxDuration: "1s" },
      400,
      "'maxDuration' should be greater than 'minDuration'",
    ],
  ])("answers %s with its error envelope", async (_name, path, params, code, message) => {
    const { status, json } = await get(path, params as Record<string, string>);
    expect(status).toBe(code);
    expect(json).toMatchObject({ data: null, total: 0, errors: [{ code }] });
    expect(json.errors[0].msg).toContain(message);
  });

  it("shows which services call which", async () => {
    const end = START + 120_000;
    expect((await get("/api/dependencies", { endTs: end, lookback: 300_000 })).json.data).toEqual([
      { parent: "frontend", child: "cart", callCount: 1 },
    ]);
    expect((await get("/api/dependencies", { endTs: end, lookback: 1_000 })).json.data).toEqual([]);
    expect((await get("/api/dependencies")).json.data).toHaveLength(1);
  });

  it("serves on a free port and closes", async () => {
    const face = await serveJaeger(sample());
    const answer = await fetch(`${face.url}/api/services`);
    expect(((await answer.json()) as any).data).toEqual(["cart", "frontend"]);
    await face.close();
    await expect(fetch(`${face.url}/api/services`)).rejects.toThrow();
  });
});
