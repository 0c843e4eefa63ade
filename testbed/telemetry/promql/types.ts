/** What an expression yields. */
import type { Expr, ValueType } from "./ast.js";
import { FUNCTIONS } from "./signatures.js";

/** The type that an expression yields. */
export function typeOf(expr: Expr): ValueType {
  switch (expr.kind) {
    case "number":
      return "scalar";
    case "string":
      return "string";
    case "matrix":
    case "subquery":
      return "matrix";
    case "call":
      return FUNCTIONS.get(expr.name)!.returns;
    case "binary":
      return typeOf(expr.left) === "scalar" && typeOf(expr.right) === "scalar" ? "scalar" : "vector";
    case "unary":
    case "paren":
      return typeOf(expr.expr);
    default:
      return "vector";
  }
}

/** As error messages call them. */
export const TYPE_NAMES: Record<ValueType, string> = {
  scalar: "scalar",
  vector: "instant vector",
  matrix: "range vector",
  string: "string",
};
