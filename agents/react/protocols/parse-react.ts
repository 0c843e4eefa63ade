/** Reads `Thought / Action / Action Input / Observation` text, forgiving what models make of it. */
import { objectAt, parseLoosely } from "../../../tools/index.js";
import { matchTool, type Parsed, type ToolNames, withoutThinking } from "./action.js";
import { parseJsonAction } from "./parse-json.js";

/** A label at the beginning of a line, with what models put around it: `**Action:**`, `Action 1:`, `> Action:`. */
function label(name: string): RegExp {
  return new RegExp(`^[ \\t>*_#-]*(?:${name})[ \\t]*\\d*[ \\t*_]*:[ \\t*_]*`, "im");
}

const ACTION = label("action|tool");
const INPUT = label("action[ _-]?input|input|arguments|args|parameters");
const OBSERVATION = label("observation|result|tool output");
const FINAL = label("final[ _-]?answer");
const NEXT = label("thought|action|observation|final[ _-]?answer|question");

/** The first action in `text`. What the model made up after it (observations, further turns) is dropped. */
export function parseReact(text: string, tools: ToolNames): Parsed {
  const said = withoutThinking(text);
  const action = ACTION.exec(said);
  const final = FINAL.exec(said);
  if (final !== null && (action === null || final.index < action.index)) {
    return finalAnswer(said.slice(final.index + final[0].length), tools);
  }
  if (action === null) {
    // Some models answer in JSON whatever they are told.
    const json = parseJsonAction(said, tools);
    if (json.ok || /there is no tool/.test(json.reason)) return json;
    return {
      ok: false,
      reason:
        'no line that begins with "Action:" was found; write "Action: <tool>" and below it "Action Input: <JSON>"',
    };
  }
  const rest = said.slice(action.index + action[0].length);
  const nameLine = clean(rest.split("\n", 1)[0]!);
  const inline = /^\s*([A-Za-z][\w.-]*)\s*[([{]/.exec(nameLine);
  const tool = matchTool(nameLine, tools.names) ?? (inline === null ? undefined : matchTool(inline[1]!, tools.names));
  if (tool === undefined) {
    if (/^[{[]/.test(rest.trim())) return parseJsonAction(rest, tools);
    if (/^final[ _-]?answer|^finish|^submit$/i.test(nameLine)) return finalAnswer(inputOf(rest) ?? "", tools);
    if (/^none\b|^n\/a\b|^no action/i.test(nameLine)) {
      return { ok: false, reason: `"Action: ${nameLine}" names no tool; to give your answer use ${tools.submit}` };
    }
    return { ok: false, reason: `there is no tool "${nameLine}"; the tools are: ${tools.names.join(", ")}` };
  }
  const input = inputOf(rest) ?? inlineInput(rest, nameLine);
  const note = remark(rest);
  const args = readInput(input ?? "");
  if (args === undefined) return { ok: false, reason: `the Action Input of ${tool} is not valid JSON` };
  return { ok: true, actions: [{ tool, args }], ...(note === undefined ? {} : { note }) };
}

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
    if (call[1] === "{") return bound(rest.slice(start));
    const end = rest.indexOf(call[1] === "(" ? ")" : "]", start);
    const balanced = call[1] === "(" ? rest.slice(start + 1).search(/\)\s*(?:`*\s*)(?:\n|$)/) : -1;
    if (balanced >= 0) return rest.slice(start + 1, start + 1 + balanced);
    return end < 0 ? rest.slice(start + 1) : rest.slice(start + 1, end);
  }
  const below = rest.slice(rest.indexOf("\n") + 1);
  return rest.includes("\n") && /^\s*(```\w*\s*)?[{[]/.test(below) ? bound(below) : nameLine === "" ? undefined : "";
}

/** Ends an input: after its JSON object, its fence, or before the next label. */
function bound(text: string): string {
  const start = text.search(/\S/);
  if (start < 0) return "";
  const fence = /^\s*```\w*[ \t]*\n?([\s\S]*?)(?:```|$)/.exec(text);
  if (fence !== null) return fence[1]!.trim();
  if (text[start] === "{" || text[start] === "[") {
    const object = objectAt(text, start);
    if (object !== undefined) return object;
  }
  const next = NEXT.exec(text.slice(start));
  return (next === null ? text.slice(start) : text.slice(start, start + next.index)).trim();
}

function readInput(input: string): Record<string, unknown> | string | undefined {
  const text = input.trim();
  if (text === "" || /^(none|null|n\/a)$/i.test(text)) return {};
  const value = parseLoosely(text);
  if (value !== undefined) return Array.isArray(value) ? undefined : (value as Record<string, unknown>);
  if (/^\{\s*"[^"]*"\s*:/.test(text)) return undefined;
  // Text alone stands for the tool's main argument.
  return /^"[\s\S]*"$/.test(text) || /^'[\s\S]*'$/.test(text) ? text.slice(1, -1) : text;
}

function finalAnswer(text: string, tools: ToolNames): Parsed {
  const args = readInput(bound(text));
  if (typeof args === "object" && Object.keys(args).length > 0) {
    return { ok: true, actions: [{ tool: tools.submit, args }] };
  }
  const start = text.indexOf("{");
  const inner = start < 0 ? undefined : readInput(bound(text.slice(start)));
  if (typeof inner === "object") return { ok: true, actions: [{ tool: tools.submit, args: inner }] };
  return { ok: false, reason: `a final answer is given with the tool ${tools.submit}, as JSON in its Action Input` };
}

/** What the model should hear about the text behind its first action. */
function remark(rest: string): string | undefined {
  const observation = OBSERVATION.exec(rest);
  if (observation !== null) {
    return "the observation that you wrote yourself was ignored: stop after the Action Input and wait for the real one";
  }
  return ACTION.test(rest)
    ? "only your first action was run: give one action, then wait for its observation"
    : undefined;
}

function clean(name: string): string {
  return name.replace(/^[\s`"'[<*_]+|[\s`"'\]>*_.,;:]+$/g, "");
}
