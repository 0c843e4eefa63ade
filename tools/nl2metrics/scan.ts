/** A light reading of PromQL: enough to see what a query names, not to evaluate it. */
import { AGGREGATIONS, FUNCTIONS, KEYWORDS, LABEL_LISTS, RANGE_FUNCTIONS } from "./functions.js";

export interface Matcher {
  label: string;
  operator: "=" | "!=" | "=~" | "!~";
  value: string;
  /** Offset of the label's name. */
  at: number;
}

/** A name with its offset in the query. */
export interface Named {
  name: string;
  at: number;
}

/** A call of a function or aggregation, or parentheses alone (then without a name). */
export interface Call {
  name: string;
  at: number;
  /** `by (...)` or `without (...)`. */
  grouping?: { kind: "by" | "without"; labels: Named[] };
  /** The first argument, where it is a number. */
  number?: { value: number; text: string; at: number };
  /** A range behind the closing parenthesis: a subquery. */
  subquery: boolean;
}

export interface Selector {
  /** Absent for a selector of matchers alone. */
  metric?: string;
  at: number;
  matchers: Matcher[];
  /** `5m` of `[5m]`, with the offset of its text. */
  range?: { text: string; at: number };
  offset: boolean;
  /** Calls around it, the outermost first. */
  calls: readonly Call[];
}

export interface Scan {
  selectors: Selector[];
  calls: Call[];
  /** Syntax errors, as sentences with the offset of their place. */
  problems: Problem[];
}

export interface Problem {
  message: string;
  at: number;
  /** Where the place ends, when it is more than the word at `at`. */
  end?: number;
}

interface Token {
  kind: "name" | "number" | "string" | "symbol";
  text: string;
  at: number;
}

const CLOSING: Record<string, string> = { "(": ")", "[": "]", "{": "}" };

/** What `query` selects, and what is plainly wrong with it. */
export function scanPromql(query: string): Scan {
  const problems: Problem[] = [];
  const tokens = tokenize(query, problems);
  checkBrackets(tokens, problems);
  const selectors: Selector[] = [];
  const calls: Call[] = [];
  const scan = { selectors, calls, problems };
  if (problems.length > 0) return scan;
  if (tokens.length === 0) {
    problems.push({ message: "the query is empty", at: 0 });
    return scan;
  }
  const open: Call[] = [];
  /** A function or aggregation whose parenthesis is still to come. */
  let pending: Call | undefined;
  let closed: Call | undefined;
  let last: Selector | undefined;
  const select = (selector: Selector) => {
    selectors.push(selector);
    last = selector;
  };
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!;
    const next = tokens[i + 1]?.text;
    const { at } = token;
    if (token.kind === "name") {
      const word = token.text.toLowerCase();
      if (word === "offset" || word === "@") {
        if (last !== undefined) last.offset = true;
      } else if (LABEL_LISTS.has(word)) {
        if (next !== "(") continue;
        const end = closing(tokens, i + 1);
        const call = pending ?? closed;
        if ((word === "by" || word === "without") && call !== undefined) {
          const labels = tokens.slice(i + 2, end).filter(({ text }) => text !== ",");
          call.grouping = {
            kind: word,
            labels: labels.map(({ kind, text, at }) => ({ name: kind === "string" ? unquote(text) : text, at })),
          };
        }
        i = end;
      } else if (AGGREGATIONS.has(word) && (next === "(" || next === "by" || next === "without")) {
        pending = { name: word, at, subquery: false };
      } else if (next === "(" && !KEYWORDS.has(word)) {
        if (!FUNCTIONS.has(token.text)) {
          problems.push({ message: `"${token.text}" is not a PromQL function or aggregation`, at });
        } else if (RANGE_FUNCTIONS.has(token.text) && !hasRange(tokens, i + 1)) {
          problems.push({
            message: `${token.text}() needs a range vector: put a range such as [5m] after the selector`,
            at,
            end: tokens[closing(tokens, i + 1)]!.at + 1,
          });
        }
        pending = { name: token.text, at, subquery: false };
      } else if (!KEYWORDS.has(word)) {
        const selector: Selector = { metric: token.text, at, matchers: [], offset: false, calls: [...open] };
        if (next === "{") i = readMatchers(tokens, i + 1, selector, problems);
        select(selector);
      }
    } else if (token.text === "(") {
      const call = pending ?? { name: "", at, subquery: false };
      const first = tokens[i + 1];
      if (first?.kind === "number") call.number = { value: Number(first.text), text: first.text, at: first.at };
      if (first?.text === "-" && tokens[i + 2]?.kind === "number") {
        call.number = { value: -Number(tokens[i + 2]!.text), text: tokens[i + 2]!.text, at: first.at };
      }
      pending = undefined;
      last = undefined;
      open.push(call);
      calls.push(call);
    } else if (token.text === ")") {
      closed = open.pop();
      last = undefined;
    } else if (token.text === "{") {
      const selector: Selector = { at, matchers: [], offset: false, calls: [...open] };
      i = readMatchers(tokens, i, selector, problems);
      const name = selector.matchers.find((one) => one.label === "__name__" && one.operator === "=");
      select(name === undefined ? selector : { ...selector, metric: name.value });
    } else if (token.text === "[") {
      const end = closing(tokens, i);
      const range = tokens[i + 1];
      if (last === undefined) {
        if (closed !== undefined) closed.subquery = true;
      } else if (range !== undefined && i + 1 < end) last.range = { text: range.text, at: range.at };
      i = end;
    }
  }
  return scan;
}

