/** Reads actions that are written as JSON: one object, a list, or the tags that some models put around them. */
import { fenced, objectAt, parseLoosely } from "../../../tools/index.js";
import { matchTool, type Parsed, type ParsedAction, type ToolNames, withoutThinking } from "./action.js";

const NAME_KEYS = ["action", "tool", "tool_name", "name", "function"];
const ARGS_KEYS = ["action_input", "input", "args", "arguments", "parameters", "tool_input"];

/** The action in `text`; the first one when there are several. */
export function parseJsonAction(text: string, tools: ToolNames): Parsed {
  const values = readValues(withoutThinking(text));
  if (values.length === 0) {
    return { ok: false, reason: "your answer holds no JSON object" };
  }
  const actions: ParsedAction[] = [];
  const unknown: string[] = [];
  for (const value of values) {
    const action = toAction(value, tools);
    if (typeof action === "string") unknown.push(action);
    else if (action !== undefined) actions.push(action);
  }
  const first = actions[0];
  if (first !== undefined) {
    if (actions.length === 1) return { ok: true, actions: [first] };
    return { ok: true, actions: [first], note: "only your first action was run: give one action at a time" };
  }
  if (unknown[0] !== undefined) {
    return { ok: false, reason: `there is no tool "${unknown[0]}"; the tools are: ${tools.names.join(", ")}` };
  }
  return { ok: false, reason: 'the JSON object names no tool: it needs the keys "action" and "input"' };
}

/** An action, the name of an unknown tool, or undefined when the value is something else. */
function toAction(value: unknown, tools: ToolNames): ParsedAction | string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const object = value as Record<string, unknown>;
  const inner = object.function ?? object.tool_call ?? object.action;
  if (typeof inner === "object" && inner !== null) return toAction(inner, tools);
  const named = NAME_KEYS.map((key) => object[key]).find((one): one is string => typeof one === "string");
  if (named !== undefined) {
    const tool = /^(final[ _]?answer|finish|submit)$/i.test(named) ? tools.submit : matchTool(named, tools.names);
    if (tool === undefined) return named;
    const args = ARGS_KEYS.map((key) => object[key]).find((one) => one !== undefined);
    if (typeof args === "string" || (typeof args === "object" && args !== null)) {
      return { tool, args: args as string | Record<string, unknown> };
    }
    const rest = Object.entries(object).filter(
      ([key]) => !NAME_KEYS.includes(key) && !/^(thought|reasoning)$/.test(key),
    );
    return { tool, args: Object.fromEntries(rest) };
  }
  // `{"nl2kubectl": {...}}`
  const keys = Object.keys(object).filter((key) => !/^(thought|reasoning)$/i.test(key));
  const tool = keys.length === 1 ? matchTool(keys[0]!, tools.names) : undefined;
  const args = tool === undefined ? undefined : object[keys[0]!];
  if (tool !== undefined && (typeof args === "string" || (typeof args === "object" && args !== null))) {
    return { tool, args: args as string | Record<string, unknown> };
  }
  return undefined;
}

/** All JSON values that stand in `text` one after the other, lists taken apart. */
function readValues(text: string): unknown[] {
  const source = fenced(text, ["json", "", "tool_call", "tool_code"]) ?? text;
  const values: unknown[] = [];
  for (let i = 0; i < source.length; i++) {
    if (source[i] !== "{" && source[i] !== "[") continue;
    const balanced = objectAt(source, i);
    const value = parseLoosely(balanced ?? source.slice(i));
    if (value === undefined) continue;
    if (Array.isArray(value)) values.push(...value);
    else values.push(value);
    if (balanced === undefined) break;
    i += balanced.length - 1;
  }
  return values;
}
