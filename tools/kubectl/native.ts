/** The real kubectl, started by its argument list: no shell, a minimal environment, bounded in time and output. */
import { spawn } from "node:child_process";
import { KubectlError } from "./errors.js";

export interface NativeOptions {
  kubeconfig: string;
  /** Folder for kubectl's cache of what the server has. */
  home: string;
  stdin?: string;
  /** Bytes of output kept. */
  maxBytes: number;
  timeoutMs: number;
  signal?: AbortSignal;
  /** Program to start; `kubectl` from PATH unless told. */
  program?: string;
}

/** There is no kubectl on this machine. */
export class KubectlMissingError extends KubectlError {
  constructor(program: string) {
    super(
      `error: the program ${program} was not found. Install kubectl (macOS: \`brew install kubectl\`; Debian and Ubuntu: the kubectl package of the Kubernetes apt repository, by \`apt-get install kubectl\`; otherwise the binary from the Kubernetes release page, made executable and put in a folder of PATH), or use the built-in one with --kubectl builtin`,
      127,
    );
    this.name = "KubectlMissingError";
  }
}

/**
 * Runs kubectl with `argv` (without the program's name).
 *
 * @throws KubectlMissingError when it is not installed
 */
export function runNative(
  argv: readonly string[],
  options: NativeOptions,
): Promise<{ stdout: string; stderr: string; code: number }> {
  const program = options.program ?? "kubectl";
  return new Promise((resolve, reject) => {
    const child = spawn(program, argv, {
      env: {
        PATH: process.env.PATH ?? "",
        HOME: options.home,
        KUBECONFIG: options.kubeconfig,
        KUBERC: "off",
        KUBECTL_KUBERC: "false",
      },
      cwd: "/",
      stdio: ["pipe", "pipe", "pipe"],
      shell: false,
      // A group of its own, so that helpers which kubectl starts (credential plugins) end with it.
      detached: true,
    });
    const collected = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    let size = 0;
    let stopped: string | undefined;
    const stop = (why: string) => {
      stopped ??= why;
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It ended by itself in the meantime.
      }
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const abort = () => stop("aborted");
    options.signal?.addEventListener("abort", abort, { once: true });
    if (options.signal?.aborted) abort();
    const timer = setTimeout(
      () => stop(`no answer within ${Math.round(options.timeoutMs / 1000)} s`),
      options.timeoutMs,
    );
    for (const stream of ["stdout", "stderr"] as const)
      child[stream].on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size <= options.maxBytes) collected[stream].push(chunk);
        else stop(`more than ${options.maxBytes} bytes of output`);
      });
    child.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(error.code === "ENOENT" ? new KubectlMissingError(program) : error);
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", abort);
      if (options.signal?.aborted) return reject(options.signal.reason);
      const stdout = Buffer.concat(collected.stdout).toString("utf8");
      const stderr = Buffer.concat(collected.stderr).toString("utf8");
      resolve(
        stopped === undefined
          ? { stdout, stderr, code: code ?? 1 }
          : { stdout, stderr: `${stderr}error: kubectl was stopped: ${stopped}\n`, code: 124 },
      );
    });
    child.stdin.on("error", () => {
      // kubectl ended without reading its input.
    });
    child.stdin.end(options.stdin ?? "");
  });
}
