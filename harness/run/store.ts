/**
 * The run folder: `run.json`, and `trials/<scenario>/<n>/` with `transcript.jsonl`, `agent_output.json` and
 * `scores.json`. A trial is written beside its place and renamed there whole, so that whatever kills the process
 * loses at most the trials in flight.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunConfiguration } from "./configuration.js";
import type { TrialRecord } from "./record.js";

export interface RunFile {
  schema: "itbench-baselines/run/1";
  name: string;
  /** ISO 8601, wall clock. */
  started: string;
  updated: string;
  versions: { itbench: string; node: string };
  model: { name: string; provider: string; is_llm: boolean; base_url?: string; parameters: Record<string, unknown> };
  configuration: RunConfiguration;
}

/** A run folder that cannot be used as asked. */
export class RunFolderError extends Error {
  override name = "RunFolderError";
}

/** Where a trial writes while it runs. */
export interface PendingTrial {
  /** Temporary folder; `transcript.jsonl` grows in it. */
  path: string;
  /** Writes the other files and moves the folder to its place. */
  commit(record: TrialRecord, output: unknown): void;
  discard(): void;
}

export class RunStore {
  constructor(readonly path: string) {}

  /** The run's description, or undefined when the folder holds none. @throws RunFolderError when it is damaged */
  read(): RunFile | undefined {
    const file = join(this.path, "run.json");
    if (!existsSync(file)) return undefined;
    let run: RunFile | undefined;
    let why = "it describes no run";
    try {
      run = JSON.parse(readFileSync(file, "utf8")) as RunFile;
    } catch (error) {
      why = (error as Error).message;
    }
    if (Array.isArray(run?.configuration?.scenarios)) return run;
    throw new RunFolderError(`${file} is damaged (${why}): give another folder with --out`);
  }

  write(run: RunFile): void {
    mkdirSync(this.path, { recursive: true });
    const file = join(this.path, "run.json");
    const temporary = `${file}.${process.pid}.tmp`;
    writeFileSync(temporary, `${JSON.stringify(run, null, 2)}\n`);
    renameSync(temporary, file);
  }

  /** The record of a finished trial, or undefined. */
  trial(scenario: string, trial: number): TrialRecord | undefined {
    const file = join(this.#folder(scenario), String(trial), "scores.json");
    try {
      return JSON.parse(readFileSync(file, "utf8")) as TrialRecord;
    } catch {
      return undefined;
    }
  }

  /** Records of all finished trials, by scenario and number. */
  trials(): TrialRecord[] {
    const root = join(this.path, "trials");
    return folders(root).flatMap((scenario) =>
      folders(join(root, scenario))
        .filter((name) => /^\d+$/.test(name))
        .map((name) => this.trial(scenario, Number(name)))
        .filter((record) => record !== undefined),
    );
  }

  /** Removes what trials left that were killed. */
  removeLeftovers(): void {
    const root = join(this.path, "trials");
    for (const scenario of folders(root)) {
      for (const name of folders(join(root, scenario))) {
        if (name.startsWith(".")) rmSync(join(root, scenario, name), { recursive: true, force: true });
      }
    }
  }

  begin(scenario: string, trial: number): PendingTrial {
    const path = join(this.#folder(scenario), `.${trial}.${process.pid}`);
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { recursive: true });
    const target = join(this.#folder(scenario), String(trial));
    return {
      path,
      commit: (record, output) => {
        const transcript = join(path, "transcript.jsonl");
        if (!existsSync(transcript)) writeFileSync(transcript, "");
        writeFileSync(join(path, "agent_output.json"), `${JSON.stringify(output, null, 2)}\n`);
        writeFileSync(join(path, "scores.json"), `${JSON.stringify(record, null, 2)}\n`);
        rmSync(target, { recursive: true, force: true });
        renameSync(path, target);
      },
      discard: () => rmSync(path, { recursive: true, force: true }),
    };
  }

  #folder(scenario: string): string {
    return join(this.path, "trials", scenario);
  }
}

/** Run folders under `root`, newest first. */
export function listRuns(root: string): { path: string; run: RunFile }[] {
  return folders(root)
    .flatMap((name) => {
      const path = join(root, name);
      try {
        const run = new RunStore(path).read();
        return run ? [{ path, run, changed: statSync(join(path, "run.json")).mtimeMs }] : [];
      } catch {
        return [];
      }
    })
    .sort((a, b) => b.changed - a.changed)
    .map(({ path, run }) => ({ path, run }));
}

function folders(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}
