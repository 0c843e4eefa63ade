/** What tools get of the loop: a nested model, reflexion, the clock, earlier observations. */
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { toModelError } from "../../models/index.js";
import type { RenderedPrompt } from "../../prompts/index.js";
import { type QuerySteps, type ToolContext, ToolFailure } from "../../tools/index.js";
import { runReflexively } from "../reflexion/index.js";
import type { TaskRun } from "./task-run.js";
import { addTokens, tokensOf } from "./usage.js";

/** @param writes whether tools may change the cluster */
export function createToolContext(run: TaskRun, writes: boolean): ToolContext {
  const { context } = run;
  const { options } = context;
  const ask = (prompt: RenderedPrompt) => converse(run, [new HumanMessage(prompt.text)], prompt, 1);
  const runQuery = <Query>(steps: QuerySteps<Query>) =>
    runReflexively(steps, {
      options,
      converse: (messages, prompt, attempt) => converse(run, messages, prompt, attempt),
      events: {
        lint(attempt, command, findings) {
          run.usage.lintFindings += findings.length;
          run.recorder.record({ event: "lint", ...run.current, attempt, command, findings });
        },
        execute(attempt, command) {
          run.recorder.record({ event: "execute", ...run.current, attempt, command });
        },
        reflection(attempt, cause, detail, { name, variant, hash }) {
          run.usage.reflections++;
          run.recorder.record({
            event: "reflection",
            ...run.current,
            attempt,
            cause,
            detail,
            prompt: { name, variant, hash },
          });
        },
      },
    });
  return {
    endpoints: context.endpoints,
    clock: context.clock,
    namespaces: context.namespaces,
    mode: options.tools,
    writes,
    kubectl: options.kubectl,
    promptVariant: options.promptVariant,
    examples: options.examples,
    ask,
    run: runQuery,
    signal: run.signal,
    observation: (id) => run.observations.get(id),
    onEnd: (close) => run.onEnd(close),
  };
}

/** One call of the nested model: the same backend as the loop's, without tools. */
async function converse(
  run: TaskRun,
  messages: BaseMessage[],
  prompt: RenderedPrompt,
  attempt: number,
): Promise<string> {
  const startedAt = performance.now();
  let answer: BaseMessage;
  try {
    answer = await run.context.model.invoke(messages, { signal: run.signal });
  } catch (error) {
    if (run.signal.aborted) throw error;
    const failure = toModelError(error);
    // One question that is too long is no reason to end the trial.
    if (failure.kind === "context-overflow") {
      throw new ToolFailure("the text is too long for the model that was to read it; ask for less");
    }
    run.failure = failure;
    throw error;
  }
  const tokens = tokensOf(answer);
  run.usage.nestedCalls++;
  addTokens(run.usage, tokens, run.context.price);
  const { name, variant, hash } = prompt;
  run.recorder.record(
    { event: "generate", ...run.current, attempt, prompt: { name, variant, hash }, text: answer.text, tokens },
    startedAt,
  );
  return answer.text;
}
