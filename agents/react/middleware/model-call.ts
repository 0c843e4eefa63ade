/** Innermost around the model call: counts tokens, and makes a typed error of whatever a backend throws. */
import { createMiddleware } from "langchain";
import { toModelError } from "../../../models/index.js";
import type { TaskRun } from "../task-run.js";
import { addTokens, tokensOf } from "../usage.js";

export function modelCall(run: TaskRun) {
  return createMiddleware({
    name: "model-call",
    wrapModelCall: async (request, handler) => {
      try {
        const answer = await handler(request);
        addTokens(run.usage, tokensOf(answer), run.context.price);
        return answer;
      } catch (error) {
        if (!run.signal.aborted) run.failure = toModelError(error);
        throw error;
      }
    },
  });
}
