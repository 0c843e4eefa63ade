/** From a question to a kubectl command, with the nested model. */
import { prompt } from "../../prompts/index.js";
import { fenced, readObject, readString } from "../answers.js";
import { type Ask, type ToolContext, UnreadableQueryError } from "../context.js";
import { questionValues } from "../question.js";
import type { KubectlQuery } from "./client.js";

/** @throws UnreadableQueryError when the answer holds no command */
export async function writeKubectlQuery(question: string, context: ToolContext, ask: Ask): Promise<KubectlQuery> {
  const answer = await ask(prompt("nl2kubectl", context.promptVariant, questionValues(question, context)));
  return readKubectlQuery(answer);
}

/** Reads the answer: a command (in a fence, a JSON field, or on a line of its own) and a YAML fence as its manifest. */
export function readKubectlQuery(answer: string): KubectlQuery {
  const object = readObject(answer);
  const field = readString(object?.command);
  if (field !== undefined && isCommand(field)) {
    const manifest = readString(object?.manifest);
    return { command: field, ...(manifest === undefined ? {} : { manifest }) };
  }
  const manifest = fenced(answer, ["yaml", "yml"]);
  const block = fenced(answer, ["bash", "sh", "shell", "console", "kubectl", "text", ""]);
  for (const text of [block, answer]) {
    const line = text === undefined ? undefined : commandLine(text);
    if (line !== undefined) return { command: line, ...(manifest === undefined ? {} : { manifest }) };
  }
  throw new UnreadableQueryError("no command found; answer with one kubectl command in a fence");
}

/** Whether `text` is a command already, and not a question. */
export function isCommand(text: string): boolean {
  return /^\s*(\$\s+)?kubectl\s+\S/.test(text);
}

/** The first command in `text`, with its continuation lines. */
function commandLine(text: string): string | undefined {
  const joined = text.replace(/[ \t]*\\\r?\n\s*/g, " ");
  const start = joined.search(/^[ \t>*`-]*(\$[ \t]+)?kubectl[ \t]/m);
  if (start < 0) return undefined;
  const rest = joined.slice(start).replace(/^[\s>*`-]*(\$\s+)?/, "");
  // A quoted argument, such as a patch, may run over several lines.
  let quote: string | undefined;
  let end = 0;
  for (; end < rest.length; end++) {
    const c = rest[end]!;
    if (quote !== undefined) {
      if (c === "\\" && quote === '"') end++;
      else if (c === quote) quote = undefined;
    } else if (c === "'" || c === '"') quote = c;
    else if (c === "\n") break;
  }
  return rest
    .slice(0, end)
    .replace(/[\s`]+$/, "")
    .trim();
}
