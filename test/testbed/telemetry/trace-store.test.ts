import { describe, expect, it } from "vitest";
import { createTraceStore } from "../../../testbed/telemetry/trace-store.js";
import type { Span } from "../../../testbed/telemetry/traces.js";

function span(over: Partial<Span>): Span {
  return {
    traceId: "t1",
    spanId: "s1",
    service: "frontend",
    name: "GET /",
    kind: "server",
    startUs: 1_000,
    durationUs: 100,
    status: "unset",
    attributes: {},
    resource: {},
    ...over,
  };
}

function sample() {
  const store = createTraceStore();
  store.add([
    span({ attributes: { "http.status_code": 200 } }),
    span({ spanId: "s2", parentSpanId: "s1", service: "cart", name: "GetCart", startUs: 1_010, durationUs: 50 }),
  ]);
  store.add([span({ traceId: "t2", startUs: 2_000, durationUs: 900, status: "error", statusMessage: "boom" })]);
  store.add([
    span({
      traceId: "t3",
      startUs: 3_000,
      resource: { "k8s.pod.name": "frontend-1" },
      events: [{ timeUs: 3_001, name: "exception", attributes: { "exception.type": "IOError" } }],
    }),
  ]);
  return store;
}

describe("trace store", () => {
  it.each([
    ["a service, newest first", { service: "frontend" }, ["t3", "t2", "t1"]],
    ["another service", { service: "cart" }, ["t1"]],
    ["an unknown service", { service: "nope" }, []],
    ["no service", {}, ["t3", "t2", "t1"]],
    ["an operation of the same span only", { service: "frontend", operation: "GetCart" }, []],
    ["an error", { service: "frontend", tags: { error: "true" } }, ["t2"]],
    ["a status code", { tags: { "otel.status_code": "ERROR" } }, ["t2"]],
    ["a numeric attribute", { tags: { "http.status_code": "200" } }, ["t1"]],
    ["a resource attribute", { tags: { "k8s.pod.name": "frontend-1" } }, ["t3"]],
    ["an event's attribute", { tags: { "exception.type": "IOError" } }, ["t3"]],
    ["an event's name", { tags: { event: "exception" } }, ["t3"]],
    ["two tags that no span has both", { tags: { error: "true", "http.status_code": "200" } }, []],
    ["a window", { startUs: 1_500, endUs: 2_500 }, ["t2"]],
    ["a minimal duration", { minDurationUs: 500 }, ["t2"]],
    ["a maximal duration", { service: "frontend", maxDurationUs: 500 }, ["t3", "t1"]],
    ["a limit", { limit: 1 }, ["t3"]],
  ])("finds by %s", (_name, query, expected) => {
    expect(
      sample()
        .find(query)
        .map((spans) => spans[0]!.traceId),
    ).toEqual(expected);
  });

  it("adds later spans to their trace", () => {
    const store = sample();
    store.add([span({ traceId: "t2", spanId: "late", service: "email" })]);
    expect(store.get("t2")).toHaveLength(2);
    expect(store.find({ service: "email" })).toHaveLength(1);
    expect(store.get("nope")).toBeUndefined();
  });

  it("lists services, operations by kind, and calls between services inside a window", () => {
    const store = sample();
    expect(store.services()).toEqual(["cart", "frontend"]);
    expect(store.operations("cart")).toEqual([{ name: "GetCart", kind: "server" }]);
    expect(store.operations("cart", "client")).toEqual([]);
    expect(store.dependencies(0, 5_000)).toEqual([{ parent: "frontend", child: "cart", callCount: 1 }]);
    expect(store.dependencies(2_000, 5_000)).toEqual([]);
  });

  it.each([
    { name: "traces", options: { maxTraces: 10 }, kept: 10 },
    { name: "spans", options: { maxSpans: 10 }, kept: 5 },
  ])("is bounded by $name and forgets the oldest everywhere, but not the names", ({ options, kept }) => {
    const store = createTraceStore(options);
    for (let i = 0; i < 100; i++) {
      const traceId = `t${i}`;
      const service = i === 0 ? "early" : "late";
      store.add([span({ traceId, service, startUs: i }), span({ traceId, spanId: "s2", service, startUs: i })]);
    }
    expect(store.find({ limit: 1000 })).toHaveLength(kept);
    expect(store.find({ service: "early" })).toEqual([]);
    expect(store.get("t0")).toBeUndefined();
    expect(store.get("t99")).toHaveLength(2);
    expect(store.services()).toEqual(["early", "late"]);
  });
});
