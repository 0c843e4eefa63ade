/** The scores of one trial, put together. */
import type { Scenario } from "../scenario/index.js";
import { type DiagnosisScore, diagnosis, falseAlarm, type ScoredOutput } from "./diagnosis.js";
import {
  DEFAULT_VERIFICATION,
  type MitigationScore,
  mitigation,
  type ObservedState,
  type VerificationWindow,
} from "./mitigation.js";

export interface ScoringInput {
  scenario: Scenario;
  /** The diagnosis handed in; undefined when there is none. */
  output: ScoredOutput | undefined;
  /** What was seen of the environment; undefined where no mitigation was asked for or it never began. */
  observed: ObservedState | undefined;
  /** Whether the mitigation task ended with an answer, and why not. */
  mitigationOutcome: { ok: boolean; reason: string };
  window?: VerificationWindow;
}

export interface Scores {
  diagnosis: 0 | 1;
  /** null where nothing was to be mitigated (nothing injected). */
  mitigation: 0 | 1 | null;
  /** Diagnosis and mitigation in the same trial. */
  resolved: 0 | 1;
  /** null where something was injected. */
  false_alarm: 0 | 1 | null;
  details: { diagnosis: DiagnosisScore; mitigation: MitigationScore | null };
}

/** A trial without output, or that never came to its mitigation, scores 0 there; it is never left out. Pure. */
export function scoreTrial({ scenario, output, observed, mitigationOutcome, window }: ScoringInput): Scores {
  const injected = scenario.disruptions.length > 0;
  const found = diagnosis(scenario.ground_truth, output);
  const repaired =
    injected && observed
      ? mitigation(observed, mitigationOutcome, window ?? DEFAULT_VERIFICATION, scenario.desired.may_remove)
      : null;
  const mitigated = injected ? (repaired?.value ?? 0) : null;
  return {
    diagnosis: found.value,
    mitigation: mitigated,
    resolved: found.value === 1 && mitigated !== 0 ? 1 : 0,
    false_alarm: falseAlarm(injected, output) ?? null,
    details: { diagnosis: found, mitigation: repaired },
  };
}
