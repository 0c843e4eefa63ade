/** From a question to a script, with the nested model. */
import { prompt } from "../../prompts/index.js";
import { fenced, readObject, readString } from "../answers.js";
import { type Ask, type ToolContext, UnreadableQueryError } from "../context.js";
import { questionValues } from "../question.js";

/** @throws UnreadableQueryError when the answer holds no script */
export async function writeScript(question: string, context: ToolContext, ask: Ask): Promise<string> {
  const answer = await ask(prompt("nl2script", context.promptVariant, questionValues(question, context)));
  return readScript(answer);
}

/** Reads the answer: a script in a fence, in a JSON field, or by itself. */
export function readScript(answer: string): string {
  const object = /^\s*(```json\s*)?\{/.test(answer) ? readObject(answer) : undefined;
  const script = readString(object?.script) ?? fenced(answer, ["bash", "sh", "shell", "console", "text", ""]);
  if (script !== undefined && script.trim() !== "") return script;
  if (/^\s*(kubectl|for|[A-Za-z_]\w*=\$\()/.test(answer)) return answer.trim();
  throw new UnreadableQueryError("no script found; answer with kubectl commands in a fence");
}
