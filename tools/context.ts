/** What every tool is handed, and the steps in which a tool works. */
import type { RenderedPrompt } from "../prompts/index.js";
import type { ToolClock, ToolEndpoints } from "./endpoints.js";

/** Asks the nested model; the answer is plain text. */
export type Ask = (prompt: RenderedPrompt) => Promise<string>;

/**
 * One use of a tool that runs queries. Either `literal` is given (the agent wrote the query) or `write` makes one with
 * the nested model. What happens between the steps (reflection) is not the tool's business.
 */
export interface QuerySteps<Query> {
  literal?: Query;
  /** Writes a query. @throws UnreadableQueryError when the model's answer holds none */
  write(ask: Ask): Promise<Query>;
  /** What is wrong with the query, as sentences that say how to mend it; empty when nothing is. */
  lint(query: Query): Promise<string[]>;
  /** Runs it and renders the result. @throws ToolFailure when the backend refuses */
  execute(query: Query): Promise<string>;
  /** The query as a line of text. */
  show(query: Query): string;
}

/** Drives `steps`: generate, lint, execute, and reflect where that is switched on. @throws ToolFailure */
export type RunQuery = <Query>(steps: QuerySteps<Query>) => Promise<string>;

export interface ToolContext {
  endpoints: ToolEndpoints;
  clock: ToolClock;
  /** The scenario's namespaces. */
  namespaces: readonly string[];
  /** `nl2x`: tools take a question; `direct`: tools take the query itself. */
  mode: "nl2x" | "direct";
  /** Whether kubectl may change things. */
  writes: boolean;
  kubectl: "builtin" | "native";
  promptVariant: string;
  /** Whether prompts show worked examples. */
  examples: boolean;
  ask: Ask;
  run: RunQuery;
  signal?: AbortSignal;
  /** Whole text of an earlier observation, which the agent may have seen cut. */
  observation(id: string): string | undefined;
  /** Registers what must be closed when the task ends. */
  onEnd(close: () => Promise<void>): void;
}

/** A tool could not do what it was asked; the message is for the agent, and says what to do instead. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure";
}

/** The nested model's answer holds no query. */
export class UnreadableQueryError extends Error {
  override readonly name = "UnreadableQueryError";
}
