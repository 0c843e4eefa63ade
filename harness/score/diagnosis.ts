/** `diagnosis`: the predicted root causes are the true ones, exactly. */
import type { GroundTruth } from "../scenario/index.js";
import { type RootCauseScore, rootCauseEntity } from "./root-cause-entity.js";

/** The parts of `agent_output.json` that scores read. */
export interface ScoredOutput {
  entities?: readonly { name: string; contributing_factor?: boolean }[];
}

export interface DiagnosisScore {
  value: 0 | 1;
  why: string;
  root_cause_entity: RootCauseScore;
}

/** Predicted = entities with `contributing_factor: true`, in the order given. */
export function predictedRootCauses(output: ScoredOutput | undefined): string[] {
  return (output?.entities ?? []).filter((entity) => entity.contributing_factor === true).map((entity) => entity.name);
}

/**
 * 1 when every predicted entity names a root cause and every root cause is named; aliases count. Where there is no
 * root cause (nothing was injected), 1 when none is predicted. Without output it is 0. Pure.
 */
export function diagnosis(truth: GroundTruth, output: ScoredOutput | undefined): DiagnosisScore {
  const score = rootCauseEntity(truth, predictedRootCauses(output));
  const wrong = score.predicted.filter((entity) => entity.names.length === 0).map((entity) => entity.name);
  const result = (value: 0 | 1, why: string): DiagnosisScore => ({ value, why, root_cause_entity: score });
  if (output === undefined) return result(0, "no answer");
  if (score.expected.length === 0 && wrong.length === 0) return result(1, "rightly names no root cause");
  if (score.predicted.length === 0) return result(0, `names no root cause; expected ${score.expected.join(", ")}`);
  if (wrong.length > 0) return result(0, `wrong: ${wrong.join(", ")}${missing(score)}`);
  if (score.missed.length > 0) return result(0, `incomplete${missing(score)}`);
  return result(1, "names the root cause and nothing else");
}

function missing(score: RootCauseScore): string {
  return score.missed.length > 0 ? `; missed: ${score.missed.join(", ")}` : "";
}

/** `false_alarm`: where nothing was injected, 1 when the answer names any root cause; undefined elsewhere. Pure. */
export function falseAlarm(injected: boolean, output: ScoredOutput | undefined): 0 | 1 | undefined {
  if (injected) return undefined;
  return predictedRootCauses(output).length > 0 ? 1 : 0;
}
