/** Aggregations. Which group a series belongs to is remembered; a step only adds numbers up. */
import type { Aggregation } from "./ast.js";
import type { Compiler, VectorNode } from "./context.js";
import { warn } from "./context.js";
import { PromqlExecutionError } from "./errors.js";
import { formatNumber } from "./format.js";
import { Metric, onlyLabels, withoutLabels } from "./metric.js";
import { compareNumbers, Mean, PlainVariance, quantileOf, Sum, Vector } from "./vector.js";

interface Group {
  metric: Metric;
  round: number;
  dropName: boolean;
}

/** One group's running value. */
interface Accumulator {
  reset(): void;
  add(value: number): void;
  readonly value: number;
}

const ACCUMULATORS: Record<string, () => Accumulator> = {
  sum: () => new Sum(),
  avg: () => new Mean(),
  stdvar: () => new PlainVariance(),
  stddev() {
    const variance = new PlainVariance();
    return {
      reset: () => variance.reset(),
      add: (value) => variance.add(value),
      get value() {
        return Math.sqrt(variance.value);
      },
    };
  },
  count: () => counter((count) => count + 1),
  group: () => counter(() => 1),
  max: () => extreme((a, b) => a > b),
  min: () => extreme((a, b) => a < b),
};

function counter(next: (count: number) => number): Accumulator {
  const state = {
    value: 0,
    reset() {
      state.value = 0;
    },
    add() {
      state.value = next(state.value);
    },
  };
  return state;
}

function extreme(better: (a: number, b: number) => boolean): Accumulator {
  const state = {
    value: Number.NaN,
    reset() {
      state.value = Number.NaN;
    },
    add(value: number) {
      if (better(value, state.value) || Number.isNaN(state.value)) state.value = value;
    },
  };
  return state;
}

/** Finds a sample's group; groups are numbered in the order in which they appeared first. */
function createGroups<G extends Group>(node: Aggregation, make: (metric: Metric) => G) {
  const byKey = new Map<string, G>();
  const byMetric = new Map<Metric, G>();
  // The input has the same series at the same place from one step to the next, mostly.
  const lastMetrics: Metric[] = [];
  const lastGroups: G[] = [];

  const find = (metric: Metric): G => {
    let group = byMetric.get(metric);
    if (group === undefined) {
      const labels = node.without
        ? withoutLabels(metric.labels, [...node.grouping, "__name__"])
        : onlyLabels(metric.labels, node.grouping);
      const candidate = new Metric(labels);
      group = byKey.get(candidate.key);
      if (group === undefined) {
        group = make(candidate);
        byKey.set(candidate.key, group);
      }
      byMetric.set(metric, group);
    }
    return group;
  };

  return (metric: Metric, position: number): G => {
    if (lastMetrics[position] === metric) return lastGroups[position]!;
    const group = find(metric);
    lastMetrics[position] = metric;
    lastGroups[position] = group;
    return group;
  };
}

export function compileAggregation(compiler: Compiler, node: Aggregation): VectorNode {
  switch (node.op) {
    case "topk":
    case "bottomk":
    case "limitk":
      return compileSelection(compiler, node);
    case "limit_ratio":
      return compileRatio(compiler, node);
    case "quantile":
      return compileQuantile(compiler, node);
    case "count_values":
      return compileCountValues(compiler, node);
    default:
      return compileSimple(compiler, node, ACCUMULATORS[node.op]!);
  }
}

function compileSimple(compiler: Compiler, node: Aggregation, make: () => Accumulator): VectorNode {
  interface Running extends Group {
    accumulator: Accumulator;
  }
  const input = compiler.vector(node.expr);
  const groupOf = createGroups<Running>(node, (metric) => ({
    metric,
    round: 0,
    dropName: false,
    accumulator: make(),
  }));
  const live: Running[] = [];
  const out = new Vector();
  let round = 0;
  return (t) => {
    const vector = input(t);
    round++;
    live.length = 0;
    for (let i = 0; i < vector.length; i++) {
      const metric = vector.metrics[i]!;
      const group = groupOf(metric, i);
      if (group.round !== round) {
        group.round = round;
        group.dropName = false;
        group.accumulator.reset();
        live.push(group);
      }
      if (metric.dropName) group.dropName = true;
      group.accumulator.add(vector.values[i]!);
    }
    out.length = 0;
    for (const group of live) {
      out.push(group.dropName ? group.metric.dropped : group.metric, group.accumulator.value);
    }
    return out;
  };
}

