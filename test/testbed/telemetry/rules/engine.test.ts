import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../../../testbed/clock.js";
import { createMetricStore } from "../../../../testbed/telemetry/metric-store.js";
import { prepare } from "../../../../testbed/telemetry/promql/index.js";
import { createRuleEngine, kubernetesRules, loadRules } from "../../../../testbed/telemetry/rules/index.js";

const START = Date.UTC(2026, 0, 15);
const MINUTE = 60_000;

/** A clock, a store whose `set` values are scraped each 15 s, and an engine with one group of `rules`. */
function bench(rules: unknown[], options: { intervalMs?: number } = {}) {
  const clock = new VirtualClock(START);
  const store = createMetricStore();
  const values = new Map<string, { labels: Record<string, string>; value: number }>();
  clock.every(15_000, () => {
    for (const { labels, value } of values.values()) store.append(store.series(labels), clock.now(), value);
  });
  const engine = createRuleEngine({
    clock,
    store,
    groups: loadRules([{ groups: [{ name: "g", rules }] }]),
    ...options,
  });
  const log: string[] = [];
  engine.onChange(({ alert, from, to, at }) => log.push(`${(at - START) / 1000}s ${alert.name} ${from}->${to}`));
  const set = (labels: Record<string, string>, value: number) => values.set(JSON.stringify(labels), { labels, value });
  const read = (query: string) => {
    const { value } = prepare(store, query).instant(clock.now());
    return value.type === "vector" ? value.samples : [];
  };
  return { clock, store, engine, log, set, read };
}

describe("an alert", () => {
  it("is pending for `for`, fires, resolves, and shows so in ALERTS and the history", () => {
    const { clock, engine, log, set, read } = bench([
      {
        alert: "High",
        expr: "x > 5",
        for: "1m",
        labels: { severity: "page" },
        annotations: { text: "{{ $labels.pod }} at {{ $value }}" },
      },
    ]);
    set({ __name__: "x", pod: "a" }, 1);
    clock.advance(2 * MINUTE);
    expect(engine.alerts()).toEqual([]);
    set({ __name__: "x", pod: "a" }, 7);
    clock.advance(30_000);
    expect(engine.alerts()).toMatchObject([
      {
        name: "High",
        state: "pending",
        activeAt: START + 150_000,
        labels: { alertname: "High", pod: "a", severity: "page" },
      },
    ]);
    expect(read("ALERTS").map((s) => s.labels.alertstate)).toEqual(["pending"]);
    expect(read("ALERTS_FOR_STATE").map((s) => s.value)).toEqual([START / 1000 + 150]);
    clock.advance(MINUTE);
    expect(engine.alerts()).toMatchObject([
      { state: "firing", firedAt: START + 210_000, annotations: { text: "a at 7" } },
    ]);
    expect(read("ALERTS").map((s) => s.labels.alertstate)).toEqual(["firing"]);
    set({ __name__: "x", pod: "a" }, 9);
    clock.advance(30_000);
    expect(engine.alerts()[0]!.annotations.text).toBe("a at 9");
    set({ __name__: "x", pod: "a" }, 0);
    clock.advance(30_000);
    expect(engine.alerts()).toEqual([]);
    expect(read("ALERTS")).toEqual([]);
    expect(engine.history()).toMatchObject([
      {
        name: "High",
        state: "resolved",
        activeAt: START + 150_000,
        firedAt: START + 210_000,
        resolvedAt: START + 270_000,
      },
    ]);
    expect(log).toEqual(["150s High inactive->pending", "210s High pending->firing", "270s High firing->resolved"]);
  });

  it("starts over when the condition fails while pending", () => {
    const { clock, log, set } = bench([{ alert: "A", expr: "x > 0", for: "2m" }]);
    set({ __name__: "x" }, 1);
    clock.advance(MINUTE);
    set({ __name__: "x" }, 0);
    clock.advance(MINUTE);
    set({ __name__: "x" }, 1);
    clock.advance(3 * MINUTE);
    expect(log).toEqual([
      "30s A inactive->pending",
      "90s A pending->inactive",
      "150s A inactive->pending",
      "270s A pending->firing",
    ]);
  });

  it("without `for` fires at once, and anew after it resolved", () => {
    const { clock, log, set, engine } = bench([{ alert: "A", expr: "x > 0" }]);
    set({ __name__: "x" }, 1);
    clock.advance(30_000);
    set({ __name__: "x" }, 0);
    clock.advance(30_000);
    set({ __name__: "x" }, 1);
    clock.advance(30_000);
    expect(log).toEqual(["30s A inactive->firing", "60s A firing->resolved", "90s A inactive->firing"]);
    expect(engine.history()).toHaveLength(2);
  });

  it("keeps firing for `keep_firing_for`", () => {
    const { clock, log, set } = bench([{ alert: "A", expr: "x > 0", keep_firing_for: "1m" }]);
    set({ __name__: "x" }, 1);
    clock.advance(30_000);
    set({ __name__: "x" }, 0);
    clock.advance(5 * MINUTE);
    expect(log).toEqual(["30s A inactive->firing", "120s A firing->resolved"]);
  });

  it("is one per label set; templated labels part them", () => {
    const { clock, set, engine } = bench([
      { alert: "A", expr: "x", labels: { level: "{{ if gt $value 5.0 }}high{{ else }}low{{ end }}" } },
    ]);
    set({ __name__: "x", pod: "a" }, 1);
    set({ __name__: "x", pod: "b" }, 9);
    clock.advance(30_000);
    expect(engine.alerts().map((a) => `${a.labels.pod} ${a.labels.level}`)).toEqual(["a low", "b high"]);
  });

  it("of a series that went stale resolves", () => {
    const { clock, store, log } = bench([{ alert: "A", expr: "y" }]);
    const series = store.series({ __name__: "y" });
    store.append(series, START + 1000, 1);
    clock.advance(4 * MINUTE);
    clock.advance(2 * MINUTE);
    expect(log).toEqual(["30s A inactive->firing", "330s A firing->resolved"]);
  });
});

