/** Looks for programs on the PATH, without a shell. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { UsageError } from "./errors.js";

/** Path of the program called `name`, or undefined. */
export function findProgram(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const names = process.platform === "win32" ? [`${name}.exe`, `${name}.cmd`] : [name];
  for (const folder of (env.PATH ?? env.Path ?? "").split(delimiter)) {
    if (!folder) continue;
    for (const candidate of names.map((file) => join(folder, file))) {
      try {
        accessSync(candidate, constants.X_OK);
        if (statSync(candidate).isFile()) return candidate;
      } catch {
        // Not here.
      }
    }
  }
  return undefined;
}

export const KUBECTL_HOW =
  "`brew install kubectl`, `apt-get install kubectl` from the Kubernetes package repository, or a binary from the Kubernetes release page";

/** @throws UsageError when there is no kubectl on the PATH */
export function requireNativeKubectl(env: NodeJS.ProcessEnv): string {
  const found = findProgram("kubectl", env);
  if (found) return found;
  throw new UsageError(
    `--kubectl native: there is no kubectl on your PATH. Install it (${KUBECTL_HOW}), or use --kubectl builtin, which needs none`,
  );
}
