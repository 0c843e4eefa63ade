/** What the SRE agent is asked to do. */
import type { SreDiagnosis, SreMitigation } from "./output.js";

/** Find the root cause; nothing may be changed. */
export interface DiagnosisTask {
  task: "diagnosis";
  /** Application as a reader would name it, such as "OpenTelemetry Demo". */
  application?: string;
  /** Notes from earlier attempts at the same incident. */
  memory?: readonly string[];
}

/** Repair what the diagnosis found. */
export interface MitigationTask {
  task: "mitigation";
  application?: string;
  /** The answer of the diagnosis; absent when there was none. */
  diagnosis?: SreDiagnosis;
  memory?: readonly string[];
}

export type SreTask = DiagnosisTask | MitigationTask;
export type SreTaskOutput = SreDiagnosis | SreMitigation;
