/** Arithmetic and comparison of two numbers, as Go computes them. */

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
