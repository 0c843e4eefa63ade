/**
 * Outermost around the model call: ends the loop when the answer is in, watches the limits, gives the last turn, counts
 * steps and lets environment time pass.
 */
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { lastTurnMessage, reachedLimit } from "../limits.js";
import { NOT_UNDERSTOOD } from "../protocols/index.js";
import type { TaskRun } from "../task-run.js";
import { tokensOf } from "../usage.js";

/** Tool calls of one turn that are run; more than that is no plan but a fault, and would keep the loop busy for minutes. */
export const MAX_CALLS_A_TURN = 32;

export function pace(run: TaskRun, submit: string) {
  return createMiddleware({
    name: "pace",
    // Not a `beforeModel` hook: that would be one more node of the graph for each step.
    wrapModelCall: async (request, handler) => {
      if (run.over) return new AIMessage(""); // It calls nothing, and so ends the loop.
      const startedAt = performance.now();
      const remark = limitRemark(run, submit);
      const last = remark !== undefined;
      run.rejected = undefined;
      const tools = last ? request.tools.filter((tool) => tool.name === submit) : request.tools;
      const messages = remark === undefined ? request.messages : [...request.messages, remark];
      const answer = firstCalls(await handler({ ...request, tools, messages }), run);
      if (last) run.lastTurnTaken = true;
      else run.usage.steps++;
      const calls = (answer.tool_calls ?? []).filter((call) => call.name !== NOT_UNDERSTOOD);
      run.misunderstood = calls.length > 0 ? 0 : run.misunderstood + 1;
      run.recorder.record(
        {
          event: "step",
          step: run.step,
          text: answer.text,
          calls: calls.map((call) => ({
            id: run.number(call.id ?? "", call.name).id,
            tool: call.name,
            args: call.args,
          })),
          tokens: tokensOf(answer),
        },
        startedAt,
      );
      if (run.unreadable !== undefined) {
        run.recorder.record({ event: "not_understood", step: run.step, text: answer.text, reason: run.unreadable });
      }
      await run.context.onStep?.();
      return answer;
    },
  });
}

/** The answer with as many calls as are run; the model is told of the others with the first observation. */
function firstCalls(answer: AIMessage, run: TaskRun): AIMessage {
  const { tool_calls: calls = [], additional_kwargs, content, id, response_metadata, usage_metadata } = answer;
  if (calls.length <= MAX_CALLS_A_TURN) return answer;
  const { tool_calls: _, ...kwargs } = additional_kwargs;
  const many = `${calls.length} calls in one turn: only the first ${MAX_CALLS_A_TURN} were run`;
  run.note = run.note === undefined ? many : `${run.note}; ${many}`;
  return new AIMessage({
    content,
    additional_kwargs: kwargs,
    response_metadata,
    tool_calls: calls.slice(0, MAX_CALLS_A_TURN),
    ...(id === undefined ? {} : { id }),
    ...(usage_metadata === undefined ? {} : { usage_metadata }),
  });
}

/** Notes a limit that has been reached, and gives what the model is told of it. */
function limitRemark(run: TaskRun, submit: string): HumanMessage | undefined {
  const limit = reachedLimit(run);
  if (limit === undefined) return undefined;
  run.limit = limit;
  run.recorder.record({ event: "limit", step: run.usage.steps, limit: limit.status, detail: limit.detail });
  const content = lastTurnMessage(limit.detail, submit);
  run.recorder.record({ event: "message", role: "user", content });
  return new HumanMessage(content);
}
