/**
 * A protocol is how a model says which tool to call. It stands between the loop, which knows only messages with tool
 * calls, and the model: on the way in it writes the conversation as the model should see it, on the way out it reads
 * which tools were called.
 */
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { StructuredToolInterface } from "@langchain/core/tools";
import type { AgentOptions, ProtocolName } from "../../agent.js";
import type { Parsed, ParsedAction, ToolNames } from "./action.js";

/** A call to this name stands for an answer that could not be understood; its result is the message to the model. */
export const NOT_UNDERSTOOD = "not_understood";

export interface Protocol {
  name: ProtocolName;
  /** Whether the backend is told of the tools, and answers with calls of its own. */
  native: boolean;
  /** Text after the system prompt: the format, and the tools where the backend is not told of them. */
  instructions(
    tools: readonly StructuredToolInterface[],
    submit: string,
    options: Pick<AgentOptions, "promptVariant" | "examples">,
  ): string;
  /**
   * More settings for the model call, such as a format that the backend enforces: the best first. A server that refuses
   * one is asked with the next, and in the end without any.
   */
  settings(backend: string, tools: ToolNames): Record<string, unknown>[];
  /** The conversation as the model should see it. */
  write(messages: readonly BaseMessage[]): BaseMessage[];
  /** The actions in an answer. */
  read(answer: AIMessage, tools: ToolNames): Parsed;
}

/** Whether the backend stopped the answer at the token limit, in whatever words it says so. */
export function wasCutOff(answer: BaseMessage): boolean {
  const metadata = answer.response_metadata as Record<string, unknown> | undefined;
  return REASON_KEYS.some((key) => {
    const reason = metadata?.[key];
    return typeof reason === "string" && /^(length|max_?tokens|model_length|token_limit)$/i.test(reason);
  });
}

const REASON_KEYS = ["finish_reason", "stop_reason", "finishReason", "stopReason", "done_reason"];

/** The answer as the loop wants it: with the calls that were read out of it, or one that says what was wrong. */
export function withCalls(answer: AIMessage, parsed: Parsed, nextId: () => string): AIMessage {
  const calls = parsed.ok
    ? parsed.actions.map((action) => ({ name: action.tool, args: toArgs(action) }))
    : [{ name: NOT_UNDERSTOOD, args: { reason: parsed.reason } }];
  const { tool_calls: _, ...kwargs } = answer.additional_kwargs;
  return new AIMessage({
    content: answer.content,
    additional_kwargs: kwargs,
    response_metadata: answer.response_metadata,
    ...(answer.usage_metadata === undefined ? {} : { usage_metadata: answer.usage_metadata }),
    tool_calls: calls.map((call) => ({ ...call, id: nextId(), type: "tool_call" as const })),
  });
}

/** The key under which text instead of an object travels as arguments; the tool's schema says what it means. */
export const TEXT_ARGUMENT = "__text";

function toArgs(action: ParsedAction): Record<string, unknown> {
  return typeof action.args === "string" ? { [TEXT_ARGUMENT]: action.args } : action.args;
}

/** The conversation for a model that knows no tools: its own words stay, observations come from the user. */
export function asPlainText(messages: readonly BaseMessage[], prefix: string): BaseMessage[] {
  const plain: BaseMessage[] = [];
  let said: string[] = [];
  const flush = () => {
    if (said.length > 0) plain.push(new HumanMessage(said.join("\n\n")));
    said = [];
  };
  for (const message of messages) {
    if (ToolMessage.isInstance(message)) said.push(`${prefix}${message.text}`);
    else if (HumanMessage.isInstance(message)) said.push(message.text);
    else {
      flush();
      plain.push(AIMessage.isInstance(message) ? withoutCalls(message) : message);
    }
  }
  flush();
  return plain;
}

/** What a model said, without its calls. What it thought stays: some servers want it back. */
export function withoutCalls(message: AIMessage, text = message.text): AIMessage {
  const { reasoning_content } = message.additional_kwargs;
  return new AIMessage({
    content: text === "" ? "(nothing)" : text,
    ...(reasoning_content === undefined ? {} : { additional_kwargs: { reasoning_content } }),
  });
}
