/** The query engine: parse once, run at an instant or over a range. */
import type { Labels, MetricStore } from "../metrics.js";
import type { Expr, ValueType } from "./ast.js";
import { unwrap, walk } from "./ast.js";
import { createCompiler } from "./compile.js";
import type { Context, MatrixNode, Notes } from "./context.js";
import { charge, warn } from "./context.js";
import { PromqlExecutionError } from "./errors.js";
import { EMPTY_LABELS, Metric } from "./metric.js";
import type { ParseOptions } from "./parser.js";
import { parse } from "./parser.js";
import { typeOf } from "./types.js";
import type { Vector } from "./vector.js";

export interface EngineOptions extends ParseOptions {
  /** How far back a sample still counts. Default: 5 minutes. */
  lookbackMs?: number;
  /** Step of a subquery that names none. Default: 1 minute. */
  defaultStepMs?: number;
  /** How many samples one run may read before it is refused; those of a range's result count tenfold. Default: 50 million. */
  maxSamples?: number;
}

export interface RunOptions {
  /** Gather warnings and infos. Default: true. */
  notes?: boolean;
}

export interface VectorSample {
  labels: Labels;
  value: number;
}

/** Samples of one series in a range; times in milliseconds. */
export interface MatrixRow {
  labels: Labels;
  times: number[];
  values: number[];
}

/** What a query yields; `time` in milliseconds. */
export type QueryValue =
  | { type: "scalar"; time: number; value: number }
  | { type: "string"; time: number; value: string }
  | { type: "vector"; time: number; samples: VectorSample[] }
  | { type: "matrix"; rows: MatrixRow[] };

export interface QueryResult {
  value: QueryValue;
  warnings: string[];
  infos: string[];
}

/** A query bound to a store: running it again reuses what it has looked up. */
export interface PreparedQuery {
  readonly expr: Expr;
  readonly type: ValueType;
  /** @param timeMs milliseconds since the epoch. @throws PromqlExecutionError */
  instant(timeMs: number, options?: RunOptions): QueryResult;
  /** From `startMs` to `endMs`, both included, every `stepMs`. @throws PromqlExecutionError */
  range(startMs: number, endMs: number, stepMs: number, options?: RunOptions): QueryResult;
  /** The leanest way to an instant vector, for rules: calls `visit` with each sample. A scalar counts as one without labels. */
  forEach(timeMs: number, visit: (metric: Metric, value: number) => void): void;
}

const NO_METRIC = new Metric(EMPTY_LABELS);

