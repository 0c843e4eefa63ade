/** When the conversation outgrows the model's context, the oldest observations are left out and the call is repeated. */
import { type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import type { TaskRun } from "../task-run.js";

const DROPPED = "(left out to make room in the conversation; ask again if you need it)";
const MAX_ROUNDS = 5;

export function contextWindow(run: TaskRun) {
  return createMiddleware({
    name: "context-window",
    wrapModelCall: async (request, handler) => {
      for (let round = 0; ; round++) {
        try {
          return await handler({ ...request, messages: elide(request.messages, run.elided) });
        } catch (error) {
          const total = request.messages.filter((message) => ToolMessage.isInstance(message)).length;
          const overflow = run.failure?.kind === "context-overflow";
          if (!overflow || round >= MAX_ROUNDS || run.elided >= total) throw error;
          run.elided += Math.max(1, Math.ceil((total - run.elided) / 2));
          run.failure = undefined;
        }
      }
    },
  });
}

function elide(messages: BaseMessage[], count: number): BaseMessage[] {
  if (count === 0) return messages;
  let seen = 0;
  return messages.map((message) => {
    if (!ToolMessage.isInstance(message) || seen++ >= count) return message;
    return new ToolMessage({
      content: DROPPED,
      tool_call_id: message.tool_call_id,
      ...(message.name === undefined ? {} : { name: message.name }),
    });
  });
}
