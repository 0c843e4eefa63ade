/** What is wrong with a kubectl command before it runs. */
import type { ToolContext } from "../context.js";
import { KubectlLinter } from "../kubectl/index.js";
import type { Finding } from "../lint/finding.js";
import type { KubectlQuery } from "./client.js";

/** One linter for the task: what it learns of the server is kept between commands, and dropped with the task. */
export function createKubectlLint(context: ToolContext): (query: KubectlQuery) => Promise<Finding[]> {
  let linter: KubectlLinter | undefined;
  return ({ command, manifest }) => {
    if (linter === undefined) {
      const opened = new KubectlLinter({
        kubeconfig: context.endpoints.kubeconfig,
        mode: context.writes ? "read-write" : "read-only",
        namespaces: context.namespaces,
        now: () => context.clock.now(),
      });
      linter = opened;
      context.onEnd(() => opened.close());
    }
    return linter.lint(command, manifest);
  };
}
