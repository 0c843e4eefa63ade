/** Counts what a task uses. */
import type { BaseMessage } from "@langchain/core/messages";
import { costOf, type Price } from "../../models/index.js";
import type { Usage } from "../agent.js";
import type { TokenCount } from "./transcript.js";

/** Nothing used yet; the cost is zero where there is a price, and unknown where there is none. */
export function emptyUsage(price: Price | undefined): Usage {
  return {
    ...(price === undefined ? {} : { cost: 0 }),
    steps: 0,
    toolCalls: 0,
    inputTokens: 0,
    outputTokens: 0,
    cachedTokens: 0,
    nestedCalls: 0,
    lintFindings: 0,
    reflections: 0,
  };
}

/** Tokens of one answer, as its backend counted them; zeros when it did not. */
export function tokensOf(message: BaseMessage): TokenCount {
  const usage = (
    message as {
      usage_metadata?: { input_tokens?: number; output_tokens?: number; input_token_details?: { cache_read?: number } };
    }
  ).usage_metadata;
  return {
    input: usage?.input_tokens ?? 0,
    output: usage?.output_tokens ?? 0,
    cached: usage?.input_token_details?.cache_read ?? 0,
  };
}

/** Adds `tokens`, and what they cost where there is a price. */
export function addTokens(usage: Usage, tokens: TokenCount, price: Price | undefined): void {
  usage.inputTokens += tokens.input;
  usage.outputTokens += tokens.output;
  usage.cachedTokens += tokens.cached;
  if (price !== undefined) usage.cost = costOf(price, usage);
}
