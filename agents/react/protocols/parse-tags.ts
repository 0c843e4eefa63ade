/**
 * Finds calls in the tags and marks that models were trained on and that servers do not always take out: Qwen's and
 * Llama's function tags, Claude's `invoke`, GLM's keys and values, and names before their JSON (Mistral, DeepSeek, Kimi,
 * gpt-oss).
 */
import { readJsonAt } from "../json-text.js";
import { type Found, matchTool, noSuchTool, type ReadSettings, type ToolNames, toolFor } from "./action.js";

/** A mark, the tool's name, and whatever stands between it and the JSON of its arguments. */
const NAMED_JSON: RegExp[] = [
  /\[TOOL_CALLS\]\s*([\w.-]+)\s*(?:\[CALL_ID\][\w-]+\s*)?(?:\[ARGS\]\s*)?(?=\{)/g,
  /<｜tool▁call▁begin｜>\s*(?:function<｜tool▁sep｜>)?([\w.-]+)\s*(?:<｜tool▁sep｜>)?\s*(?:```(?:json)?\s*)?(?=\{)/g,
  /<\|tool_call_begin\|>\s*([\w.:-]+)\s*<\|tool_call_argument_begin\|>\s*(?=\{)/g,
  /\bto=([\w.-]+)[^{\n]*?<\|message\|>\s*(?=\{)/g,
  /<function=["']?([\w.-]+)["']?>\s*(?=\{)/g,
  /<(?:tool|tool_call|function|function_call|call|action|invoke)\s+(?:name|tool|function)=["']([\w .-]+)["'][^>]*>\s*(?=\{)/g,
  /<tool_call>\s*([\w.-]+)\s*(?=\{)/g,
];

/** An opening tag with the tool's name, what stands in it, and its end. */
const BLOCKS: { open: RegExp; close: RegExp }[] = [
  { open: /<function=["']?([\w.-]+)["']?>/g, close: /<\/function>|<\/tool_call>/g },
  {
    open: /<(?:\w+:)?(?:invoke|tool|tool_call|function|call|action)\s+(?:name|tool|function)=["']([\w .-]+)["'][^>]*>/g,
    close: /<\/(?:\w+:)?(?:invoke|tool|tool_call|function|call|action)>/g,
  },
  { open: /<tool_call>\s*([A-Za-z][\w.-]*)\s*(?=\n|<arg_key>|<\/tool_call>)/g, close: /<\/tool_call>/g },
];

/** A parameter inside a block: name and value, in one of the spellings. */
const PARAMETERS: RegExp[] = [
  /<(?:\w+:)?parameter\s+name=["']([\w.-]+)["'][^>]*>([\s\S]*?)<\/(?:\w+:)?parameter>/g,
  /<parameter=["']?([\w.-]+)["']?>([\s\S]*?)<\/parameter>/g,
  /<arg_key>\s*([\w.-]+)\s*<\/arg_key>\s*<arg_value>([\s\S]*?)<\/arg_value>/g,
  /<arg(?:ument)?\s+name=["']([\w.-]+)["'][^>]*>([\s\S]*?)<\/arg(?:ument)?>/g,
  /<([A-Za-z][\w.-]*)>([\s\S]*?)<\/\1>/g,
];

/** All calls in tags, in order; those with a JSON object straight inside the tags are left to `findJsonCalls`. */
export function findTaggedCalls(text: string, tools: ToolNames, settings: ReadSettings = {}): Found[] {
  const found: (Found & { start: number })[] = [];
  const free = (at: number) => found.every((one) => at < one.start || at >= one.end);
  for (const pattern of NAMED_JSON) {
    for (const match of text.matchAll(pattern)) {
      if (!free(match.index)) continue;
      const at = match.index + match[0].length;
      const reading = readJsonAt(text, at, settings);
      found.push({ ...named(match[1]!, reading, tools), start: match.index });
    }
  }
  for (const { open, close } of BLOCKS) {
    for (const match of text.matchAll(open)) {
      if (!free(match.index)) continue;
      const from = match.index + match[0].length;
      const end = endOf(text, from, close, open);
      found.push({ ...block(match[1]!, text.slice(from, end.at), end, tools), start: match.index });
    }
  }
  for (const name of tools.names) {
    // `<nl2kubectl><question>...</question></nl2kubectl>`
    const pattern = new RegExp(`<${name}(?:\\s[^>]*)?>`, "gi");
    for (const match of text.matchAll(pattern)) {
      if (!free(match.index)) continue;
      const from = match.index + match[0].length;
      const end = endOf(text, from, new RegExp(`</${name}>`, "gi"), pattern);
      found.push({ ...block(name, text.slice(from, end.at), end, tools), start: match.index });
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

interface End {
  /** Where the content ends. */
  at: number;
  /** Where the block ends, its closing tag included. */
  after: number;
  closed: boolean;
}

/** The end of a block: its closing tag, or else the next block's beginning or the end of the text. */
function endOf(text: string, from: number, close: RegExp, open: RegExp): End {
  const rest = text.slice(from);
  const closing = new RegExp(close.source, "i").exec(rest);
  const next = new RegExp(open.source, "i").exec(rest);
  if (closing !== null && (next === null || closing.index < next.index)) {
    return { at: from + closing.index, after: from + closing.index + closing[0].length, closed: true };
  }
  const at = next === null ? text.length : from + next.index;
  return { at, after: at, closed: false };
}

function named(name: string, reading: ReturnType<typeof readJsonAt>, tools: ToolNames): Found {
  const { end } = reading;
  const tool = toolFor(name, tools);
  if (tool === undefined) return { ok: false, reason: noSuchTool(name, tools), end };
  if (!reading.ok) return { ok: false, reason: `your call to ${tool} was not run: ${reading.fault}`, end };
  if (Array.isArray(reading.value)) {
    return { ok: false, reason: `your call to ${tool} was not run: its input is a list, not an object`, end };
  }
  return { ok: true, action: { tool, args: reading.value as Record<string, unknown> }, end };
}

function block(name: string, content: string, end: End, tools: ToolNames): Found {
  const tool = matchTool(name, tools.names) ?? toolFor(name, tools);
  if (tool === undefined) return { ok: false, reason: noSuchTool(name, tools), end: end.after };
  const broken: Found = {
    ok: false,
    reason: `your call to ${tool} was not run: it breaks off before its end`,
    end: end.after,
  };
  // Where the end is missing, another parameter may have been meant.
  if (!end.closed) return broken;
  const inner = content.search(/\S/);
  if (inner >= 0 && content[inner] === "{") {
    const reading = readJsonAt(content, inner, { whole: true });
    const call = named(tool, reading, tools);
    return { ...call, end: end.after };
  }
  for (const pattern of PARAMETERS) {
    const args: Record<string, unknown> = {};
    let rest = content;
    for (const [whole, key, value] of content.matchAll(pattern)) {
      args[key!] = value!.trim();
      rest = rest.replace(whole, "");
    }
    if (Object.keys(args).length === 0) continue;
    if (/<(\w+:)?(parameter|arg)/.test(rest)) return broken;
    return { ok: true, action: { tool, args }, end: end.after };
  }
  const text = content.trim();
  if (text === "") return { ok: true, action: { tool, args: {} }, end: end.after };
  if (/^<|<(\w+:)?(parameter|arg)/.test(text)) return broken;
  return { ok: true, action: { tool, args: text }, end: end.after };
}
