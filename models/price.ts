/** What tokens cost. */

/** US dollars per million tokens. */
export interface Price {
  input: number;
  output: number;
  /** Input tokens served from the backend's cache; as `input` when absent. */
  cached?: number;
}

/** Cost in US dollars; `cachedTokens` are part of `inputTokens`. */
export function costOf(
  price: Price,
  tokens: { inputTokens: number; outputTokens: number; cachedTokens: number },
): number {
  const cached = Math.min(tokens.cachedTokens, tokens.inputTokens);
  const fresh = tokens.inputTokens - cached;
  return (fresh * price.input + cached * (price.cached ?? price.input) + tokens.outputTokens * price.output) / 1e6;
}
