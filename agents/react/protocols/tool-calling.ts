/** The backend's own tool calling. */
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { readArguments } from "../json-text.js";
import { matchTool, type Parsed, type ParsedAction, type ToolNames, withoutThinking } from "./action.js";
import { hasActionLabel, parseReact } from "./parse-react.js";
import { NOT_UNDERSTOOD, type Protocol, wasCutOff, withoutCalls } from "./protocol.js";
import { readCalls } from "./read-calls.js";

export const toolCalling: Protocol = {
  name: "tool-calling",
  native: true,
  instructions: () => "",
  settings: () => [],
  write: (messages) => withoutMarkers(messages),
  read,
};

/**
 * The backend's calls, or those that a model (or its server) left in the text. When one call is broken none is run: what
 * the others do may depend on it.
 */
function read(answer: AIMessage, tools: ToolNames): Parsed {
  const cut = wasCutOff(answer);
  const calls = rawCalls(answer);
  if (calls.length > 0) {
    // Which of the calls is whole cannot be known: clients complete the broken one without a word.
    if (cut) return { ok: false, reason: cutOff(calls.at(-1)!.name) };
    const actions: ParsedAction[] = [];
    for (const { name, args } of calls) {
      const tool = matchTool(name, tools.names) ?? name;
      if (typeof args !== "string") {
        actions.push({ tool, args });
        continue;
      }
      const reading = readArguments(args, { whole: true });
      if (!reading.ok) {
        const reason = `the arguments of your call to ${tool} cannot be read: ${reading.fault}. You wrote: ${excerpt(args)}`;
        return { ok: false, reason: calls.length > 1 ? `${reason}. None of your calls was run` : reason };
      }
      actions.push({ tool, args: reading.args });
    }
    return { ok: true, actions };
  }
  const inText = readCalls(answer.text, tools, { cut });
  if (inText !== undefined) return inText;
  if (hasActionLabel(answer.text)) return parseReact(answer.text, tools, { cut });
  return { ok: false, reason: whyNone(answer, cut, tools) };
}

interface RawCall {
  name: string;
  /** The backend's object, or the text that it should have been. */
  args: Record<string, unknown> | string;
}

/**
 * The calls with their arguments as the backend sent them. Those of a streamed answer are read from its pieces: LangChain
 * completes what broke off, which would run half a command.
 */
function rawCalls(answer: AIMessage): RawCall[] {
  const chunks = (answer as { tool_call_chunks?: { name?: string; args?: string; index?: number }[] }).tool_call_chunks;
  if (chunks !== undefined && chunks.length > 0) {
    return chunks.map((chunk) => ({ name: chunk.name ?? "", args: chunk.args ?? "" }));
  }
  return [
    ...(answer.tool_calls ?? []).map((call) => ({ name: call.name, args: call.args as Record<string, unknown> })),
    ...(answer.invalid_tool_calls ?? []).map((call) => ({ name: call.name ?? "", args: call.args ?? "" })),
  ];
}

function whyNone(answer: AIMessage, cut: boolean, tools: ToolNames): string {
  const said = withoutThinking(answer.text);
  const thought = answer.additional_kwargs.reasoning_content !== undefined || answer.text.trim() !== "";
  if (cut) return "it was cut off at the token limit before it called a tool; think less, and call one";
  const what = said !== "" ? "you called no tool" : thought ? "you only thought, and called no tool" : "it was empty";
  return `${what}; call one, or give your answer with ${tools.submit}`;
}

function cutOff(name: string): string {
  return `it was cut off at the token limit in your call to ${name || "a tool"}, so nothing was run; write a shorter call`;
}

function excerpt(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** An answer that called nothing stays what the model said; the remark about it comes from the user. */
function withoutMarkers(messages: readonly BaseMessage[]): BaseMessage[] {
  const plain: BaseMessage[] = [];
  const markers = new Set<string>();
  for (const message of messages) {
    if (AIMessage.isInstance(message) && message.tool_calls?.[0]?.name === NOT_UNDERSTOOD) {
      markers.add(message.tool_calls[0].id ?? "");
      plain.push(withoutCalls(message));
    } else if (ToolMessage.isInstance(message) && markers.has(message.tool_call_id)) {
      plain.push(new HumanMessage(message.text));
    } else {
      plain.push(message);
    }
  }
  return plain;
}
