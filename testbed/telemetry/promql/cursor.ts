/** A walk over a query's tokens: look, take, complain. */
import { parseDuration } from "./durations.js";
import { PromqlParseError } from "./errors.js";
import type { Token } from "./lexer.js";
import { tokenize } from "./lexer.js";

/** Deeper than any query that a person writes, and far from the end of the stack. */
const MAX_DEPTH = 500;

export type Cursor = ReturnType<typeof createCursor>;

/** @throws PromqlParseError when the text is not made of tokens */
export function createCursor(query: string) {
  const tokens = tokenize(query);
  let next = 0;
  let depth = 0;

  const peek = (ahead = 0): Token => tokens[Math.min(next + ahead, tokens.length - 1)]!;
  const take = (): Token => tokens[next < tokens.length - 1 ? next++ : next]!;
  const fail = (reason: string, position: number): never => {
    throw new PromqlParseError(reason, query, position);
  };
  const isOperator = (text: string, ahead = 0): boolean => {
    const token = peek(ahead);
    return token.kind === "operator" && token.text === text;
  };
  const isWord = (word: string, ahead = 0): boolean => {
    const token = peek(ahead);
    return token.kind === "identifier" && token.text.toLowerCase() === word;
  };
  const accept = (text: string): boolean => {
    if (!isOperator(text)) return false;
    take();
    return true;
  };
  const unexpected = (context: string, expected?: string): never => {
    const token = peek();
    const what = token.kind === "end" ? "end of input" : `${token.kind} ${JSON.stringify(token.text)}`;
    return fail(`unexpected ${what} in ${context}${expected ? `, expected ${expected}` : ""}`, token.start);
  };
  const expect = (text: string, context: string): Token => {
    if (!isOperator(text)) unexpected(context, JSON.stringify(text));
    return take();
  };
  const lastEnd = (): number => tokens[next - 1]?.end ?? 0;

  /** Steps back before the token taken last. */
  const back = (): void => {
    next--;
  };

  /** Runs a part of the grammar that may contain itself. */
  function nested<T>(what: string, parse: () => T): T {
    if (++depth > MAX_DEPTH) fail(`${what} is nested too deeply`, peek().start);
    const result = parse();
    depth--;
    return result;
  }

  function numberOf(token: Token): number {
    if (token.kind === "duration") {
      const ms = parseDuration(token.text);
      if (ms === undefined) return fail(`not a valid duration string: "${token.text}"`, token.start);
      return ms / 1000;
    }
    const text = token.text.replaceAll("_", "");
    if (/^0[xX]/.test(text)) return Number.parseInt(text, 16);
    if (/^0[0-7]+$/.test(text)) return Number.parseInt(text, 8);
    const value = Number(text);
    if (Number.isNaN(value)) fail(`error parsing number: "${token.text}"`, token.start);
    return value;
  }

  return { peek, take, back, fail, isOperator, isWord, accept, unexpected, expect, lastEnd, nested, numberOf };
}
