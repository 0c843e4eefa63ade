/** What is wrong with a LogQL query before it runs. */
import type { ToolContext } from "../context.js";
import { didYouMean, listing } from "../suggest.js";
import { type LogsQuery, logLabels } from "./client.js";
import { scanSelector, selectorText, unbalanced } from "./scan.js";

/** Brackets, quotes, the selector; then labels that no stream has. */
export async function lintLogsQuery(query: LogsQuery, context: ToolContext): Promise<string[]> {
  const problem = unbalanced(query.logql);
  if (problem !== undefined) return [problem];
  if (selectorText(query.logql) === undefined) {
    return ['a LogQL query begins with a stream selector in braces, such as {service_name="billing"} |= "error"'];
  }
  const matchers = scanSelector(query.logql);
  if (matchers === undefined) {
    return [
      'the stream selector cannot be read; write {label="value", other=~"regex"} with the values in double quotes',
    ];
  }
  if (matchers.length === 0)
    return ['the stream selector is empty; give at least one label, such as {service_name="billing"}'];
  if (
    matchers.every(
      (one) => one.operator.startsWith("!") || one.value === "" || (one.operator === "=~" && /^\.\*$/.test(one.value)),
    )
  ) {
    return ['at least one matcher must rule something in: give a label a value, or a regex such as =~".+"'];
  }
  const labels = await logLabels(context);
  return matchers
    .filter(({ label }) => !labels.includes(label))
    .map(
      ({ label }) =>
        `streams have no label "${label}"${didYouMean(label, labels)}; their labels: ${listing(labels)}. A field of the line is filtered after a parser: {...} | json | ${label}="..."`,
    );
}
