/** Finds calls that are written as JSON: one object, several, a list, or the shapes of OpenAI's messages. */
import { isSelector, readJsonAt, readJsonText } from "../json-text.js";
import { type Found, matchTool, noSuchTool, type ReadSettings, type ToolNames, toolFor } from "./action.js";

const NAME_KEYS = [
  "action",
  "tool",
  "tool_name",
  "name",
  "function",
  "function_name",
  "recipient_name",
  "行动",
  "工具",
];
const ARGS_KEYS = [
  ...["action_input", "input", "args", "arguments", "parameters", "params", "tool_input", "kwargs", "tool_args"],
  ...["输入", "参数", "行动输入"],
];
/** Keys beside the call that hold no arguments. */
const REMARKS = /^(thoughts?|reasoning|reason|rationale|explanation|plan|id|type|index|call_id|思考|想法)$/i;
/** Keys under which whole calls stand. */
const HOLDERS = ["function", "tool_call", "function_call", "action", "tool"];
const LISTS = ["tool_calls", "actions", "calls", "function_calls", "tools", "tool_uses"];

/** A brace in prose begins otherwise. */
const LIKE_JSON = /^\{\s*(["'“”}]|\w+\s*:)|^\[\s*[{["]/;

/** Places that look like JSON and are none, after which a text is taken for prose: each costs a look at all that follows. */
const MAX_FAILURES = 200;

/** All calls in `text`, in order. JSON that calls nothing is passed over. */
export function findJsonCalls(text: string, tools: ToolNames, settings: ReadSettings = {}): Found[] {
  const found: Found[] = [];
  let failures = 0;
  for (let i = 0; i < text.length && failures < MAX_FAILURES; i++) {
    if ((text[i] !== "{" && text[i] !== "[") || isSelector(text.slice(i, i + 200))) continue;
    const reading = readJsonAt(text, i, settings);
    if (!reading.ok) {
      failures++;
      const named = LIKE_JSON.test(text.slice(i, i + 200)) ? nameIn(text.slice(i, reading.end), tools) : undefined;
      if (named === undefined) continue;
      // Of what is broken nothing is read in part.
      found.push({ ok: false, reason: `your call to ${named} was not run: ${reading.fault}`, end: reading.end });
      break;
    }
    const calls = callsIn(reading.value, tools, reading.end);
    found.push(...calls);
    if (calls.length > 0 || text[i] === "{") i = reading.end - 1;
  }
  return found;
}

/** The tool that a broken piece of JSON calls by one of the usual keys. */
function nameIn(text: string, tools: ToolNames): string | undefined {
  for (const match of text.matchAll(/["'“]?(\w+)["'”]?\s*:\s*["'“]([\w.:-]+)["'”]/g)) {
    if (NAME_KEYS.includes(match[1]!)) {
      const tool = toolFor(match[2]!, tools);
      if (tool !== undefined) return tool;
    }
  }
  const key = /^[{[\s]*["'“]([\w-]+)["'”]\s*:\s*\{/.exec(text)?.[1];
  return key === undefined ? undefined : matchTool(key, tools.names);
}

function callsIn(value: unknown, tools: ToolNames, end: number): Found[] {
  if (Array.isArray(value)) return value.flatMap((item) => callsIn(item, tools, end));
  if (typeof value !== "object" || value === null) return [];
  const object = value as Record<string, unknown>;
  for (const key of LISTS) {
    if (Array.isArray(object[key])) {
      const calls = callsIn(object[key], tools, end);
      if (calls.length > 0) return calls;
    }
  }
  const call = toCall(object, tools, end);
  return call === undefined ? [] : [call];
}

function toCall(object: Record<string, unknown>, tools: ToolNames, end: number): Found | undefined {
  for (const key of HOLDERS) {
    const inner = object[key];
    if (typeof inner === "object" && inner !== null && !Array.isArray(inner)) {
      const { [key]: _, ...rest } = object;
      const call = toCall({ ...argumentsOf(rest), ...(inner as Record<string, unknown>) }, tools, end);
      if (call !== undefined) return call;
    }
  }
  const key = NAME_KEYS.find((one) => typeof object[one] === "string");
  if (key !== undefined) {
    const named = object[key] as string;
    const tool = toolFor(named, tools);
    const argsKey = ARGS_KEYS.find((one) => object[one] !== undefined);
    if (tool === undefined) {
      // `{"name": "checkout"}` is data; `{"action": "checkout"}` or one with arguments is a call.
      const meant = argsKey !== undefined || !["name", "function"].includes(key);
      return meant ? { ok: false, reason: noSuchTool(named, tools), end } : undefined;
    }
    if (argsKey !== undefined) return withArguments(tool, object[argsKey], end);
    const rest = Object.entries(object).filter(([one]) => one !== key && !REMARKS.test(one));
    return { ok: true, action: { tool, args: Object.fromEntries(rest) }, end };
  }
  const keys = Object.keys(object).filter((one) => !REMARKS.test(one));
  if (keys.length !== 1) return undefined;
  const value = object[keys[0]!];
  // `{"nl2kubectl": {...}}`
  const tool = matchTool(keys[0]!, tools.names);
  if (tool !== undefined) return withArguments(tool, value, end);
  const inner = typeof value === "object" && value !== null && !Array.isArray(value);
  return inner ? toCall(value as Record<string, unknown>, tools, end) : undefined;
}

function argumentsOf(object: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([key]) => ARGS_KEYS.includes(key)));
}

/** Arguments as an object, as text, or as JSON in a text, which must be whole. */
function withArguments(tool: string, args: unknown, end: number): Found {
  if (args === null || args === undefined) return { ok: true, action: { tool, args: {} }, end };
  if (typeof args === "string") {
    if (args.trim() === "") return { ok: true, action: { tool, args: {} }, end };
    const reading = readJsonText(args);
    if (reading === undefined) return { ok: true, action: { tool, args }, end };
    if (!reading.ok) return { ok: false, reason: `your call to ${tool} was not run: ${reading.fault}`, end };
    return withArguments(tool, reading.value, end);
  }
  if (Array.isArray(args)) {
    const [only] = args;
    if (args.length === 1 && (typeof only === "string" || (typeof only === "object" && only !== null))) {
      return withArguments(tool, only, end);
    }
    return { ok: false, reason: `your call to ${tool} was not run: its input is a list, not an object`, end };
  }
  if (typeof args === "object") return { ok: true, action: { tool, args: args as Record<string, unknown> }, end };
  return { ok: true, action: { tool, args: String(args) }, end };
}
