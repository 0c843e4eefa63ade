/** Binary operations between scalars and vectors, with Prometheus' matching rules. */
import { compute, isComparison, isSetOperator } from "../promql/index.js";
import type { BinaryExpr, BinaryOp, VectorMatching } from "./ast.js";
import { LogQLEvaluationError } from "./errors.js";
import { labelsKey, printLabels } from "./select.js";
import { groupLabels, type Steps, type Value, type VectorSeries } from "./vector.js";

/**
 * Arithmetic result, or for a comparison 1 or 0: as in PromQL, but a division by zero makes NaN, and so does a set
 * operator between numbers.
 */
function operate(op: BinaryOp, a: number, b: number): number {
  return (op === "/" && b === 0) || isSetOperator(op) ? Number.NaN : compute(op, a, b);
}

export function evaluateBinary(expr: BinaryExpr, left: Value, right: Value, steps: Steps): Value {
  if (left.type === "scalar" && right.type === "scalar") {
    return { type: "scalar", value: operate(expr.op, left.value, right.value) };
  }
  if (left.type === "vector" && right.type === "vector") {
    if (expr.op === "and" || expr.op === "or" || expr.op === "unless") {
      return { type: "vector", series: setOperation(expr.op, expr.matching, left.series, right.series, steps) };
    }
    return { type: "vector", series: matchVectors(expr, left.series, right.series, steps) };
  }
  const vector = left.type === "vector" ? left.series : (right as { series: VectorSeries[] }).series;
  const scalar = left.type === "scalar" ? left.value : (right as { value: number }).value;
  const series = vector.map(({ labels, points }) => ({
    labels,
    points: points.map((point) => {
      if (point === undefined) return undefined;
      const [a, b] = left.type === "vector" ? [point, scalar] : [scalar, point];
      return outcome(expr, a, b, point);
    }),
  }));
  return { type: "vector", series };
}

/** A comparison without `bool` filters: the point stays as it is, or goes. */
function outcome(expr: BinaryExpr, a: number, b: number, kept: number): number | undefined {
  const result = operate(expr.op, a, b);
  if (!isComparison(expr.op) || expr.bool) return result;
  return result === 1 ? kept : undefined;
}

const ALL: VectorMatching = { on: false, labels: [], include: [] };

function signature(labels: Record<string, string>, matching: VectorMatching): Record<string, string> {
  return groupLabels(labels, { without: !matching.on, labels: matching.labels });
}

function matchVectors(expr: BinaryExpr, left: VectorSeries[], right: VectorSeries[], steps: Steps): VectorSeries[] {
  const matching = expr.matching ?? ALL;
  const swapped = matching.group === "right";
  const [many, one] = swapped ? [right, left] : [left, right];
  const ones = new Map<string, VectorSeries[]>();
  for (const series of one) {
    const key = labelsKey(signature(series.labels, matching));
    const list = ones.get(key);
    if (list === undefined) ones.set(key, [series]);
    else list.push(series);
  }
  const results: VectorSeries[] = [];
  const seen = new Map<string, VectorSeries[]>();
  for (const series of many) {
    const group = signature(series.labels, matching);
    const key = labelsKey(group);
    for (const partner of ones.get(key) ?? []) {
      const points: (number | undefined)[] = new Array(steps.count);
      let any = false;
      for (let i = 0; i < steps.count; i++) {
        const [a, b] = [series.points[i], partner.points[i]];
        if (a === undefined || b === undefined) continue;
        checkUnique(seen.get(key), ones.get(key)!, partner, series, i, group, matching);
        points[i] = swapped ? outcome(expr, b, a, b) : outcome(expr, a, b, a);
        any ||= points[i] !== undefined;
      }
      if (any) results.push({ labels: resultLabels(series, partner, matching, expr), points });
    }
    const list = seen.get(key);
    if (list === undefined) seen.set(key, [series]);
    else list.push(series);
  }
  return results;
}

/** @throws LogQLEvaluationError when a step has two series where matching asks for one */
function checkUnique(
  earlier: readonly VectorSeries[] | undefined,
  ones: readonly VectorSeries[],
  partner: VectorSeries,
  series: VectorSeries,
  step: number,
  group: Record<string, string>,
  matching: VectorMatching,
): void {
  const twin = ones.find((other) => other !== partner && other.points[step] !== undefined);
  if (twin !== undefined) {
    const side = matching.group === "right" ? "left" : "right";
    throw new LogQLEvaluationError(
      `found duplicate series on the ${side} hand-side of the operation: [${printLabels(twin.labels)}, ` +
        `${printLabels(partner.labels)}];many-to-many matching not allowed: matching labels must be unique on one side`,
    );
  }
  if (matching.group === undefined && earlier?.some((other) => other !== series && other.points[step] !== undefined)) {
    throw new LogQLEvaluationError(
      `multiple matches for labels ${printLabels(group)}: many-to-one matching must be explicit (group_left/group_right)`,
    );
  }
}

function resultLabels(
  many: VectorSeries,
  one: VectorSeries,
  matching: VectorMatching,
  expr: BinaryExpr,
): Record<string, string> {
  if (matching.group === undefined) {
    if (isComparison(expr.op) && !expr.bool && !matching.on) return many.labels;
    return signature(many.labels, matching);
  }
  const labels = { ...many.labels };
  for (const name of matching.include) {
    if (one.labels[name] === undefined) delete labels[name];
    else labels[name] = one.labels[name];
  }
  return labels;
}

function setOperation(
  op: "and" | "or" | "unless",
  matching: VectorMatching = ALL,
  left: VectorSeries[],
  right: VectorSeries[],
  steps: Steps,
): VectorSeries[] {
  const keyed = (list: VectorSeries[]) =>
    list.map((series) => ({ series, key: labelsKey(signature(series.labels, matching)) }));
  const byKey = (list: { series: VectorSeries; key: string }[]) => {
    const map = new Map<string, VectorSeries[]>();
    for (const { series, key } of list) map.set(key, [...(map.get(key) ?? []), series]);
    return map;
  };
  const lefts = keyed(left);
  const rights = keyed(right);
  const has = (map: Map<string, VectorSeries[]>, key: string, step: number) =>
    map.get(key)?.some(({ points }) => points[step] !== undefined) ?? false;
  const filter = (list: typeof lefts, keep: (key: string, step: number) => boolean) =>
    list.flatMap(({ series, key }) => {
      const points: (number | undefined)[] = new Array(steps.count);
      let any = false;
      for (let i = 0; i < steps.count; i++) {
        if (series.points[i] === undefined || !keep(key, i)) continue;
        points[i] = series.points[i];
        any = true;
      }
      return any ? [{ labels: series.labels, points }] : [];
    });
  if (op === "or") {
    const others = byKey(lefts);
    return [...left, ...filter(rights, (key, step) => !has(others, key, step))];
  }
  const others = byKey(rights);
  return filter(lefts, (key, step) => has(others, key, step) === (op === "and"));
}
