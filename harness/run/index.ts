/** Running trials, keeping them, and summing them up. */

export { type Comparison, compareRuns, type StoredRun } from "./compare.js";
export { differences, type RunConfiguration, scenarioHash } from "./configuration.js";
export { createSimulated, type SimulatedSettings, UnsupportedScenarioError } from "./environments.js";
export { incidentNote, saveIncident } from "./incidents.js";
export { NoAlertError, UnhealthyEnvironmentError } from "./observe.js";
export type { Effort, TaskRecord, TrialReason, TrialRecord } from "./record.js";
export { openIncidentsFolder, RunbookFolderError, type Runbooks, readRunbooks } from "./runbooks.js";
export { executeRun, type RunObserver, type RunOptions } from "./runner.js";
export { listRuns, type RunFile, RunFolderError, RunStore } from "./store.js";
export { type Spread, type Summary, summarize } from "./summary.js";
export {
  type PreparedEnvironment,
  runTrial,
  type TrialDependencies,
  type TrialPhase,
  type TrialResult,
  TrialSetupError,
  type TrialTask,
} from "./trial.js";
