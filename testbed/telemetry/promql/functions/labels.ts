/** Functions of labels: label_replace, label_join, the sorts, absent. */
import { compileRe2, expand, type Re2 } from "../../re2.js";
import { RegexError } from "../../regex.js";
import type { Call, Expr } from "../ast.js";
import { unwrap } from "../ast.js";
import type { Compiler, VectorNode } from "../context.js";
import { PromqlExecutionError } from "../errors.js";
import { EMPTY_LABELS, Metric } from "../metric.js";
import { Vector } from "../vector.js";

/** Rewrites each metric, remembering the outcome, and refuses two results with the same labels. */
function relabel(input: VectorNode, rewrite: (metric: Metric) => Metric): VectorNode {
  const known = new Map<Metric, Metric>();
  const out = new Vector();
  return (t) => {
    const vector = input(t);
    const seen = new Set<string>();
    out.length = 0;
    for (let i = 0; i < vector.length; i++) {
      const metric = vector.metrics[i]!;
      let result = known.get(metric);
      if (result === undefined) {
        result = rewrite(metric);
        known.set(metric, result);
      }
      if (seen.has(result.key)) {
        throw new PromqlExecutionError("vector cannot contain metrics with the same labelset");
      }
      seen.add(result.key);
      out.push(result, vector.values[i]!);
    }
    return out;
  };
}

function withLabel(metric: Metric, name: string, value: string): Metric {
  const labels: Record<string, string> = { ...metric.labels };
  if (value === "") delete labels[name];
  else labels[name] = value;
  return new Metric(labels, metric.dropName && name !== "__name__");
}

function checkLabelName(name: string, where: string): void {
  if (name === "" || name.includes("\ufffd")) {
    throw new PromqlExecutionError(`invalid ${where} label name in ${where}: ${JSON.stringify(name)}`);
  }
}

export function compileLabelReplace(compiler: Compiler, call: Call): VectorNode {
  const [target, replacement, source, pattern] = call.args.slice(1).map((arg) => compiler.string(arg)) as [
    string,
    string,
    string,
    string,
  ];
  let regex: Re2;
  try {
    regex = compileRe2(pattern, { anchored: true, dotAll: true });
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    throw new PromqlExecutionError(`invalid regular expression in label_replace(): ${pattern}`);
  }
  checkLabelName(target, "destination");
  return relabel(compiler.vector(call.args[0]!), (metric) => {
    const match = regex.exec(metric.labels[source] ?? "");
    return match === undefined ? metric : withLabel(metric, target, expand(replacement, match));
  });
}

export function compileLabelJoin(compiler: Compiler, call: Call): VectorNode {
  const [target, separator, ...sources] = call.args.slice(1).map((arg) => compiler.string(arg));
  checkLabelName(target!, "destination");
  for (const source of sources) checkLabelName(source, "source");
  return relabel(compiler.vector(call.args[0]!), (metric) =>
    withLabel(metric, target!, sources.map((source) => metric.labels[source] ?? "").join(separator)),
  );
}

/** Yields 1 with the labels that the selector pins, when there is nothing. */
export function absentMetric(expr: Expr): Metric {
  const inner = unwrap(expr);
  const selector = inner.kind === "matrix" ? inner.selector : inner;
  if (selector.kind !== "selector") return new Metric(EMPTY_LABELS);
  const labels: Record<string, string> = {};
  const conflicting = new Set<string>();
  for (const matcher of selector.matchers) {
    if (matcher.name === "__name__") continue;
    if (matcher.op === "=" && labels[matcher.name] === undefined && !conflicting.has(matcher.name)) {
      labels[matcher.name] = matcher.value;
    } else {
      conflicting.add(matcher.name);
      delete labels[matcher.name];
    }
  }
  for (const name in labels) if (labels[name] === "") delete labels[name];
  return new Metric(labels);
}

/** sort, sort_desc: by value, NaN last. */
export function compileSort(compiler: Compiler, call: Call): VectorNode {
  const sign = call.name === "sort" ? 1 : -1;
  return reorder(compiler.vector(call.args[0]!), (vector) => (a, b) => {
    const x = vector.values[a]!;
    const y = vector.values[b]!;
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return sign * (x - y) || 0;
  });
}

/** sort_by_label: by the labels named, in natural order (`cpu2` before `cpu10`), then by all labels. */
export function compileSortByLabel(compiler: Compiler, call: Call): VectorNode {
  const sign = call.name === "sort_by_label" ? 1 : -1;
  const names = call.args.slice(1).map((arg) => compiler.string(arg));
  return reorder(compiler.vector(call.args[0]!), (vector) => (a, b) => {
    const x = vector.metrics[a]!;
    const y = vector.metrics[b]!;
    for (const name of names) {
      const order = naturalOrder(x.labels[name] ?? "", y.labels[name] ?? "");
      if (order !== 0) return sign * order;
    }
    return sign * (x.key < y.key ? -1 : x.key > y.key ? 1 : 0);
  });
}

function reorder(input: VectorNode, comparison: (vector: Vector) => (a: number, b: number) => number): VectorNode {
  const out = new Vector();
  return (t) => {
    const vector = input(t);
    const order = Array.from({ length: vector.length }, (_, i) => i).sort(comparison(vector));
    out.length = 0;
    for (const i of order) out.push(vector.metrics[i]!, vector.values[i]!);
    return out;
  };
}

/** Compares runs of digits as numbers. */
export function naturalOrder(a: string, b: string): number {
  const partsA = a.match(/\d+|\D+/g) ?? [];
  const partsB = b.match(/\d+|\D+/g) ?? [];
  for (let i = 0; i < Math.min(partsA.length, partsB.length); i++) {
    const x = partsA[i]!;
    const y = partsB[i]!;
    if (x === y) continue;
    if (/^\d/.test(x) && /^\d/.test(y)) {
      const difference = Number(x) - Number(y);
      if (difference !== 0) return difference;
    }
    return x < y ? -1 : 1;
  }
  return partsA.length - partsB.length;
}
