/** Splits PromQL into tokens. */
import { PromqlParseError } from "./errors.js";

export type TokenKind = "identifier" | "number" | "duration" | "string" | "operator" | "end";

export interface Token {
  kind: TokenKind;
  /** As written; for a string, its value. */
  text: string;
  start: number;
  end: number;
}

const SPACE = /(?:\s+|#[^\n]*)+/y;
const IDENTIFIER = /[A-Za-z_:][A-Za-z0-9_:]*/y;
const IDENTIFIER_IN_BRACKETS = /[A-Za-z_][A-Za-z0-9_]*/y;
const DURATION = /(?:\d+(?:ms|[smhdwy]))+(?![A-Za-z0-9_])/y;
const NUMBER = /0[xX][0-9a-fA-F_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?/y;
const OPERATOR = /<\/|>\/|==|!=|=~|!~|>=|<=|[-+*/%^=<>(){}[\],:@]/y;

/** @throws PromqlParseError */
export function tokenize(query: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let brackets = 0;

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(query)?.[0];
  };
  const push = (kind: TokenKind, text: string, length = text.length): void => {
    tokens.push({ kind, text, start: at, end: at + length });
    at += length;
  };

  for (;;) {
    at += match(SPACE)?.length ?? 0;
    if (at >= query.length) break;
    const char = query[at]!;
    if (char === '"' || char === "'" || char === "`") {
      const [value, length] = stringLiteral(query, at);
      push("string", value, length);
      continue;
    }
    const identifier = match(brackets > 0 ? IDENTIFIER_IN_BRACKETS : IDENTIFIER);
    // A colon alone parts range and step; a name may begin with one only where there is no range.
    if (identifier !== undefined && identifier !== ":") {
      push("identifier", identifier);
      continue;
    }
    const duration = match(DURATION);
    if (duration !== undefined) {
      push("duration", duration);
      continue;
    }
    const number = match(NUMBER);
    if (number !== undefined) {
      const next = query[at + number.length];
      if (next !== undefined && /[A-Za-z_]/.test(next)) {
        const whole = /^[\w.]+/.exec(query.slice(at))![0];
        throw new PromqlParseError(`bad number or duration syntax: "${whole}"`, query, at);
      }
      push("number", number);
      continue;
    }
    const operator = match(OPERATOR);
    if (operator === undefined) throw new PromqlParseError(`unexpected character: '${char}'`, query, at);
    if (operator === "[") brackets++;
    if (operator === "]") brackets--;
    push("operator", operator);
  }
  tokens.push({ kind: "end", text: "", start: query.length, end: query.length });
  return tokens;
}

const ESCAPES: Record<string, string> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
};

/** Value and written length of the string at `start`: Go's escapes, none in backquotes. */
export function stringLiteral(query: string, start: number): [value: string, length: number] {
  const quote = query[start]!;
  if (quote === "`") {
    const end = query.indexOf("`", start + 1);
    if (end < 0) throw new PromqlParseError("unterminated raw string", query, start);
    return [query.slice(start + 1, end), end + 1 - start];
  }
  let value = "";
  let bytes: number[] = [];
  const flush = (): void => {
    if (bytes.length > 0) value += Buffer.from(bytes).toString("utf8");
    bytes = [];
  };
  for (let i = start + 1; i < query.length; ) {
    const char = query[i]!;
    if (char === "\n") break;
    if (char === quote) {
      flush();
      return [value, i + 1 - start];
    }
    if (char !== "\\") {
      flush();
      value += char;
      i++;
      continue;
    }
    const next = query[i + 1] ?? "";
    const simple = ESCAPES[next];
    const coded = /^(?:x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/.exec(query.slice(i + 1));
    if (coded) {
      if (coded[1] !== undefined) bytes.push(Number.parseInt(coded[1], 16));
      else if (coded[2] !== undefined) bytes.push(Number.parseInt(coded[2], 8) & 0xff);
      else {
        flush();
        value += String.fromCodePoint(Number.parseInt(coded[3] ?? coded[4]!, 16));
      }
      i += 1 + coded[0].length;
    } else if (simple !== undefined && !((next === "'" || next === '"') && next !== quote)) {
      flush();
      value += simple;
      i += 2;
    } else {
      throw new PromqlParseError(`unknown escape sequence: "\\${next}"`, query, i);
    }
  }
  throw new PromqlParseError("unterminated quoted string", query, start);
}
