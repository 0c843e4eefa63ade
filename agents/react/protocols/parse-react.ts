/** Reads `Thought / Action / Action Input / Observation` text, forgiving what models make of it. */
import { isSelector, quoted, readJsonAt, readJsonText } from "../json-text.js";
import {
  inventedFrom,
  matchTool,
  noSuchTool,
  type Parsed,
  type ReadSettings,
  type ToolNames,
  toolFor,
  withoutThinking,
} from "./action.js";
import { INVENTED_NOTE, readCalls } from "./read-calls.js";

/** A label at the beginning of a line, with what models put around it: `**Action:**`, `Action 1:`, `> Action:`. */
function label(name: string): RegExp {
  return new RegExp(`^[ \\t>*_#\\p{Emoji_Presentation}️-]*(?:${name})[ \\t]*\\d*[ \\t*_]*[:：][ \\t*_]*`, "imu");
}

const ACTION = label("action|tool|行动|动作|操作|工具");
const INPUT = label("action[ _-]?input|input|arguments|args|parameters|行动输入|动作输入|操作输入|工具输入|输入|参数");
const FINAL = label("final[ _-]?answer|最终答案|最终回答");
const NEXT = label(
  "thought|action|observation|final[ _-]?answer|思考|想法|行动|动作|操作|观察|观察结果|最终答案|最终回答",
);

