/** Runs a script, command by command, through the agents' kubectl and its guard. */
import { ToolFailure } from "../context.js";
import type { RunCommand } from "../nl2kubectl/index.js";
import { cutMiddle } from "../render/cut.js";
import { commandLine } from "./check.js";
import type { Pipeline, Statement, Word } from "./syntax.js";

const MAX_COMMANDS = 60;
/** What is kept of one command's output, and of all together, in bytes. */
const MAX_BYTES_OF_ONE = 32 * 1024;
const MAX_BYTES = 256 * 1024;

/** What becomes of a script; its own bounds end it early. */
class Stopped extends Error {}

/**
 * Runs the statements; a command that fails is shown with its error, and the next one runs, as in a shell.
 *
 * @throws ToolFailure when a command is refused, or when every command failed
 */
export async function runScript(statements: readonly Statement[], run: RunCommand): Promise<string> {
  const shown: string[] = [];
  const variables = new Map<string, string>();
  let bytes = 0;
  let commands = 0;
  let failures = 0;

  const show = (text: string): void => {
    shown.push(text);
    bytes += Buffer.byteLength(text);
    if (bytes > MAX_BYTES) throw new Stopped(`stopped: the output is longer than ${MAX_BYTES / 1024} KiB`);
  };
  const bounded = (text: string) =>
    cutMiddle(
      text.trimEnd(),
      MAX_BYTES_OF_ONE,
      (left) => `[... ${left} bytes left out; filter with | grep or | head ...]`,
    ).text;

  async function pipeline(one: Pipeline, visible: boolean): Promise<string> {
    const line = commandLine(
      one.commands.map((words) => words.flatMap((word) => plain(word))),
      one.mergeStderr,
    );
    if (++commands > MAX_COMMANDS) {
      throw new Stopped(`stopped: a script runs at most ${MAX_COMMANDS} commands; narrow its lists`);
    }
    const result = await run(line);
    if (result.refused) {
      shown.push(`$ ${line}\n${result.stderr.trimEnd()}`);
      throw new ToolFailure(shown.join("\n"));
    }
    // A filter that matches nothing ends with 1 and says nothing: that is an answer.
    const failed = result.code !== 0 && result.stderr.trim() !== "";
    if (failed) failures++;
    const parts = [visible ? bounded(result.stdout) : "", result.stderr.trimEnd()].filter((part) => part !== "");
    // What a list or a variable is made of is shown where it is nothing, with the reason.
    const nothing = result.stdout.trim() === "";
    if (visible || failed || nothing) show(`$ ${line}\n${parts.length === 0 ? "(no output)" : parts.join("\n")}`);
    return result.stdout;
  }

  function plain(word: Word): string[] {
    const [only] = word;
    if (word.length === 1 && only?.type === "variable" && !only.quoted) return split(variables.get(only.name) ?? "");
    return [
      word
        .map((part) =>
          part.type === "text" ? part.text : part.type === "variable" ? (variables.get(part.name) ?? "") : "",
        )
        .join(""),
    ];
  }

  async function expanded(word: Word): Promise<string[]> {
    let text = "";
    for (const part of word) {
      if (part.type === "text") text += part.text;
      else {
        const value =
          part.type === "variable"
            ? (variables.get(part.name) ?? "")
            : (await pipeline(part.pipeline, false)).replace(/\n+$/, "");
        if (word.length === 1 && !part.quoted) return split(value);
        text += value;
      }
    }
    return [text];
  }

  async function all(list: readonly Statement[]): Promise<void> {
    for (const statement of list) {
      if (statement.type === "run") await pipeline(statement.pipeline, true);
      else if (statement.type === "echo") show(statement.words.flatMap((word) => plain(word)).join(" "));
      else if (statement.type === "set") variables.set(statement.name, (await expanded(statement.value)).join(" "));
      else {
        const items: string[] = [];
        for (const word of statement.items) items.push(...(await expanded(word)));
        if (items.length === 0) show(`(for ${statement.name}: the list is empty, so nothing was run)`);
        for (const item of items) {
          variables.set(statement.name, item);
          await all(statement.body);
        }
      }
    }
  }

  try {
    await all(statements);
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    shown.push(`[${error.message}]`);
  }
  if (commands > 0 && failures === commands) throw new ToolFailure(shown.join("\n"));
  return shown.length === 0 ? "(no output)" : shown.join("\n");
}

function split(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
