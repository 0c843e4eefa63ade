/** The binary operators: how they bind, and what they make of two numbers, as Go computes it. */

/** Binding strength; `^` binds to the right. */
export const PRECEDENCE: Record<string, number> = {
  or: 1,
  and: 2,
  unless: 2,
  "==": 3,
  "!=": 3,
  "<=": 3,
  "<": 3,
  ">=": 3,
  ">": 3,
  "+": 4,
  "-": 4,
  "*": 5,
  "/": 5,
  "%": 5,
  atan2: 5,
  "^": 6,
};
export const UNARY_PRECEDENCE = 5;
const SET_OPERATORS = new Set(["and", "or", "unless"]);
const COMPARISONS = new Set(["==", "!=", "<=", "<", ">=", ">"]);

export function isComparison(op: string): boolean {
  return COMPARISONS.has(op);
}
export function isSetOperator(op: string): boolean {
  return SET_OPERATORS.has(op);
}

/** The operators' results; a comparison yields 1 or 0. */
export function compute(op: string, a: number, b: number): number {
  switch (op) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "%":
      return a % b;
    case "^":
      return power(a, b);
    case "atan2":
      return Math.atan2(a, b);
    case "==":
      return a === b ? 1 : 0;
    case "!=":
      return a !== b ? 1 : 0;
    case "<":
      return a < b ? 1 : 0;
    case "<=":
      return a <= b ? 1 : 0;
    case ">":
      return a > b ? 1 : 0;
    case ">=":
      return a >= b ? 1 : 0;
    default:
      throw new Error(`unknown operator ${op}`);
  }
}

/** Go has Pow(1, y) = 1 for every y, and Pow(-1, ±Inf) = 1. */
function power(a: number, b: number): number {
  if (a === 1) return 1;
  if (a === -1 && Math.abs(b) === Number.POSITIVE_INFINITY) return 1;
  return a ** b;
}
