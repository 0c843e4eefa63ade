/** How hard a scenario is: the cube root of chain length x resolution steps x technologies, after the ITBench paper. */
import { aliasSets } from "./entity.js";
import type { Complexity, GroundTruth, Scenario } from "./schema.js";

/** Ours; the paper gives none. easy < 1.8 <= medium < 2.7 <= hard. */
export const COMPLEXITY_THRESHOLDS = { medium: 1.8, hard: 2.7 } as const;

export interface ComplexityFigures {
  chainLength: number;
  resolutionSteps: number;
  technologies: number;
  value: number;
  /** Level of the computed value. */
  computed: Complexity;
  /** The author's, where there is one, else the computed one. */
  level: Complexity;
}

/** Pure; factors that the scenario does not state are counted from its chain, solutions and kinds, 1 at least. */
export function complexityOf(scenario: Scenario): ComplexityFigures {
  const stated = scenario.complexity;
  const chainLength = stated.chain_length ?? Math.max(1, longestChain(scenario.ground_truth));
  const resolutionSteps = stated.resolution_steps ?? Math.max(1, countResolutionSteps(scenario));
  const technologies = stated.technologies ?? Math.max(1, countTechnologies(scenario));
  const value = Math.cbrt(chainLength * resolutionSteps * technologies);
  const computed = levelOfComplexity(value);
  return { chainLength, resolutionSteps, technologies, value, computed, level: stated.level ?? computed };
}

export function levelOfComplexity(value: number): Complexity {
  if (value < COMPLEXITY_THRESHOLDS.medium) return "easy";
  return value < COMPLEXITY_THRESHOLDS.hard ? "medium" : "hard";
}

/** Propagations on the longest path from a root cause; aliases are one node, circles are not walked twice. */
export function longestChain(truth: GroundTruth): number {
  const node = new Map<string, number>();
  const ids = [...truth.groups.map((group) => group.id), ...truth.propagations.flatMap((p) => [p.source, p.target])];
  aliasSets(ids, truth.aliases).forEach((set, index) => {
    for (const id of set) node.set(id, index);
  });
  const next = new Map<number, Set<number>>();
  for (const { source, target } of truth.propagations) {
    const [from, to] = [node.get(source)!, node.get(target)!];
    if (from !== to) next.set(from, (next.get(from) ?? new Set()).add(to));
  }
  const walk = (from: number, seen: ReadonlySet<number>): number => {
    let longest = 0;
    for (const to of next.get(from) ?? []) {
      if (!seen.has(to)) longest = Math.max(longest, 1 + walk(to, new Set([...seen, to])));
    }
    return longest;
  };
  const roots = truth.groups.filter((group) => group.root_cause).map((group) => node.get(group.id)!);
  const starts = roots.length > 0 ? roots : [...next.keys()];
  return Math.max(0, ...starts.map((start) => walk(start, new Set([start]))));
}

/** Each problem counts with its shortest variant. */
function countResolutionSteps(scenario: Scenario): number {
  const perProblem = scenario.solutions.map((variants) => Math.min(...variants.map((variant) => variant.steps.length)));
  return perProblem.reduce((sum, steps) => sum + steps, 0);
}

/** Applications and kinds of object that are root causes. */
function countTechnologies(scenario: Scenario): number {
  const kinds = scenario.ground_truth.groups.filter((group) => group.root_cause).map((group) => group.kind);
  return new Set(kinds.map((kind) => kind.toLowerCase())).size;
}
