/** A light reading of LogQL: its stream selector, and whether brackets and quotes close. */
import type { Matcher } from "../nl2metrics/scan.js";

const MATCHER = /^\s*([A-Za-z_][A-Za-z0-9_]*)\s*(=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*"|`[^`]*`)\s*(,|$)/;

/** Matchers of the first stream selector; undefined when there is none that can be read. */
export function scanSelector(logql: string): Matcher[] | undefined {
  const inner = selectorText(logql);
  if (inner === undefined) return undefined;
  const matchers: Matcher[] = [];
  let rest = inner;
  while (rest.trim() !== "") {
    const match = MATCHER.exec(rest);
    if (match === null) return undefined;
    const quoted = match[3]!;
    const value = quoted[0] === "`" ? quoted.slice(1, -1) : quoted.slice(1, -1).replace(/\\(.)/g, "$1");
    matchers.push({ label: match[1]!, operator: match[2] as Matcher["operator"], value });
    rest = rest.slice(match[0].length);
  }
  return matchers;
}

/** Text inside the first braces that stand outside quotes. */
export function selectorText(logql: string): string | undefined {
  let start = -1;
  let quote: string | undefined;
  for (let i = 0; i < logql.length; i++) {
    const c = logql[i]!;
    if (quote !== undefined) {
      if (c === "\\" && quote === '"') i++;
      else if (c === quote) quote = undefined;
    } else if (c === '"' || c === "`") quote = c;
    else if (c === "{" && start < 0) start = i + 1;
    else if (c === "}" && start >= 0) return logql.slice(start, i);
  }
  return undefined;
}

/** What is not closed, as a sentence; undefined when all is. */
export function unbalanced(logql: string): string | undefined {
  const closing: Record<string, string> = { "(": ")", "[": "]", "{": "}" };
  const open: string[] = [];
  for (let i = 0; i < logql.length; i++) {
    const c = logql[i]!;
    if (c === '"' || c === "`") {
      let end = i + 1;
      while (end < logql.length && logql[end] !== c) end += c === '"' && logql[end] === "\\" ? 2 : 1;
      if (end >= logql.length) return `the string that begins at position ${i + 1} is not closed`;
      i = end;
    } else if (c in closing) open.push(c);
    else if (Object.values(closing).includes(c)) {
      const last = open.pop();
      if (last === undefined || closing[last] !== c) return `"${c}" at position ${i + 1} closes nothing`;
    }
  }
  return open.length === 0 ? undefined : `"${open.at(-1)}" is not closed`;
}
