/** Holds rule files against a running cluster: do they load, do they evaluate, and what do they ask for in vain. */
import type { VirtualClock } from "../clock.js";
import { createRuleEngine, ITBENCH_FOR, loadRulesYaml } from "../telemetry/rules/index.js";
import type { Cluster } from "./cluster.js";

export interface RuleFile {
  /** Name for messages. */
  name: string;
  /** YAML: PrometheusRule objects or plain Prometheus rule groups. */
  text: string;
}

export interface CheckedRule {
  group: string;
  /** Name of the alert, or of the series that is recorded. */
  rule: string;
  /** Why it cannot be evaluated. */
  error?: string;
  /** Metrics that it reads and that neither a series nor a recording rule of the files provides. */
  missing: string[];
  /** It fires, or is about to, in this environment. */
  active: boolean;
}

/**
 * Evaluates the rules of all files together, once, so that rules may build on each other's recordings.
 * @throws RuleError for a file that cannot be read as rules
 */
export function checkRules(cluster: Cluster, clock: VirtualClock, files: readonly RuleFile[]): CheckedRule[] {
  const groups = files.flatMap(({ name, text }) => loadRulesYaml(text, { source: name, for: ITBENCH_FOR }));
  const engine = createRuleEngine({ clock, store: cluster.metrics, groups });
  try {
    // Twice: what a group records may be read by a group that stands before it.
    engine.evaluate();
    engine.evaluate();
    const missing = new Map<string, string[]>();
    for (const { group, rule, metrics } of engine.missing()) {
      const key = `${group}\n${rule}`;
      missing.set(key, [...new Set([...(missing.get(key) ?? []), ...metrics])]);
    }
    return engine.groups().flatMap((group) =>
      group.rules.map(({ rule, lastError, alerts }) => ({
        group: group.name,
        rule: rule.name,
        ...(lastError === undefined ? {} : { error: lastError }),
        missing: missing.get(`${group.name}\n${rule.name}`) ?? [],
        active: alerts.length > 0,
      })),
    );
  } finally {
    engine.stop();
  }
}
