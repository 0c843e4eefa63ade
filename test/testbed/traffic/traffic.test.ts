import { describe, expect, it } from "vitest";
import { findApplication } from "../../../testbed/apps/index.js";
import { demoWorld, deployment, type World } from "../faults/world.js";

const CALLS = { name: "__name__", op: "=" as const, value: "traces_span_metrics_calls_total" };

/** Calls counted so far, by service and status. */
function calls(world: World): Map<string, { good: number; bad: number }> {
  const counts = new Map<string, { good: number; bad: number }>();
  for (const series of world.cluster.metrics.select([CALLS])) {
    const count = counts.get(series.labels.service_name!) ?? { good: 0, bad: 0 };
    const value = series.values[series.length - 1]!;
    if (series.labels.status_code === "STATUS_CODE_ERROR") count.bad += value;
    else count.good += value;
    counts.set(series.labels.service_name!, count);
  }
  return counts;
}

/** Everything that traffic left behind, as one text. */
function residue(world: World): string {
  const series = world.cluster.metrics
    .select([{ name: "service_namespace", op: "=", value: "opentelemetry-demo" }])
    .map((one) => [one.labels, [...one.values.subarray(0, one.length)]]);
  const logs = world.cluster.logs.streams().map((stream) => [stream.labels, stream.entries]);
  const traces = world.cluster.traces.find({ limit: 10_000 });
  return JSON.stringify([series, logs, traces]);
}

describe("in health", () => {
  it.each([1, 5, 50, 400])("%i users keep every service busy, without an error or an alert", (users) => {
    const world = demoWorld(`health-${users}`, 12, { loadGeneration: { users } });
    const before = calls(world);
    for (let minute = 0; minute < 20; minute++) {
      world.minutes(1);
      expect(world.firing()).toEqual([]);
    }
    const after = calls(world);
    const programs = findApplication("opentelemetry-demo").behaviour.programs;
    const speaking = Object.entries(programs).filter(
      ([name, { operations }]) =>
        name !== "flagd" && Object.values(operations ?? {}).some(({ span }) => span !== undefined),
    );
    expect(speaking.length).toBeGreaterThan(17);
    for (const [name] of speaking) {
      expect(after.get(name)?.good, name).toBeGreaterThan((before.get(name)?.good ?? 0) + 2);
      expect(after.get(name)?.bad, name).toBe(0);
    }
    world.cluster.stop();
  });

  it("restarting everything disturbs nobody for long", () => {
    const world = demoWorld("restart", 10);
    world.restartAll();
    for (let half = 0; half < 30; half++) {
      world.minutes(0.5);
      expect(world.firing()).toEqual([]);
    }
    world.cluster.stop();
  });

  it("autoscalers and browsers change nothing about that", () => {
    const world = demoWorld("autoscaled", 10, {
      autoscaling: { kubernetes: { hpa: true } },
      loadGeneration: { browserTraffic: true },
    });
    for (let minute = 0; minute < 20; minute++) {
      world.minutes(1);
      expect(world.firing()).toEqual([]);
    }
    world.cluster.stop();
  });

  it("traffic grows with the users", () => {
    const totals = [10, 40].map((users) => {
      const world = demoWorld("grow", 15, { loadGeneration: { users } });
      const total = calls(world).get("frontend-proxy")!.good;
      world.cluster.stop();
      return total;
    });
    expect(totals[1]! / totals[0]!).toBeGreaterThan(3.3);
    expect(totals[1]! / totals[0]!).toBeLessThan(4.7);
  });

  it("a second replica takes its share", () => {
    const world = demoWorld("replicas", 5);
    world.inject("scale-kubernetes-workload", { kubernetesObject: deployment("currency"), replicas: 2 });
    world.minutes(10);
    const lines = world.cluster.logs
      .streams()
      .filter(({ labels }) => labels.app === "currency")
      .map(({ entries }) => entries.filter(({ timeMs }) => timeMs > world.clock.now() - 8 * 60_000).length);
    expect(lines).toHaveLength(2);
    expect(Math.min(...lines) / Math.max(...lines)).toBeGreaterThan(0.2);
    world.cluster.stop();
  });
});

describe("the same seed", () => {
  it("gives the same bytes, also beside another testbed in the same process; another seed gives others", () => {
    const alone = demoWorld("same", 0);
    alone.minutes(12);
    const [left, right] = [demoWorld("same", 0), demoWorld("other", 0)];
    for (let minute = 0; minute < 12; minute++) {
      right.minutes(1);
      left.minutes(1);
    }
    const wanted = residue(alone);
    expect(wanted.length).toBeGreaterThan(100_000);
    expect(residue(left)).toBe(wanted);
    expect(residue(right)).not.toBe(wanted);
    for (const world of [alone, left, right]) world.cluster.stop();
  });
});

