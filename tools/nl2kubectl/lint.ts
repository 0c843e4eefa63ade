/** What is wrong with a kubectl command before it runs. */
import type { ToolContext } from "../context.js";
import { guard, parseCommandLine } from "../kubectl/index.js";
import type { KubectlQuery } from "./client.js";

const NAMESPACE_FLAG = /^(-n.*|--namespace(=.*)?|-A|--all-namespaces)$/;
const NAMESPACED_VERB = /^(get|describe|logs|top|events|scale|set|patch|rollout|delete|label|annotate)$/;
const CLUSTER_SCOPED = /^(no|nodes?|ns|namespaces?|pv|persistentvolumes?|sc|storageclass(es)?|crds?)\b/;

/** Command line and guard, as when it runs; then placeholders, a missing manifest and a missing namespace. */
export async function lintKubectlQuery(query: KubectlQuery, context: ToolContext): Promise<string[]> {
  // To the command line an angle bracket is a redirection; the writer of a placeholder needs other advice.
  if (/<[a-z][a-z0-9 _-]*>/i.test(query.command)) {
    return ["a placeholder in angle brackets is left: put a real name there; list the objects first to learn it"];
  }
  const parsed = parseCommandLine(query.command);
  if (!parsed.ok) return [parsed.error];
  const words = parsed.pipeline[0] ?? [];
  const findings: string[] = [];
  const verdict = guard(words, { mode: context.writes ? "read-write" : "read-only", namespaces: context.namespaces });
  if (!verdict.ok) findings.push("usage" in verdict ? verdict.usage : verdict.message);
  if (words.includes("-") && query.manifest === undefined) {
    findings.push("the command reads a manifest from standard input, but there is none: add it in a yaml fence");
  }
  const named = words.some((word) => NAMESPACE_FLAG.test(word)) || query.manifest !== undefined;
  if (
    !named &&
    NAMESPACED_VERB.test(words[1] ?? "") &&
    !CLUSTER_SCOPED.test(words[2] ?? "") &&
    !words.includes("--raw")
  ) {
    findings.push(`no namespace is named: add -n ${context.namespaces[0] ?? "NAMESPACE"}, or -A to read all`);
  }
  return findings;
}