describe("a recording rule", () => {
  it("writes its series in the group's order, so that the next rule sees them, and marks gone ones stale", () => {
    const { clock, set, read, log } = bench([
      { record: "pod:x:sum", expr: "sum by (pod) (x) > 0", labels: { team: "t" } },
      { alert: "A", expr: 'pod:x:sum{team="t"} > 5' },
    ]);
    set({ __name__: "x", pod: "a", i: "1" }, 4);
    set({ __name__: "x", pod: "a", i: "2" }, 3);
    set({ __name__: "x", pod: "b", i: "1" }, 1);
    clock.advance(30_000);
    expect(read("pod:x:sum").map((s) => [s.labels, s.value])).toEqual([
      [{ __name__: "pod:x:sum", pod: "a", team: "t" }, 7],
      [{ __name__: "pod:x:sum", pod: "b", team: "t" }, 1],
    ]);
    expect(log).toEqual(["30s A inactive->firing"]);
    set({ __name__: "x", pod: "b", i: "1" }, 0);
    clock.advance(30_000);
    expect(read("pod:x:sum").map((s) => s.labels.pod)).toEqual(["a"]);
  });

  it("that fails says so, and leaves the others alone", () => {
    const { clock, set, engine, log } = bench([
      { record: "bad", expr: "x * on (p) x" },
      { alert: "A", expr: "x > 0" },
    ]);
    set({ __name__: "x", i: "1" }, 1);
    set({ __name__: "x", i: "2" }, 1);
    clock.advance(30_000);
    const [bad, good] = engine.groups()[0]!.rules;
    expect(bad).toMatchObject({ health: "err", lastError: expect.stringContaining("many-to-many") });
    expect(good).toMatchObject({ health: "ok", lastEvaluation: START + 30_000 });
    expect(log).toHaveLength(2);
  });
});

it("evaluates groups at their own interval", () => {
  const clock = new VirtualClock(START);
  const rules = [{ record: "r", expr: "1" }];
  const groups = loadRules([
    {
      groups: [
        { name: "slow", interval: "3m", rules },
        { name: "default", rules },
      ],
    },
  ]);
  const engine = createRuleEngine({ clock, store: createMetricStore(), groups });
  clock.advance(2 * MINUTE);
  expect(engine.groups().map((g) => g.lastEvaluation)).toEqual([undefined, START + 2 * MINUTE]);
  clock.advance(2 * MINUTE);
  expect(engine.groups().map((g) => g.lastEvaluation)).toEqual([START + 3 * MINUTE, START + 4 * MINUTE]);
  engine.stop();
  clock.advance(10 * MINUTE);
  expect(engine.groups()[1]!.lastEvaluation).toBe(START + 4 * MINUTE);
});

it("a group's limit makes rules fail that yield more; its query offset looks back", () => {
  const clock = new VirtualClock(START);
  const store = createMetricStore();
  const rules = [
    { record: "r", expr: "x" },
    { alert: "A", expr: "x" },
  ];
  const groups = loadRules([
    {
      groups: [
        { name: "two", limit: 2, rules },
        { name: "one", limit: 1, rules },
        { name: "late", query_offset: "1m", rules: [{ record: "late", expr: "x" }] },
      ],
    },
  ]);
  const engine = createRuleEngine({ clock, store, groups });
  clock.every(15_000, () => {
    for (const i of ["1", "2"]) store.append(store.series({ __name__: "x", i }), clock.now(), clock.now() - START);
  });
  clock.advance(2 * MINUTE);
  const health = engine.groups().map((g) => g.rules.map((r) => r.lastError ?? r.health));
  expect(health).toEqual([
    ["ok", "ok"],
    ["exceeded limit of 1 with 2 series", "exceeded limit of 1 with 2 alerts"],
    ["ok"],
  ]);
  const { value } = prepare(store, "late").instant(clock.now());
  expect(value.type === "vector" && value.samples.map((s) => s.value)).toEqual([MINUTE, MINUTE]);
});

