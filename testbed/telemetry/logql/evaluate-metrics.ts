/** Metric queries: the tree of aggregations and operations over range aggregations. */
import type { LogStore } from "../logs.js";
import { compileRe2, expand } from "../re2.js";
import { aggregate } from "./aggregate.js";
import type { MetricExpr } from "./ast.js";
import { evaluateBinary } from "./binary.js";
import { LogQLEvaluationError } from "./errors.js";
import type { QueryStats } from "./evaluate-logs.js";
import { evaluateRange, type LabelNeeds } from "./evaluate-range.js";
import { labelsKey } from "./select.js";
import type { Steps, Value, VectorSeries } from "./vector.js";

/** Loki's default for the number of series that one query may return. */
export const MAX_SERIES = 500;

const ALL_LABELS: LabelNeeds = { names: new Set(), none: false };

/** Evaluates a metric expression at all steps. @throws LogQLEvaluationError */
export function evaluateMetrics(expr: MetricExpr, store: LogStore, steps: Steps, stats: QueryStats): Value {
  const value = evaluate(expr, store, steps, ALL_LABELS, stats);
  if (value.type === "vector" && value.series.length > MAX_SERIES) {
    throw new LogQLEvaluationError(
      `maximum of series (${MAX_SERIES}) reached for a single query; consider reducing query cardinality by adding more ` +
        "specific stream selectors, reducing the time range, or aggregating results with functions like sum(), count() or topk()",
    );
  }
  return value;
}

function evaluate(expr: MetricExpr, store: LogStore, steps: Steps, needs: LabelNeeds, stats: QueryStats): Value {
  switch (expr.type) {
    case "number":
      return { type: "scalar", value: expr.value };
    case "vector":
      return { type: "vector", series: [{ labels: {}, points: new Array(steps.count).fill(expr.value) }] };
    case "range":
      return { type: "vector", series: evaluateRange(expr, store, steps, needs, stats) };
    case "aggregate": {
      const inner = evaluate(expr.expr, store, steps, needsOf(expr, needs), stats);
      if (inner.type === "scalar") throw new LogQLEvaluationError(`${expr.op} over a scalar`);
      return { type: "vector", series: aggregate(expr, inner.series, steps) };
    }
    case "binary": {
      const left = evaluate(expr.left, store, steps, ALL_LABELS, stats);
      const right = evaluate(expr.right, store, steps, ALL_LABELS, stats);
      return evaluateBinary(expr, left, right, steps);
    }
    case "labelReplace": {
      const inner = evaluate(expr.expr, store, steps, ALL_LABELS, stats);
      if (inner.type === "scalar") throw new LogQLEvaluationError("label_replace over a scalar");
      return { type: "vector", series: labelReplace(expr, inner.series) };
    }
  }
}

function needsOf(expr: Extract<MetricExpr, { type: "aggregate" }>, outer: LabelNeeds): LabelNeeds {
  const keepsAll = ["topk", "bottomk", "approx_topk", "sort", "sort_desc"].includes(expr.op);
  if (expr.grouping === undefined) {
    if (keepsAll) return { names: outer.names, none: outer.none };
    return { names: new Set(), none: true, ...(expr.op === "sum" ? { sumBy: [] } : {}) };
  }
  const { without, labels } = expr.grouping;
  const sumBy = expr.op === "sum" && !without ? { sumBy: [...labels].sort() } : {};
  return { names: new Set([...outer.names, ...labels]), none: false, ...sumBy };
}

function labelReplace(expr: Extract<MetricExpr, { type: "labelReplace" }>, input: VectorSeries[]): VectorSeries[] {
  const pattern = compileRe2(expr.pattern, { anchored: true });
  const seen = new Set<string>();
  return input.map(({ labels, points }) => {
    const match = pattern.exec(labels[expr.src] ?? "");
    let replaced = labels;
    if (match !== undefined) {
      const value = expand(expr.replacement, match);
      replaced = { ...labels };
      if (value === "") delete replaced[expr.dst];
      else replaced[expr.dst] = value;
    }
    const key = labelsKey(replaced);
    if (seen.has(key)) throw new LogQLEvaluationError("vector cannot contain metrics with the same labelset");
    seen.add(key);
    return { labels: replaced, points };
  });
}
