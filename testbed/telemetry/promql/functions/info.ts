/** info(): adds the data labels of info series (`target_info` and the like) to the series that they describe. */

import { valueTest } from "../../metric-store.js";
import type { Matcher } from "../../metrics.js";
import { isStale } from "../../metrics.js";
import type { Call, Expr, VectorSelector } from "../ast.js";
import { unwrap, walk } from "../ast.js";
import type { Compiler, Context, VectorNode } from "../context.js";
import { PromqlExecutionError } from "../errors.js";
import { Metric } from "../metric.js";
import { after, anchor, createSource, milliseconds } from "../select.js";
import { Vector } from "../vector.js";

/** Labels by which an info series is found. */
const IDENTIFYING = ["instance", "job"];

export function compileInfo(compiler: Compiler, call: Call): VectorNode {
  const { context } = compiler;
  const input = compiler.vector(call.args[0]!);
  const selector = call.args[1] === undefined ? undefined : (unwrap(call.args[1]) as VectorSelector);
  const given = selector?.matchers ?? [];
  const nameMatchers: Matcher[] = given.filter((m) => m.name === "__name__");
  if (nameMatchers.length === 0) nameMatchers.push({ name: "__name__", op: "=", value: "target_info" });
  // A name that is only excluded still has to be an info metric's.
  const infoNames = nameMatchers.some((m) => m.op === "=" || m.op === "=~")
    ? nameMatchers
    : [...nameMatchers, { name: "__name__", op: "=~", value: ".+_info" } as const];
  const dataMatchers = given.filter((m) => m.name !== "__name__");
  const dataTests = dataMatchers.map((m) => ({ name: m.name, matches: valueTest(m) }));
  const needsData = dataTests.some((test) => !test.matches(""));
  const nameTests = infoNames.map((m) => valueTest(m));
  const wanted = dataMatchers.length > 0 ? new Set(dataMatchers.map((m) => m.name)) : undefined;
  const source = createSource(context.store, [...infoNames, ...dataMatchers]);
  const out = new Vector();

  return (t) => {
    const vector = input(t);
    out.length = 0;
    const infos = latestInfos(context, source, referenceTime(context, call.args[0]!, t));
    for (let i = 0; i < vector.length; i++) {
      const metric = vector.metrics[i]!;
      const value = vector.values[i]!;
      if (nameTests.every((matches) => matches(metric.name))) {
        out.push(metric, value);
        continue;
      }
      const added = dataLabels(metric, infos.get(identity(metric.labels)) ?? [], wanted);
      if (added === undefined) {
        if (!needsData) out.push(metric, value);
        continue;
      }
      out.push(new Metric({ ...added, ...metric.labels }, metric.dropName), value);
    }
    return out;
  };
}

function identity(labels: Readonly<Record<string, string>>): string {
  return IDENTIFYING.map((name) => labels[name] ?? "").join("\u0001");
}

interface Info {
  metric: Metric;
  time: number;
}

/** Info series that are alive at `t`, by what they identify; of one name, the one sampled last. */
function latestInfos(context: Context, source: ReturnType<typeof createSource>, t: number): Map<string, Info[]> {
  source.refresh();
  const infos = new Map<string, Info[]>();
  for (const [i, series] of source.series.entries()) {
    const end = after(series.times, series.length, t, 0);
    if (end === 0 || series.times[end - 1]! <= t - context.lookback || isStale(series.values[end - 1]!)) continue;
    const info = { metric: source.metrics[i]!, time: series.times[end - 1]! };
    const key = identity(series.labels);
    const list = infos.get(key) ?? [];
    infos.set(key, list);
    const sameName = list.findIndex((other) => other.metric.name === info.metric.name);
    if (sameName < 0) list.push(info);
    else if (list[sameName]!.time < info.time) list[sameName] = info;
  }
  return infos;
}

/** The labels to add; undefined when no info series describes the metric. @throws PromqlExecutionError on a conflict */
function dataLabels(
  metric: Metric,
  infos: readonly Info[],
  wanted: ReadonlySet<string> | undefined,
): Record<string, string> | undefined {
  if (infos.length === 0 || IDENTIFYING.every((name) => metric.labels[name] === undefined)) return undefined;
  const added: Record<string, string> = {};
  for (const info of infos) {
    for (const [name, value] of Object.entries(info.metric.labels)) {
      if (name === "__name__" || IDENTIFYING.includes(name)) continue;
      if (wanted !== undefined && !wanted.has(name)) continue;
      if (metric.labels[name] !== undefined) continue;
      if (added[name] !== undefined && added[name] !== value) {
        throw new PromqlExecutionError(`conflicting label: ${name} has values ${added[name]} and ${value}`);
      }
      added[name] = value;
    }
  }
  return added;
}

/** Info series are read at the time that the first selector of the argument reads its samples. */
function referenceTime(context: Context, expr: Expr, t: number): number {
  let at = t;
  let done = false;
  const path: Expr[] = [];
  walk(expr, (node) => {
    if (done) return;
    path.push(node);
    if (node.kind === "selector") done = true;
  });
  for (const node of path) {
    if (node.kind !== "selector" && node.kind !== "subquery") continue;
    at = anchor(context, node.at, at) - milliseconds(context, node.offset);
  }
  return at;
}