it("lists the metrics that rules read and nobody provides", () => {
  const { engine, set, clock } = bench([
    { record: "r", expr: "sum(x)" },
    { alert: "A", expr: 'r > 1 and on () absent_thing{a="b"} unless {__name__=~"gone_.+"}' },
  ]);
  set({ __name__: "x" }, 1);
  clock.advance(MINUTE);
  expect(engine.missing()).toEqual([{ group: "g", rule: "A", metrics: ["=~gone_.+", "absent_thing"] }]);
});

it("says the same twice: two engines on equal data, side by side", () => {
  const run = () => {
    const { clock, set, engine, log } = bench([{ alert: "A", expr: "x > 1", for: "1m" }]);
    for (let i = 0; i < 10; i++) set({ __name__: "x", i: String(i) }, i);
    clock.advance(10 * MINUTE);
    return JSON.stringify([log, engine.alerts()]);
  };
  expect(run()).toBe(run());
});

describe("the package's Kubernetes rules", () => {
  const cases: [alert: string, series: [string, Record<string, string>, number][]][] = [
    ["KubePodNotReady", [["kube_pod_status_phase", { namespace: "n", pod: "p", phase: "Pending" }, 1]]],
    [
      "KubePodNotReady",
      [
        ["kube_pod_status_phase", { namespace: "n", pod: "p", phase: "Running" }, 1],
        ["kube_pod_status_ready", { namespace: "n", pod: "p", condition: "true" }, 0],
      ],
    ],
    [
      "KubeContainerWaiting",
      [
        [
          "kube_pod_container_status_waiting_reason",
          { namespace: "n", pod: "p", container: "c", reason: "ImagePullBackOff" },
          1,
        ],
      ],
    ],
    [
      "KubePodCrashLooping",
      [
        [
          "kube_pod_container_status_waiting_reason",
          { namespace: "n", pod: "p", container: "c", reason: "CrashLoopBackOff" },
          1,
        ],
      ],
    ],
    [
      "KubeDeploymentRolloutStuck",
      [
        [
          "kube_deployment_status_condition",
          { namespace: "n", deployment: "d", condition: "Progressing", status: "false" },
          1,
        ],
      ],
    ],
    [
      "KubeHpaMaxedOut",
      [
        ["kube_horizontalpodautoscaler_status_current_replicas", { namespace: "n", horizontalpodautoscaler: "h" }, 3],
        ["kube_horizontalpodautoscaler_spec_max_replicas", { namespace: "n", horizontalpodautoscaler: "h" }, 3],
        ["kube_horizontalpodautoscaler_spec_min_replicas", { namespace: "n", horizontalpodautoscaler: "h" }, 1],
      ],
    ],
    [
      "KubeDeploymentReplicasMismatch",
      [
        ["kube_deployment_spec_replicas", { namespace: "n", deployment: "d" }, 2],
        ["kube_deployment_status_replicas_available", { namespace: "n", deployment: "d" }, 1],
        ["kube_deployment_status_replicas_updated", { namespace: "n", deployment: "d" }, 2],
      ],
    ],
    [
      "KubeQuotaFullyUsed",
      [
        ["kube_resourcequota", { namespace: "n", resource: "pods", type: "used" }, 4],
        ["kube_resourcequota", { namespace: "n", resource: "pods", type: "hard" }, 4],
      ],
    ],
    [
      "KubeNodeNotReady",
      [
        ["kube_node_status_condition", { node: "n1", condition: "Ready", status: "true" }, 0],
        ["kube_node_spec_unschedulable", { node: "n1" }, 0],
      ],
    ],
    ["TargetDown", [["up", { job: "j", namespace: "n", instance: "i" }, 0]]],
  ];
  it.each(cases)("%s fires on its condition, alone, and clears with it", (alert, series) => {
    const clock = new VirtualClock(START);
    const store = createMetricStore();
    let until = Number.POSITIVE_INFINITY;
    clock.every(30_000, () => {
      if (clock.now() > until) return;
      for (const [name, labels, value] of series) {
        store.append(store.series({ __name__: name, ...labels }), clock.now(), value);
      }
    });
    const engine = createRuleEngine({ clock, store, groups: kubernetesRules() });
    clock.advance(20 * MINUTE);
    expect(engine.groups().flatMap((g) => g.rules.filter((r) => r.health === "err"))).toEqual([]);
    expect(engine.alerts().map((a) => [a.name, a.state])).toEqual([[alert, "firing"]]);
    until = clock.now();
    clock.advance(11 * MINUTE);
    expect(engine.alerts()).toEqual([]);
  });
});
