/** What a verb is handed: its flags, the server, the clock, and where its output goes. */
import type { Discovery, Resource } from "./client/discovery.js";
import type { RestClient } from "./client/rest.js";
import { errorText } from "./errors.js";
import type { FlagSpecs, Flags } from "./flags.js";

export interface Context {
  flags: Flags;
  args: string[];
  client: RestClient;
  discovery: Discovery;
  /** Of `-n`, else of the kubeconfig. */
  namespace: string;
  /** `-n` was given: a manifest's own namespace must then agree with it. */
  namespaceGiven: boolean;
  allNamespaces: boolean;
  stdin: string | undefined;
  maskSecrets: boolean;
  /** Milliseconds since the epoch, on the environment's clock. */
  now(): number;
  sleep(seconds: number): Promise<void>;
  out(text: string): void;
  err(text: string): void;
  /** Prints an error and makes the exit code 1; the verb goes on. */
  fail(error: unknown): void;
  /** Sets the exit code. */
  exit(code: number): void;
}

export interface Verb {
  /** `["rollout", "undo"]`; the first names are also its place in `kubectl help`. */
  name: string[];
  /** Reads only, writes, or `none` when no server is asked. */
  access: "read" | "write" | "none";
  flags: FlagSpecs;
  run(context: Context): Promise<void>;
}

export interface ContextOptions {
  client: RestClient;
  discovery: Discovery;
  flags: Flags;
  stdin?: string;
  maskSecrets: boolean;
  now(): number;
  sleep(seconds: number): Promise<void>;
}

/** A context that collects output; `result()` gives it. */
export async function createContext(options: ContextOptions): Promise<{
  context: Context;
  result(): { stdout: string; stderr: string; code: number };
}> {
  const stdout: string[] = [];
  const stderr: string[] = [];
  let code = 0;
  const given = options.flags.string("namespace");
  const context: Context = {
    flags: options.flags,
    args: options.flags.args,
    client: options.client,
    discovery: options.discovery,
    namespace: given || (await options.client.namespace()),
    namespaceGiven: given !== "",
    allNamespaces: options.flags.bool("all-namespaces"),
    stdin: options.stdin,
    maskSecrets: options.maskSecrets,
    now: options.now,
    sleep: options.sleep,
    out: (text) => stdout.push(text),
    err: (text) => stderr.push(text),
    fail: (error) => {
      stderr.push(`${errorText(error).replace(/\n$/, "")}\n`);
      code = 1;
    },
    exit: (value) => {
      code = value;
    },
  };
  return { context, result: () => ({ stdout: stdout.join(""), stderr: stderr.join(""), code }) };
}

export type { Discovery, Resource, RestClient };
