/** What is wrong with a PromQL query before it runs. */
import type { ToolContext } from "../context.js";
import { didYouMean, listing } from "../suggest.js";
import { labelNames, type MetricsQuery, metricNames } from "./client.js";
import { scanPromql } from "./scan.js";

/** Series that are there only while an alert is pending or fires. */
const WRITTEN_BY_RULES = new Set(["ALERTS", "ALERTS_FOR_STATE"]);

/** Syntax as far as a light reading sees it; then metrics and labels that do not exist. */
export async function lintMetricsQuery(query: MetricsQuery, context: ToolContext): Promise<string[]> {
  const { selectors, problems } = scanPromql(query.promql);
  if (problems.length > 0) return problems;
  // To ask whether a series is missing is a fair question.
  if (/\babsent(_over_time)?\s*\(/.test(query.promql)) return [];
  const known = await metricNames(context);
  const findings: string[] = [];
  for (const { metric, matchers } of selectors) {
    if (metric === undefined || WRITTEN_BY_RULES.has(metric)) continue;
    if (!known.includes(metric)) {
      findings.push(`there is no metric "${metric}"${didYouMean(metric, known)}`);
      continue;
    }
    const wanted = matchers.filter((one) => !one.operator.startsWith("!") && one.value !== "");
    if (wanted.length === 0) continue;
    const labels = await labelNames(context, metric);
    for (const { label } of wanted) {
      if (label === "__name__" || labels.length === 0 || labels.includes(label)) continue;
      findings.push(`${metric} has no label "${label}"; its labels: ${listing(labels)}`);
    }
  }
  return [...new Set(findings)];
}
