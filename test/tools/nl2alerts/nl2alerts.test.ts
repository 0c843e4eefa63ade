import { afterEach, describe, expect, it } from "vitest";
import { createNl2Alerts } from "../../../tools/index.js";
import { json, serve, type TestServer } from "../../support/http.js";
import { toolContext } from "../../support/tool-context.js";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const alert = (alertname: string, state: string, at: string, labels: object = {}) => ({
  labels: { alertname, ...labels },
  annotations: { summary: `${alertname} is\n high` },
  state,
  activeAt: `2026-01-01T${at}Z`,
  value: "1",
});

const ALERTS = [
  alert("Errors", "firing", "11:55:00", { service_name: "cart", severity: "critical" }),
  alert("Latency", "pending", "11:59:30", { service_name: "frontend" }),
  alert("Errors", "firing", "11:50:00", { service_name: "frontend" }),
  alert("Watchdog", "firing", "09:00:00"),
];
const RULES = [{ name: "Errors", query: "rate(x[5m]) > 0", duration: 120, annotations: { description: "too many" } }];

async function prometheus(alerts: unknown[] | undefined): Promise<string> {
  server = await serve(({ url }, response) => {
    if (url.pathname === "/api/v1/rules")
      return json(response, { status: "success", data: { groups: [{ rules: RULES }] } });
    if (url.pathname === "/api/v2/alerts") {
      return json(response, [
        { labels: { alertname: "FromManager" }, annotations: {}, startsAt: "2026-01-01T11:00:00Z" },
      ]);
    }
    if (alerts === undefined) return json(response, { status: "error", error: "starting" }, 503);
    return json(response, { status: "success", data: { alerts } });
  });
  return server.url;
}

describe("nl2alerts", () => {
  it("lists what fires, oldest first, without the alert that always fires", async () => {
    const text = await createNl2Alerts(toolContext(await prometheus(ALERTS))).invoke({});
    expect(text.split("\n")).toEqual([
      "2 firing alerts at 2026-01-01 12:00:00Z",
      'Errors{service_name="frontend"} firing since 11:50:00 (10m): Errors is high',
      'Errors{service_name="cart", severity="critical"} firing since 11:55:00 (5m): Errors is high',
    ]);
  });

  it.each([
    { input: { state: "all" }, count: 3 },
    { input: { state: "pending" }, count: 1 },
    { input: { match: "CART" }, count: 1 },
    { input: { match: "nothing" }, count: 0, says: 'no firing alerts that match "nothing"' },
  ])("filters: $input", async ({ input, count, says }) => {
    const text = String(await createNl2Alerts(toolContext(await prometheus(ALERTS))).invoke(input as any));
    expect(text.split("\n").length - 1).toBe(count);
    if (says) expect(text).toContain(says);
  });

  it("says that there is none", async () => {
    const text = await createNl2Alerts(toolContext(await prometheus([]))).invoke({});
    expect(text).toBe("no firing alerts at 2026-01-01 12:00:00Z (none in any state)");
  });

  it("shows the rule behind an alert", async () => {
    const tool = createNl2Alerts(toolContext(await prometheus([])));
    expect(await tool.invoke({ rule: "Errors" })).toBe(
      "alert: Errors\nexpr: rate(x[5m]) > 0\nfor: 2m\nabout: too many",
    );
    await expect(tool.invoke({ rule: "Error" })).rejects.toThrow("did you mean Errors?");
  });

  it("asks Alertmanager where Prometheus does not answer", async () => {
    expect(await createNl2Alerts(toolContext(await prometheus(undefined))).invoke({})).toContain(
      "FromManager{} firing since 11:00:00 (1h0m)",
    );
  });
});
