/** One JSON object a turn, for models without tool calling; enforced by backends that can. */
import { structuredSettings } from "../../../models/index.js";
import { prompt } from "../../../prompts/index.js";
import { type Parsed, type ReadSettings, type ToolNames, withoutThinking } from "./action.js";
import { describeTools } from "./describe-tools.js";
import { hasActionLabel, parseReact } from "./parse-react.js";
import { asPlainText, type Protocol, wasCutOff } from "./protocol.js";
import { readCalls } from "./read-calls.js";

export const jsonAction: Protocol = {
  name: "json-action",
  native: false,
  instructions: (tools, submit, options) =>
    prompt("json-action", options.promptVariant, {
      tools: describeTools(tools),
      names: tools.map((tool) => tool.name).join(", "),
      submit,
      examples: options.examples ? "yes" : "",
    }).text,
  settings: (backend, tools) => structuredSettings(backend, "action", actionSchema(tools)),
  write: (messages) => asPlainText(messages, "Observation: "),
  read: (answer, tools) => parseJsonAction(answer.text, tools, { cut: wasCutOff(answer) }),
};

/** The action in `text`; the first one when there are several. */
export function parseJsonAction(text: string, tools: ToolNames, settings: ReadSettings = {}): Parsed {
  const parsed = readCalls(text, tools, settings);
  if (parsed === undefined) {
    return hasActionLabel(text) ? parseReact(text, tools, settings) : { ok: false, reason: whyNone(text) };
  }
  if (!parsed.ok || parsed.actions.length === 1) return parsed;
  return {
    ok: true,
    actions: parsed.actions.slice(0, 1),
    note: "only your first action was run: give one action at a time",
  };
}

function whyNone(text: string): string {
  if (text.trim() !== "" && withoutThinking(text) === "") {
    return 'you only thought; answer with one JSON object with the keys "action" and "input"';
  }
  return /\{/.test(text)
    ? 'the JSON object names no tool: it needs the keys "action" and "input"'
    : 'your answer holds no JSON object; answer with one that has the keys "action" and "input"';
}

function actionSchema(tools: ToolNames): Record<string, unknown> {
  return {
    type: "object",
    properties: {
      thought: { type: "string" },
      action: { type: "string", enum: [...tools.names] },
      input: { type: "object" },
    },
    required: ["thought", "action", "input"],
  };
}
