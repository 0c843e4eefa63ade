import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../../testbed/clock.js";
import { alertmanagerApp, fingerprint } from "../../../testbed/servers/alertmanager.js";
import { createMetricStore } from "../../../testbed/telemetry/metric-store.js";
import { createRuleEngine, loadRules } from "../../../testbed/telemetry/rules/index.js";

const START = Date.UTC(2026, 0, 15, 9);

function bench() {
  const clock = new VirtualClock(START);
  const store = createMetricStore();
  clock.every(30_000, () => {
    for (const [i, namespace] of ["shop", "shop", "infra"].entries()) {
      store.append(store.series({ __name__: "x", pod: `p${i}`, namespace }), clock.now(), 1);
    }
  });
  const rules = createRuleEngine({
    clock,
    store,
    groups: loadRules([
      {
        groups: [
          {
            name: "g",
            rules: [
              {
                alert: "A",
                expr: "x",
                for: "1m",
                labels: { severity: "warning" },
                annotations: { s: "{{ $labels.pod }}" },
              },
              { alert: "Later", expr: "x", for: "1h" },
            ],
          },
        ],
      },
    ]),
  });
  clock.advance(3 * 60_000);
  const app = alertmanagerApp({ clock, rules });
  return async (path: string, init?: RequestInit) => {
    const response = await app.request(path, init);
    return { status: response.status, body: (await response.json().catch(() => undefined)) as any };
  };
}

it("shows firing alerts only, in Alertmanager's form", async () => {
  const get = bench();
  const { body } = await get("/api/v2/alerts?filter=pod%3D%22p0%22");
  const labels = { alertname: "A", namespace: "shop", pod: "p0", severity: "warning" };
  expect(body).toEqual([
    {
      annotations: { s: "p0" },
      endsAt: new Date(START + 7 * 60_000).toISOString(),
      fingerprint: fingerprint(labels),
      generatorURL: expect.stringContaining("/graph?"),
      labels,
      receivers: [{ name: "default" }],
      startsAt: new Date(START + 90_000).toISOString(),
      status: { inhibitedBy: [], mutedBy: [], silencedBy: [], state: "active" },
      updatedAt: new Date(START + 180_000).toISOString(),
    },
  ]);
});

describe("filters", () => {
  it.each([
    ["", 3],
    ["?filter=namespace=shop", 2],
    ['?filter=namespace="shop"&filter=pod!="p0"', 1],
    ['?filter=pod=~"p[01]"', 2],
    ["?filter=pod!~p.*", 0],
    ["?filter={alertname=A}", 3],
    ["?active=false", 0],
    ["?silenced=false&inhibited=false", 3],
    ["?receiver=def.*", 3],
    ["?receiver=other", 0],
  ])("%s: %d", async (query, count) => {
    expect((await bench()(`/api/v2/alerts${query}`)).body).toHaveLength(count);
  });

  it.each(["?filter=nonsense", "?filter=a=~(", "?active=maybe"])("%s is refused", async (query) => {
    const { status, body } = await bench()(`/api/v2/alerts${query}`);
    expect(status).toBe(400);
    expect(body).toEqual(expect.any(String));
  });
});

it("groups by namespace", async () => {
  const { body } = await bench()("/api/v2/alerts/groups");
  expect(body.map((g: any) => [g.labels, g.receiver, g.alerts.length])).toEqual([
    [{ namespace: "infra" }, { name: "default" }, 1],
    [{ namespace: "shop" }, { name: "default" }, 2],
  ]);
});

it("status, receivers, silences; writing is refused", async () => {
  const get = bench();
  expect((await get("/api/v2/status")).body).toMatchObject({ cluster: { status: "disabled" }, versionInfo: {} });
  expect((await get("/api/v2/receivers")).body).toEqual([{ name: "default" }]);
  expect((await get("/api/v2/silences")).body).toEqual([]);
  expect((await get("/api/v2/silence/x")).status).toBe(404);
  expect((await get("/api/v2/silences", { method: "POST", body: "{}" })).status).toBe(405);
  expect((await get("/-/healthy")).status).toBe(200);
});

it("fingerprints as Prometheus does: FNV-1a over names and values", () => {
  // The empty set hashes to the offset itself.
  expect(fingerprint({})).toBe("cbf29ce484222325");
  expect(fingerprint({ b: "2", a: "1" })).toBe(fingerprint({ a: "1", b: "2" }));
  expect(fingerprint({ a: "1b" })).not.toBe(fingerprint({ a: "1", b: "" }));
});
