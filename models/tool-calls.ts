/** Tool calls of a streamed answer, as they came: what LangChain completes on the way is taken back. */
import { AIMessage, AIMessageChunk } from "@langchain/core/messages";

/**
 * The message with its calls read from their pieces. LangChain completes arguments that break off, so that a call cut off at
 * the token limit would look sound; here it is an invalid one, with its text as it came.
 */
export function settleCalls(message: AIMessage | AIMessageChunk): AIMessage {
  const chunks = AIMessageChunk.isInstance(message) ? (message.tool_call_chunks ?? []) : [];
  if (!AIMessageChunk.isInstance(message)) return message;
  const tool_calls: NonNullable<AIMessage["tool_calls"]> = [];
  const invalid_tool_calls: NonNullable<AIMessage["invalid_tool_calls"]> = [];
  for (const chunk of chunks) {
    const name = chunk.name ?? "";
    const id = chunk.id ?? "";
    const args = readObject(chunk.args ?? "");
    if (args !== undefined) tool_calls.push({ type: "tool_call", id, name, args });
    else invalid_tool_calls.push(invalidCall(name, chunk.args ?? "", id));
  }
  const { tool_calls: _, ...kwargs } = message.additional_kwargs;
  return new AIMessage({
    content: message.content,
    tool_calls,
    invalid_tool_calls,
    additional_kwargs: kwargs,
    response_metadata: message.response_metadata,
    ...(message.id === undefined ? {} : { id: message.id }),
    ...(message.usage_metadata === undefined ? {} : { usage_metadata: message.usage_metadata }),
  });
}

/** A call whose arguments are no JSON object, with their text as it came. */
export function invalidCall(name: string, args: string, id: string) {
  return { type: "invalid_tool_call" as const, id, name, args, error: "the arguments are not a JSON object" };
}

/** `text` as a JSON object, strictly; nothing is an empty one. */
export function readObject(text: string): Record<string, unknown> | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
