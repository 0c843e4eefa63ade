/** Runs kubectl commands, within what the task allows. */
import { type ToolContext, ToolFailure } from "../context.js";
import { Kubectl } from "../kubectl/index.js";

export interface KubectlQuery {
  /** One command, `kubectl ...`, with filters behind `|` at most. */
  command: string;
  /** Standard input, for `apply -f -` and its like. */
  manifest?: string;
}

/** More than an observation may hold, so that the summarizer can read what was cut. */
const MAX_BYTES = 512 * 1024;

/** One kubectl for the task: discovery and connections are kept between commands, and closed with the task. */
export function createKubectlRunner(context: ToolContext): (query: KubectlQuery) => Promise<string> {
  let kubectl: Kubectl | undefined;
  return async (query) => {
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
    const result = await kubectl.run(query.command, {
      ...(context.signal === undefined ? {} : { signal: context.signal }),
      ...(query.manifest === undefined ? {} : { stdin: query.manifest }),
    });
    const text = [result.stdout.trimEnd(), result.stderr.trimEnd()].filter((part) => part !== "").join("\n");
    // A filter that matches nothing, and diff, end with 1 and say nothing on stderr: that is an answer, not a failure.
    if (result.refused || (result.code !== 0 && result.stderr.trim() !== "")) throw new ToolFailure(text);
    return text === "" ? "(no output)" : text;
  };
}
