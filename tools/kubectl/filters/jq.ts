/**
 * jq, the real one compiled to WebAssembly (jq-web), in a worker of its own: it has a file system of its own without
 * ours, and a program that never ends is stopped.
 */
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { type Filter, FilterError, type FilterResult } from "./filter.js";

const TIMEOUT_MS = 5_000;
const PLAIN = "rcsSnejaC";
const LONG = new Set([
  "raw-output",
  "compact-output",
  "slurp",
  "sort-keys",
  "null-input",
  "exit-status",
  "join-output",
  "ascii-output",
  "tab",
  "raw-input",
  "raw-output0",
  "color-output",
  "monochrome-output",
  "unbuffered",
]);

/** Runs in the worker; plain text so that it needs no file of its own in the built package. */
const SOURCE = `
const { parentPort, workerData } = require("node:worker_threads");
const loaded = require(workerData);
parentPort.on("message", async ({ input, program, flags }) => {
  try {
    const jq = await loaded;
    parentPort.postMessage({ stdout: jq.raw(input, program, flags), code: 0 });
  } catch (error) {
    parentPort.postMessage({ stdout: error.stdout || "", stderr: error.stderr || String(error.message || error), code: error.exitCode || 5 });
  }
});
`;

/** A worker that waits for the next program: compiling jq takes a third of a second, running it a few milliseconds. */
let idle: { worker: Worker; runs: number } | undefined;
/** jq leaves memory behind with each run; a worker is replaced in time. */
const MOST_RUNS = 200;

function takeWorker(): { worker: Worker; runs: number } {
  const taken = idle;
  idle = undefined;
  if (taken) return taken;
  const worker = new Worker(SOURCE, {
    eval: true,
    env: {},
    workerData: modulePath("jq-web"),
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  });
  return { worker, runs: 0 };
}

function giveBack(taken: { worker: Worker; runs: number }): void {
  if (idle || taken.runs >= MOST_RUNS) void taken.worker.terminate();
  else {
    // A waiting worker does not keep the process alive.
    taken.worker.unref();
    idle = taken;
  }
}

function readArguments(args: readonly string[]): { program: string; flags: string[] } {
  const flags: string[] = [];
  let program: string | undefined;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string;
    if (arg === "--arg" || arg === "--argjson") {
      const [name, value] = [args[++i], args[++i]];
      if (name === undefined || value === undefined) throw new FilterError(`jq: ${arg} takes two parameters`);
      flags.push(arg, name, value);
    } else if (arg === "--indent") flags.push(arg, args[++i] ?? "2");
    else if (arg.startsWith("--") && LONG.has(arg.slice(2))) flags.push(arg);
    else if (/^-[A-Za-z]+$/.test(arg)) {
      for (const letter of arg.slice(1))
        if (!PLAIN.includes(letter) && !"MR".includes(letter))
          throw new FilterError(`jq: the option -${letter} is not available here`);
      flags.push(arg.replace("C", "M"));
    } else if (arg.startsWith("-") && arg !== "-") throw new FilterError(`jq: the option ${arg} is not available here`);
    else if (program === undefined) program = arg;
    else throw new FilterError(`jq: files cannot be read here (${arg}): only what comes through the pipe`);
  }
  return { program: program ?? ".", flags };
}

export const jq: Filter = {
  name: "jq",
  async run(args, input): Promise<FilterResult> {
    const { program, flags } = readArguments(args);
    const taken = takeWorker();
    const { worker } = taken;
    worker.ref();
    try {
      const result = await new Promise<FilterResult>((resolve, reject) => {
        const settle = (act: () => void) => {
          clearTimeout(timer);
          worker.off("message", onMessage);
          worker.off("error", onError);
          act();
        };
        const onMessage = (message: FilterResult) => settle(() => resolve(message));
        const onError = (error: Error) => settle(() => reject(new FilterError(`jq: ${error.message}`, 5)));
        const timer = setTimeout(
          () => onError(new Error(`the program did not end within ${TIMEOUT_MS / 1000} s`)),
          TIMEOUT_MS,
        );
        worker.on("message", onMessage);
        worker.on("error", onError);
        worker.postMessage({ input, program, flags });
      });
      taken.runs++;
      giveBack(taken);
      const stdout = result.stdout ?? "";
      const joined = flags.some((flag) => /^-[a-zA-Z]*j|^--join-output$/.test(flag));
      return { ...result, stdout: stdout === "" || stdout.endsWith("\n") || joined ? stdout : `${stdout}\n` };
    } catch (error) {
      await worker.terminate();
      throw error;
    }
  },
};

function modulePath(module: string): string {
  return createRequire(import.meta.url).resolve(module);
}
