/**
 * One trial: an environment, a fault, an agent's diagnosis and mitigation, a look at what became of it, scores.
 * Everything that it needs comes in from outside, so that it runs on any environment and with any agent.
 */
import type { Agent, Outcome } from "../../agents/agent.js";
import type { TranscriptSink } from "../../agents/react/transcript.js";
import type { SreDiagnosis, SreMitigation, SreOutput } from "../../agents/sre/output.js";
import { composeSreOutput } from "../../agents/sre/output.js";
import type { ResolvedModel } from "../../models/index.js";
import type { Alert, Environment, Role } from "../../testbed/environment.js";
import type { Scenario } from "../scenario/index.js";
import { type AlertInstance, type ObservedState, type Scores, scoreTrial } from "../score/index.js";
import type { RunConfiguration } from "./configuration.js";
import { awaitIncident, checkHealth, incidentAlerts, instance, watchRecovery } from "./observe.js";
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
  signal?: AbortSignal;
  /** Told of each phase as it begins or ends. */
  onPhase?(phase: TrialPhase): void;
}

export type TrialPhase =
  | { phase: "starting" }
  | { phase: "injected"; at: number; faults: string[] }
  | { phase: "alerts"; at: number; firing: Alert[]; missing: string[] }
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
      await work(task, started, dependencies, progress);
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

interface Started extends PreparedEnvironment {
  baseline: AlertInstance[];
  healthyWorkloads: ObservedState["healthyWorkloads"];
}

/** What is known of a trial so far. */
interface Progress {
  tasks: TaskRecord[];
  alerts: AlertInstance[];
  warnings: string[];
  diagnosis?: SreDiagnosis;
  mitigation?: SreMitigation;
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

/** Diagnosis, mitigation, verification. */
async function work(
  { scenario, configuration }: TrialTask,
  started: Started,
  dependencies: TrialDependencies,
  progress: Progress,
): Promise<void> {
  const { environment, baseline, healthyWorkloads, application } = started;
  const { signal, onPhase } = dependencies;
  const now = () => environment.clock.now();
  const run = <Output>(
    name: TaskRecord["task"],
    role: Role,
    agentTask: object,
    onStep?: () => Promise<void>,
  ): Promise<Outcome<Output>> => {
    onPhase?.({ phase: "task", at: now(), task: name });
    return runTask<Output>({ name, role, agentTask, onStep }, started, configuration, dependencies, progress);
  };

  progress.agentStartedAt = now();
  const diagnosed = await run<SreDiagnosis>("diagnosis", "read-only", { task: "diagnosis", application });
  progress.diagnosedAt = progress.agentEndedAt = now();
  if (diagnosed.output) progress.diagnosis = diagnosed.output;
  onPhase?.({ phase: "diagnosed", at: now(), outcome: diagnosed });
  if (scenario.disruptions.length === 0 || diagnosed.status === "model-error") return;

  const before = await firingNow(environment, baseline);
  const task = { task: "mitigation", application, diagnosis: diagnosed.output };
  // Alerts may clear while the agent still looks on: the time to mitigation is counted from there.
  const during: ObservedState["looks"] = [];
  const look = async () => {
    during.push({ at: now(), firing: await firingNow(environment, baseline) });
  };
  const mitigated = await run<SreMitigation>("mitigation", "read-write", task, look);
  const mitigationEnded = now();
  progress.agentEndedAt = mitigationEnded;
  if (mitigated.output) progress.mitigation = mitigated.output;
  onPhase?.({ phase: "mitigated", at: mitigationEnded, outcome: mitigated });

  const looks = await watchRecovery(environment, baseline, configuration.verification, signal);
  progress.observed = {
    baseline,
    triggering: before,
    mitigationEnded,
    looks: onlyChanges([...during, ...looks]),
    healthyWorkloads,
    finalWorkloads: await environment.workloads(),
  };
  onPhase?.({ phase: "verified", at: now(), cleared: looks.at(-1)?.firing.length === 0 });
}

async function firingNow(environment: Environment, baseline: readonly AlertInstance[]): Promise<AlertInstance[]> {
  const alerts = incidentAlerts(await environment.alerts(), baseline);
  return alerts.filter((alert) => alert.state === "firing").map(instance);
}

async function runTask<Output>(
  { name, role, agentTask, onStep }: TaskRun,
  { environment, namespaces }: Started,
  configuration: RunConfiguration,
  { agent, model, transcript, signal }: TrialDependencies,
  progress: Progress,
): Promise<Outcome<Output>> {
  const endpoints = environment.endpoints(role);
  const outcome = (await agent.run(agentTask, {
    endpoints,
    clock: environment.clock,
    model: model.chat,
    modelName: model.name,
    ...(model.price ? { price: model.price } : {}),
    protocol: configuration.protocol,
    limits: configuration.limits,
    options: configuration.options,
    namespaces,
    transcript,
    secrets: [...model.secrets, ...(endpoints.token ? [endpoints.token] : [])],
    ...(signal ? { signal } : {}),
    onStep: async () => {
      await environment.clock.sleep(configuration.step_seconds, signal);
      await onStep?.();
    },
  })) as Outcome<Output>;
  signal?.throwIfAborted();
  progress.tasks.push({
    task: name,
    status: outcome.status,
    ...(outcome.detail ? { detail: outcome.detail } : {}),
    usage: outcome.usage,
  });
  return outcome;
}

interface TaskRun {
  name: TaskRecord["task"];
  role: Role;
  agentTask: object;
  /** After each step's time has passed. */
  onStep: (() => Promise<void>) | undefined;
}

/** First, last, and each look that differs from the one before it: the rest says nothing new. */
function onlyChanges(looks: ObservedState["looks"]): ObservedState["looks"] {
  const text = looks.map(({ firing }) => JSON.stringify(firing));
  return looks.filter((_, index) => index === 0 || index === looks.length - 1 || text[index] !== text[index - 1]);
}

function toRecord(task: TrialTask, model: ResolvedModel, progress: Progress, wallSeconds: number): TrialRecord {
  const { scenario, trial, configuration } = task;
  const { tasks, observed } = progress;
  const mitigated = tasks.find((entry) => entry.task === "mitigation");
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
  const failed = tasks.find((entry) => entry.status !== "ok");
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
