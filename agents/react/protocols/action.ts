/** What a model's text says to do, whatever protocol it is written in. */
import { suggest } from "../../../tools/index.js";

export interface ParsedAction {
  tool: string;
  /** An object, or text that stands for the tool's main argument. */
  args: Record<string, unknown> | string;
}

export type Parsed =
  /** `note`: a remark for the model, such as that only its first action was run. */
  { ok: true; actions: ParsedAction[]; note?: string } | { ok: false; reason: string };

/** What a parser needs to know of the tools. */
export interface ToolNames {
  names: readonly string[];
  /** The tool that takes the final answer. */
  submit: string;
}

export interface ReadSettings {
  /** The backend says that the answer was cut off at the token limit. */
  cut?: boolean;
}

/** One call in a text: sound, or with what is wrong about it. */
export type Found = { ok: true; action: ParsedAction; end: number } | { ok: false; reason: string; end: number };

/** `name` as one of `names`: case, quotes, spaces, dashes, a module before it and a trailing `()` or `:0` do not matter. */
export function matchTool(name: string, names: readonly string[]): string | undefined {
  const plain = (text: string) =>
    text
      .replace(/\(.*$/s, "")
      .replace(/:\d+\s*$/, "")
      .replace(/^\s*(?:functions?|tools?|default_api|api)[.:/]/i, "")
      .replace(/[^A-Za-z0-9]/g, "")
      .toLowerCase();
  const wanted = plain(name);
  if (wanted === "") return undefined;
  return names.find((one) => one === name) ?? names.find((one) => plain(one) === wanted);
}

const FINAL_NAMES = /^(final[ _-]?answer|final|finish|submit|answer|done)$/i;

/** The tool that `name` means, the words that models use for their final answer included. */
export function toolFor(name: string, tools: ToolNames): string | undefined {
  return matchTool(name, tools.names) ?? (FINAL_NAMES.test(name.trim()) ? tools.submit : undefined);
}

/** What a model is told that called a tool which does not exist. */
export function noSuchTool(name: string, tools: ToolNames): string {
  const shown = name.length > 60 ? `${name.slice(0, 60)}…` : name;
  const near = suggest(shown, tools.names, 1)[0];
  const hint = near === undefined ? "" : ` (did you mean ${near}?)`;
  return `there is no tool "${shown}"${hint}; the tools are: ${tools.names.join(", ")}`;
}

/** Marks around what reasoning models think aloud: `<think>`, Magistral's, Kimi's, and gpt-oss' analysis channel. */
const THOUGHTS: [open: string, close: string][] = [
  ["<(?:think|thinking|reasoning|thought|seed:think)>", "</(?:think|thinking|reasoning|thought|seed:think)>"],
  ["\\[THINK\\]", "\\[/THINK\\]"],
  ["◁think▷", "◁/think▷"],
  ["<\\|channel\\|>analysis<\\|message\\|>", "<\\|end\\|>"],
];

/** Takes out what reasoning models think aloud; a thought that is never closed reaches to the end. */
export function withoutThinking(text: string): string {
  let said = text;
  for (const [open, close] of THOUGHTS) {
    said = said
      .replace(new RegExp(`${open}(?:(?!${open})[\\s\\S])*?${close}`, "gi"), "")
      .replace(new RegExp(`^[\\s\\S]*${close}`, "i"), "")
      .replace(new RegExp(`${open}[\\s\\S]*$`, "i"), "");
  }
  return said.trim();
}

/** Where a model begins to make up what its call would return; the length of the text when it does not. */
export function inventedFrom(text: string, from: number): number {
  const found = INVENTED.exec(text.slice(from));
  return found === null ? text.length : from + found.index;
}

const INVENTED =
  /^[ \t>*_#-]*(?:observation|output|result|response|tool[ _-]?(?:output|result|response)|观察|观察结果|结果|输出)[ \t*_]*\d*[ \t*_]*[:：]|^[ \t]*```(?:output|result|text|console|stdout)\b|<\/?(?:tool_response|function_results|function_response|observation|tool_result|tool_output)\b/im;
