/** What is wrong with a LogQL query before it runs. */
import { type ToolContext, ToolFailure } from "../context.js";
import { getJson } from "../http.js";
import { type Finding, offsetOf, wordAt } from "../lint/finding.js";
import { didYouMean, listing, nearest } from "../suggest.js";
import { type LogsQuery, logLabels } from "./client.js";
import { blanked, groupingLabels, scanSelector, selectorText, unbalanced } from "./scan.js";

/** Stages behind which a line has labels that its stream has not. */
const PARSERS = /\|\s*(json|logfmt|pattern|regexp|unpack|label_format|keep|drop|decolorize)\b/;

/** Brackets, quotes, the selector; syntax, as the server reads it; then labels that no stream has. */
export async function lintLogsQuery(query: LogsQuery, context: ToolContext): Promise<Finding[]> {
  const { logql } = query;
  const own = plainFault(logql);
  if (own !== undefined) return [own];
  const syntax = await serverFault(logql, context);
  if (syntax !== undefined) return [syntax];
  const labels = await logLabels(context);
  if (labels.length === 0) return [];
  const findings = (scanSelector(logql) ?? [])
    .filter(({ label }) => !labels.includes(label))
    .map(({ label, at }) => ({
      message: `streams have no label "${label}"${didYouMean(label, labels)}; their labels: ${listing(labels)}. A field of the line is filtered after a parser: {...} | json | ${label}="..."`,
      word: label,
      start: at,
    }));
  return [...findings, ...filterFaults(logql), ...(PARSERS.test(logql) ? [] : groupingFaults(logql, labels))];
}

/** What is seen without a server. */
function plainFault(logql: string): Finding | undefined {
  const problem = unbalanced(logql);
  if (problem !== undefined) return { message: problem.message, ...wordAt(logql, problem.at) };
  const inner = selectorText(logql);
  const opening = Math.max(0, logql.indexOf("{"));
  if (inner === undefined) {
    const message =
      'a LogQL query begins with a stream selector in braces, such as {service_name="billing"} |= "error"';
    return { message, ...wordAt(logql, 0) };
  }
  const word = `{${inner}}`;
  const start = Math.max(opening, logql.indexOf(word));
  const matchers = scanSelector(logql);
  if (matchers === undefined) {
    const message =
      'the stream selector cannot be read; write {label="value", other=~"regex"} with the values in double quotes';
    return { message, word, start };
  }
  if (matchers.length === 0) {
    const message = 'the stream selector is empty; give at least one label, such as {service_name="billing"}';
    return { message, word, start };
  }
  const open = (one: { operator: string; value: string }) =>
    one.operator.startsWith("!") || one.value === "" || (one.operator === "=~" && /^\.\*$/.test(one.value));
  if (!matchers.every(open)) return missingRange(logql);
  const message = 'at least one matcher must rule something in: give a label a value, or a regex such as =~".+"';
  return { message, word, start };
}

/** A function over time without a time. */
function missingRange(logql: string): Finding | undefined {
  const bare = blanked(logql);
  for (const match of bare.matchAll(/\b(rate|bytes_rate|rate_counter|[a-z]+_over_time)\s*\(/g)) {
    const start = match.index + match[0].length;
    let depth = 1;
    let end = start;
    for (; end < bare.length && depth > 0; end++) depth += bare[end] === "(" ? 1 : bare[end] === ")" ? -1 : 0;
    if (bare.slice(start, end).includes("[")) continue;
    const message = `${match[1]}() needs a range: put one such as [5m] at the end of its argument, ${match[1]}({...} [5m])`;
    return { message, word: match[1]!, start: match.index };
  }
  return undefined;
}

/** Has the server read the query, over one second that costs it nothing. */
async function serverFault(logql: string, context: ToolContext): Promise<Finding | undefined> {
  const end = BigInt(Math.round(context.clock.now())) * 1_000_000n;
  const window = { start: String(end - 1_000_000_000n), end: String(end), limit: 1, step: 1 };
  try {
    await getJson(context.endpoints, "loki", "/loki/api/v1/query_range", { query: logql, ...window }, context.signal);
    return undefined;
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    const text = error.message.replace(/^Loki: /, "");
    const place = /parse error at line (\d+), col (\d+): (.*)$/s.exec(text);
    if (place !== null) {
      const at = offsetOf(logql, Number(place[1]), Number(place[2]));
      return { message: `LogQL: ${place[3]}`, ...wordAt(logql, at) };
    }
    if (!/parse error|error parsing|invalid|unsupported|not supported|unknown/i.test(text)) return undefined;
    // Regular expressions are named in backticks, other things in quotes.
    const named = [...text.matchAll(/`([^`]+)`|"([^"]+)"|'([^']+)'/g)].map(
      (match) => match[1] ?? match[2] ?? match[3]!,
    );
    const word = named.find((one) => logql.includes(one));
    const message = `LogQL: ${text.replace(/^parse error ?: ?/, "")}`;
    return word === undefined ? { message, ...wordAt(logql, 0) } : { message, word, start: logql.lastIndexOf(word) };
  }
}

/** `|= "error|fail"` looks for the text with its bar; several words take a regular expression. */
function filterFaults(logql: string): Finding[] {
  const found: Finding[] = [];
  for (const match of logql.matchAll(
    /(\|=|!=)\s*("\(?(?:\(\?i\))?[A-Za-z]{3,}(?:\|[A-Za-z]{3,})+\)?"|"\(\?i\)[^"]*")/g,
  )) {
    const [all, operator, pattern] = match as unknown as [string, string, string];
    found.push({
      message: `${operator} ${pattern} looks for exactly this text; for alternatives or (?i) use a regular expression: ${operator === "|=" ? "|~" : "!~"} ${pattern}`,
      word: pattern,
      start: match.index + all.length - pattern.length,
    });
  }
  return found;
}

function groupingFaults(logql: string, labels: readonly string[]): Finding[] {
  return groupingLabels(logql).flatMap(({ name, at }) => {
    if (labels.includes(name)) return [];
    const near = nearest(name, labels);
    if (near.length === 0) return [];
    const message = `streams have no label "${name}" to group by; did you mean ${near.join(", ")}?`;
    return [{ message, word: name, start: at }];
  });
}
