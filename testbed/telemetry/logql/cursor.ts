/** A reading position in a token list, with Loki's way of saying what was not expected. */
import { LogQLParseError } from "./errors.js";
import type { Token } from "./lexer.js";

/** Brackets inside brackets, and operators in one expression: far beyond any query, far from the stack's end. */
const MAX_DEPTH = 200;
const MAX_OPERATORS = 1000;

export class Cursor {
  #at = 0;
  #depth = 0;
  #operators = 0;
  constructor(readonly tokens: readonly Token[]) {}

  get token(): Token {
    return this.tokens[this.#at]!;
  }

  /** The token `ahead` places on; the last one is `$end`. */
  peek(ahead = 1): Token {
    return this.tokens[Math.min(this.#at + ahead, this.tokens.length - 1)]!;
  }

  is(...kinds: string[]): boolean {
    return kinds.includes(this.token.kind);
  }

  next(): Token {
    const token = this.token;
    if (this.#at < this.tokens.length - 1) this.#at++;
    return token;
  }

  /** Takes the token when it is of this kind. */
  accept(kind: string): Token | undefined {
    return this.token.kind === kind ? this.next() : undefined;
  }

  /** Takes a token of this kind. @throws LogQLParseError naming what was expected (`alternatives` beside `kind`) */
  expect(kind: string, ...alternatives: string[]): Token {
    if (this.token.kind !== kind) this.fail(kind, ...alternatives);
    return this.next();
  }

  /** Runs a parser of something that may hold itself. @throws LogQLParseError when it does so too often */
  nested<T>(parse: () => T): T {
    if (++this.#depth > MAX_DEPTH) this.failWith(`expression is nested too deeply (more than ${MAX_DEPTH} levels)`);
    try {
      return parse();
    } finally {
      this.#depth--;
    }
  }

  /** Counts an operator. @throws LogQLParseError when there are too many */
  countOperator(): void {
    if (++this.#operators > MAX_OPERATORS)
      this.failWith(`too many operators in one query (more than ${MAX_OPERATORS})`);
  }

  /** Position to come back to with `reset`. */
  mark(): number {
    return this.#at;
  }

  reset(mark: number): void {
    this.#at = mark;
  }

  /** @throws LogQLParseError at the current token; up to four expected kinds are listed, as Loki's parser does */
  fail(...expected: string[]): never {
    const token = this.token;
    const kind = token.call ? token.text : token.kind;
    const list = expected.length > 0 && expected.length <= 4 ? `, expecting ${expected.join(" or ")}` : "";
    throw new LogQLParseError(`syntax error: unexpected ${kind}${list}`, token.line, token.column);
  }

  /** @throws LogQLParseError with another reason, at `token` */
  failWith(reason: string, token: Token = this.token): never {
    throw new LogQLParseError(reason, token.line, token.column);
  }
}
