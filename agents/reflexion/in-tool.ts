/**
 * Reflexion inside a tool, as in the paper: generate, lint, and on a finding ask again with the finding; execute, and on
 * an error ask again with the failing query and the error. At most `maxReflections` times for one call of the tool.
 */
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { prompt, type RenderedPrompt } from "../../prompts/index.js";
import { type Ask, type QuerySteps, ToolFailure, UnreadableQueryError } from "../../tools/index.js";
import type { AgentOptions } from "../agent.js";

/** What happened, for the transcript. Attempts count from 1. */
export interface ReflexionEvents {
  lint(attempt: number, command: string, findings: string[]): void;
  execute(attempt: number, command: string): void;
  reflection(attempt: number, cause: "lint" | "error", detail: string, prompt: RenderedPrompt): void;
}

/** Asks the nested model with a whole conversation; `prompt` is what began it, `attempt` counts from 1. */
export type Converse = (messages: BaseMessage[], prompt: RenderedPrompt, attempt: number) => Promise<string>;

export interface ReflexionSettings {
  options: Pick<AgentOptions, "reflection" | "maxReflections" | "linters" | "promptVariant">;
  converse: Converse;
  events: ReflexionEvents;
}

/**
 * Runs one use of a tool. A query that the agent wrote itself is linted and run as it is: its author reflects, not a
 * nested model.
 *
 * @throws ToolFailure when the query could not be mended, with what was tried last
 */
export async function runReflexively<Query>(steps: QuerySteps<Query>, settings: ReflexionSettings): Promise<string> {
  const { options, events } = settings;
  const conversation: BaseMessage[] = [];
  const room = steps.literal === undefined && options.reflection ? options.maxReflections : 0;

  for (let attempt = 1; ; attempt++) {
    const mayReflect = attempt <= room;
    const reflect = (cause: "lint" | "error", query: string, detail: string) => {
      const question = prompt(`reflect-${cause}`, options.promptVariant, { query, detail });
      events.reflection(attempt, cause, detail, question);
      conversation.push(new HumanMessage(question.text));
    };

    let query: Query;
    try {
      query = steps.literal ?? (await steps.write(asker(settings, conversation, attempt)));
    } catch (error) {
      if (!(error instanceof UnreadableQueryError)) throw error;
      events.lint(attempt, "", [error.message]);
      if (!mayReflect) throw new ToolFailure(`no query could be made of the question: ${error.message}`);
      reflect("lint", "(none)", error.message);
      continue;
    }
    const shown = steps.show(query);
    const findings = options.linters ? await lint(steps, query) : [];
    if (findings.length > 0) {
      events.lint(attempt, shown, findings);
      const detail = findings.join("\n");
      if (mayReflect) {
        reflect("lint", shown, detail);
        continue;
      }
      throw new ToolFailure(`not run: ${shown}\n${detail}`);
    }
    try {
      events.execute(attempt, shown);
      return await steps.execute(query);
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      if (!mayReflect) {
        throw steps.literal === undefined ? new ToolFailure(`${shown}\n${error.message}`) : error;
      }
      reflect("error", shown, error.message);
    }
  }
}

/** The first question opens the conversation; later attempts go on with it, whatever they are asked anew. */
function asker(settings: ReflexionSettings, conversation: BaseMessage[], attempt: number): Ask {
  return async (question) => {
    if (conversation.length === 0) conversation.push(new HumanMessage(question.text));
    const answer = await settings.converse([...conversation], question, attempt);
    conversation.push(new AIMessage(answer));
    return answer;
  };
}

/** A linter whose backend does not answer has no say; running the query will tell. */
async function lint<Query>(steps: QuerySteps<Query>, query: Query): Promise<string[]> {
  try {
    return await steps.lint(query);
  } catch (error) {
    if (error instanceof ToolFailure) return [];
    throw error;
  }
}
