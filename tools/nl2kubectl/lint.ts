/** What is wrong with a kubectl command before it runs. */
import type { ToolContext } from "../context.js";
import { parseCommandLine } from "../kubectl/index.js";
import type { KubectlQuery } from "./client.js";

/** What the command line itself shows; the guard, which looks closer, judges when it runs. */
export async function lintKubectlQuery(query: KubectlQuery, context: ToolContext): Promise<string[]> {
  const findings: string[] = [];
  if (/<[a-z][a-z0-9 _-]*>/i.test(query.command)) {
    findings.push(
      "the command still holds a placeholder in angle brackets: put a real name there, and list the objects first if you do not know it",
    );
  }
  const parsed = parseCommandLine(query.command);
  if ("error" in parsed) return [...findings, parsed.error];
  const words = parsed.pipeline[0] ?? [];
  const reads = words.some(
    (word) => word === "-f" || word === "--filename" || word === "-f-" || word === "--filename=-",
  );
  if (reads && query.manifest === undefined && words.includes("-")) {
    findings.push('the command reads standard input, but no manifest was given: pass it in "manifest"');
  }
  const named = words.some((word) => /^(-n.*|--namespace(=.*)?|-A|--all-namespaces)$/.test(word));
  const verb = words[1] ?? "";
  if (
    !named &&
    /^(get|describe|logs|top|events|scale|set|patch|rollout|delete|label|annotate)$/.test(verb) &&
    !/^(nodes?|no|namespaces?|ns|pv|storageclass(es)?|sc|crds?)\b/.test(words[2] ?? "")
  ) {
    findings.push(`the command names no namespace: add -n ${context.namespaces[0] ?? "NAMESPACE"} (or -A to read all)`);
  }
  return findings;
}
