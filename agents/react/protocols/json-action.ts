/** One JSON object a turn, for models without tool calling; enforced by backends that can. */
import { prompt } from "../../../prompts/index.js";
import type { ToolNames } from "./action.js";
import { describeTools } from "./describe-tools.js";
import { parseJsonAction } from "./parse-json.js";
import { asPlainText, type Protocol } from "./protocol.js";

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
  settings: (backend, tools) => {
    if (backend === "ollama") return { format: actionSchema(tools) };
    return backend === "openai" ? { response_format: { type: "json_object" } } : {};
  },
  write: (messages) => asPlainText(messages, "Observation: "),
  read: (answer, tools) => parseJsonAction(answer.text, tools),
};

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
