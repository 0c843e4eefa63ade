/**
 * The agent's part of a trial: one attempt or several at the same incident, each a diagnosis and a mitigation. The
 * environment stays as the attempts leave it. Whether a further one follows depends on what the agent can see alone.
 */
import type { AgentContext, Limits, Outcome, Usage } from "../../agents/agent.js";
import { type AttemptReport, type AttemptVerdict, judgeAttempt, reflectOnAttempt } from "../../agents/index.js";
import { MemoryTranscript, TranscriptRecorder, teeTranscript } from "../../agents/react/transcript.js";
import type { SreDiagnosis, SreMitigation } from "../../agents/sre/output.js";
import type { Role } from "../../testbed/environment.js";
import type { AlertInstance, ObservedState } from "../score/index.js";
import { incidentAlerts, instance, watchRecovery } from "./observe.js";
import type { TaskRecord } from "./record.js";
import type { Progress, Started, TrialDependencies, TrialTask } from "./trial.js";

/** What is left of the trial's total limits is the most that a task gets. */
export interface TotalLimits extends Partial<Limits> {}

/** Attempts until one is verified, the last is over, or the total limits are used up; then the look at the recovery. */
export async function workOnIncident(
  task: TrialTask,
  started: Started,
  dependencies: TrialDependencies,
  progress: Progress,
): Promise<void> {
  const { environment, baseline } = started;
  const { configuration } = task;
  const now = () => environment.clock.now();
  const looks: ObservedState["looks"] = [];
  // Alerts may clear while the agent still looks on: the time to mitigation is counted from there.
  const look = async () => {
    looks.push({ at: now(), firing: await firingNow(started) });
  };
  const startedAt = performance.now();
  const allowed = configuration.attempts ?? 1;
  const memory: string[] = [];
  let standing: Outcome<SreDiagnosis> | undefined;
  progress.agentStartedAt = now();
  for (let attempt = 1; ; attempt++) {
    progress.attempts = attempt;
    const sitting: Sitting = {
      ...{ task, started, dependencies, progress, attempt, allowed, memory, startedAt, look },
      ...(standing ? { standing } : {}),
    };
    const report = await takeAttempt(sitting);
    if (report === undefined || allowed === 1) break;
    const verdict = await conclude(sitting, report);
    if (verdict.verified || attempt === allowed) break;
    standing = standingDiagnosis(report, verdict) ?? (verdict.firing?.length === 0 ? standing : undefined);
    const spent = exhausted(configuration.total_limits, progress.tasks, startedAt);
    if (spent !== undefined) {
      progress.warnings.push(`no attempt after ${attempt} of ${allowed}: ${spent}`);
      break;
    }
  }
  // What earlier attempts changed is looked at also when the model failed for good in a later one.
  if (progress.incident === undefined) return;
  const recovery = await watchRecovery(environment, baseline, configuration.verification, dependencies.signal);
  progress.observed = {
    baseline,
    triggering: progress.incident,
    mitigationEnded: progress.mitigationEnded ?? now(),
    looks: onlyChanges([...looks, ...recovery]),
    healthyWorkloads: started.healthyWorkloads,
    finalWorkloads: await environment.workloads(),
  };
  dependencies.onPhase?.({ phase: "verified", at: now(), cleared: recovery.at(-1)?.firing.length === 0 });
}

/**
 * A diagnosis that needs no repeating: the alerts are gone with what was done upon it, and only the mitigation's answer is
 * missing. There would be nothing left to diagnose.
 */
function standingDiagnosis({ tasks }: AttemptReport, { firing }: AttemptVerdict): Outcome<SreDiagnosis> | undefined {
  const outcome = tasks.find((one) => one.task === "diagnosis")?.outcome;
  return firing?.length === 0 && outcome?.status === "ok" ? (outcome as Outcome<SreDiagnosis>) : undefined;
}

/** One attempt at work. */
interface Sitting {
  task: TrialTask;
  started: Started;
  dependencies: TrialDependencies;
  progress: Progress;
  attempt: number;
  allowed: number;
  /** The diagnosis of an earlier attempt that stands. */
  standing?: Outcome<SreDiagnosis>;
  /** Notes of earlier attempts; this one may add its own. */
  memory: string[];
  /** `performance.now()` when the first attempt began. */
  startedAt: number;
  look(): Promise<void>;
}

