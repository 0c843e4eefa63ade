/** `itbench run` */
import { existsSync, readdirSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { type AgentOptions, DEFAULT_AGENT_OPTIONS, type Limits, type ProtocolName } from "../../agents/agent.js";
import { createRunbookMemory } from "../../agents/index.js";
import { Recorder, type ResolvedModel, type ResolveOptions, resolveModel } from "../../models/index.js";
import { packageVersion } from "../../paths.js";
import { promptVariants } from "../../prompts/index.js";
import { agentFor } from "../run/agents.js";
import { createSimulated } from "../run/environments.js";
import {
  differences,
  executeRun,
  listRuns,
  openIncidentsFolder,
  type Runbooks,
  type RunConfiguration,
  type RunFile,
  RunFolderError,
  RunStore,
  readRunbooks,
  scenarioHash,
  summarize,
  type TrialRecord,
} from "../run/index.js";
import { findScenarios, type LoadedScenario, loadedTwin } from "../scenario/index.js";
import { DEFAULT_VERIFICATION } from "../score/index.js";
import { EXIT, UsageError } from "./errors.js";
import { colorsFor, type Io } from "./io.js";
import { requireNativeKubectl } from "./programs.js";
import { createProgress } from "./progress.js";
import { checksText, scenarioTable, summaryText, trialTable } from "./report.js";
import { stepPrinter } from "./steps.js";

export interface RunFlags {
  scenario: string[];
  model: string;
  protocol: ProtocolName;
  trials: number;
  concurrency: number;
  seed: string;
  out?: string;
  resume?: boolean;
  attempts: number;
  totalSteps?: number;
  totalTokens?: number;
  totalCost?: number;
  totalTimeout?: number;
  runbooks?: string;
  runbookChunks: number;
  saveIncidents?: string;
  healthy?: boolean;
  json?: boolean;
  maxSteps: number;
  maxTokens?: number;
  maxCost?: number;
  timeout?: number;
  stepSeconds: number;
  tools: AgentOptions["tools"];
  maxReflections: number;
  reflection: boolean;
  linters: boolean;
  examples: boolean;
  summarizer: boolean;
  extraTools: AgentOptions["extraTools"];
  traces: boolean;
  logs: boolean;
  metrics: boolean;
  prompt: string;
  kubectl: AgentOptions["kubectl"];
  modelsFile?: string;
  baseUrl?: string;
  record?: string;
  watch?: boolean;
  verbose?: boolean;
}

/** Environment seconds to wait for the alerts of a fault. */
const ALERT_TIMEOUT = 900;
/** More trials than this are shown as a summary, unless --verbose. */
const MAX_ROWS = 60;

export async function runCommand(flags: RunFlags, io: Io): Promise<number> {
  const found = findScenarios(flags.scenario);
  const loaded = flags.healthy ? found.map(loadedTwin) : found;
  if (flags.kubectl === "native") requireNativeKubectl(io.env);
  const variants = promptVariants();
  if (!variants.includes(flags.prompt)) {
    throw new UsageError(`--prompt: there is no prompt variant "${flags.prompt}"; there are: ${variants.join(", ")}`);
  }
  const modelOptions: ResolveOptions = {
    env: io.env,
    ...(flags.modelsFile === undefined ? {} : { modelsFile: flags.modelsFile }),
    ...(flags.baseUrl === undefined ? {} : { baseUrl: flags.baseUrl }),
  };
  const model = await resolveModel(flags.model, modelOptions);
  refuseProtocol(flags, model);
  if (flags.record !== undefined) modelOptions.recorder = new Recorder(flags.record);
  // A person sits at one terminal, whatever the number of trials.
  const shared = model.provider === "human" ? model : undefined;
  if (shared && flags.concurrency > 1) throw new UsageError("--concurrency: a person plays one trial at a time");
  if (flags.maxCost !== undefined && model.price === undefined) {
    throw new UsageError(
      `--max-cost: the price of ${flags.model} is unknown; give it in an entry of models.yaml (price)`,
    );
  }
  if (flags.totalCost !== undefined && model.price === undefined) {
    throw new UsageError(
      `--total-cost: the price of ${flags.model} is unknown; give it in an entry of models.yaml (price)`,
    );
  }
  const runbooks = flags.runbooks === undefined ? undefined : readRunbooks(flags.runbooks);
  const incidentsFolder = flags.saveIncidents === undefined ? undefined : openIncidentsFolder(flags.saveIncidents);
  const memory = runbooks && (await createRunbookMemory(runbooks.documents, { top: flags.runbookChunks }));
  const configuration = configurationOf(flags, loaded, runbooks);
  const store = openStore(flags, configuration, model);

  const progress = createProgress(io, { verbose: flags.verbose === true, bar: flags.watch !== true });
  for (const { scenario, warnings } of loaded) {
    if (flags.verbose) for (const warning of warnings) progress.note(`${scenario.id}: warning: ${warning}`);
  }
  const abort = new AbortController();
  const stopListening = io.onInterrupt(() => {
    if (abort.signal.aborted) io.exit(EXIT.interrupted);
    progress.note("interrupted: ending the trials that run; once more to stop at once");
    abort.abort(new Error("interrupted"));
  });
  let records: TrialRecord[];
  try {
    records = await executeRun({
      scenarios: loaded.map(({ scenario }) => scenario),
      configuration,
      store,
      createEnvironment: createSimulated,
      agentFor,
      createModel: async () => shared ?? resolveModel(flags.model, modelOptions),
      concurrency: flags.concurrency,
      ...(memory ? { runbooks: memory } : {}),
      ...(incidentsFolder ? { incidentsFolder } : {}),
      signal: abort.signal,
      observer: {
        ...progress.observer,
        transcript: (scenario, trial) =>
          flags.watch
            ? stepPrinter({
                write: progress.note,
                colors: colorsFor(io, io.errIsTty),
                columns: io.columns,
                full: flags.verbose === true,
                ...(flags.concurrency > 1 ? { prefix: `[${scenario} #${trial}] ` } : {}),
              })
            : undefined,
      },
    });
  } finally {
    stopListening();
    progress.end();
  }
  return report(records, { flags, configuration, store, model, io, interrupted: abort.signal.aborted });
}

/** Rules and people call tools; they do not write text that is to be read as a call. */
function refuseProtocol({ model: name, protocol }: RunFlags, model: ResolvedModel): void {
  if (protocol === "tool-calling" || !["playbook", "human"].includes(model.provider)) return;
  throw new UsageError(
    `--protocol ${protocol}: ${name} is no LLM and knows tool calls only; leave --protocol out, or give another --model`,
  );
}

function configurationOf(flags: RunFlags, loaded: readonly LoadedScenario[], runbooks?: Runbooks): RunConfiguration {
  const limits: Limits = {
    maxSteps: flags.maxSteps,
    ...(flags.maxTokens === undefined ? {} : { maxTokens: flags.maxTokens }),
    ...(flags.maxCost === undefined ? {} : { maxCost: flags.maxCost }),
    ...(flags.timeout === undefined ? {} : { wallSeconds: flags.timeout }),
  };
  return {
    scenarios: loaded.map(({ scenario }) => ({ id: scenario.id, hash: scenarioHash(scenario) })),
    model: flags.model,
    protocol: flags.protocol,
    trials: flags.trials,
    seed: flags.seed,
    step_seconds: flags.stepSeconds,
    alert_timeout_seconds: ALERT_TIMEOUT,
    verification: DEFAULT_VERIFICATION,
    limits,
    ...extrasOf(flags, runbooks),
    options: {
      ...DEFAULT_AGENT_OPTIONS,
      tools: flags.tools,
      reflection: flags.reflection,
      maxReflections: flags.maxReflections,
      linters: flags.linters,
      examples: flags.examples,
      summarizer: flags.summarizer,
      extraTools: flags.extraTools,
      modalities: { traces: flags.traces, logs: flags.logs, metrics: flags.metrics },
      promptVariant: flags.prompt,
      kubectl: flags.kubectl,
    },
  };
}

/** What most runs do not have: further attempts, total limits, runbooks. */
function extrasOf(
  flags: RunFlags,
  runbooks: Runbooks | undefined,
): Pick<RunConfiguration, "attempts" | "total_limits" | "runbooks"> {
  const total: Partial<Limits> = {
    ...(flags.totalSteps === undefined ? {} : { maxSteps: flags.totalSteps }),
    ...(flags.totalTokens === undefined ? {} : { maxTokens: flags.totalTokens }),
    ...(flags.totalCost === undefined ? {} : { maxCost: flags.totalCost }),
    ...(flags.totalTimeout === undefined ? {} : { wallSeconds: flags.totalTimeout }),
  };
  return {
    ...(flags.attempts === 1 ? {} : { attempts: flags.attempts }),
    ...(Object.keys(total).length === 0 ? {} : { total_limits: total }),
    ...(runbooks && flags.runbooks !== undefined
      ? {
          runbooks: {
            folder: flags.runbooks,
            files: runbooks.documents.length,
            hash: runbooks.hash,
            top: flags.runbookChunks,
          },
        }
      : {}),
  };
}

const RUNS = "runs";

/** The run folder: a new one, or the one to go on with. @throws RunFolderError */
function openStore(flags: RunFlags, configuration: RunConfiguration, model: ResolvedModel): RunStore {
  const found = flags.resume ? toResume(flags.out, configuration) : undefined;
  const path = found?.path ?? resolve(flags.out ?? `${RUNS}/${newName(flags.model)}`);
  if (existsSync(path) && !statSync(path).isDirectory()) {
    throw new RunFolderError(`${path} is a file: give a folder with --out`);
  }
  if (!found && existsSync(path) && readdirSync(path).length > 0) {
    throw new RunFolderError(
      new RunStore(path).read()
        ? `${path} holds a run already: go on with it by --resume, or give another folder with --out`
        : `${path} is not empty and holds no run: give another folder with --out`,
    );
  }
  const now = new Date().toISOString();
  const run: RunFile = {
    schema: "itbench-baselines/run/1",
    name: path.split(/[/\\]/).at(-1)!,
    started: found?.run.started ?? now,
    updated: now,
    versions: { itbench: packageVersion(), node: process.versions.node },
    model: {
      name: model.name,
      provider: model.provider,
      is_llm: model.isLlm,
      ...(model.baseUrl ? { base_url: model.baseUrl } : {}),
      parameters: { ...model.parameters },
    },
    configuration: found ? merged(found.run.configuration, configuration) : configuration,
  };
  const store = new RunStore(path);
  try {
    store.write(run);
  } catch (error) {
    throw new RunFolderError(`${path} cannot be written: ${(error as Error).message}; give another folder with --out`);
  }
  return store;
}

function toResume(out: string | undefined, wanted: RunConfiguration): { path: string; run: RunFile } | undefined {
  if (out !== undefined) {
    const path = resolve(out);
    const run = new RunStore(path).read();
    if (run) refuseDifferent(path, run.configuration, wanted);
    return run ? { path, run } : undefined;
  }
  const runs = listRuns(resolve(RUNS));
  const same = runs.find(({ run }) => differences(run.configuration, wanted).length === 0);
  if (same) return same;
  const last = runs[0];
  if (last) refuseDifferent(last.path, last.run.configuration, wanted);
  return undefined;
}

function refuseDifferent(path: string, stored: RunConfiguration, wanted: RunConfiguration): void {
  const found = differences(stored, wanted);
  if (found.length === 0) return;
  throw new RunFolderError(
    `${path} is a run of another configuration:\n  ${found.join("\n  ")}\nUse the same options, or start anew without --resume`,
  );
}

/** What the folder holds after resuming: scenarios of both, the larger number of trials. */
function merged(stored: RunConfiguration, wanted: RunConfiguration): RunConfiguration {
  const ids = new Set(stored.scenarios.map((scenario) => scenario.id));
  return {
    ...wanted,
    trials: Math.max(stored.trials, wanted.trials),
    scenarios: [...stored.scenarios, ...wanted.scenarios.filter((scenario) => !ids.has(scenario.id))],
  };
}

function newName(model: string): string {
  const time = new Date().toISOString().slice(0, 19).replaceAll(":", "").replace("T", "-");
  const base = `${time}-${model.replace(/[^A-Za-z0-9._-]+/g, "-")}`;
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base}-${n}`;
    if (!existsSync(resolve(RUNS, name))) return name;
  }
}

interface Reporting {
  flags: RunFlags;
  configuration: RunConfiguration;
  store: RunStore;
  model: ResolvedModel;
  io: Io;
  interrupted: boolean;
}

function report(records: TrialRecord[], { flags, configuration, store, model, io, interrupted }: Reporting): number {
  const summary = summarize(records);
  const wanted = configuration.scenarios.length * configuration.trials;
  if (flags.json) {
    const run = store.path;
    io.out(`${JSON.stringify({ run, interrupted, configuration, summary, trials: records }, null, 2)}\n`);
  } else if (records.length > 0) {
    const c = colorsFor(io);
    if (records.length <= MAX_ROWS || flags.verbose) io.out(trialTable(records, c));
    if (summary.scenarios > 1 && summary.trials > summary.scenarios) io.out(`\n${scenarioTable(records)}`);
    if (flags.verbose) {
      for (const record of records) io.out(`\n${record.scenario} #${record.trial}\n${checksText(record, c)}`);
    }
    io.out(`\n${summaryText(summary, model, c)}\nRun folder: ${store.path}\n`);
  }
  if (interrupted) {
    io.err(`interrupted: ${records.length} of ${wanted} trials are kept; go on with --resume --out ${store.path}\n`);
    return EXIT.interrupted;
  }
  return records.some((record) => record.reason === "environment-error") ? EXIT.failure : EXIT.ok;
}
