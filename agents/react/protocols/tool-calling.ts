/** The backend's own tool calling. */
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { parseLoosely } from "../../../tools/index.js";
import { matchTool, type Parsed, type ParsedAction, type ToolNames } from "./action.js";
import { parseJsonAction } from "./parse-json.js";
import { NOT_UNDERSTOOD, type Protocol } from "./protocol.js";

export const toolCalling: Protocol = {
  name: "tool-calling",
  native: true,
  instructions: () => "",
  settings: () => ({}),
  write: (messages) => withoutMarkers(messages),
  read,
};

function read(answer: AIMessage, tools: ToolNames): Parsed {
  const actions: ParsedAction[] = (answer.tool_calls ?? []).map((call) => ({
    tool: matchTool(call.name, tools.names) ?? call.name,
    args: call.args,
  }));
  for (const broken of answer.invalid_tool_calls ?? []) {
    const args = parseLoosely(broken.args || "{}") as Record<string, unknown> | undefined;
    const tool = broken.name ?? "";
    if (args === undefined) return { ok: false, reason: `the arguments of your call to ${tool} are not valid JSON` };
    actions.push({ tool: matchTool(tool, tools.names) ?? tool, args });
  }
  if (actions.length > 0) return { ok: true, actions };
  // A model, or its server, may leave calls in the text.
  const inText = parseJsonAction(answer.text, tools);
  if (inText.ok) return inText;
  return { ok: false, reason: `you called no tool; call one, or give your answer with ${tools.submit}` };
}

/** An answer that called nothing stays what the model said; the remark about it comes from the user. */
function withoutMarkers(messages: readonly BaseMessage[]): BaseMessage[] {
  const plain: BaseMessage[] = [];
  const markers = new Set<string>();
  for (const message of messages) {
    if (AIMessage.isInstance(message) && message.tool_calls?.[0]?.name === NOT_UNDERSTOOD) {
      markers.add(message.tool_calls[0].id ?? "");
      plain.push(new AIMessage(message.text === "" ? "(nothing)" : message.text));
    } else if (ToolMessage.isInstance(message) && markers.has(message.tool_call_id)) {
      plain.push(new HumanMessage(message.text));
    } else {
      plain.push(message);
    }
  }
  return plain;
}
