import { describe, expect, it } from "vitest";
import { kubernetesRules, loadRules, loadRulesYaml, RuleError } from "../../../../testbed/telemetry/rules/index.js";

const group = (rules: unknown[], extra = {}) => ({ groups: [{ name: "g", rules, ...extra }] });

describe("loadRules", () => {
  it("reads plain files, PrometheusRules, and lists of them; passes other kinds over", () => {
    const plain = group([{ record: "a:b", expr: "sum(a)" }], { interval: "1m" });
    const resource = { kind: "PrometheusRule", metadata: { name: "n", namespace: "ns" }, spec: plain };
    const groups = loadRules([plain, null, { kind: "ConfigMap" }, { kind: "List", items: [resource] }], {
      source: "f",
    });
    expect(groups.map((g) => [g.source, g.name, g.intervalMs, g.rules.length])).toEqual([
      ["f", "g", 60_000, 1],
      ["ns/n", "g", 60_000, 1],
    ]);
  });

  it("replaces `for` by name", () => {
    const docs = [
      group([
        { alert: "A", expr: "x", for: "15m" },
        { alert: "B", expr: "x", for: "15m" },
      ]),
    ];
    const rules = loadRules(docs, { for: { A: "5m" } })[0]!.rules;
    expect(rules.map((r) => r.kind === "alerting" && r.forMs)).toEqual([300_000, 900_000]);
  });

  it.each([
    [[{ alert: "A" }], "groups.0.rules.0.expr"],
    [[{ alert: "A", expr: "sum(" }], 'group "g", rule "A": expr: 1:5'],
    [[{ alert: "A", record: "b", expr: "x" }], 'either "alert" or "record"'],
    [[{ expr: "x" }], 'either "alert" or "record"'],
    [[{ record: "a b", expr: "x" }], "not a valid metric name"],
    [[{ record: "a", expr: "x", for: "1m" }], "for alerts only"],
    [[{ alert: "A", expr: "x", for: "soon" }], 'not a duration: "soon"'],
    [[{ alert: "A", expr: "x", annotations: { s: "{{ nope }}" } }], 'template of "s": function "nope"'],
    [[{ alert: "A", expr: "x", fro: "1m" }], "fro"],
  ])("%j is refused: %s", (rules, message) => {
    expect(() => loadRules([group(rules)])).toThrow(RuleError);
    expect(() => loadRules([group(rules)])).toThrow(message);
  });

  it("refuses YAML that is none, and a group given twice", () => {
    expect(() => loadRulesYaml("groups: [", { source: "bad.yaml" })).toThrow(/bad\.yaml/);
    const twice = { groups: [...group([]).groups, ...group([]).groups] };
    expect(() => loadRules([twice])).toThrow(/"g" is there twice/);
  });

  it("reads the package's own rules; the five that ITBench shortens wait 5 minutes", () => {
    const rules = kubernetesRules().flatMap((g) => g.rules);
    const fors = Object.fromEntries(rules.flatMap((r) => (r.kind === "alerting" ? [[r.name, r.forMs / 60_000]] : [])));
    expect(fors).toMatchObject({
      KubeContainerWaiting: 5,
      KubeDeploymentReplicasMismatch: 15,
      KubeDeploymentRolloutStuck: 5,
      KubeHpaMaxedOut: 5,
      KubePodCrashLooping: 5,
      KubePodNotReady: 5,
    });
  });
});
