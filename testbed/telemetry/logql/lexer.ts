/** LogQL's tokens. Kinds carry the names that Loki's messages use. */
import { LogQLParseError } from "./errors.js";
import { parseBytes, parseDuration } from "./units.js";

export interface Token {
  /** `IDENTIFIER`, `STRING`, `NUMBER`, `DURATION`, `BYTES`, `RANGE`, `FLAG`, `$end`, or the text of a keyword or sign. */
  kind: string;
  /** Decoded text: a string's content, an identifier's name. */
  text: string;
  /** Value of NUMBER; milliseconds of DURATION and RANGE; bytes of BYTES. */
  value: number;
  line: number;
  column: number;
  /** For functions: the token is a name directly followed by `(`, `by` or `without`. */
  call: boolean;
}

/** Names that are never identifiers. */
const KEYWORDS = new Set([
  "by",
  "without",
  "bool",
  "and",
  "or",
  "unless",
  "on",
  "ignoring",
  "group_left",
  "group_right",
  "offset",
  "unwrap",
  "json",
  "logfmt",
  "regexp",
  "pattern",
  "unpack",
  "line_format",
  "label_format",
  "decolorize",
  "drop",
  "keep",
]);

/** Longest first. */
const SIGNS = [
  "|=",
  "|~",
  "|>",
  "!=",
  "!~",
  "!>",
  "=~",
  "==",
  ">=",
  "<=",
  "{",
  "}",
  "(",
  ")",
  ",",
  "|",
  "=",
  ">",
  "<",
  "+",
  "-",
  "*",
  "/",
  "%",
  "^",
];

const IDENTIFIER = /[a-zA-Z_][a-zA-Z0-9_]*/y;
const MEASURE = /\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?/y;
const UNITS = /[a-zA-Zµμ][a-zA-Z0-9.µμ]*/y;
const FLAG = /--[a-z][a-z-]*/y;

/**
 * Splits a query into tokens, `$end` last.
 * @throws LogQLParseError for an unterminated string, a bad escape, a bad range
 */
export function tokenize(query: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let line = 1;
  let lineStart = 0;

  function match(expression: RegExp): string | undefined {
    expression.lastIndex = at;
    return expression.exec(query)?.[0];
  }

  function push(kind: string, text: string, length: number, value = 0): void {
    tokens.push({ kind, text, value, line, column: at - lineStart + 1, call: false });
    at += length;
  }

  while (at < query.length) {
    const char = query[at]!;
    if (char === "\n") {
      at++;
      line++;
      lineStart = at;
    } else if (/\s/.test(char)) at++;
    else if (char === "#") {
      const end = query.indexOf("\n", at);
      at = end === -1 ? query.length : end;
    } else if (char === '"' || char === "`") {
      const column = at - lineStart + 1;
      const { text, length } = readString(query, at, line, column);
      push("STRING", text, length);
      for (let i = at - length; i < at; i++) {
        if (query[i] === "\n") {
          line++;
          lineStart = i + 1;
        }
      }
    } else if (char === "[") {
      const column = at - lineStart + 1;
      const end = query.indexOf("]", at);
      if (end === -1) throw new LogQLParseError("missing closing ']' in duration", line, column);
      const text = query.slice(at + 1, end).trim();
      const duration = parseDuration(text);
      if (duration === undefined || text === "") {
        throw new LogQLParseError(
          text === "" ? "empty duration string" : `not a valid duration string: "${text}"`,
          line,
          column,
        );
      }
      push("RANGE", text, end + 1 - at, duration);
    } else if (/[a-zA-Z_]/.test(char)) {
      const name = match(IDENTIFIER)!;
      push(KEYWORDS.has(name) ? name : "IDENTIFIER", name, name.length);
    } else if (/\d/.test(char) || (char === "." && /\d/.test(query[at + 1] ?? ""))) {
      pushNumber();
    } else if (query.startsWith("--", at) && match(FLAG) !== undefined) {
      const flag = match(FLAG)!;
      push("FLAG", flag, flag.length);
    } else {
      const sign = SIGNS.find((candidate) => query.startsWith(candidate, at));
      // Loki takes what it does not know for an identifier, and its grammar then refuses it.
      if (sign === undefined) push("IDENTIFIER", char, char.length);
      else push(sign, sign, sign.length);
    }
  }
  push("$end", "", 0);
  for (let i = 0; i + 1 < tokens.length; i++) {
    const next = tokens[i + 1]!.kind;
    tokens[i]!.call = tokens[i]!.kind === "IDENTIFIER" && (next === "(" || next === "by" || next === "without");
  }
  return tokens;

  function pushNumber(): void {
    const digits = match(MEASURE)!;
    const start = at;
    at += digits.length;
    const units = match(UNITS) ?? "";
    at = start;
    const text = digits + units;
    const duration = units === "" ? undefined : parseDuration(text);
    const bytes = units === "" || duration !== undefined ? undefined : parseBytes(text);
    if (duration !== undefined) push("DURATION", text, text.length, duration);
    else if (bytes !== undefined) push("BYTES", text, text.length, bytes);
    else push("NUMBER", digits, digits.length, Number(digits));
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  '"': '"',
  "'": "'",
};

/** Go's string literals: interpreted in double quotes, raw in back quotes. */
function readString(query: string, start: number, line: number, column: number): { text: string; length: number } {
  if (query[start] === "`") {
    const end = query.indexOf("`", start + 1);
    if (end === -1) throw new LogQLParseError("literal not terminated", line, column);
    return { text: query.slice(start + 1, end), length: end + 1 - start };
  }
  let text = "";
  for (let i = start + 1; i < query.length; i++) {
    const char = query[i]!;
    if (char === '"') return { text, length: i + 1 - start };
    if (char === "\n") break;
    if (char !== "\\") {
      text += char;
      continue;
    }
    const next = query[++i];
    const hex = next === "x" ? 2 : next === "u" ? 4 : next === "U" ? 8 : 0;
    if (next !== undefined && ESCAPES[next] !== undefined) text += ESCAPES[next];
    else if (hex > 0 && /^[0-9a-fA-F]+$/.test(query.slice(i + 1, i + 1 + hex))) {
      text += String.fromCodePoint(Number.parseInt(query.slice(i + 1, i + 1 + hex), 16));
      i += hex;
    } else if (next !== undefined && /[0-7]/.test(next) && /^[0-7]{3}$/.test(query.slice(i, i + 3))) {
      text += String.fromCharCode(Number.parseInt(query.slice(i, i + 3), 8));
      i += 2;
    } else if (next !== undefined) throw new LogQLParseError("invalid char escape", line, column);
  }
  throw new LogQLParseError("literal not terminated", line, column);
}
