/** What the trials of a run amount to. */
import { meanOverScenarios, passAtK, passHatK, type Rate, wilson } from "../stats/index.js";
import type { TrialRecord } from "./record.js";

export interface Spread {
  mean: number;
  /** Quartiles; the second is the median. */
  quartiles: [number, number, number];
}

export interface Summary {
  trials: number;
  scenarios: number;
  /**
   * Rates with their 95 % Wilson interval, over all trials with a fault; failed and errored ones count as 0. Null where
   * every trial was of a healthy twin.
   */
  diagnosis: Rate | null;
  /** Null where no trial had anything to mitigate. */
  mitigation: Rate | null;
  resolved: Rate | null;
  /** Over trials without a fault, which count nowhere else; null when there were none. */
  false_alarm: Rate | null;
  /** Over trials with a fault; 0 when there were none. */
  root_cause_entity_f1: number;
  /** Chance that one of k trials (all of k trials) resolves, mean over scenarios; k up to the number of trials. */
  resolved_pass_at_k: Record<string, number>;
  resolved_pass_hat_k: Record<string, number>;
  /** How many trials ended without an answer or an environment, by reason. */
  reasons: Record<string, number>;
  effort: Record<"attempts" | "steps" | "tokens" | "virtual_seconds" | "wall_seconds", Spread>;
  /** US dollars in all; null when the model has no price. */
  cost: number | null;
  time_to_diagnosis: (Spread & { trials: number }) | null;
  time_to_mitigation: (Spread & { trials: number }) | null;
}

/** Pure. */
export function summarize(records: readonly TrialRecord[]): Summary {
  const rate = (pick: (record: TrialRecord) => 0 | 1 | null): Rate | null => {
    const values = records.map(pick).filter((value) => value !== null);
    return values.length === 0 && records.length > 0
      ? null
      : wilson(
          values.reduce<number>((sum, value) => sum + value, 0),
          values.length,
        );
  };
  // A healthy twin asks another question: its answers stand beside the scores, never in them.
  const incidents = records.filter((record) => record.false_alarm === null);
  const byScenario = new Map<string, TrialRecord[]>();
  for (const record of incidents) byScenario.set(record.scenario, [...(byScenario.get(record.scenario) ?? []), record]);
  const tallies = [...byScenario.values()].map((group) => ({
    trials: group.length,
    passed: group.filter((record) => record.resolved === 1).length,
  }));
  const most = Math.max(0, ...tallies.map((tally) => tally.trials));
  const curve = (estimate: typeof passAtK) => {
    const ks = Array.from({ length: most }, (_, index) => index + 1);
    const points = ks.map((k) => [String(k), meanOverScenarios(tallies, k, estimate)] as const);
    return Object.fromEntries(points.filter((point): point is [string, number] => point[1] !== undefined));
  };
  const timed = (pick: (record: TrialRecord) => number | null) => {
    const values = records.map(pick).filter((value) => value !== null);
    return values.length === 0 ? null : { ...spread(values), trials: values.length };
  };
  const costs = records.map((record) => record.effort.cost);
  return {
    trials: records.length,
    scenarios: new Set(records.map((record) => record.scenario)).size,
    diagnosis: rate((record) => (record.false_alarm === null ? record.diagnosis : null)),
    mitigation: rate((record) => record.mitigation),
    resolved: rate((record) => (record.false_alarm === null ? record.resolved : null)),
    false_alarm: rate((record) => record.false_alarm),
    root_cause_entity_f1: mean(incidents.map((record) => record.details.diagnosis.root_cause_entity.f1)),
    resolved_pass_at_k: curve(passAtK),
    resolved_pass_hat_k: curve(passHatK),
    reasons: countReasons(records),
    effort: {
      attempts: spread(records.map((record) => record.attempts ?? 1)),
      steps: spread(records.map((record) => record.effort.steps)),
      tokens: spread(records.map((record) => record.effort.input_tokens + record.effort.output_tokens)),
      virtual_seconds: spread(records.map((record) => record.effort.virtual_seconds)),
      wall_seconds: spread(records.map((record) => record.effort.wall_seconds)),
    },
    cost: costs.some((cost) => cost === null) ? null : costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
    time_to_diagnosis: timed((record) => record.effort.time_to_diagnosis),
    time_to_mitigation: timed((record) => record.effort.time_to_mitigation),
  };
}

function countReasons(records: readonly TrialRecord[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reason } of records) if (reason !== null) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Mean and quartiles, interpolated between neighbours. */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (q: number): number => {
    if (sorted.length === 0) return 0;
    const place = q * (sorted.length - 1);
    const low = Math.floor(place);
    return sorted[low]! + (place - low) * ((sorted[low + 1] ?? sorted[low]!) - sorted[low]!);
  };
  return { mean: mean(values), quartiles: [at(0.25), at(0.5), at(0.75)] };
}
