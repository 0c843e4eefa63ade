/** Finds calls that are written as code: `nl2kubectl(question="...")`, alone on a line, in a list, or in `print()`. */
import { readJsonAt } from "../json-text.js";
import { type Found, matchTool, type ReadSettings, type ToolNames } from "./action.js";

/** What may stand before a call on its line: a list's bracket, `print(`, `await`, an assignment, a bullet. */
const BEFORE = /(?:^|\n|```\w*\s)[ \t>*`-]*(?:\d+[.)]\s*)?(?:\[\s*)?(?:\w+\s*=\s*)?(?:await\s+)?(?:print\(\s*)?$/;
/** From the start of a word only, and words are short: otherwise a long run of letters is read again from each of them. */
const CALL = /(?<!\w)(?:(?:functions|tools|default_api|api)\.)?([A-Za-z_]\w{0,99})\(/g;

/** All calls in `text`, in order. A call in the middle of a sentence is no call. */
export function findPythonCalls(text: string, tools: ToolNames, settings: ReadSettings = {}): Found[] {
  const found: Found[] = [];
  let end = 0;
  for (const match of text.matchAll(CALL)) {
    if (match.index < end) continue;
    const tool = matchTool(match[1]!, tools.names);
    if (tool === undefined) continue;
    const inList = found.length > 0 && /^\s*,\s*$/.test(text.slice(end, match.index));
    if (!inList && !BEFORE.test(text.slice(Math.max(0, text.lastIndexOf("\n", match.index)), match.index))) continue;
    const from = match.index + match[0].length;
    const reading = readArgumentList(text, from, settings);
    end = reading.end;
    if (reading.args === undefined) {
      found.push({ ok: false, reason: `your call to ${tool} was not run: ${reading.fault}`, end });
    } else if (/^[ \t]*[\])`,;]*[ \t]*(?:#.*)?(?:\n|$|<|```|\s*[A-Za-z_]+\()/.test(text.slice(end))) {
      found.push({ ok: true, action: { tool, args: reading.args }, end });
    }
  }
  return found;
}

interface Arguments {
  args?: Record<string, unknown> | string;
  fault: string;
  end: number;
}

/** Reads `name=value, ...` or one bare value up to the closing bracket. */
function readArgumentList(text: string, from: number, settings: ReadSettings): Arguments {
  const args: Record<string, unknown> = {};
  let bare: string | Record<string, unknown> | undefined;
  let at = from;
  for (;;) {
    at += /^[\s,]*/.exec(text.slice(at))![0].length;
    if (at >= text.length) return { fault: fault(settings), end: at };
    if (text[at] === ")") break;
    const key = /^([A-Za-z_]\w*)\s*[=:]\s*/.exec(text.slice(at));
    if (key !== null) at += key[0].length;
    const value = readValue(text, at, settings);
    if (value === undefined) return { fault: fault(settings), end: text.length };
    at = value.end;
    if (key !== null) args[key[1]!] = value.value;
    else if (bare === undefined && (typeof value.value === "string" || isObject(value.value))) bare = value.value;
    else return { fault: "its arguments need names", end: at };
  }
  const end = at + 1;
  if (bare === undefined) return { args, fault: "", end };
  if (Object.keys(args).length > 0) return { fault: "its arguments need names", end };
  return { args: bare, fault: "", end };
}

const fault = ({ cut }: ReadSettings) => (cut ? "it was cut off at the token limit" : "it breaks off before its end");
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** A string, number, constant, list or dict that begins at `at`. */
function readValue(text: string, at: number, settings: ReadSettings): { value: unknown; end: number } | undefined {
  const rest = text.slice(at);
  const string = /^[frbu]?(?:"""([\s\S]*?)"""|'''([\s\S]*?)'''|"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|“([^”]*)”)/.exec(
    rest,
  );
  if (string !== null) {
    const inner = string.slice(1).find((one) => one !== undefined) ?? "";
    return { value: unescaped(inner), end: at + string[0].length };
  }
  const word = /^(True|False|None|true|false|null|-?\d+(?:\.\d+)?)(?=\s*[,)\]}])/.exec(rest);
  if (word !== null) {
    const constants: Record<string, unknown> = {
      True: true,
      true: true,
      False: false,
      false: false,
      None: null,
      null: null,
    };
    return { value: word[0] in constants ? constants[word[0]] : Number(word[0]), end: at + word[0].length };
  }
  if (rest[0] !== "{" && rest[0] !== "[") return undefined;
  const reading = readJsonAt(text, at, settings);
  return reading.ok ? { value: reading.value, end: reading.end } : undefined;
}

function unescaped(text: string): string {
  return text.replace(/\\([\s\S])/g, (_, c: string) => ({ n: "\n", t: "\t", r: "\r" })[c] ?? c);
}