/** The first action in `text`. What the model made up after it (observations, further turns) is dropped. */
export function parseReact(text: string, tools: ToolNames, settings: ReadSettings = {}): Parsed {
  const said = withoutThinking(text);
  const action = ACTION.exec(said);
  const final = FINAL.exec(said);
  if (final !== null && (action === null || final.index < action.index)) {
    return finalAnswer(said.slice(final.index + final[0].length), tools, settings);
  }
  if (action === null) return withoutLabel(said, text, tools, settings);
  const rest = said.slice(action.index + action[0].length);
  const nameLine = clean(rest.split("\n", 1)[0]!);
  const inline = /^\s*([A-Za-z][\w.-]*)\s*[([{]/.exec(nameLine);
  const tool = matchTool(nameLine, tools.names) ?? (inline === null ? undefined : matchTool(inline[1]!, tools.names));
  if (tool === undefined) {
    if (/^\s*(```\w*\s*)?[{[]/.test(rest)) return firstOf(readCalls(rest, tools, settings), tools);
    if (nameLine !== "" && toolFor(nameLine, tools) === tools.submit) {
      return finalAnswer(inputOf(rest) ?? "", tools, settings);
    }
    if (/^none\b|^n\/a\b|^no (action|tool)|^无/i.test(nameLine)) {
      return { ok: false, reason: `"Action: ${nameLine}" names no tool; to give your answer use ${tools.submit}` };
    }
    if (nameLine === "")
      return { ok: false, reason: `"Action:" names no tool; the tools are: ${tools.names.join(", ")}` };
    return { ok: false, reason: noSuchTool(nameLine, tools) };
  }
  const labelled = inputOf(rest);
  const input = labelled ?? inlineInput(rest, nameLine);
  const atEnd = settings.cut === true && input !== undefined && said.trimEnd().endsWith(input.trimEnd());
  if (settings.cut === true && (input === undefined || input === "")) {
    return { ok: false, reason: `your call to ${tool} was not run: it was cut off at the token limit` };
  }
  const args = readInput(input ?? "", { cut: atEnd });
  if (typeof args === "object" && "fault" in args) {
    return { ok: false, reason: `the Action Input of ${tool} cannot be read: ${args.fault}` };
  }
  const note = remark(rest);
  return { ok: true, actions: [{ tool, args: args.value }], ...(note === undefined ? {} : { note }) };
}

/** Whether `text` has a line that begins with "Action:". */
export function hasActionLabel(text: string): boolean {
  return ACTION.test(withoutThinking(text));
}

/** Some models answer in JSON, tags or code whatever they are told. */
function withoutLabel(said: string, text: string, tools: ToolNames, settings: ReadSettings): Parsed {
  const calls = readCalls(said, tools, settings);
  if (calls !== undefined) return firstOf(calls, tools);
  const form = 'write "Action: <tool>" and below it "Action Input: <JSON>"';
  if (said === "" && text.trim() !== "") return { ok: false, reason: `you only thought; ${form}` };
  return { ok: false, reason: `no line that begins with "Action:" was found; ${form}` };
}

function firstOf(parsed: Parsed | undefined, tools: ToolNames): Parsed {
  if (parsed === undefined) {
    return { ok: false, reason: `"Action:" names no tool; the tools are: ${tools.names.join(", ")}` };
  }
  if (!parsed.ok || parsed.actions.length === 1) return parsed;
  return { ok: true, actions: parsed.actions.slice(0, 1), note: FIRST_ONLY };
}

const FIRST_ONLY = "only your first action was run: give one action, then wait for its observation";

/** Text of the input that belongs to the action at the beginning of `rest`. */
function inputOf(rest: string): string | undefined {
  const input = INPUT.exec(rest);
  const next = NEXT.exec(rest);
  // An input behind the next action or a made-up observation belongs to another turn.
  if (input === null || (next !== null && next.index < input.index)) return undefined;
  return bound(rest.slice(input.index + input[0].length));
}

/** Input on the line of the action: `tool({...})`, `tool[...]`, or JSON below it without a label. */
function inlineInput(rest: string, nameLine: string): string | undefined {
  const call = /^[ \t`"']*[A-Za-z][\w.-]*\s*([([{])/.exec(rest);
  if (call !== null) {
    const start = call[0].length - 1;
    const json = /^[([]?\s*[{[]/.exec(rest.slice(start))?.[0];
    if (json !== undefined && (call[1] === "{" || json.length > 1)) return bound(rest.slice(start + json.length - 1));
    const end = rest.indexOf(call[1] === "(" ? ")" : "]", start);
    const balanced = call[1] === "(" ? rest.slice(start + 1).search(/\)\s*(?:`*\s*)(?:\n|$)/) : -1;
    if (balanced >= 0) return rest.slice(start + 1, start + 1 + balanced);
    return end < 0 ? rest.slice(start + 1) : rest.slice(start + 1, end);
  }
  const below = rest.slice(rest.indexOf("\n") + 1);
  return rest.includes("\n") && /^\s*(```\w*\s*)?[{[]/.test(below) ? bound(below) : nameLine === "" ? undefined : "";
}

/** Ends an input: after its JSON object, its fence, or before the next label or a made-up output. */
function bound(text: string): string {
  const start = text.search(/\S/);
  if (start < 0) return "";
  const fence = /^\s*``+\w*[ \t]*\n?([\s\S]*?)(?:\n?``+|$)/.exec(text);
  const inner = fence === null ? text.slice(start) : fence[1]!.trim();
  if (/^[{[]/.test(inner) && !isSelector(inner)) {
    // The object may hold what looks like the fence's end, so it is read out of the whole text.
    const from = text.indexOf(inner[0]!, start);
    return text.slice(from, readJsonAt(text, from).end);
  }
  if (fence !== null) return inner;
  const next = NEXT.exec(inner)?.index ?? inner.length;
  return inner.slice(0, Math.min(next, inventedFrom(inner, 0))).trim();
}

type Input = { value: Record<string, unknown> | string } | { fault: string };

function readInput(input: string, settings: ReadSettings): Input {
  const text = quoted(input) ?? input.trim();
  if (text === "" || /^(none|null|n\/a|无)$/i.test(text)) return { value: {} };
  const reading = readJsonText(text, settings);
  if (reading?.ok) {
    if (!Array.isArray(reading.value)) return { value: reading.value as Record<string, unknown> };
    const [only] = reading.value as unknown[];
    const single =
      reading.value.length === 1 && (typeof only === "string" || (typeof only === "object" && only !== null));
    return single ? { value: only as string } : { fault: "it is a list, not an object" };
  }
  if (reading !== undefined) return { fault: reading.fault };
  if (settings.cut) return { fault: "it was cut off at the token limit" };
  // Text alone stands for the tool's main argument.
  return { value: keyValues(text) ?? text.replace(/^(["'`])([\s\S]*)\1$/, "$2").replace(/^“([^”]*)”$/, "$1") };
}

/** `question: which pods?` over one or more lines, as in YAML; undefined when a line is not of that form. */
function keyValues(text: string): Record<string, unknown> | undefined {
  const entries: [string, string][] = [];
  for (const line of text.split("\n")) {
    const match = /^\s*[-*]?\s*["']?([a-z][a-z0-9_]*)["']?\s*[:=]\s+(\S.*)$/.exec(line);
    if (match === null) return undefined;
    entries.push([match[1]!, match[2]!.trim().replace(/^(["'])(.*)\1$/, "$2")]);
  }
  return Object.fromEntries(entries);
}

function finalAnswer(text: string, tools: ToolNames, settings: ReadSettings): Parsed {
  const start = text.search(/[{[]/);
  const reading = start < 0 ? undefined : readJsonText(text.slice(start), settings);
  if (reading?.ok && !Array.isArray(reading.value) && Object.keys(reading.value).length > 0) {
    return { ok: true, actions: [{ tool: tools.submit, args: reading.value as Record<string, unknown> }] };
  }
  const why = reading === undefined || reading.ok ? "" : `: yours cannot be read, ${reading.fault}`;
  return {
    ok: false,
    reason: `a final answer is given with the tool ${tools.submit}, as JSON in its Action Input${why}`,
  };
}

/** What the model should hear about the text behind its first action. */
function remark(rest: string): string | undefined {
  if (inventedFrom(rest, 0) < rest.length) return INVENTED_NOTE;
  return ACTION.test(rest) ? FIRST_ONLY : undefined;
}

function clean(name: string): string {
  return name.replace(/^[\s`"'[<*_“]+|[\s`"'\]>*_.,;:”。]+$/g, "");
}
