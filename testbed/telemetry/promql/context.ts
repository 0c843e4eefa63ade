/** What the nodes of one compiled query share. */
import type { MetricStore } from "../metrics.js";
import type { Expr } from "./ast.js";
import { PromqlExecutionError, place } from "./errors.js";
import type { Metric } from "./metric.js";
import type { Vector, Window } from "./vector.js";

/** Evaluates at an instant (milliseconds). The vector belongs to the node and is valid until the next call. */
export type VectorNode = (t: number) => Vector;
export type ScalarNode = (t: number) => number;

/** A range: calls `visit` with each series' samples. The window is valid during the call only. */
export interface MatrixNode {
  each(t: number, visit: (metric: Metric, window: Window) => void): void;
}

export interface Notes {
  warnings: Set<string>;
  infos: Set<string>;
}

export interface Context {
  readonly store: MetricStore;
  readonly query: string;
  /** How far back a sample still counts, milliseconds. */
  readonly lookback: number;
  /** Step of a subquery that names none, milliseconds. */
  readonly defaultStep: number;
  /** The run's own bounds: equal for an instant query. */
  start: number;
  end: number;
  step: number;
  /** Samples read so far in this run, and how many may be. */
  samples: number;
  readonly maxSamples: number;
  /** Where remarks go; undefined when nobody reads them, as in rules. */
  notes: Notes | undefined;
}

/** Makes nodes of expressions; the parts of the evaluator get it to make their operands. */
export interface Compiler {
  readonly context: Context;
  vector(expr: Expr): VectorNode;
  scalar(expr: Expr): ScalarNode;
  matrix(expr: Expr): MatrixNode;
  /** The value of a string literal, parentheses or not. */
  string(expr: Expr): string;
}

/** Counts samples that a run reads. @throws PromqlExecutionError when they are more than it may */
export function charge(context: Context, samples: number): void {
  context.samples += samples;
  if (context.samples > context.maxSamples) {
    throw new PromqlExecutionError(
      "query processing would load too many samples into memory in query execution: narrow the selector, shorten the " +
        "range or widen the step",
    );
  }
}

export function warn(context: Context, message: string, expr: Expr): void {
  context.notes?.warnings.add(`PromQL warning: ${message} (${place(context.query, expr.position.start)})`);
}

export function inform(context: Context, message: string, expr: Expr): void {
  context.notes?.infos.add(`PromQL info: ${message} (${place(context.query, expr.position.start)})`);
}
