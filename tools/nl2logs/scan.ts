/** A light reading of LogQL: its stream selector, and whether brackets and quotes close. */
import type { Matcher, Named, Problem } from "../nl2metrics/scan.js";

const MATCHER = /^\s*([A-Za-z_][A-Za-z0-9_]*)\s*(=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*"|`[^`]*`)\s*(,|$)/;

/** Matchers of the first stream selector; undefined when there is none that can be read. */
export function scanSelector(logql: string): Matcher[] | undefined {
  const inner = selectorText(logql);
  if (inner === undefined) return undefined;
  const matchers: Matcher[] = [];
  let rest = inner;
  let at = logql.indexOf(inner, logql.indexOf("{"));
  while (rest.trim() !== "") {
    const match = MATCHER.exec(rest);
    if (match === null) return undefined;
    const quoted = match[3]!;
    const value = quoted[0] === "`" ? quoted.slice(1, -1) : quoted.slice(1, -1).replace(/\\(.)/g, "$1");
    const label = match[1]!;
    matchers.push({ label, operator: match[2] as Matcher["operator"], value, at: at + match[0].indexOf(label) });
    rest = rest.slice(match[0].length);
    at += match[0].length;
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

/** What is not closed, as a sentence with its offset; undefined when all is. */
export function unbalanced(logql: string): Problem | undefined {
  const closing: Record<string, string> = { "(": ")", "[": "]", "{": "}" };
  const open: number[] = [];
  for (let i = 0; i < logql.length; i++) {
    const c = logql[i]!;
    if (c === '"' || c === "`") {
      let end = i + 1;
      while (end < logql.length && logql[end] !== c) end += c === '"' && logql[end] === "\\" ? 2 : 1;
      if (end >= logql.length) return { message: `the string that begins at position ${i + 1} is not closed`, at: i };
      i = end;
    } else if (c === "#") {
      const end = logql.indexOf("\n", i);
      i = end < 0 ? logql.length : end;
    } else if (c in closing) open.push(i);
    else if (Object.values(closing).includes(c)) {
      const last = open.pop();
      if (last === undefined || closing[logql[last]!] !== c) {
        return { message: `"${c}" at position ${i + 1} closes nothing`, at: i };
      }
    }
  }
  const last = open.at(-1);
  return last === undefined
    ? undefined
    : { message: `"${logql[last]}" at position ${last + 1} is not closed`, at: last };
}

/** The query with its strings blanked out, so that offsets stay. */
export function blanked(logql: string): string {
  return logql.replace(/"(?:[^"\\]|\\.)*"|`[^`]*`/g, (quoted) => " ".repeat(quoted.length));
}

/** Labels of `by (...)` and `without (...)`, outside of strings. */
export function groupingLabels(logql: string): Named[] {
  const bare = blanked(logql);
  const found: Named[] = [];
  for (const match of bare.matchAll(/\bby\s*\(([^)]*)\)/g)) {
    const start = match.index + match[0].indexOf("(") + 1;
    for (const label of match[1]!.matchAll(/[A-Za-z_]\w*/g)) found.push({ name: label[0], at: start + label.index });
  }
  return found;
}
