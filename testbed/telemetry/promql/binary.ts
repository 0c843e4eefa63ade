/** Binary expressions: scalars, a scalar and a vector, two vectors, sets. */
import type { Binary, VectorMatching } from "./ast.js";
import type { Compiler, VectorNode } from "./context.js";
import { PromqlExecutionError } from "./errors.js";
import { formatLabels, Metric, onlyLabels, withoutLabels } from "./metric.js";
import { compute, isComparison, isSetOperator } from "./operators.js";
import { typeOf } from "./types.js";
import { Vector } from "./vector.js";

export function compileBinary(compiler: Compiler, node: Binary): VectorNode {
  if (typeOf(node.left) === "scalar") return compileWithScalar(compiler, node, true);
  if (typeOf(node.right) === "scalar") return compileWithScalar(compiler, node, false);
  return isSetOperator(node.op) ? compileSet(compiler, node) : compileVectors(compiler, node);
}

function compileWithScalar(compiler: Compiler, node: Binary, scalarLeft: boolean): VectorNode {
  const vectorNode = compiler.vector(scalarLeft ? node.right : node.left);
  const scalarNode = compiler.scalar(scalarLeft ? node.left : node.right);
  const { op, bool } = node;
  const filters = isComparison(op) && !bool;
  const out = new Vector();
  return (t) => {
    const vector = vectorNode(t);
    out.length = 0;
    if (vector.length === 0) return out;
    const scalar = scalarNode(t);
    for (let i = 0; i < vector.length; i++) {
      const value = vector.values[i]!;
      const result = scalarLeft ? compute(op, scalar, value) : compute(op, value, scalar);
      const metric = vector.metrics[i]!;
      if (!filters) out.push(metric.dropped, result);
      else if (result === 1) out.push(metric, value);
    }
    return out;
  };
}

/** Numbers the match groups: metrics with equal matching labels get the same number. */
function createGrouper(matching: VectorMatching): { of(metric: Metric): number; readonly size: number } {
  const byKey = new Map<string, number>();
  const byMetric = new Map<Metric, number>();
  return {
    of(metric) {
      let group = byMetric.get(metric);
      if (group === undefined) {
        const key = new Metric(matchedLabels(metric, matching)).key;
        group = byKey.get(key);
        if (group === undefined) {
          group = byKey.size;
          byKey.set(key, group);
        }
        byMetric.set(metric, group);
      }
      return group;
    },
    get size() {
      return byKey.size;
    },
  };
}

function matchedLabels(metric: Metric, matching: VectorMatching) {
  return matching.on
    ? onlyLabels(metric.labels, matching.labels)
    : withoutLabels(metric.labels, [...matching.labels, "__name__"]);
}

function compileSet(compiler: Compiler, node: Binary): VectorNode {
  const { context } = compiler;
  const leftNode = compiler.vector(node.left);
  const rightNode = compiler.vector(node.right);
  const grouper = createGrouper(node.matching!);
  const out = new Vector();
  const groups = new Set<number>();
  const { op } = node;
  return (t) => {
    const left = leftNode(t);
    out.length = 0;
    if (left.length === 0 && op !== "or" && context.notes === undefined) return out;
    const right = rightNode(t);
    groups.clear();
    if (op === "or") {
      for (let i = 0; i < left.length; i++) {
        if (right.length > 0) groups.add(grouper.of(left.metrics[i]!));
        out.push(left.metrics[i]!, left.values[i]!);
      }
      for (let i = 0; i < right.length; i++) {
        if (!groups.has(grouper.of(right.metrics[i]!))) out.push(right.metrics[i]!, right.values[i]!);
      }
      return out;
    }
    for (let i = 0; i < right.length; i++) groups.add(grouper.of(right.metrics[i]!));
    for (let i = 0; i < left.length; i++) {
      const metric = left.metrics[i]!;
      const found = groups.size > 0 && groups.has(grouper.of(metric));
      if (found === (op === "and")) out.push(metric, left.values[i]!);
    }
    return out;
  };
}