describe("what is left behind", () => {
  const world = demoWorld("residue", 10);
  const traces = world.cluster.traces.find({ limit: 5000 });

  it("are whole traces: one root, parents that are there, children inside their time", () => {
    expect(traces.length).toBeGreaterThan(100);
    for (const spans of traces) {
      const byId = new Map(spans.map((span) => [span.spanId, span]));
      expect(byId.size).toBe(spans.length);
      expect(spans.filter((span) => span.parentSpanId === undefined)).toHaveLength(1);
      for (const span of spans) {
        if (span.parentSpanId === undefined) continue;
        const parent = byId.get(span.parentSpanId);
        expect(parent, `${span.service} ${span.name}`).toBeDefined();
        expect(span.startUs).toBeGreaterThanOrEqual(parent!.startUs - 1);
      }
    }
  });

  it("an order's trace goes from the user to the consumers", () => {
    const order = traces.find((spans) => spans.some(({ name }) => name === "orders process"))!;
    const services = new Set(order.map(({ service }) => service));
    for (const name of [
      "load-generator",
      "frontend-proxy",
      "frontend",
      "checkout",
      "payment",
      "email",
      "accounting",
      "fraud-detection",
    ]) {
      expect(services).toContain(name);
    }
    const publish = order.find(({ name }) => name === "orders publish")!;
    expect(order.find(({ name }) => name === "orders process")!.parentSpanId).toBe(publish.spanId);
  });

  it.each(["in health", "when much fails"])(
    "log lines have no hole %s: values are filled in, and JSON is JSON",
    (when) => {
      if (when !== "in health") {
        for (const name of ["cart", "kafka", "quote", "payment"]) {
          world.inject("scaled-to-zero-kubernetes-workload", { kubernetesObject: deployment(name) });
        }
        world.minutes(5);
      }
      let count = 0;
      for (const { labels, entries } of world.cluster.logs.streams()) {
        if (labels.container === "init-config") continue;
        for (const { line } of entries) {
          count++;
          expect(line, labels.container).not.toMatch(/\{[a-zA-Z]+\}|undefined|NaN/);
          if (line.startsWith('{"')) expect(() => JSON.parse(line), line).not.toThrow();
        }
      }
      expect(count).toBeGreaterThan(1000);
    },
  );

  it("buckets grow with their bound, and the last one is the count", () => {
    const buckets = world.cluster.metrics.select([
      { name: "__name__", op: "=", value: "traces_span_metrics_duration_milliseconds_bucket" },
      { name: "service_name", op: "=", value: "checkout" },
      { name: "span_name", op: "=", value: "oteldemo.CheckoutService/PlaceOrder" },
      { name: "status_code", op: "=", value: "STATUS_CODE_UNSET" },
    ]);
    const last = buckets
      .map(
        (series) =>
          [
            series.labels.le === "+Inf" ? Number.POSITIVE_INFINITY : Number(series.labels.le),
            series.values[series.length - 1]!,
          ] as const,
      )
      .sort((a, b) => a[0] - b[0])
      .map(([, value]) => value);
    expect(last).toHaveLength(17);
    for (let i = 1; i < last.length; i++) expect(last[i]).toBeGreaterThanOrEqual(last[i - 1]!);
    const [count] = world.cluster.metrics.select([
      { name: "__name__", op: "=", value: "traces_span_metrics_duration_milliseconds_count" },
      { name: "span_name", op: "=", value: "oteldemo.CheckoutService/PlaceOrder" },
      { name: "span_kind", op: "=", value: "SPAN_KIND_SERVER" },
      { name: "status_code", op: "=", value: "STATUS_CODE_UNSET" },
    ]);
    expect(last.at(-1)).toBe(count!.values[count!.length - 1]);
  });

  it("programs count what went well", () => {
    const counters = (name: string) =>
      world.cluster.metrics
        .select([{ name: "__name__", op: "=", value: name }])
        .map((one) => one.values[one.length - 1]);
    const charged = calls(world).get("payment")!.good;
    expect(counters("app_payment_transactions_total")).toEqual([charged / 2]);
    expect(counters("quotes_total")[0]).toBeGreaterThan(0);
  });

  it("calls in traces are calls of the graph", () => {
    const edges = new Set(world.cluster.calls().map(({ caller, callee }) => `${caller} ${callee}`));
    for (const spans of traces) {
      const byId = new Map(spans.map((span) => [span.spanId, span]));
      for (const span of spans) {
        const parent = span.parentSpanId === undefined ? undefined : byId.get(span.parentSpanId);
        if (parent === undefined || parent.service === span.service || parent.kind === "producer") continue;
        expect(edges).toContain(`${parent.service} ${span.service}`);
      }
    }
    for (const edge of [
      "checkout kafka",
      "accounting kafka",
      "cart valkey-cart",
      "cart flagd",
      "product-catalog astronomy-db",
    ]) {
      expect(edges).toContain(edge);
    }
  });
});
