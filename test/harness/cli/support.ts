/** Runs the command line inside the test's process. */

import { Readable } from "node:stream";
import type { Io } from "../../../harness/cli/io.js";
import { main } from "../../../harness/cli/main.js";

export interface Ran {
  code: number;
  out: string;
  err: string;
}

export interface RunningCli {
  done: Promise<Ran>;
  /** Ctrl-C. */
  interrupt(): void;
  /** What was printed so far. */
  out(): string;
  err(): string;
}

export interface CliOptions {
  env?: NodeJS.ProcessEnv;
  tty?: boolean;
  /** Lines that are typed. */
  input?: string[];
}

export class Exit extends Error {
  constructor(readonly code: number) {
    super(`exit ${code}`);
  }
}

export function startCli(args: string[], options: CliOptions = {}): RunningCli {
  let out = "";
  let err = "";
  const handlers = new Set<() => void>();
  const io: Io = {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    ...(options.input === undefined ? {} : { input: Readable.from(options.input.map((line) => `${line}\n`)) }),
    env: options.env ?? { PATH: process.env.PATH, HOME: "/nowhere" },
    outIsTty: options.tty === true,
    errIsTty: options.tty === true,
    columns: 100,
    onInterrupt: (handler) => {
      handlers.add(handler);
      return () => handlers.delete(handler);
    },
    exit: (code) => {
      throw new Exit(code);
    },
  };
  return {
    done: main(args, io).then((code) => ({ code, out, err })),
    interrupt: () => {
      for (const handler of [...handlers]) handler();
    },
    out: () => out,
    err: () => err,
  };
}

export function cli(args: string[], options: CliOptions = {}): Promise<Ran> {
  return startCli(args, options).done;
}
