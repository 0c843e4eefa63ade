/** Two runs side by side, paired by scenario and trial: what one factor is worth. */
import { type Rate, wilson } from "../stats/index.js";
import { fieldDifferences, type RunConfiguration } from "./configuration.js";
import type { TrialRecord } from "./record.js";

/** A run as it stands in its folder. */
export interface StoredRun {
  name: string;
  configuration: RunConfiguration;
  trials: readonly TrialRecord[];
}

/** A score of both runs over the same pairs. */
export interface RateDifference {
  a: Rate;
  b: Rate;
  /** b - a, as a share from -1 to 1. */
  difference: number;
  /** Pairs in which only one of the two passed. */
  only_a: number;
  only_b: number;
}

export interface MeanDifference {
  a: number;
  b: number;
  difference: number;
}

/** Null where no pair has the score. */
export interface Differences {
  pairs: number;
  diagnosis: RateDifference | null;
  mitigation: RateDifference | null;
  resolved: RateDifference | null;
  /** Over healthy twins alone; the scores above leave those out. */
  false_alarm: RateDifference | null;
  steps: MeanDifference;
  tokens: MeanDifference;
}

export interface Comparison {
  a: string;
  b: string;
  /** Options that differ, `path` as in run.json. */
  options: { path: string; a: unknown; b: unknown }[];
  /** Pairs were left out since the scenario is not the same in both. */
  changed_scenarios: string[];
  /** Trials of one run that the other does not have. */
  only_in_a: number;
  only_in_b: number;
  total: Differences;
  scenarios: ({ scenario: string } & Differences)[];
}

/** Pure. */
export function compareRuns(a: StoredRun, b: StoredRun): Comparison {
  const changed = changedScenarios(a.configuration, b.configuration);
  const key = ({ scenario, trial }: TrialRecord) => `${scenario}/${trial}`;
  const others = new Map(b.trials.map((record) => [key(record), record]));
  const pairs = a.trials.flatMap((record): Pair[] => {
    const other = others.get(key(record));
    return other === undefined || changed.includes(record.scenario) ? [] : [{ a: record, b: other }];
  });
  const known = new Set(a.trials.map(key));
  const scenarios = [...new Set(pairs.map((pair) => pair.a.scenario))];
  return {
    a: a.name,
    b: b.name,
    options: differingOptions(a.configuration, b.configuration),
    changed_scenarios: changed,
    only_in_a: a.trials.filter((record) => !others.has(key(record))).length,
    only_in_b: b.trials.filter((record) => !known.has(key(record))).length,
    total: differencesOf(pairs),
    scenarios: scenarios.map((scenario) => ({
      scenario,
      ...differencesOf(pairs.filter((pair) => pair.a.scenario === scenario)),
    })),
  };
}

interface Pair {
  a: TrialRecord;
  b: TrialRecord;
}

function differencesOf(pairs: readonly Pair[]): Differences {
  const incidents = pairs.filter((pair) => pair.a.false_alarm === null);
  const healthy = pairs.filter((pair) => pair.a.false_alarm !== null);
  return {
    pairs: pairs.length,
    diagnosis: rates(incidents, (record) => record.diagnosis),
    mitigation: rates(incidents, (record) => record.mitigation),
    resolved: rates(incidents, (record) => record.resolved),
    false_alarm: rates(healthy, (record) => record.false_alarm),
    steps: means(pairs, (record) => record.effort.steps),
    tokens: means(pairs, (record) => record.effort.input_tokens + record.effort.output_tokens),
  };
}

function rates(pairs: readonly Pair[], pick: (record: TrialRecord) => 0 | 1 | null): RateDifference | null {
  const values = pairs.flatMap((pair) => {
    const [a, b] = [pick(pair.a), pick(pair.b)];
    return a === null || b === null ? [] : [{ a, b }];
  });
  if (values.length === 0) return null;
  const rate = (side: "a" | "b") => wilson(values.filter((value) => value[side] === 1).length, values.length);
  const [a, b] = [rate("a"), rate("b")];
  return {
    a,
    b,
    difference: b.rate - a.rate,
    only_a: values.filter((value) => value.a > value.b).length,
    only_b: values.filter((value) => value.b > value.a).length,
  };
}

function means(pairs: readonly Pair[], pick: (record: TrialRecord) => number): MeanDifference {
  const mean = (side: "a" | "b") =>
    pairs.length === 0 ? 0 : pairs.reduce((sum, pair) => sum + pick(pair[side]), 0) / pairs.length;
  const [a, b] = [mean("a"), mean("b")];
  return { a, b, difference: b - a };
}

function changedScenarios(a: RunConfiguration, b: RunConfiguration): string[] {
  const hashes = new Map(b.scenarios.map(({ id, hash }) => [id, hash]));
  return a.scenarios.filter(({ id, hash }) => hashes.has(id) && hashes.get(id) !== hash).map(({ id }) => id);
}

/** What is no option of the agent: how many trials there are of which scenarios, where a folder lay. */
const NOT_COMPARED = new Set(["scenarios", "trials", "runbooks.folder"]);
/** What an absent field stands for. */
const ABSENT: Record<string, unknown> = { attempts: 1 };

function differingOptions(a: RunConfiguration, b: RunConfiguration): Comparison["options"] {
  const meant = (value: unknown, path: string) => value ?? ABSENT[path] ?? null;
  return fieldDifferences(a, b, NOT_COMPARED)
    .map(({ path, a, b }) => ({ path, a: meant(a, path), b: meant(b, path) }))
    .filter(({ a, b }) => JSON.stringify(a) !== JSON.stringify(b));
}
