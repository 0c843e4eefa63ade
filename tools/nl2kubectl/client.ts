/** Runs kubectl commands, within what the task allows. */
import { type ToolContext, ToolFailure } from "../context.js";
import { Kubectl, type KubectlResult } from "../kubectl/index.js";

export interface KubectlQuery {
  /** One command, `kubectl ...`, with filters behind `|` at most. */
  command: string;
  /** Standard input, for `apply -f -` and its like. */
  manifest?: string;
}

/** More than an observation may hold, so that the summarizer can read what was cut. */
const MAX_BYTES = 512 * 1024;

/** Runs one command line; what went wrong is in the result. */
export type RunCommand = (command: string, stdin?: string) => Promise<KubectlResult>;

/** One kubectl for the task: discovery and connections are kept between commands, and closed with the task. */
export function openKubectl(context: ToolContext): RunCommand {
  let kubectl: Kubectl | undefined;
  return (command, stdin) => {
    if (kubectl === undefined) {
      const opened = new Kubectl({
        kubeconfig: context.endpoints.kubeconfig,
        mode: context.writes ? "read-write" : "read-only",
        namespaces: context.namespaces,
        kubectl: context.kubectl,
        sleep: (seconds, signal) => context.clock.sleep(seconds, signal),
        now: () => context.clock.now(),
        maxBytes: MAX_BYTES,
      });
      kubectl = opened;
      context.onEnd(() => opened.close());
    }
    return kubectl.run(command, {
      ...(context.signal === undefined ? {} : { signal: context.signal }),
      ...(stdin === undefined ? {} : { stdin }),
    });
  };
}

/** Runs a query and gives its output. The function throws ToolFailure when the command is refused or fails. */
export function createKubectlRunner(context: ToolContext): (query: KubectlQuery) => Promise<string> {
  const run = openKubectl(context);
  return async (query) => {
    const result = await run(query.command, query.manifest);
    const text = [result.stdout.trimEnd(), result.stderr.trimEnd()].filter((part) => part !== "").join("\n");
    // A filter that matches nothing, and diff, end with 1 and say nothing on stderr: that is an answer, not a failure.
    if (result.refused || (result.code !== 0 && result.stderr.trim() !== "")) throw new ToolFailure(text);
    return text === "" ? "(no output)" : text;
  };
}
