/** What is wrong with a PromQL query before it runs. */
import type { ToolContext } from "../context.js";
import { ToolFailure } from "../context.js";
import { getJson } from "../http.js";
import { type Finding, offsetOf, wordAt } from "../lint/finding.js";
import { didYouMean, listing, metricSlips, nearest } from "../suggest.js";
import { labelNames, labelValues, type MetricsQuery, metricNames } from "./client.js";
import { rangeFindings } from "./lint-ranges.js";
import { type Scan, type Selector, scanPromql } from "./scan.js";

/** Series that are there only while an alert is pending or fires. */
const WRITTEN_BY_RULES = new Set(["ALERTS", "ALERTS_FOR_STATE"]);
/** First words of the metrics of common exporters. */
const EXPORTERS = new Set(
  `kube kubelet kubeproxy container node pod pv machine cadvisor apiserver etcd coredns scheduler workqueue rest
   process go prometheus alertmanager istio envoy pilot request kafka jvm kubecost opencost probe windows`.split(/\s+/),
);
/** Functions that make labels of their own. */
const RELABEL = new Set(["label_replace", "label_join", "count_values", "info"]);

/** Syntax, as the server reads it; metrics and labels that do not exist; counters without a rate, and the label `le`. */
export async function lintMetricsQuery(query: MetricsQuery, context: ToolContext): Promise<Finding[]> {
  const { promql } = query;
  const scan = scanPromql(promql);
  const syntax = await syntaxFindings(promql, scan, context);
  if (syntax.length > 0) return syntax;
  const findings = [...(await nameFindings(promql, scan, context)), ...(await groupingFindings(scan, context))];
  if (findings.length === 0) findings.push(...(await rangeFindings(scan, context)));
  return findings;
}

/** Asks the server to read the query; one that cannot leaves it to the light reading here. */
async function syntaxFindings(promql: string, scan: Scan, context: ToolContext): Promise<Finding[]> {
  const own = scan.problems.map(({ message, at, end }) =>
    end === undefined ? { message, ...wordAt(promql, at) } : { message, word: promql.slice(at, end), start: at },
  );
  if (promql.trim() === "") return own;
  try {
    await getJson(context.endpoints, "prometheus", "/api/v1/format_query", { query: promql }, context.signal);
    return [];
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    const match = /(\d+):(\d+): parse error: (.*)$/s.exec(error.message);
    if (match === null) return own;
    // What was seen here names the mending, where it was seen at all.
    if (own.length > 0) return own;
    const at = offsetOf(promql, Number(match[1]), Number(match[2]));
    return [{ message: `PromQL: ${match[3]}`, ...wordAt(promql, at) }];
  }
}

/**
 * Exporters have series only of what there is (no job, no kube_job_*), and rules only where they are loaded: that there
 * is none may be the answer, and the empty result says so.
 */
function mayHaveNoSeries(metric: string): boolean {
  return metric.includes(":") || EXPORTERS.has(metric.split("_")[0]!);
}

async function nameFindings(promql: string, { selectors }: Scan, context: ToolContext): Promise<Finding[]> {
  const known = await metricNames(context);
  let inRules: string[] | undefined;
  const findings: Finding[] = [];
  for (const selector of selectors) {
    const { metric, at, calls } = selector;
    // To ask whether a series is missing is a fair question.
    if (metric === undefined || WRITTEN_BY_RULES.has(metric)) continue;
    if (calls.some(({ name }) => name === "absent" || name === "absent_over_time")) continue;
    if (!known.includes(metric)) {
      inRules ??= await metricsOfRules(context);
      if (inRules.includes(metric)) continue;
      const slips = metricSlips(metric, known);
      if (slips.length === 0 && mayHaveNoSeries(metric)) continue;
      const hint = slips.length === 0 ? didYouMean(metric, known) : `; did you mean ${slips.join(", ")}?`;
      findings.push({ message: `there is no metric "${metric}"${hint}`, word: metric, start: at });
      continue;
    }
    findings.push(...(await matcherFindings(promql, metric, selector, context)));
  }
  return findings;
}

async function matcherFindings(
  promql: string,
  metric: string,
  { matchers }: Selector,
  context: ToolContext,
): Promise<Finding[]> {
  const wanted = matchers.filter(
    (one) => !one.operator.startsWith("!") && one.value !== "" && !/^\.\*$/.test(one.value),
  );
  if (wanted.length === 0) return [];
  const labels = await labelNames(context, metric);
  const findings: Finding[] = [];
  for (const { label, operator, value, at } of wanted) {
    if (label === "__name__" || labels.length === 0) continue;
    if (!labels.includes(label)) {
      const message = `${metric} has no label "${label}"; its labels: ${listing(labels)}`;
      findings.push({ message, word: label, start: at });
    } else if (label === "le" && operator === "=") {
      const bounds = await labelValues(context, "le", metric);
      if (bounds.includes(value)) continue;
      const same = bounds.find((bound) => Number(bound) === Number(value));
      const start = promql.indexOf(value, at);
      const hint = same === undefined ? `; there are: ${listing(bounds)}` : `; write le="${same}"`;
      findings.push({ message: `${metric} has no bucket le="${value}"${hint}`, word: value, start });
    }
  }
  return findings;
}

/** Labels of `by (...)` that no series inside has, where one is near or none of the labels exists. */
async function groupingFindings({ selectors, calls }: Scan, context: ToolContext): Promise<Finding[]> {
  if (calls.some(({ name }) => RELABEL.has(name)) || selectors.some(({ metric }) => metric === undefined)) return [];
  const findings: Finding[] = [];
  for (const call of calls) {
    if (call.grouping?.kind !== "by" || call.grouping.labels.length === 0) continue;
    const inside = selectors.filter((one) => one.calls.includes(call));
    const labels = new Set<string>();
    for (const metric of new Set(inside.map((one) => one.metric!))) {
      for (const label of await labelNames(context, metric)) labels.add(label);
    }
    if (labels.size === 0) continue;
    const missing = call.grouping.labels.filter(({ name }) => !labels.has(name));
    const all = missing.length === call.grouping.labels.length;
    for (const { name, at } of missing) {
      const near = nearest(name, [...labels]).filter((one) => all || Math.abs(one.length - name.length) <= 1);
      if (near.length === 0) continue;
      const message = `no series inside ${call.name}() has the label "${name}"; did you mean ${near.join(", ")}?`;
      findings.push({ message, word: name, start: at });
    }
  }
  return findings;
}

/** Metrics that the environment's own rules name: they exist there, though there may be no series at the moment. */
async function metricsOfRules(context: ToolContext): Promise<string[]> {
  try {
    const json = await getJson(context.endpoints, "prometheus", "/api/v1/rules", {}, context.signal);
    const rules: { query?: string }[] = (json.data?.groups ?? []).flatMap((group: any) => group.rules ?? []);
    return rules.flatMap(({ query }) => scanPromql(query ?? "").selectors.flatMap(({ metric }) => metric ?? []));
  } catch (error) {
    if (error instanceof ToolFailure) return [];
    throw error;
  }
}
