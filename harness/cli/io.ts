/** The command line's surroundings, so that tests can stand in for a terminal. */
import type { Readable } from "node:stream";
import pc from "picocolors";

export interface Io {
  out(text: string): void;
  err(text: string): void;
  /** What is typed; stdin when absent. */
  input?: Readable;
  env: NodeJS.ProcessEnv;
  outIsTty: boolean;
  errIsTty: boolean;
  /** Width of the terminal in columns. */
  columns: number;
  /** Calls `handler` on Ctrl-C, on a polite request to end, when the terminal closes; returns the way to stop listening. */
  onInterrupt(handler: () => void): () => void;
  /** Ends the process at once. */
  exit(code: number): never;
}

/** Ctrl-C, a polite request to end, and a terminal that was closed: each must leave nothing behind. */
const INTERRUPTS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export type Colors = ReturnType<typeof pc.createColors>;

/** Colours for output on stdout: on a terminal, unless NO_COLOR says otherwise; FORCE_COLOR wins. */
export function colorsFor(io: Io, isTty = io.outIsTty): Colors {
  const { NO_COLOR, FORCE_COLOR, TERM } = io.env;
  const on = FORCE_COLOR && FORCE_COLOR !== "0" ? true : isTty && !NO_COLOR && TERM !== "dumb";
  return pc.createColors(on);
}

export function processIo(): Io {
  // A reader that has seen enough (`| head`) is no error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
  });
  // A closed terminal takes no more progress; what runs still ends in order.
  process.stderr.on("error", () => {});
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    env: process.env,
    outIsTty: process.stdout.isTTY === true,
    errIsTty: process.stderr.isTTY === true,
    columns: process.stdout.columns || process.stderr.columns || 100,
    onInterrupt: (handler) => {
      for (const signal of INTERRUPTS) process.on(signal, handler);
      return () => {
        for (const signal of INTERRUPTS) process.off(signal, handler);
      };
    },
    exit: (code) => process.exit(code),
  };
}
