/** Runs a kubectl command, within what the task allows. */
import { type ToolContext, ToolFailure } from "../context.js";
import { runKubectl } from "../kubectl/index.js";

export interface KubectlQuery {
  /** One command, `kubectl ...`, with filters behind `|` at most. */
  command: string;
  /** Standard input, for `apply -f -` and its like. */
  manifest?: string;
}

/** More than an observation may hold, so that the summarizer can read what was cut. */
const MAX_BYTES = 512 * 1024;

/** Output as a terminal would show it. @throws ToolFailure when the command was refused or failed */
export async function runKubectlQuery(query: KubectlQuery, context: ToolContext): Promise<string> {
  const result = await runKubectl(query.command, {
    kubeconfig: context.endpoints.kubeconfig,
    mode: context.writes ? "read-write" : "read-only",
    namespaces: [...context.namespaces],
    kubectl: context.kubectl,
    sleep: (seconds: number) => context.clock.sleep(seconds, context.signal),
    now: () => context.clock.now(),
    maxBytes: MAX_BYTES,
    ...(context.signal === undefined ? {} : { signal: context.signal }),
    ...(query.manifest === undefined ? {} : { stdin: query.manifest }),
  });
  const text = [result.stdout.trimEnd(), result.stderr.trimEnd()].filter((part) => part !== "").join("\n");
  if (result.refused || result.code !== 0) {
    throw new ToolFailure(text === "" ? `the command failed with exit code ${result.code} and no message` : text);
  }
  return text === "" ? "(no output)" : text;
}
