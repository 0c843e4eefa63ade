/** Vector aggregations: sum, avg, topk, ... by or without labels. */
import type { Grouping, VectorAggregation, VectorOp } from "./ast.js";
import { labelsKey } from "./select.js";
import { groupLabels, type Steps, type VectorSeries } from "./vector.js";

const EVERYTHING: Grouping = { without: false, labels: [] };

type Reducer = (values: readonly number[]) => number;

const mean: Reducer = (values) => values.reduce((a, b) => a + b, 0) / values.length;
const variance: Reducer = (values) => {
  const middle = mean(values);
  return values.reduce((total, value) => total + (value - middle) ** 2, 0) / values.length;
};

const REDUCERS: Partial<Record<VectorOp, Reducer>> = {
  sum: (values) => values.reduce((a, b) => a + b, 0),
  avg: mean,
  min: (values) => values.reduce((a, b) => (b < a || Number.isNaN(a) ? b : a)),
  max: (values) => values.reduce((a, b) => (b > a || Number.isNaN(a) ? b : a)),
  count: (values) => values.length,
  stdvar: variance,
  stddev: (values) => Math.sqrt(variance(values)),
};

export function aggregate(expr: VectorAggregation, input: readonly VectorSeries[], steps: Steps): VectorSeries[] {
  if (expr.op === "sort" || expr.op === "sort_desc") return sort(input, expr.op === "sort" ? 1 : -1);
  const groups = new Map<string, { labels: Record<string, string>; members: VectorSeries[] }>();
  for (const series of input) {
    const labels = groupLabels(series.labels, expr.grouping ?? EVERYTHING);
    const key = labelsKey(labels);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { labels, members: [series] });
    else group.members.push(series);
  }
  const reduce = REDUCERS[expr.op];
  if (reduce === undefined) {
    const sign = expr.op === "bottomk" ? 1 : -1;
    return [...groups.values()].flatMap(({ members }) => pick(members, expr.parameter ?? 1, sign, steps));
  }
  return [...groups.values()].map(({ labels, members }) => {
    const points: (number | undefined)[] = new Array(steps.count);
    for (let i = 0; i < steps.count; i++) {
      const values = present(members, i);
      if (values.length > 0) points[i] = reduce(values);
    }
    return { labels, points };
  });
}

function present(members: readonly VectorSeries[], step: number): number[] {
  const values: number[] = [];
  for (const { points } of members) if (points[step] !== undefined) values.push(points[step]!);
  return values;
}

/** The `count` first series of each step; their own labels stay. Ordered by the last step that each has. */
function pick(members: readonly VectorSeries[], count: number, sign: 1 | -1, steps: Steps): VectorSeries[] {
  const picked = new Map<VectorSeries, VectorSeries>();
  for (let i = 0; i < steps.count; i++) {
    const ranked = members
      .filter(({ points }) => points[i] !== undefined)
      .sort((a, b) => sign * (a.points[i]! - b.points[i]!))
      .slice(0, count);
    for (const series of ranked) {
      let out = picked.get(series);
      if (out === undefined) {
        out = { labels: series.labels, points: new Array(steps.count) };
        picked.set(series, out);
      }
      out.points[i] = series.points[i];
    }
  }
  return sort([...picked.values()], sign);
}

function sort(series: readonly VectorSeries[], sign: 1 | -1): VectorSeries[] {
  const last = ({ points }: VectorSeries) => points.findLast((value) => value !== undefined) ?? Number.NaN;
  return [...series].sort((a, b) => sign * (last(a) - last(b)));
}
