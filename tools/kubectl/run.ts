/** Runs one kubectl command line: parse, guard, execute, filter, bound. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Discovery } from "./client/discovery.js";
import { RestClient } from "./client/rest.js";
import { parseCommandLine } from "./command-line.js";
import { createContext } from "./context.js";
import { errorText, RefusedError } from "./errors.js";
import { runFilter } from "./filters/index.js";
import { changesNothing, guard, type Policy, wall } from "./guard.js";
import type { Invocation } from "./invocation.js";
import { KubectlMissingError, runNative } from "./native.js";
import { checkScope } from "./scope.js";

export interface KubectlOptions {
  /** Path of a kubeconfig; nothing else chooses the cluster. */
  kubeconfig: string;
  mode: "read-only" | "read-write";
  /** Namespaces that may be written to; all when left out. */
  namespaces?: readonly string[];
  /** `builtin` speaks REST itself; `native` starts the real kubectl. */
  kubectl: "builtin" | "native";
  /** Waits on the environment's clock. */
  sleep(seconds: number, signal?: AbortSignal): Promise<void>;
  /** The environment's time in milliseconds since the epoch. */
  now(): number;
  /** Bytes of output kept in memory; 4 MiB unless told. */
  maxBytes?: number;
  signal?: AbortSignal;
  /** A manifest for `-f -`. */
  stdin?: string;
  /** Values of Secrets are shown as `<masked>` unless this is false. */
  maskSecrets?: boolean;
  /** Wall-clock milliseconds for one native run; 60,000 unless told. */
  timeoutMs?: number;
  /** Program of the native kubectl. */
  program?: string;
}

export interface KubectlResult {
  stdout: string;
  stderr: string;
  code: number;
  /** Nothing ran: the message in `stderr` says what to do instead. */
  refused?: true;
}

const SECRET_TYPE = /(^|,)secrets?(\.v1\.?)?(\/|,|$)/i;

/** Could the native kubectl print values of Secrets? Then the built-in one, which masks them, answers instead. */
function touchesSecrets(invocation: Invocation, stdin: string | undefined): boolean {
  const { flags } = invocation;
  if (flags.has("raw") || flags.args.some((arg) => SECRET_TYPE.test(arg))) return true;
  return flags.list("filename").length > 0 && /secret/i.test(stdin ?? "");
}

function bounded(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end--;
  return `${bytes.subarray(0, end).toString("utf8")}\n... ${bytes.length - end} bytes more; narrow the command\n`;
}

/** A kubectl with one connection for many commands: discovery and sockets are kept. */
export class Kubectl {
  private readonly options: KubectlOptions;
  private readonly client: RestClient;
  private readonly discovery: Discovery;
  /** Home of the native kubectl, made when it first runs: no other cluster's cache, nothing of the user's. */
  private home: string | undefined;

  constructor(options: KubectlOptions) {
    this.options = options;
    this.client = new RestClient({ kubeconfig: options.kubeconfig });
    this.discovery = new Discovery(this.client);
  }

  /** Ends the connection. */
  async close(): Promise<void> {
    await this.client.close();
    if (this.home) rmSync(this.home, { recursive: true, force: true });
    this.home = undefined;
  }

