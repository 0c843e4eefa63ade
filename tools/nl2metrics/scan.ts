/** A light reading of PromQL: enough to see what a query names, not to evaluate it. */
import { AGGREGATIONS, FUNCTIONS, KEYWORDS, LABEL_LISTS, RANGE_FUNCTIONS } from "./functions.js";

export interface Matcher {
  label: string;
  operator: "=" | "!=" | "=~" | "!~";
  value: string;
}

export interface Selector {
  /** Absent for a selector of matchers alone. */
  metric?: string;
  matchers: Matcher[];
}

export interface Scan {
  selectors: Selector[];
  /** Syntax errors, as sentences. */
  problems: string[];
}

interface Token {
  kind: "name" | "number" | "string" | "symbol";
  text: string;
  at: number;
}

const CLOSING: Record<string, string> = { "(": ")", "[": "]", "{": "}" };

/** What `query` selects, and what is plainly wrong with it. */
export function scanPromql(query: string): Scan {
  const problems: string[] = [];
  const tokens = tokenize(query, problems);
  checkBrackets(tokens, problems);
  const selectors: Selector[] = [];
  if (problems.length > 0) return { selectors, problems };
  if (tokens.length === 0) return { selectors, problems: ["the query is empty"] };
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!;
    const next = tokens[i + 1]?.text;
    if (token.kind === "name") {
      const word = token.text.toLowerCase();
      if (LABEL_LISTS.has(word)) {
        if (next === "(") i = closing(tokens, i + 1);
      } else if (AGGREGATIONS.has(word) && (next === "(" || next === "by" || next === "without")) {
        // Aggregations may name their labels before their argument.
      } else if (next === "(") {
        if (!FUNCTIONS.has(token.text)) problems.push(`"${token.text}" is not a PromQL function or aggregation`);
        else if (RANGE_FUNCTIONS.has(token.text) && !hasRange(tokens, i + 1)) {
          problems.push(`${token.text}() needs a range vector: put a range such as [5m] after the selector`);
        }
      } else if (!KEYWORDS.has(word)) {
        const selector: Selector = { metric: token.text, matchers: [] };
        if (next === "{") i = readMatchers(tokens, i + 1, selector, problems);
        selectors.push(selector);
      }
    } else if (token.text === "{") {
      const selector: Selector = { matchers: [] };
      i = readMatchers(tokens, i, selector, problems);
      const name = selector.matchers.find((one) => one.label === "__name__" && one.operator === "=");
      selectors.push(name === undefined ? selector : { ...selector, metric: name.value });
    } else if (token.text === "[") {
      i = closing(tokens, i);
    }
  }
  return { selectors, problems };
}

function tokenize(query: string, problems: string[]): Token[] {
  const tokens: Token[] = [];
  const pattern =
    /(?<space>\s+|#[^\n]*)|(?<number>\d+(?:\.\d+)?(?:ms|[smhdwy])(?:\d+(?:ms|[smhdwy]))*|0x[0-9a-f]+|\d*\.?\d+(?:e[+-]?\d+)?)|(?<name>[A-Za-z_:][A-Za-z0-9_:]*)|(?<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)|(?<symbol>=~|!~|!=|==|<=|>=|[-+*/%^=<>(){}[\],@])/gy;
  let at = 0;
  while (at < query.length) {
    pattern.lastIndex = at;
    const match = pattern.exec(query);
    if (match === null) {
      const c = query[at]!;
      problems.push(
        /["'`]/.test(c)
          ? `the string that begins at position ${at + 1} is not closed`
          : `unexpected character ${JSON.stringify(c)} at position ${at + 1}`,
      );
      return tokens;
    }
    for (const kind of ["number", "name", "string", "symbol"] as const) {
      if (match.groups![kind] !== undefined) tokens.push({ kind, text: match[0], at });
    }
    at = pattern.lastIndex;
  }
  return tokens;
}

function checkBrackets(tokens: readonly Token[], problems: string[]): void {
  const open: Token[] = [];
  for (const token of tokens) {
    if (token.kind !== "symbol") continue;
    if (token.text in CLOSING) open.push(token);
    else if (Object.values(CLOSING).includes(token.text)) {
      const last = open.pop();
      if (last === undefined) problems.push(`"${token.text}" at position ${token.at + 1} closes nothing`);
      else if (CLOSING[last.text] !== token.text) {
        problems.push(`"${last.text}" at position ${last.at + 1} is closed by "${token.text}" at ${token.at + 1}`);
      }
    }
  }
  for (const token of open) problems.push(`"${token.text}" at position ${token.at + 1} is not closed`);
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
function readMatchers(tokens: readonly Token[], start: number, selector: Selector, problems: string[]): number {
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
        problems.push(`the value of label ${label.text} must be in quotes: ${label.text}${operator!.text}"..."`);
        return end;
      }
      selector.matchers.push({
        label: label.kind === "string" ? unquote(label.text) : label.text,
        operator: operator!.text as Matcher["operator"],
        value: unquote(value!.text),
      });
      i += 3;
    } else {
      problems.push(
        `cannot read the label matchers at position ${label.at + 1}; write {label="value", other=~"regex"}`,
      );
      return end;
    }
    if (i < end && tokens[i]!.text !== ",") {
      problems.push(`a comma is missing between label matchers at position ${tokens[i]!.at + 1}`);
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
