import { afterEach, describe, expect, it } from "vitest";
import { createMetricAnomalies } from "../../../tools/metric-anomalies/index.js";
import { json, serve, type TestServer } from "../../support/http.js";
import { toolContext } from "../../support/tool-context.js";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const NOON = Date.parse("2026-01-01T12:00:00Z") / 1000;

/** A series with one value before 11:30 and one from then on, each half minute; undefined where there is none. */
const series = (metric: Record<string, string>, before: number | undefined, after: number | undefined) => ({
  metric,
  values: Array.from({ length: 121 }, (_, i) => NOON - 3600 + i * 30).flatMap((time) => {
    const value = time <= NOON - 1800 ? before : after;
    return value === undefined ? [] : [[time, String(value)]];
  }),
});

/** @param all by the label that finds it: `service="cart"` */
async function run(input: Record<string, unknown>, all: Record<string, unknown[]>, labels = ["service", "pod"]) {
  server = await serve(({ url }, response) => {
    const data = (value: unknown) => json(response, { status: "success", data: value });
    if (url.pathname === "/api/v1/alerts") return data({ alerts: [] });
    if (url.pathname === "/api/v1/labels") return data(labels);
    if (url.pathname.startsWith("/api/v1/label/")) return data(["cart", "checkout"]);
    const query = url.searchParams.get("query")!;
    const found = Object.entries(all).find(([matcher]) => query.includes(`,${matcher}`));
    return data({ resultType: "matrix", result: found?.[1] ?? [] });
  });
  return createMetricAnomalies(toolContext(server.url)).invoke(input as any) as Promise<string>;
}

const of = (name: string, labels: Record<string, string> = {}) => ({
  __name__: name,
  service: "cart",
  namespace: "shop",
  ...labels,
});

describe("metric_anomalies", () => {
  it("lists what shifted, and what began or stopped", async () => {
    const text = await run(
      { name: "cart" },
      {
        'service="cart"': [
          series(of("queue_length"), 2, 40),
          series(of("replicas"), 2, 1),
          series(of("memory"), 100, 101),
          series(of("errors", { code: "503" }), undefined, 3),
          series(of("orders"), 7, undefined),
          series(of("zeros"), undefined, 0),
        ],
      },
    );
    expect(text.split("\n")).toEqual([
      "metrics of cart, 2026-01-01 11:00:00Z to 11:30:00 against 11:30:00 to 12:00:00: 6 courses of 6 series",
      "2 shifts (z of 3.5 and more), the largest first:",
      "z      before  after  metric",
      "95.0   2       40     queue_length",
      "-10.0  2       1      replicas",
      "began or stopped:",
      "z        before  after  metric",
      'began    -       3      errors{code="503"}',
      "stopped  7       -      orders",
    ]);
  });

  it("says what comes nearest where nothing shifted", async () => {
    const text = await run({ name: "cart" }, { 'service="cart"': [series(of("memory"), 100, 101)] });
    expect(text).toContain("nothing shifted by more than it varied before; what comes nearest:");
    expect(text).toContain("0.2  100     101    memory");
  });

  it("finds pods of the workload and of no other, and counts a series once", async () => {
    await run(
      { name: "cart" },
      {
        'service="cart"': [series(of("a"), 1, 1)],
        "pod=~": [series(of("a"), 1, 1), series(of("b", { pod: "cart-5b7467bf5d-hmn84" }), 1, 1)],
      },
    );
    const query = server!.requests
      .map(({ url }) => url.searchParams.get("query"))
      .find((one) => one?.includes("pod=~"));
    const pattern = new RegExp(`^(?:${JSON.parse(/pod=~(".*?[^\\]")\}/.exec(query!)![1]!)})$`);
    const names = ["cart-5b7467bf5d-hmn84", "cart-hmn84", "cart-0", "cart", "cart-proxy-5b7467bf5d-hmn84", "carts-0"];
    expect(names.filter((name) => pattern.test(name))).toEqual(names.slice(0, 4));
  });

  it("leaves other namespaces and alerts out", async () => {
    const text = await run(
      { name: "cart" },
      {
        'service="cart"': [
          series(of("a"), 1, 1),
          series(of("b", { namespace: "other" }), 1, 1),
          series(of("ALERTS"), undefined, 1),
        ],
      },
    );
    expect(text).toContain("1 course of 1 series");
  });

  it("puts metrics that count the same into one row", async () => {
    const steps = (name: string) => ({
      metric: of(name),
      values: Array.from({ length: 121 }, (_, i) => [
        NOON - 3600 + i * 30,
        String(i <= 60 ? i * 30 : 1800 + (i - 60) * 300),
      ]),
    });
    const text = await run({ name: "cart" }, { 'service="cart"': [steps("calls_total"), steps("duration_count")] });
    expect(text).toContain("1/s     10/s   calls_total (and duration_count)");
  });

  it("stays short however many series there are", async () => {
    const many = Array.from({ length: 3000 }, (_, i) => series(of("q", { queue: `${i}` }), 1, 50));
    const text = await run({ name: "cart" }, { 'service="cart"': many });
    expect(text).toContain("... and 2975 more");
    expect(text.length).toBeLessThan(3_000);
  });

  it.each<[Record<string, unknown>, string]>([
    [{ name: "card" }, 'no metrics name "card" in shop; did you mean cart?; there are: cart, checkout'],
    [{ name: "cart", since: "3h" }, "is outside of the window"],
  ])("%o: %s", async (input, says) => await expect(run(input, {})).rejects.toThrow(says));

  it("an empty filter result is an answer", async () => {
    expect(await run({ name: "cart", match: "zzz" }, { 'service="cart"': [series(of("a"), 1, 1)] })).toContain(
      'no metric fits; without "match" there are 1 series',
    );
  });
});