/** Parses and compiles `query` for `store`. @throws PromqlParseError */
export function prepare(store: MetricStore, query: string, options: EngineOptions = {}): PreparedQuery {
  const expr = parse(query, options);
  const type = typeOf(expr);
  const context: Context = {
    store,
    query,
    lookback: options.lookbackMs ?? 300_000,
    defaultStep: options.defaultStepMs ?? 60_000,
    start: 0,
    end: 0,
    step: 0,
    samples: 0,
    maxSamples: options.maxSamples ?? 50_000_000,
    notes: undefined,
  };
  const compiler = createCompiler(context);
  const vectorNode = type === "vector" ? compiler.vector(expr) : undefined;
  const scalarNode = type === "scalar" ? compiler.scalar(expr) : undefined;
  const matrixNode = type === "matrix" ? compiler.matrix(expr) : undefined;

  function begin(start: number, end: number, step: number, options: RunOptions | undefined): Notes {
    context.start = start;
    context.end = end;
    context.step = step;
    context.samples = 0;
    const notes: Notes = { warnings: new Set(), infos: new Set() };
    context.notes = options?.notes === false ? undefined : notes;
    return notes;
  }

  function finish(value: QueryValue, notes: Notes): QueryResult {
    return { value, warnings: [...notes.warnings], infos: [...notes.infos] };
  }

  function instant(time: number, run?: RunOptions): QueryResult {
    const notes = begin(time, time, 0, run);
    if (vectorNode !== undefined) {
      const vector = vectorNode(time);
      checkUnique(vector);
      const samples: VectorSample[] = [];
      for (let i = 0; i < vector.length; i++) {
        samples.push({ labels: vector.metrics[i]!.final.labels, value: vector.values[i]! });
      }
      return finish({ type: "vector", time, samples }, notes);
    }
    if (scalarNode !== undefined) return finish({ type: "scalar", time, value: scalarNode(time) }, notes);
    if (matrixNode !== undefined) return finish({ type: "matrix", rows: rowsOf(matrixNode, time) }, notes);
    return finish({ type: "string", time, value: compiler.string(expr) }, notes);
  }

  function range(start: number, end: number, step: number, run?: RunOptions): QueryResult {
    if (type !== "vector" && type !== "scalar") {
      throw new PromqlExecutionError(
        `invalid expression type "${type === "matrix" ? "range vector" : type}" for range query, must be Scalar or instant Vector`,
      );
    }
    const notes = begin(start, end, step, run);
    warnOfSorts(context, expr);
    const rows = new Map<string, MatrixRow>();
    const rowsByMetric = new Map<Metric, MatrixRow>();
    const constant: MatrixRow = { labels: {}, times: [], values: [] };
    for (let t = start; t <= end; t += step) {
      if (scalarNode !== undefined) {
        constant.times.push(t);
        constant.values.push(scalarNode(t));
      } else {
        const vector = vectorNode!(t);
        charge(context, 10 * vector.length);
        for (let i = 0; i < vector.length; i++) {
          const metric = vector.metrics[i]!.final;
          let row = rowsByMetric.get(metric);
          if (row === undefined) {
            row = rows.get(metric.key);
            if (row === undefined) {
              row = { labels: metric.labels, times: [], values: [] };
              rows.set(metric.key, row);
            }
            rowsByMetric.set(metric, row);
          }
          if (row.times.length > 0 && row.times[row.times.length - 1] === t) throw duplicate();
          row.times.push(t);
          row.values.push(vector.values[i]!);
        }
      }
      if (step <= 0) break;
    }
    if (scalarNode !== undefined) return finish({ type: "matrix", rows: [constant] }, notes);
    const sorted = [...rows.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
    return finish({ type: "matrix", rows: sorted }, notes);
  }

  function forEach(time: number, visit: (metric: Metric, value: number) => void): void {
    context.start = time;
    context.end = time;
    context.step = 0;
    context.samples = 0;
    context.notes = undefined;
    if (scalarNode !== undefined) {
      visit(NO_METRIC, scalarNode(time));
      return;
    }
    if (vectorNode === undefined) throw new PromqlExecutionError(`rule result is not a vector or scalar: ${type}`);
    const vector = vectorNode(time);
    checkUnique(vector);
    for (let i = 0; i < vector.length; i++) visit(vector.metrics[i]!.final, vector.values[i]!);
  }

  return { expr, type, instant, range, forEach };
}

function duplicate(): PromqlExecutionError {
  return new PromqlExecutionError("vector cannot contain metrics with the same labelset");
}

function checkUnique(vector: Vector): void {
  if (vector.length < 2) return;
  const seen = new Set<string>();
  for (let i = 0; i < vector.length; i++) {
    const { key } = vector.metrics[i]!.final;
    if (seen.has(key)) throw duplicate();
    seen.add(key);
  }
}

function rowsOf(node: MatrixNode, time: number): MatrixRow[] {
  const rows: { key: string; row: MatrixRow }[] = [];
  node.each(time, (metric, w) => {
    const { final } = metric;
    rows.push({
      key: final.key,
      row: {
        labels: final.labels,
        times: Array.from(w.times.subarray(w.from, w.to)),
        values: Array.from(w.values.subarray(w.from, w.to)),
      },
    });
  });
  rows.sort((a, b) => (a.key < b.key ? -1 : 1));
  return rows.map(({ row }) => row);
}

/** A range's rows are ordered by label: sorting them first is in vain. */
function warnOfSorts(context: Context, expr: Expr): void {
  if (unwrap(expr).kind === "number") return;
  walk(expr, (node) => {
    if (node.kind === "call" && node.name.startsWith("sort")) {
      warn(context, "sort is ineffective for range queries since results are always ordered by labels", node);
    }
  });
}
