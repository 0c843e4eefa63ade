/** A conversation with an agent about an environment: it looks things up with its tools, and answers in words. */
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { createAgent, createMiddleware } from "langchain";
import type { AgentContext } from "../agent.js";
import { contextWindow } from "./middleware/context-window.js";
import { modelCall } from "./middleware/model-call.js";
import { speak } from "./middleware/speak.js";
import { toolCalls } from "./middleware/tool-calls.js";
import { NOT_UNDERSTOOD, PROTOCOLS } from "./protocols/index.js";
import { MAX_MISUNDERSTOOD, TaskRun } from "./task-run.js";

export interface ChatSettings {
  system: string;
  tools(run: TaskRun): StructuredToolInterface[];
  /** Called with the agent's words as they come, where the backend streams. */
  onToken?(token: string): void;
}

export interface Chat {
  /**
   * Asks, and gives the answer. What was said before is remembered. `limits.maxSteps` holds for each question.
   *
   * @throws ModelError when the model fails for good; the signal's reason when it aborts. The question is forgotten then.
   */
  say(text: string, signal?: AbortSignal): Promise<string>;
  /** Closes what the tools have opened. */
  end(): Promise<void>;
}

/** How the words of a conversation are called where a task has a tool for its answer. */
const WORDS = "plain words";

export function createChat(settings: ChatSettings, context: AgentContext): Chat {
  let history: BaseMessage[] = [];
  const open = new Set<TaskRun>();

  return {
    async say(text, signal) {
      const run = new TaskRun(signal === undefined ? context : { ...context, signal });
      open.add(run);
      const tools = settings.tools(run);
      run.tools = tools.map((tool) => tool.name);
      const protocol = PROTOCOLS[context.protocol];
      const instructions = protocol.instructions(tools, WORDS, context.options);
      const ear = listen(settings.onToken);
      const agent = createAgent({
        model: context.model,
        tools,
        systemPrompt: instructions === "" ? settings.system : `${settings.system}\n\n${instructions}`,
        version: "v1",
        middleware: [
          paceOfChat(run, ear),
          contextWindow(run),
          speak(protocol, run, WORDS, { prose: true }),
          modelCall(run),
          toolCalls(run, ""),
        ] as const,
      });
      try {
        const { messages } = await agent.invoke(
          { messages: [...history, new HumanMessage(text)] },
          { signal: run.signal, recursionLimit: 100_000, callbacks: ear.handlers },
        );
        history = messages;
        return run.clean(messages.at(-1)?.text ?? "");
      } catch (error) {
        throw run.failure ?? error;
      } finally {
        open.delete(run);
        await run.end();
      }
    },
    async end() {
      await Promise.allSettled([...open].map((run) => run.end()));
    },
  };
}

interface Ear {
  handlers: BaseCallbackHandler[];
  /** Whether it is the agent that speaks; models also write the queries of tools. */
  open: boolean;
}

function listen(onToken: ((token: string) => void) | undefined): Ear {
  const ear: Ear = { handlers: [], open: false };
  if (onToken === undefined) return ear;
  const handler = BaseCallbackHandler.fromMethods({
    handleLLMNewToken: (token) => {
      if (ear.open && token !== "") onToken(token);
    },
  });
  ear.handlers.push(Object.assign(handler, { lc_prefer_streaming: true, awaitHandlers: true }));
  return ear;
}

/** Bounds the steps of one question: in the last one the agent is told to answer, and gets no tools. */
function paceOfChat(run: TaskRun, ear: Ear) {
  return createMiddleware({
    name: "pace",
    wrapModelCall: async (request, handler) => {
      if (run.misunderstood >= MAX_MISUNDERSTOOD || run.lastTurnTaken) {
        return new AIMessage("(no answer: the question took too many steps)");
      }
      const last = run.usage.steps >= run.context.limits.maxSteps;
      const remark = new HumanMessage("No step is left for tools: answer now, in words, with what you know.");
      ear.open = true;
      let answer: AIMessage;
      try {
        answer = await handler({
          ...request,
          tools: last ? [] : request.tools,
          messages: last ? [...request.messages, remark] : request.messages,
        });
      } finally {
        ear.open = false;
      }
      if (last) run.lastTurnTaken = true;
      run.usage.steps++;
      const lost = (answer.tool_calls ?? []).some((call) => call.name === NOT_UNDERSTOOD);
      run.misunderstood = lost ? run.misunderstood + 1 : 0;
      await run.context.onStep?.();
      return answer;
    },
  });
}
