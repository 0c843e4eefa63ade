/** The syntax tree of PromQL. Each node knows where it stands in the query. */
import type { Matcher } from "../metrics.js";

export type ValueType = "scalar" | "vector" | "matrix" | "string";

/** Offsets in the query text, [start, end). */
export interface Position {
  start: number;
  end: number;
}

/** A duration that depends on the query's step or range, in seconds. */
export type DurationExpr =
  | { kind: "constant"; seconds: number }
  | { kind: "step" }
  | { kind: "range" }
  | { kind: "negate"; of: DurationExpr }
  | { kind: "operation"; op: DurationOperator; left: DurationExpr; right: DurationExpr };
export type DurationOperator = "+" | "-" | "*" | "/" | "%" | "^" | "min_of" | "max_of";

export type AtModifier = { kind: "time"; ms: number } | { kind: "start" } | { kind: "end" };

/** How the ends of a range are treated: samples only, the value before the start, or interpolated at both ends. */
export type RangeMode = "plain" | "anchored" | "smoothed";

interface Timed {
  offset: DurationExpr | undefined;
  at: AtModifier | undefined;
}

export interface NumberLiteral {
  kind: "number";
  position: Position;
  value: number;
}
export interface StringLiteral {
  kind: "string";
  position: Position;
  value: string;
}
export interface VectorSelector extends Timed {
  kind: "selector";
  position: Position;
  /** The name before the braces, if any; it is among the matchers too. */
  name: string | undefined;
  matchers: Matcher[];
  mode: RangeMode;
}
export interface MatrixSelector {
  kind: "matrix";
  position: Position;
  selector: VectorSelector;
  range: DurationExpr;
}
export interface Subquery extends Timed {
  kind: "subquery";
  position: Position;
  expr: Expr;
  range: DurationExpr;
  step: DurationExpr | undefined;
}
export interface Call {
  kind: "call";
  position: Position;
  name: string;
  args: Expr[];
}
export interface Aggregation {
  kind: "aggregation";
  position: Position;
  op: string;
  expr: Expr;
  parameter: Expr | undefined;
  without: boolean;
  grouping: string[];
}
export interface VectorMatching {
  /** `on(...)` rather than `ignoring(...)`. */
  on: boolean;
  labels: string[];
  cardinality: "one-to-one" | "many-to-one" | "one-to-many" | "many-to-many";
  /** Labels of `group_left` / `group_right`. */
  include: string[];
  /** Stands in for a missing side. */
  fillLeft: number | undefined;
  fillRight: number | undefined;
}
export interface Binary {
  kind: "binary";
  position: Position;
  op: string;
  left: Expr;
  right: Expr;
  bool: boolean;
  matching: VectorMatching | undefined;
}
export interface Unary {
  kind: "unary";
  position: Position;
  op: "+" | "-";
  expr: Expr;
}
export interface Paren {
  kind: "paren";
  position: Position;
  expr: Expr;
}

export type Expr =
  | NumberLiteral
  | StringLiteral
  | VectorSelector
  | MatrixSelector
  | Subquery
  | Call
  | Aggregation
  | Binary
  | Unary
  | Paren;

/** Calls `visit` on every node, parents first. */
export function walk(expr: Expr, visit: (node: Expr) => void): void {
  visit(expr);
  for (const child of children(expr)) walk(child, visit);
}

export function children(expr: Expr): Expr[] {
  switch (expr.kind) {
    case "number":
    case "string":
    case "selector":
      return [];
    case "matrix":
      return [expr.selector];
    case "call":
      return expr.args;
    case "aggregation":
      return expr.parameter ? [expr.parameter, expr.expr] : [expr.expr];
    case "binary":
      return [expr.left, expr.right];
    default:
      return [expr.expr];
  }
}

/** Every selector of the expression, in the order of the text. */
export function selectors(expr: Expr): VectorSelector[] {
  const found: VectorSelector[] = [];
  walk(expr, (node) => {
    if (node.kind === "selector") found.push(node);
  });
  return found;
}

/** The expression without the parentheses around it. */
export function unwrap(expr: Expr): Expr {
  return expr.kind === "paren" ? unwrap(expr.expr) : expr;
}