/** Collects each group's samples of one step. */
function compileCollected(
  compiler: Compiler,
  node: Aggregation,
  finish: (group: CollectedGroup, out: Vector, parameter: number, t: number) => void,
  check: (parameter: number) => number,
): VectorNode {
  const input = compiler.vector(node.expr);
  const parameterNode = compiler.scalar(node.parameter!);
  const groupOf = createGroups<CollectedGroup>(node, (metric) => ({
    metric,
    round: 0,
    dropName: false,
    metrics: [],
    values: [],
  }));
  const live: CollectedGroup[] = [];
  const out = new Vector();
  let round = 0;
  return (t) => {
    const parameter = check(parameterNode(t));
    const vector = input(t);
    round++;
    live.length = 0;
    for (let i = 0; i < vector.length; i++) {
      const metric = vector.metrics[i]!;
      const group = groupOf(metric, i);
      if (group.round !== round) {
        group.round = round;
        group.dropName = false;
        group.metrics = [];
        group.values = [];
        live.push(group);
      }
      if (metric.dropName) group.dropName = true;
      group.metrics.push(metric);
      group.values.push(vector.values[i]!);
    }
    out.length = 0;
    for (const group of live) finish(group, out, parameter, t);
    return out;
  };
}

interface CollectedGroup extends Group {
  metrics: Metric[];
  values: number[];
}

function compileQuantile(compiler: Compiler, node: Aggregation): VectorNode {
  const { context } = compiler;
  return compileCollected(
    compiler,
    node,
    (group, out, q) => {
      out.push(group.dropName ? group.metric.dropped : group.metric, quantileOf(q, group.values));
    },
    (q) => {
      if (!(q >= 0 && q <= 1)) {
        warn(context, `quantile value should be between 0 and 1, got ${formatNumber(q)}`, node.parameter!);
      }
      return q;
    },
  );
}

/** topk, bottomk: the greatest or smallest first, NaN last; limitk: the first that come. */
function compileSelection(compiler: Compiler, node: Aggregation): VectorNode {
  const sign = node.op === "topk" ? -1 : 1;
  return compileCollected(
    compiler,
    node,
    (group, out, k) => {
      if (k < 1) return;
      const order = group.values.map((_, i) => i);
      if (node.op !== "limitk") {
        order.sort((a, b) => {
          const x = group.values[a]!;
          const y = group.values[b]!;
          if (Number.isNaN(x) || Number.isNaN(y)) return -compareNumbers(x, y);
          return sign * (x - y) || a - b;
        });
      }
      for (const i of order.slice(0, k)) out.push(group.metrics[i]!, group.values[i]!);
    },
    (k) => {
      if (Number.isNaN(k)) throw new PromqlExecutionError("Parameter value is NaN");
      if (Math.abs(k) >= 2 ** 63) throw new PromqlExecutionError(`Scalar value ${formatNumber(k)} overflows int64`);
      return Math.trunc(k);
    },
  );
}

function compileRatio(compiler: Compiler, node: Aggregation): VectorNode {
  const { context } = compiler;
  return compileCollected(
    compiler,
    node,
    (group, out, ratio) => {
      for (const [i, metric] of group.metrics.entries()) {
        const offset = hashOffset(metric.key);
        const chosen = ratio >= 0 ? offset < ratio : offset >= 1 + ratio;
        if (chosen) out.push(metric, group.values[i]!);
      }
    },
    (ratio) => {
      if (Number.isNaN(ratio)) throw new PromqlExecutionError("Ratio value is NaN");
      const capped = Math.max(-1, Math.min(1, ratio));
      if (capped !== ratio) {
        warn(
          context,
          `ratio value should be between -1 and 1, got ${formatNumber(ratio)}, capping to ${capped}`,
          node.parameter!,
        );
      }
      return capped;
    },
  );
}

/** A number in [0, 1) that depends on the labels alone: two interleaved multiplicative hashes, 53 bits. */
function hashOffset(text: string): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (2 ** 32 * (b & 0x1fffff) + (a >>> 0)) / 2 ** 53;
}

function compileCountValues(compiler: Compiler, node: Aggregation): VectorNode {
  const label = compiler.string(node.parameter!);
  if (label === "") throw new PromqlExecutionError(`invalid label name ${JSON.stringify(label)}`);
  if (label.includes("\ufffd")) throw new PromqlExecutionError(`invalid label name ${JSON.stringify(label)}`);
  const input = compiler.vector(node.expr);
  const groupOf = createGroups<Group>(node, (metric) => ({ metric, round: 0, dropName: false }));
  const results = new Map<Group, Map<number, Metric>>();
  /** Groups that differ in the label itself become one. */
  const byKey = new Map<string, Metric>();
  const out = new Vector();
  return (t) => {
    const vector = input(t);
    const counts = new Map<Metric, number>();
    for (let i = 0; i < vector.length; i++) {
      const group = groupOf(vector.metrics[i]!, i);
      const value = vector.values[i]!;
      let metrics = results.get(group);
      if (metrics === undefined) {
        metrics = new Map();
        results.set(group, metrics);
      }
      let metric = metrics.get(value);
      if (metric === undefined) {
        const candidate = new Metric({ ...group.metric.labels, [label]: formatNumber(value) });
        metric = byKey.get(candidate.key) ?? candidate;
        byKey.set(candidate.key, metric);
        metrics.set(value, metric);
      }
      counts.set(metric, (counts.get(metric) ?? 0) + 1);
    }
    out.length = 0;
    for (const [metric, count] of counts) out.push(metric, count);
    return out;
  };
}
