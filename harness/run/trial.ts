/**
 * One trial: an environment, a fault, an agent's diagnosis and mitigation, a look at what became of it, scores.
 * Everything that it needs comes in from outside, so that it runs on any environment and with any agent.
 */
import type { Agent, Outcome } from "../../agents/agent.js";
import type { RunbookMemory } from "../../agents/index.js";
import type { TranscriptSink } from "../../agents/react/transcript.js";
import type { SreDiagnosis, SreMitigation, SreOutput } from "../../agents/sre/output.js";
import { composeSreOutput } from "../../agents/sre/output.js";
import type { ResolvedModel } from "../../models/index.js";
import type { Alert, Environment } from "../../testbed/environment.js";
import type { Scenario } from "../scenario/index.js";
import { type AlertInstance, type ObservedState, type Scores, scoreTrial } from "../score/index.js";
import { workOnIncident } from "./attempts.js";
import type { RunConfiguration } from "./configuration.js";
import { awaitIncident, checkHealth, instance } from "./observe.js";
import { addUsage, type TaskRecord, type TrialReason, type TrialRecord } from "./record.js";

/** An environment and what the harness knows of it beyond its interface. */
export interface PreparedEnvironment {
  environment: Environment;
  /** Namespaces of the scenario's applications: where a mitigation may write. */
  namespaces: string[];
  /** Name of the application for the task's text. */
  application?: string;
}

export interface TrialTask {
  scenario: Scenario;
  /** 1-based. */
  trial: number;
  configuration: RunConfiguration;
}

export interface TrialDependencies {
  createEnvironment(scenario: Scenario, seed: string): Promise<PreparedEnvironment>;
  agent: Agent;
  model: ResolvedModel;
  transcript: TranscriptSink;
  /** Given to the agent. */
  runbooks?: RunbookMemory;
  signal?: AbortSignal;
  /** Told of each phase as it begins or ends. */
  onPhase?(phase: TrialPhase): void;
}

export type TrialPhase =
  | { phase: "starting" }
  | { phase: "injected"; at: number; faults: string[] }
  | { phase: "alerts"; at: number; firing: Alert[]; missing: string[] }
  /** Only where several attempts are allowed. */
  | { phase: "attempt"; at: number; attempt: number; of: number }
  | { phase: "attempted"; at: number; attempt: number; of: number; verified: boolean; problems: string[] }
  | { phase: "task"; at: number; task: "diagnosis" | "mitigation" }
  | { phase: "diagnosed"; at: number; outcome: Outcome<SreDiagnosis> }
  | { phase: "mitigated"; at: number; outcome: Outcome<SreMitigation> }
  | { phase: "verified"; at: number; cleared: boolean }
  | { phase: "scored"; record: TrialRecord };

export interface TrialResult {
  record: TrialRecord;
  output: SreOutput;
}

/** The environment could not be brought to the point where the agent begins; worth another try. */
export class TrialSetupError extends Error {
  override name = "TrialSetupError";
}

/**
 * Runs one trial. An environment that fails before the agent begins throws TrialSetupError (for the caller to retry);
 * one that fails later makes an errored trial. What an agent or model does never throws.
 * @throws TrialSetupError, or the signal's reason when aborted
 */
export async function runTrial(task: TrialTask, dependencies: TrialDependencies): Promise<TrialResult> {
  const wallStart = performance.now();
  const { scenario, configuration } = task;
  const { signal, onPhase } = dependencies;
  const progress: Progress = { tasks: [], alerts: [], warnings: [] };
  let environment: Environment | undefined;
  try {
    let started: Started;
    try {
      onPhase?.({ phase: "starting" });
      const prepared = await dependencies.createEnvironment(scenario, configuration.seed);
      environment = prepared.environment;
      started = await begin(task, prepared, dependencies, progress);
    } catch (error) {
      signal?.throwIfAborted();
      throw new TrialSetupError((error as Error).message, { cause: error });
    }
    try {
      await workOnIncident(task, started, dependencies, progress);
    } catch (error) {
      signal?.throwIfAborted();
      progress.environmentError = (error as Error).message;
    }
  } finally {
    await environment?.stop();
  }
  signal?.throwIfAborted();
  const record = toRecord(task, dependencies.model, progress, (performance.now() - wallStart) / 1000);
  onPhase?.({ phase: "scored", record });
  return { record, output: composeSreOutput(progress.diagnosis, progress.mitigation) };
}

/** The record of a trial whose environment never came up. */
export function erroredTrial(task: TrialTask, model: ResolvedModel, error: Error, wallSeconds: number): TrialResult {
  const progress: Progress = { tasks: [], alerts: [], warnings: [], environmentError: error.message };
  return { record: toRecord(task, model, progress, wallSeconds), output: composeSreOutput(undefined) };
}