function tokenize(query: string, problems: Problem[]): Token[] {
  const tokens: Token[] = [];
  const pattern =
    /(?<space>\s+|#[^\n]*)|(?<number>\d+(?:\.\d+)?(?:ms|[smhdwy])(?:\d+(?:ms|[smhdwy]))*|0x[0-9a-f]+|\d*\.?\d+(?:e[+-]?\d+)?)|(?<name>[A-Za-z_:][A-Za-z0-9_:]*)|(?<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)|(?<symbol>=~|!~|!=|==|<=|>=|[-+*/%^=<>(){}[\],@])/gy;
  let at = 0;
  while (at < query.length) {
    pattern.lastIndex = at;
    const match = pattern.exec(query);
    if (match === null) {
      const c = query[at]!;
      const message = /["'`]/.test(c)
        ? `the string that begins at position ${at + 1} is not closed`
        : `unexpected character ${JSON.stringify(c)} at position ${at + 1}`;
      problems.push({ message, at });
      return tokens;
    }
    for (const kind of ["number", "name", "string", "symbol"] as const) {
      if (match.groups![kind] !== undefined) tokens.push({ kind, text: match[0], at });
    }
    at = pattern.lastIndex;
  }
  return tokens;
}

function checkBrackets(tokens: readonly Token[], problems: Problem[]): void {
  const open: Token[] = [];
  for (const token of tokens) {
    if (token.kind !== "symbol") continue;
    if (token.text in CLOSING) open.push(token);
    else if (Object.values(CLOSING).includes(token.text)) {
      const last = open.pop();
      if (last === undefined) {
        problems.push({ message: `"${token.text}" at position ${token.at + 1} closes nothing`, at: token.at });
      } else if (CLOSING[last.text] !== token.text) {
        problems.push({
          message: `"${last.text}" at position ${last.at + 1} is closed by "${token.text}" at ${token.at + 1}`,
          at: token.at,
        });
      }
    }
  }
  for (const { text, at } of open) {
    problems.push({ message: `"${text}" at position ${at + 1} is not closed`, at });
  }
}

/** Index of the bracket that closes the one at `start`. */
function closing(tokens: readonly Token[], start: number): number {
  let depth = 0;
  for (let i = start; i < tokens.length; i++) {
    if (tokens[i]!.kind !== "symbol") continue;
    if (tokens[i]!.text in CLOSING) depth++;
    else if (Object.values(CLOSING).includes(tokens[i]!.text) && --depth === 0) return i;
  }
  return tokens.length - 1;
}

/** Whether the arguments that begin at `start` hold a range (or a subquery) somewhere. */
function hasRange(tokens: readonly Token[], start: number): boolean {
  return tokens.slice(start, closing(tokens, start)).some((token) => token.kind === "symbol" && token.text === "[");
}

/** Reads `{...}` at `start` into `selector`; returns the index of its end. */
function readMatchers(tokens: readonly Token[], start: number, selector: Selector, problems: Problem[]): number {
  const end = closing(tokens, start);
  let i = start + 1;
  while (i < end) {
    const label = tokens[i]!;
    const operator = tokens[i + 1];
    const value = tokens[i + 2];
    if (label.kind === "string" && (operator === undefined || operator.text === "," || i + 1 === end)) {
      selector.metric = unquote(label.text);
      i += 1;
    } else if (label.kind !== "symbol" && /^(=|!=|=~|!~)$/.test(operator?.text ?? "") && i + 2 < end) {
      if (value!.kind !== "string") {
        problems.push({
          message: `the value of label ${label.text} must be in quotes: ${label.text}${operator!.text}"..."`,
          at: value!.at,
        });
        return end;
      }
      selector.matchers.push({
        label: label.kind === "string" ? unquote(label.text) : label.text,
        operator: operator!.text as Matcher["operator"],
        value: unquote(value!.text),
        at: label.at,
      });
      i += 3;
    } else {
      problems.push({
        message: `cannot read the label matchers at position ${label.at + 1}; write {label="value", other=~"regex"}`,
        at: label.at,
      });
      return end;
    }
    if (i < end && tokens[i]!.text !== ",") {
      problems.push({
        message: `a comma is missing between label matchers at position ${tokens[i]!.at + 1}`,
        at: tokens[i]!.at,
      });
      return end;
    }
    i++;
  }
  return end;
}

function unquote(text: string): string {
  const inner = text.slice(1, -1);
  return text[0] === "`" ? inner : inner.replace(/\\(.)/g, "$1");
}
