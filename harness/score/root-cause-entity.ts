/** Which of the predicted root causes are right: `root_cause_entity` and `root_cause_entity@k`. */
import {
  aliasSets,
  formatEntity,
  type GroundTruth,
  type GroupMatcher,
  groupMatcher,
  parseEntity,
} from "../scenario/index.js";

export interface PrecisionRecall {
  precision: number;
  recall: number;
  f1: number;
}

export interface PredictedEntity {
  /** As the agent wrote it. */
  name: string;
  /** The root causes that it names (by the id of their root-cause group); empty when it is wrong. */
  names: string[];
}

export interface RootCauseScore extends PrecisionRecall {
  /** The same over the first k predicted, k = 1..5. */
  at: Record<"1" | "2" | "3" | "4" | "5", PrecisionRecall>;
  predicted: PredictedEntity[];
  /** Root causes (each alias set once, by the id of its root-cause group) that nothing predicted names. */
  missed: string[];
  /** Root causes that there are. */
  expected: string[];
  /** Filters that are no regular expressions, names that are no entities ... */
  warnings: string[];
}

const NOTHING: PrecisionRecall = { precision: 0, recall: 0, f1: 0 };

/**
 * Precision = correct predicted / predicted; recall = root causes named / root causes, where a root cause and its
 * aliases (closed transitively) count once; F1 their harmonic mean; all 0 when nothing matches. The same entity said
 * twice counts once. Pure.
 * @param predicted entity names (`namespace/Kind/name`), most important first
 */
export function rootCauseEntity(truth: GroundTruth, predicted: readonly string[]): RootCauseScore {
  const warnings: string[] = [];
  const causes = rootCauses(truth, warnings);
  const seen = new Set<string>();
  const found: { name: string; causes: RootCause[] }[] = [];
  for (const name of predicted) {
    const entity = parseEntity(name);
    if (!entity) warnings.push(`"${name}" is no entity: expected namespace/Kind/name`);
    const key = entity ? formatEntity({ ...entity, kind: entity.kind.toLowerCase() }) : name;
    if (seen.has(key)) continue;
    seen.add(key);
    // Groups may overlap: an entity counts for each root cause that it matches.
    const matches = (cause: RootCause) => entity !== undefined && cause.matchers.some((one) => one.matches(entity));
    found.push({ name, causes: causes.filter(matches) });
  }
  const measure = (first: typeof found): PrecisionRecall => {
    const correct = first.filter((entry) => entry.causes.length > 0);
    if (correct.length === 0) return NOTHING;
    const precision = correct.length / first.length;
    const recall = new Set(correct.flatMap((entry) => entry.causes)).size / causes.length;
    return { precision, recall, f1: (2 * precision * recall) / (precision + recall) };
  };
  const named = new Set(found.flatMap((entry) => entry.causes));
  return {
    ...measure(found),
    at: {
      1: measure(found.slice(0, 1)),
      2: measure(found.slice(0, 2)),
      3: measure(found.slice(0, 3)),
      4: measure(found.slice(0, 4)),
      5: measure(found.slice(0, 5)),
    },
    predicted: found.map((entry) => ({ name: entry.name, names: entry.causes.map((cause) => cause.id) })),
    missed: causes.filter((cause) => !named.has(cause)).map((cause) => cause.id),
    expected: causes.map((cause) => cause.id),
    warnings,
  };
}

interface RootCause {
  id: string;
  matchers: GroupMatcher[];
}

function rootCauses(truth: GroundTruth, warnings: string[]): RootCause[] {
  const matchers = new Map(truth.groups.map((group) => [group.id, groupMatcher(group)]));
  const roots = new Set(truth.groups.filter((group) => group.root_cause).map((group) => group.id));
  const causes: RootCause[] = [];
  for (const set of aliasSets(matchers.keys(), truth.aliases)) {
    const id = set.find((member) => roots.has(member));
    if (id === undefined) continue;
    const members = set.map((member) => matchers.get(member)).filter((matcher) => matcher !== undefined);
    causes.push({ id, matchers: members });
    for (const { group, invalid } of members) {
      for (const { filter, message } of invalid) {
        warnings.push(`group ${group.id}: "${filter}" is no regular expression, matched literally (${message})`);
      }
    }
  }
  return causes;
}
