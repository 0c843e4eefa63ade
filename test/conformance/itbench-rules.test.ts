/** ITBench's rule files load unchanged, and every rule evaluates without an error on an empty and on a filled store. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageFile } from "../../paths.js";
import { VirtualClock } from "../../testbed/clock.js";
import { createMetricStore } from "../../testbed/telemetry/metric-store.js";
import { prepare, selectors } from "../../testbed/telemetry/promql/index.js";
import { createRuleEngine, ITBENCH_FOR, loadRulesYaml, type RuleGroup } from "../../testbed/telemetry/rules/index.js";

const folder = packageFile("..", "shared", "data", "itbench", "rules");
const present = existsSync(folder);
const files = present ? readdirSync(folder).filter((name) => name.endsWith(".yaml")) : [];

function load(file: string): RuleGroup[] {
  return loadRulesYaml(readFileSync(join(folder, file), "utf8"), { source: file, for: ITBENCH_FOR });
}

describe.skipIf(!present)(
  present ? "ITBench's rules" : "ITBench's rules (skipped: ../shared/data/itbench/rules is absent)",
  () => {
    it.each(files)("%s evaluates on an empty store and lists what it lacks", (file) => {
      const clock = new VirtualClock(Date.UTC(2026, 0, 15));
      const engine = createRuleEngine({ clock, store: createMetricStore(), groups: load(file) });
      clock.advance(10 * 60_000);
      const rules = engine.groups().flatMap((group) => group.rules);
      expect(rules.length).toBeGreaterThan(0);
      expect(rules.filter((rule) => rule.health !== "ok").map((rule) => rule.lastError)).toEqual([]);
      expect(engine.missing().length).toBeGreaterThan(0);
    });

    it("all of them together evaluate where every metric that they read exists", () => {
      const clock = new VirtualClock(Date.UTC(2026, 0, 15));
      const store = createMetricStore();
      const groups = files.flatMap(load);
      for (const { rules } of groups) {
        for (const { expr } of rules) {
          for (const { matchers } of selectors(prepare(store, expr).expr)) {
            const labels: Record<string, string> = { namespace: "shop", pod: "a", node: "n1", cluster: "" };
            for (const m of matchers) if (m.op === "=") labels[m.name] = m.value;
            if (labels.__name__?.endsWith("_bucket")) labels.le ??= "+Inf";
            if (labels.__name__ !== undefined) store.series(labels);
          }
        }
      }
      clock.every(30_000, () => {
        for (const series of store.select([{ name: "__name__", op: "!=", value: "" }])) {
          if (!/^ALERTS/.test(series.labels.__name__!)) store.append(series, clock.now(), clock.now() / 30_000);
        }
      });
      const engine = createRuleEngine({ clock, store, groups });
      clock.advance(20 * 60_000);
      const bad = engine
        .groups()
        .flatMap((group) => group.rules)
        .filter((rule) => rule.health === "err");
      expect(bad.map((rule) => `${rule.rule.name}: ${rule.lastError}`)).toEqual([]);
      expect(engine.alerts().length).toBeGreaterThan(10);
      for (const alert of engine.alerts()) {
        for (const text of Object.values(alert.annotations)) expect(text).not.toMatch(/\{\{|<error|<no value>/);
      }
    });

    it("shortens what ITBench shortens, and nothing else", () => {
      const rules = load("kubernetes-mixin.yaml").flatMap((group) => group.rules);
      const fors = new Map(rules.flatMap((rule) => (rule.kind === "alerting" ? [[rule.name, rule.forMs]] : [])));
      for (const name of Object.keys(ITBENCH_FOR)) expect([name, fors.get(name)]).toEqual([name, 300_000]);
      expect(fors.get("KubeStatefulSetReplicasMismatch")).toBe(900_000);
    });
  },
);
