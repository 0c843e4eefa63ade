/** What a model's text says to do, whatever protocol it is written in. */

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

/** `name` as one of `names`: case, quotes, spaces, dashes and a trailing `()` do not matter. */
export function matchTool(name: string, names: readonly string[]): string | undefined {
  const plain = (text: string) =>
    text
      .replace(/^functions?\./i, "")
      .replace(/\(.*$/s, "")
      .replace(/[^A-Za-z0-9]/g, "")
      .toLowerCase();
  return names.find((one) => one === name) ?? names.find((one) => plain(one) === plain(name));
}

/** Takes out what reasoning models think aloud. */
export function withoutThinking(text: string): string {
  return text
    .replace(/<(think|thinking|reasoning)>[\s\S]*?<\/\1>/gi, "")
    .replace(/^[\s\S]*?<\/(think|thinking|reasoning)>/i, "")
    .trim();
}
