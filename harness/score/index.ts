/** Scores: pure functions of scenario, output and what was seen of the environment. */
export { type DiagnosisScore, diagnosis, falseAlarm, predictedRootCauses, type ScoredOutput } from "./diagnosis.js";
export {
  type AlertInstance,
  alertKey,
  type Check,
  DEFAULT_VERIFICATION,
  type MitigationScore,
  mitigation,
  type ObservedState,
  type VerificationWindow,
  type WorkloadReplicas,
} from "./mitigation.js";
export { type PrecisionRecall, type RootCauseScore, rootCauseEntity } from "./root-cause-entity.js";
export { type Scores, type ScoringInput, scoreTrial } from "./trial.js";