/** Undefined when the model cannot be reached: there is nothing to try again with. */
async function takeAttempt(sitting: Sitting): Promise<AttemptReport | undefined> {
  const { task, started, dependencies, progress, attempt, allowed, memory, look } = sitting;
  const { environment, application } = started;
  const { onPhase } = dependencies;
  const now = () => environment.clock.now();
  const several = allowed > 1;
  if (several) {
    onPhase?.({ phase: "attempt", at: now(), attempt, of: allowed });
    record(sitting, { event: "attempt", attempt, of: allowed, memory: [...memory] });
  }
  // Scores are of the last attempt: what an earlier one answered is not this one's answer.
  delete progress.diagnosis;
  delete progress.mitigation;
  const notes = memory.length > 0 ? { memory: [...memory] } : {};
  const heard = several ? new MemoryTranscript() : undefined;
  const report = (tasks: AttemptReport["tasks"], claimsVerified?: boolean): AttemptReport => ({
    attempt,
    of: allowed,
    ...(application ? { application } : {}),
    tasks,
    ...(claimsVerified === undefined ? {} : { claimsVerified }),
    events: heard?.events ?? [],
  });

  const diagnosisTask = { task: "diagnosis", application, ...notes };
  const diagnosed =
    sitting.standing ?? (await runTask<SreDiagnosis>(sitting, "diagnosis", "read-only", diagnosisTask, heard));
  if (diagnosed.output) progress.diagnosis = diagnosed.output;
  if (sitting.standing === undefined) {
    progress.diagnosedAt = progress.agentEndedAt = now();
    onPhase?.({ phase: "diagnosed", at: now(), outcome: diagnosed });
  }
  if (diagnosed.status === "model-error") return undefined;
  if (task.scenario.disruptions.length === 0) return report([{ task: "diagnosis", outcome: diagnosed }]);

  // The incident is what fires before anything was changed; what an attempt adds to it is its own doing.
  progress.incident ??= await firingNow(started);
  const mitigationTask = { task: "mitigation", application, diagnosis: diagnosed.output, ...notes };
  const mitigated = await runTask<SreMitigation>(sitting, "mitigation", "read-write", mitigationTask, heard, look);
  progress.mitigationEnded = progress.agentEndedAt = now();
  if (mitigated.output) progress.mitigation = mitigated.output;
  onPhase?.({ phase: "mitigated", at: now(), outcome: mitigated });
  const tasks = [
    { task: "diagnosis", outcome: diagnosed },
    { task: "mitigation", outcome: mitigated },
  ];
  return report(tasks, mitigated.output?.verified ?? false);
}

/** Judges the attempt, and has it reflected upon when another may follow. */
async function conclude(sitting: Sitting, report: AttemptReport): Promise<AttemptVerdict> {
  const { progress, dependencies, attempt, allowed, memory, startedAt, task, look, started } = sitting;
  const context = contextFor(sitting, "read-only", { maxSteps: 1 });
  // After the last attempt nobody waits: the look at the recovery does.
  const last = attempt === allowed;
  const verdict = await judgeAttempt(report, context, last ? { settleSeconds: 0, onLook: look } : { onLook: look });
  const { total_limits } = task.configuration;
  const again = !verdict.verified && !last && exhausted(total_limits, progress.tasks, startedAt) === undefined;
  const reflection = again ? await reflectOnAttempt(report, verdict, context) : undefined;
  dependencies.signal?.throwIfAborted();
  if (reflection) {
    memory.push(reflection.note);
    progress.tasks.push({ task: "reflection", attempt, status: "ok", usage: reflection.usage });
  }
  const { usage } = reflection ?? {};
  record(sitting, {
    event: "attempt_result",
    attempt,
    of: allowed,
    ...verdict,
    ...(reflection ? { note: reflection.note } : {}),
    ...(reflection?.prompt ? { prompt: reflection.prompt } : {}),
    ...(reflection?.failure ? { failure: reflection.failure } : {}),
    ...(usage ? { tokens: { input: usage.inputTokens, output: usage.outputTokens, cached: usage.cachedTokens } } : {}),
  });
  dependencies.onPhase?.({
    phase: "attempted",
    at: started.environment.clock.now(),
    attempt,
    of: allowed,
    verified: verdict.verified,
    problems: verdict.problems,
  });
  return verdict;
}

function record({ dependencies, started }: Sitting, event: Parameters<TranscriptRecorder["record"]>[0]): void {
  const clock = started.environment.clock;
  new TranscriptRecorder(dependencies.transcript, () => clock.now(), String).record(event);
}