  /**
   * Runs `text`, a kubectl command line with optional filters. Never throws for what the text says: refusals and
   * errors come back in `stderr` with a code.
   *
   * @throws KubectlMissingError in native mode without a kubectl; AbortError when the signal is raised
   */
  async run(text: string, extra: { stdin?: string; signal?: AbortSignal } = {}): Promise<KubectlResult> {
    const stdin = extra.stdin ?? this.options.stdin;
    const signal = extra.signal ?? this.options.signal;
    const parsed = parseCommandLine(text);
    if (!parsed.ok) return { stdout: "", stderr: `${parsed.error}\n`, code: 1, refused: true };
    const [argv = [], ...filters] = parsed.pipeline;
    const policy: Policy = {
      mode: this.options.mode,
      ...(this.options.namespaces ? { namespaces: this.options.namespaces } : {}),
    };
    const verdict = guard(argv, policy);
    if (!verdict.ok) {
      if ("usage" in verdict) return { stdout: "", stderr: `${verdict.usage}\n`, code: 1 };
      return { stdout: "", stderr: `${verdict.message}\n`, code: 1, refused: true };
    }
    // A filter that cannot run says so before anything is asked of the cluster, let alone changed.
    for (const filter of filters) {
      const { stderr } = await runFilter(filter, "");
      if (stderr && (filter[0] !== "jq" || /not available|cannot be read/.test(stderr)))
        return { stdout: "", stderr: `${stderr.replace(/\n$/, "")}\n`, code: 2, refused: true };
    }
    let result = await this.execute(argv, verdict.invocation, policy, stdin, signal);
    if (!result.refused)
      for (const filter of filters) {
        const input = parsed.mergeStderr ? result.stdout + result.stderr : result.stdout;
        const filtered = await runFilter(filter, input);
        // The first command's error is never swallowed by a filter.
        const kept = parsed.mergeStderr && result.code === 0 ? "" : result.stderr;
        const complaint = filtered.stderr ? `${filtered.stderr.replace(/\n$/, "")}\n` : "";
        result = { stdout: filtered.stdout, stderr: kept + complaint, code: result.code || filtered.code };
      }
    const limit = this.options.maxBytes ?? 4 * 1024 * 1024;
    return { ...result, stdout: bounded(result.stdout, limit), stderr: bounded(result.stderr, limit) };
  }

  private nativeHome(): string {
    this.home ??= mkdtempSync(join(tmpdir(), "itbench-kubectl-"));
    return this.home;
  }

  private async execute(
    argv: string[],
    invocation: Invocation,
    policy: Policy,
    stdin: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<KubectlResult> {
    const { verb, flags } = invocation;
    const warnings: string[] = [];
    const client = this.client.with({
      ...(signal ? { signal } : {}),
      wall: (method, path) => {
        const why = wall(method, path, policy);
        if (why) throw new RefusedError(`refused: ${why}`);
      },
      warn: (text) => warnings.push(`Warning: ${text}\n`),
    });
    let made: Awaited<ReturnType<typeof createContext>>;
    try {
      made = await createContext({
        client,
        discovery: this.discovery,
        flags,
        ...(stdin !== undefined ? { stdin } : {}),
        maskSecrets: this.options.maskSecrets ?? true,
        now: this.options.now,
        sleep: (seconds) => this.options.sleep(seconds, signal),
      });
    } catch (error) {
      // No usable kubeconfig.
      if (signal?.aborted) throw error;
      return { stdout: "", stderr: `${errorText(error)}\n`, code: 1 };
    }
    const { context, result } = made;
    try {
      if (verb.access === "write" && !changesNothing(invocation)) {
        const why = await checkScope(context, verb.name, policy);
        if (why) return { stdout: "", stderr: `refused: ${why}\n`, code: 1, refused: true };
      }
      if (
        this.options.kubectl === "native" &&
        !(this.options.maskSecrets !== false && touchesSecrets(invocation, stdin))
      )
        return await runNative(argv.slice(1), {
          kubeconfig: this.options.kubeconfig,
          home: this.nativeHome(),
          ...(stdin !== undefined ? { stdin } : {}),
          maxBytes: this.options.maxBytes ?? 4 * 1024 * 1024,
          timeoutMs: this.options.timeoutMs ?? 60_000,
          ...(signal ? { signal } : {}),
          ...(this.options.program ? { program: this.options.program } : {}),
        });
      await verb.run(context);
    } catch (error) {
      if (signal?.aborted || error instanceof KubectlMissingError) throw error;
      if (error instanceof RefusedError)
        return { stdout: result().stdout, stderr: `${error.message}\n`, code: 1, refused: true };
      context.fail(error);
    }
    const { stdout, stderr, code } = result();
    return { stdout, stderr: warnings.join("") + stderr, code };
  }
}

/** Runs one command; see `Kubectl` for many. */
export async function runKubectl(text: string, options: KubectlOptions): Promise<KubectlResult> {
  const kubectl = new Kubectl(options);
  try {
    return await kubectl.run(text);
  } finally {
    await kubectl.close();
  }
}
