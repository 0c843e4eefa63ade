/** What is wrong with a script before any of it runs: variables without a value, and commands that the guard refuses. */
import { guard, type Policy, parseCommandLine } from "../kubectl/index.js";
import { plainText } from "./parse.js";
import type { Pipeline, Statement, Word } from "./syntax.js";

/** Findings, one sentence each; empty when nothing is. */
export function checkScript(statements: readonly Statement[], policy: Policy): string[] {
  const findings: string[] = [];
  const visit = (list: readonly Statement[], known: Set<string>): void => {
    const words = (all: readonly Word[]) => {
      for (const part of all.flat()) {
        if (part.type === "variable" && !known.has(part.name)) {
          findings.push(
            `$${part.name} has no value: set it before (${part.name}=...), or put literal dollar signs in single quotes`,
          );
        }
        if (part.type === "output") pipeline(part.pipeline);
      }
    };
    const pipeline = (one: Pipeline) => {
      words(one.commands.flat());
      findings.push(...judge(one, policy));
    };
    for (const statement of list) {
      if (statement.type === "run") pipeline(statement.pipeline);
      else if (statement.type === "echo") words(statement.words);
      else if (statement.type === "set") {
        words([statement.value]);
        known.add(statement.name);
      } else {
        words(statement.items);
        known.add(statement.name);
        visit(statement.body, known);
      }
    }
  };
  visit(statements, new Set());
  return [...new Set(findings)];
}

/** The guard's word on a pipeline; where variables stand in it, on what is written down. It is asked again at run time. */
function judge(pipeline: Pipeline, policy: Policy): string[] {
  const texts = pipeline.commands.map((words) => words.map(sample));
  const whole = pipeline.commands.flat().every((word) => plainText(word) !== undefined);
  const parsed = parseCommandLine(commandLine(texts, pipeline.mergeStderr));
  if (!parsed.ok) return [parsed.error];
  const [argv = []] = parsed.pipeline;
  if (whole) {
    const verdict = guard(argv, policy);
    return verdict.ok ? [] : ["usage" in verdict ? verdict.usage : verdict.message];
  }
  // A variable may yet turn out to be an allowed namespace, or a number.
  const verdict = guard(argv, { mode: policy.mode });
  return verdict.ok || "usage" in verdict ? [] : [verdict.message];
}

/** A word with something in the place of what is known only later. */
function sample(word: Word): string {
  return word.map((part) => (part.type === "text" ? part.text : "x")).join("");
}

/** Words as a command line that reads as just these words. */
export function commandLine(commands: readonly (readonly string[])[], mergeStderr: boolean): string {
  const [first = [], ...filters] = commands.map((words) => words.map(quote).join(" "));
  return [`${first}${mergeStderr ? " 2>&1" : ""}`, ...filters].join(" | ");
}

function quote(word: string): string {
  return /^[\w/.:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
