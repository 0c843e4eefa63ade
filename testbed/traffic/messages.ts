/** What is said of programs that do not start. */
import type { Program } from "./behaviour.js";

/** runc's words for an executable that is not there, inside containerd's. */
export function execError(executable: string): string {
  const cause = executable.includes("/")
    ? `exec: "${executable}": stat ${executable}: no such file or directory`
    : `exec: "${executable}": executable file not found in $PATH`;
  return `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: ${cause}`;
}

/** What a program prints when a variable is missing without which it cannot run. */
export function missingVariable(program: Program, name: string): string {
  switch (program.language) {
    case "go":
      return `panic: environment variable "${name}" not set\n\ngoroutine 1 [running]:\nmain.mustMapEnv(...)`;
    case "dotnet":
      return `${name} environment variable is required.`;
    case "java":
    case "kotlin":
      return `Exception in thread "main" java.lang.IllegalStateException: environment vars: ${name} must not be null`;
    case "python":
      return `Exception: ${name} environment variable must be set`;
    default:
      return `${name} is not set`;
  }
}