function compileVectors(compiler: Compiler, node: Binary): VectorNode {
  const { context } = compiler;
  const { op, bool } = node;
  const matching = node.matching!;
  const leftNode = compiler.vector(node.left);
  const rightNode = compiler.vector(node.right);
  const swapped = matching.cardinality === "one-to-many";
  const oneToOne = matching.cardinality === "one-to-one";
  const filters = isComparison(op) && !bool;
  const grouper = createGrouper(matching);
  const results = createResultMetrics(node);
  const out = new Vector();
  // With group_right Prometheus exchanges the sides, but not their fill values.
  const fillMany = matching.fillLeft;
  const fillOne = matching.fillRight;
  const fillMetrics = new Map<Metric, Metric>();
  const canFill = fillMany !== undefined || fillOne !== undefined;
  /** group -> position on the "one" side, of this round */
  let oneAt = new Int32Array(64);
  let round = new Int32Array(64);
  let matchedIn = new Int32Array(64);
  let current = 0;

  const groupMetric = (metric: Metric): Metric => {
    let found = fillMetrics.get(metric);
    if (found === undefined) {
      found = new Metric(matchedLabels(metric, matching));
      fillMetrics.set(metric, found);
    }
    return found;
  };

  /** Notes the "one" side's groups; more than one series in a group is an error. */
  const enter = (one: Vector): void => {
    for (let i = 0; i < one.length; i++) {
      const group = grouper.of(one.metrics[i]!);
      if (group >= round.length) {
        const size = Math.max(group + 1, round.length * 2);
        oneAt = enlarged(oneAt, size);
        round = enlarged(round, size);
        matchedIn = enlarged(matchedIn, size);
      }
      if (round[group] === current) {
        const side = swapped ? "left" : "right";
        const labels = formatLabels(matchedLabels(one.metrics[i]!, matching));
        throw new PromqlExecutionError(
          `found duplicate series for the match group ${labels} on the ${side} hand-side of the operation: ` +
            `[${quoteLabels(one.metrics[oneAt[group]!]!)}, ${quoteLabels(one.metrics[i]!)}]` +
            `;many-to-many matching not allowed: matching labels must be unique on one side`,
        );
      }
      round[group] = current;
      oneAt[group] = i;
    }
  };

  return (t) => {
    out.length = 0;
    const left = leftNode(t);
    // Prometheus evaluates both sides, for their errors too, before it finds that nothing can match. Rules, whose
    // remarks nobody reads, save the second one.
    if (left.length === 0 && !canFill && context.notes === undefined) return out;
    const right = rightNode(t);
    if ((left.length === 0 || right.length === 0) && !canFill) return out;
    current++;
    const many = swapped ? right : left;
    const one = swapped ? left : right;
    enter(one);
    const inserted = oneToOne ? undefined : new Set<string>();

    const emit = (manyMetric: Metric, manyValue: number, oneMetric: Metric, oneValue: number): void => {
      const a = swapped ? oneValue : manyValue;
      const b = swapped ? manyValue : oneValue;
      const result = compute(op, a, b);
      if (filters && result !== 1) return;
      const metric = results(manyMetric, oneMetric);
      if (inserted !== undefined) {
        const key = `${grouper.of(oneMetric)}/${metric.key}`;
        if (inserted.has(key)) {
          throw new PromqlExecutionError("multiple matches for labels: grouping labels must ensure unique matches");
        }
        inserted.add(key);
      }
      out.push(metric, filters ? a : result);
    };

    for (let i = 0; i < many.length; i++) {
      const metric = many.metrics[i]!;
      const group = grouper.of(metric);
      if (group < round.length && round[group] === current) {
        if (matchedIn[group] === current && oneToOne) {
          throw new PromqlExecutionError(
            "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)",
          );
        }
        matchedIn[group] = current;
        const at = oneAt[group]!;
        emit(metric, many.values[i]!, one.metrics[at]!, one.values[at]!);
      } else if (fillOne !== undefined) emit(metric, many.values[i]!, groupMetric(metric), fillOne);
    }
    if (fillMany !== undefined) {
      for (let i = 0; i < one.length; i++) {
        const metric = one.metrics[i]!;
        if (matchedIn[grouper.of(metric)] !== current) emit(groupMetric(metric), fillMany, metric, one.values[i]!);
      }
    }
    return out;
  };
}

function enlarged(column: Int32Array<ArrayBuffer>, size: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(size);
  larger.set(column);
  return larger;
}

function quoteLabels(metric: Metric): string {
  const parts = Object.keys(metric.labels)
    .sort()
    .map((name) => `${name}=${JSON.stringify(metric.labels[name])}`);
  return `{${parts.join(", ")}}`;
}

/** The labels of a result, remembered per pair of operands. */
function createResultMetrics(node: Binary): (many: Metric, one: Metric) => Metric {
  const matching = node.matching!;
  const keepsName = isComparison(node.op);
  const known = new Map<Metric, Map<Metric, Metric>>();
  let lastMany: Metric | undefined;
  let lastOnes: Map<Metric, Metric> | undefined;

  const build = (many: Metric, one: Metric): Metric => {
    // A comparison keeps the name of the side with many, as Prometheus does.
    let labels: Record<string, string> = { ...(keepsName ? many : many.stripped).labels };
    if (matching.cardinality === "one-to-one") {
      labels = { ...(matching.on ? onlyLabels(labels, matching.labels) : withoutLabels(labels, matching.labels)) };
    }
    for (const name of matching.include) {
      const value = one.labels[name];
      if (value !== undefined && value !== "") labels[name] = value;
      else delete labels[name];
    }
    return new Metric(labels, node.bool || (keepsName && many.dropName));
  };

  return (many, one) => {
    if (many !== lastMany) {
      lastMany = many;
      lastOnes = known.get(many);
      if (lastOnes === undefined) {
        lastOnes = new Map();
        known.set(many, lastOnes);
      }
    }
    let metric = lastOnes!.get(one);
    if (metric === undefined) {
      metric = build(many, one);
      lastOnes!.set(one, metric);
    }
    return metric;
  };
}