function contextFor({ task, started, dependencies }: Sitting, role: Role, limits: Limits): AgentContext {
  const { configuration } = task;
  const { model, transcript, signal, runbooks } = dependencies;
  const endpoints = started.environment.endpoints(role);
  return {
    endpoints,
    clock: started.environment.clock,
    model: model.chat,
    modelName: model.name,
    ...(model.price ? { price: model.price } : {}),
    protocol: configuration.protocol,
    limits,
    options: configuration.options,
    namespaces: started.namespaces,
    transcript,
    secrets: [...model.secrets, ...(endpoints.token ? [endpoints.token] : [])],
    ...(runbooks ? { runbooks } : {}),
    ...(signal ? { signal } : {}),
  };
}

async function runTask<Output>(
  sitting: Sitting,
  name: "diagnosis" | "mitigation",
  role: Role,
  agentTask: object,
  heard: MemoryTranscript | undefined,
  onStep?: () => Promise<void>,
): Promise<Outcome<Output>> {
  const { task, started, dependencies, progress, attempt, allowed, startedAt } = sitting;
  const { configuration } = task;
  const { clock } = started.environment;
  dependencies.onPhase?.({ phase: "task", at: clock.now(), task: name });
  const limits = within(configuration.limits, configuration.total_limits, progress.tasks, startedAt);
  const context = contextFor(sitting, role, limits);
  const outcome = (await dependencies.agent.run(agentTask, {
    ...context,
    transcript: heard ? teeTranscript(context.transcript, heard) : context.transcript,
    onStep: async () => {
      await clock.sleep(configuration.step_seconds, dependencies.signal);
      await onStep?.();
    },
  })) as Outcome<Output>;
  dependencies.signal?.throwIfAborted();
  progress.tasks.push({
    task: name,
    ...(allowed > 1 ? { attempt } : {}),
    status: outcome.status,
    ...(outcome.detail ? { detail: outcome.detail } : {}),
    usage: outcome.usage,
  });
  return outcome;
}

async function firingNow({ environment, baseline }: Started): Promise<AlertInstance[]> {
  const alerts = incidentAlerts(await environment.alerts(), baseline);
  return alerts.filter((alert) => alert.state === "firing").map(instance);
}

/** First, last, and each look that differs from the one before it: the rest says nothing new. */
function onlyChanges(looks: ObservedState["looks"]): ObservedState["looks"] {
  const text = looks.map(({ firing }) => JSON.stringify(firing));
  return looks.filter((_, index) => index === 0 || index === looks.length - 1 || text[index] !== text[index - 1]);
}

/** What was used so far, in the terms of the limits. */
function used(tasks: readonly TaskRecord[], startedAt: number): Required<Limits> {
  const sum = (pick: (usage: Usage) => number) => tasks.reduce((total, { usage }) => total + pick(usage), 0);
  return {
    maxSteps: sum((usage) => usage.steps),
    maxTokens: sum((usage) => usage.inputTokens + usage.outputTokens),
    maxCost: sum((usage) => usage.cost ?? 0),
    wallSeconds: (performance.now() - startedAt) / 1000,
  };
}

/** A task's own limits, and never more than what the total leaves. */
function within(own: Limits, total: TotalLimits | undefined, tasks: readonly TaskRecord[], startedAt: number): Limits {
  if (total === undefined) return own;
  const spent = used(tasks, startedAt);
  const limits: Limits = { ...own };
  for (const name of Object.keys(total) as (keyof Limits)[]) {
    const allowed = total[name];
    if (allowed === undefined) continue;
    limits[name] = Math.min(own[name] ?? Number.POSITIVE_INFINITY, Math.max(0, allowed - spent[name]));
  }
  return limits;
}

const LIMIT_NAMES: Record<keyof Limits, string> = {
  maxSteps: "steps",
  maxTokens: "tokens",
  maxCost: "dollars",
  wallSeconds: "wall seconds",
};

/** Which of the total limits is used up, as half a sentence; undefined when none is. */
function exhausted(
  total: TotalLimits | undefined,
  tasks: readonly TaskRecord[],
  startedAt: number,
): string | undefined {
  const spent = used(tasks, startedAt);
  const name = (Object.keys(total ?? {}) as (keyof Limits)[]).find((one) => spent[one] >= total![one]!);
  return name === undefined ? undefined : `the total of ${total![name]} ${LIMIT_NAMES[name]} is used up`;
}