/** An environment in which the incident has begun. */
export interface Started extends PreparedEnvironment {
  baseline: AlertInstance[];
  healthyWorkloads: ObservedState["healthyWorkloads"];
}

/** What is known of a trial so far. */
export interface Progress {
  tasks: TaskRecord[];
  /** How many were begun. */
  attempts?: number;
  alerts: AlertInstance[];
  warnings: string[];
  /** Answers of the last attempt. */
  diagnosis?: SreDiagnosis;
  mitigation?: SreMitigation;
  /** Firing when the first mitigation began. */
  incident?: AlertInstance[];
  /** When the last mitigation ended. */
  mitigationEnded?: number;
  observed?: ObservedState;
  environmentError?: string;
  firstAlertAt?: number;
  agentStartedAt?: number;
  agentEndedAt?: number;
  diagnosedAt?: number;
}

/** Brings the environment up, injects, and waits for the alerts. */
async function begin(
  { scenario, configuration }: TrialTask,
  prepared: PreparedEnvironment,
  { signal, onPhase }: TrialDependencies,
  progress: Progress,
): Promise<Started> {
  const { environment } = prepared;
  await environment.start();
  signal?.throwIfAborted();
  const baseline = await checkHealth(environment, scenario.alerts);
  const healthyWorkloads = await environment.workloads();
  if (scenario.disruptions.length === 0) return { ...prepared, baseline, healthyWorkloads };

  await environment.inject(scenario.disruptions);
  const faults = scenario.disruptions.flatMap(({ injections }) => injections.map((injection) => injection.id));
  onPhase?.({ phase: "injected", at: environment.clock.now(), faults });
  const timeout = configuration.alert_timeout_seconds;
  const { firing, missing } = await awaitIncident(environment, scenario.alerts, baseline, timeout, signal);
  if (missing.length > 0)
    progress.warnings.push(`within ${timeout} s these alerts did not fire: ${missing.join(", ")}`);
  progress.alerts = firing.map(instance);
  progress.firstAlertAt = Math.min(...firing.map((alert) => alert.firedAt ?? environment.clock.now()));
  onPhase?.({ phase: "alerts", at: environment.clock.now(), firing, missing });
  return { ...prepared, baseline, healthyWorkloads };
}

function toRecord(task: TrialTask, model: ResolvedModel, progress: Progress, wallSeconds: number): TrialRecord {
  const { scenario, trial, configuration } = task;
  const { tasks, observed } = progress;
  const attempts = progress.attempts ?? 0;
  const own = tasks.filter((entry) => entry.task !== "reflection" && (entry.attempt ?? 1) === Math.max(1, attempts));
  const mitigated = own.find((entry) => entry.task === "mitigation");
  const scores: Scores = scoreTrial({
    scenario,
    output: progress.diagnosis,
    observed,
    mitigationOutcome: {
      ok: mitigated?.status === "ok",
      reason: mitigated === undefined ? "the mitigation never began" : reasonText(mitigated),
    },
    window: configuration.verification,
  });
  const failed = own.find((entry) => entry.status !== "ok");
  const reason: TrialReason | null =
    progress.environmentError !== undefined ? "environment-error" : ((failed?.status as TrialReason) ?? null);
  const detail = progress.environmentError ?? failed?.detail;
  const since = (at: number | undefined, from: number | undefined) =>
    at === undefined || from === undefined ? null : Math.max(0, (at - from) / 1000);
  const clearedAt = scores.details.mitigation?.clearedAt;
  return {
    schema: "itbench-baselines/trial/1",
    scenario: scenario.id,
    trial,
    seed: configuration.seed,
    model: model.name,
    is_llm: model.isLlm,
    reason,
    ...(detail ? { reason_detail: detail } : {}),
    ...scores,
    attempts,
    tasks,
    effort: {
      ...addUsage(tasks),
      virtual_seconds: since(progress.agentEndedAt, progress.agentStartedAt) ?? 0,
      wall_seconds: Math.round(wallSeconds * 1000) / 1000,
      time_to_diagnosis: scores.diagnosis === 1 ? since(progress.diagnosedAt, progress.firstAlertAt) : null,
      time_to_mitigation: scores.mitigation === 1 ? since(clearedAt, progress.firstAlertAt) : null,
    },
    alerts: progress.alerts,
    observed: observed ?? null,
    warnings: [...progress.warnings, ...scores.details.diagnosis.root_cause_entity.warnings],
  };
}

function reasonText({ status, detail }: TaskRecord): string {
  if (status === "ok") return "the agent handed in its answer";
  return detail ? `${status}: ${detail}` : status;
}
