/** A run: the trials of one configuration that are still missing in its folder. */
import { join } from "node:path";
import type { Agent } from "../../agents/agent.js";
import type { RunbookMemory } from "../../agents/index.js";
import { fileTranscript, type TranscriptSink, teeTranscript } from "../../agents/react/transcript.js";
import type { ResolvedModel } from "../../models/index.js";
import type { Scenario } from "../scenario/index.js";
import type { RunConfiguration } from "./configuration.js";
import { saveIncident } from "./incidents.js";
import { runPool } from "./pool.js";
import type { TrialRecord } from "./record.js";
import type { RunStore } from "./store.js";
import { erroredTrial, type PreparedEnvironment, runTrial, type TrialPhase, TrialSetupError } from "./trial.js";

export interface RunOptions {
  scenarios: readonly Scenario[];
  configuration: RunConfiguration;
  store: RunStore;
  createEnvironment(scenario: Scenario, seed: string): Promise<PreparedEnvironment>;
  agentFor(scenario: Scenario): Promise<Agent>;
  /** A fresh one for each trial: trials share nothing. */
  createModel(): Promise<ResolvedModel>;
  /** Given to the agents. */
  runbooks?: RunbookMemory;
  /** Folder for notes of what the agents said, for later runs. */
  incidentsFolder?: string;
  concurrency?: number;
  /** Further attempts at an environment that does not come up. */
  environmentRetries?: number;
  signal?: AbortSignal;
  observer?: RunObserver;
}

export interface RunObserver {
  /** Before the first trial. */
  planned?(total: number, stored: number): void;
  trialStarted?(scenario: string, trial: number): void;
  trialPhase?(scenario: string, trial: number, phase: TrialPhase): void;
  trialRetried?(scenario: string, trial: number, error: Error): void;
  trialFinished?(record: TrialRecord): void;
  /** Events of the agents, as they happen. */
  transcript?(scenario: string, trial: number): TranscriptSink | undefined;
}

/**
 * Runs what is missing and returns the records of all trials asked for, those stored before included, in order. When
 * aborted it starts no trial, ends those in flight, and returns what is finished; trials in flight leave nothing.
 */
export async function executeRun(options: RunOptions): Promise<TrialRecord[]> {
  const { scenarios, configuration, store, signal, observer } = options;
  store.removeLeftovers();
  const records = new Map<string, TrialRecord>();
  const wanted = scenarios.flatMap((scenario) =>
    Array.from({ length: configuration.trials }, (_, index) => ({ scenario, trial: index + 1 })),
  );
  const key = (scenario: Scenario, trial: number) => `${scenario.id}/${trial}`;
  const missing = wanted.filter(({ scenario, trial }) => {
    const stored = store.trial(scenario.id, trial);
    if (stored) records.set(key(scenario, trial), stored);
    return !stored;
  });
  observer?.planned?.(wanted.length, wanted.length - missing.length);
  const jobs = missing.map(({ scenario, trial }) => async () => {
    const record = await runStored(scenario, trial, options);
    if (record) records.set(key(scenario, trial), record);
  });
  await runPool(jobs, options.concurrency ?? 1, signal);
  return wanted
    .map(({ scenario, trial }) => records.get(key(scenario, trial)))
    .filter((record) => record !== undefined);
}

/** Undefined when aborted. */
async function runStored(scenario: Scenario, trial: number, options: RunOptions): Promise<TrialRecord | undefined> {
  const { configuration, store, signal, observer, environmentRetries = 2 } = options;
  observer?.trialStarted?.(scenario.id, trial);
  const began = performance.now();
  for (let attempt = 0; ; attempt++) {
    const pending = store.begin(scenario.id, trial);
    const model = await options.createModel();
    const task = { scenario, trial, configuration };
    try {
      const live = observer?.transcript?.(scenario.id, trial);
      const file = fileTranscript(join(pending.path, "transcript.jsonl"));
      const { record, output } = await runTrial(task, {
        createEnvironment: options.createEnvironment,
        agent: await options.agentFor(scenario),
        model,
        transcript: live ? teeTranscript(file, live) : file,
        ...(options.runbooks ? { runbooks: options.runbooks } : {}),
        ...(signal ? { signal } : {}),
        onPhase: (phase) => observer?.trialPhase?.(scenario.id, trial, phase),
      });
      pending.commit(record, output);
      if (options.incidentsFolder) saveIncident(options.incidentsFolder, output);
      observer?.trialFinished?.(record);
      return record;
    } catch (error) {
      if (signal?.aborted || !(error instanceof TrialSetupError)) {
        pending.discard();
        if (signal?.aborted) return undefined;
        throw error;
      }
      if (attempt < environmentRetries && isTransient(error.cause)) {
        pending.discard();
        observer?.trialRetried?.(scenario.id, trial, error);
        continue;
      }
      const { record, output } = erroredTrial(task, model, error, (performance.now() - began) / 1000);
      pending.commit(record, output);
      observer?.trialFinished?.(record);
      return record;
    }
  }
}

/** What may be otherwise a moment later: ports, connections, file handles. */
const TRANSIENT = new Set([
  "EADDRINUSE",
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EAI_AGAIN",
  "EMFILE",
  "ENFILE",
  "EAGAIN",
]);

function isTransient(error: unknown): boolean {
  return TRANSIENT.has(String((error as NodeJS.ErrnoException | undefined)?.code));
}
