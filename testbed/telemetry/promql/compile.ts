/** Compiles a syntax tree to closures that evaluate it at an instant, with caches of all that does not change. */

import { compileAggregation } from "./aggregate.js";
import type { Call, Expr } from "./ast.js";
import { unwrap } from "./ast.js";
import { compileBinary } from "./binary.js";
import type { Compiler, Context, MatrixNode, ScalarNode, VectorNode } from "./context.js";
import { inform } from "./context.js";
import { MATH_FUNCTIONS } from "./functions/math.js";
import { RANGE_FUNCTIONS } from "./functions/range.js";
import { SCALAR_FUNCTIONS } from "./functions/scalar.js";
import { checkParameters, VECTOR_FUNCTIONS } from "./functions/vector.js";
import type { Metric } from "./metric.js";
import { compute } from "./operators.js";
import { compileMatrix, compileSelector, compileSubquery } from "./select.js";
import { typeOf } from "./types.js";
import type { Window } from "./vector.js";
import { Vector } from "./vector.js";

export function createCompiler(context: Context): Compiler {
  const compiler: Compiler = {
    context,
    vector: (expr) => compileVector(compiler, expr),
    scalar: (expr) => compileScalar(compiler, expr),
    matrix: (expr) => compileRange(compiler, expr),
    string(expr) {
      const inner = unwrap(expr);
      if (inner.kind !== "string") throw new TypeError(`expected a string, got ${inner.kind}`);
      return inner.value;
    },
  };
  return compiler;
}

function compileVector(compiler: Compiler, expr: Expr): VectorNode {
  switch (expr.kind) {
    case "selector":
      return compileSelector(compiler, expr);
    case "paren":
      return compiler.vector(expr.expr);
    case "aggregation":
      return compileAggregation(compiler, expr);
    case "binary":
      return compileBinary(compiler, expr);
    case "unary":
      return expr.op === "+" ? compiler.vector(expr.expr) : compileMap(compiler, expr.expr, (value) => -value);
    case "call":
      return compileCall(compiler, expr);
    default:
      throw new TypeError(`expected an instant vector, got ${expr.kind}`);
  }
}

function compileMap(compiler: Compiler, expr: Expr, map: (value: number) => number): VectorNode {
  const input = compiler.vector(expr);
  const out = new Vector();
  return (t) => {
    const vector = input(t);
    out.length = 0;
    for (let i = 0; i < vector.length; i++) out.push(vector.metrics[i]!.dropped, map(vector.values[i]!));
    return out;
  };
}

function compileCall(compiler: Compiler, call: Call): VectorNode {
  const vectorFunction = VECTOR_FUNCTIONS[call.name];
  if (vectorFunction !== undefined) return vectorFunction(compiler, call);
  const math = MATH_FUNCTIONS[call.name];
  if (math !== undefined) return compileMap(compiler, call.args[0]!, math);
  return compileRangeCall(compiler, call);
}

const COUNTER_SUFFIX = /_(?:total|sum|count|bucket)$/;

function compileRangeCall(compiler: Compiler, call: Call): VectorNode {
  const { context } = compiler;
  const { run, keepsName, counter } = RANGE_FUNCTIONS[call.name]!;
  const rangeExpr = call.args.find((arg) => typeOf(arg) === "matrix")!;
  const input = compiler.matrix(rangeExpr);
  const parameterNodes = call.args.filter((arg) => arg !== rangeExpr).map((arg) => compiler.scalar(arg));
  const parameters: number[] = [];
  const out = new Vector();
  const visit = (metric: Metric, window: Window): void => {
    const value = run(window, parameters);
    if (value === undefined) return;
    if (counter && context.notes !== undefined && metric.name !== "" && !COUNTER_SUFFIX.test(metric.name)) {
      inform(
        context,
        `metric might not be a counter, name does not end in _total/_sum/_count/_bucket: "${metric.name}"`,
        rangeExpr,
      );
    }
    out.push(keepsName ? metric : metric.dropped, value);
  };
  return (t) => {
    for (let i = 0; i < parameterNodes.length; i++) parameters[i] = parameterNodes[i]!(t);
    checkParameters(context, call, parameters);
    out.length = 0;
    input.each(t, visit);
    return out;
  };
}

function compileRange(compiler: Compiler, expr: Expr): MatrixNode {
  const inner = unwrap(expr);
  if (inner.kind === "matrix") return compileMatrix(compiler, inner);
  if (inner.kind === "subquery") return compileSubquery(compiler, inner);
  throw new TypeError(`expected a range vector, got ${inner.kind}`);
}

function compileScalar(compiler: Compiler, expr: Expr): ScalarNode {
  switch (expr.kind) {
    case "number": {
      const { value } = expr;
      return () => value;
    }
    case "paren":
      return compiler.scalar(expr.expr);
    case "unary": {
      const inner = compiler.scalar(expr.expr);
      return expr.op === "-" ? (t) => -inner(t) : inner;
    }
    case "binary": {
      const left = compiler.scalar(expr.left);
      const right = compiler.scalar(expr.right);
      const { op } = expr;
      return (t) => compute(op, left(t), right(t));
    }
    case "call":
      return SCALAR_FUNCTIONS[expr.name]!(compiler, expr);
    default:
      throw new TypeError(`expected a scalar, got ${expr.kind}`);
  }
}
