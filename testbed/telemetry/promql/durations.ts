/** Durations as Prometheus writes them: `1h30m`, `500ms`, `2w`; and those that are computed when a query runs. */
import type { DurationExpr } from "./ast.js";

const UNITS: Record<string, number> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
  y: 365 * 86_400_000,
};

const ORDERED = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

/** Milliseconds of a duration with units, largest first; undefined when it is none. A bare `0` is one. */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  const match = text === "" ? null : ORDERED.exec(text);
  if (!match) return undefined;
  let total = 0;
  for (const [i, unit] of ["y", "w", "d", "h", "m", "s", "ms"].entries()) {
    const count = match[i + 1];
    if (count !== undefined) total += Number(count) * UNITS[unit]!;
  }
  return total;
}

/** Writes milliseconds in the shortest form that Prometheus uses. */
export function formatDuration(ms: number): string {
  if (ms === 0) return "0s";
  let text = ms < 0 ? "-" : "";
  let rest = Math.abs(Math.round(ms));
  // Years and weeks only when nothing remains: 1y, 2w, but 8d.
  for (const [unit, exact] of [
    ["y", true],
    ["w", true],
    ["d", false],
    ["h", false],
    ["m", false],
    ["s", false],
    ["ms", false],
  ] as const) {
    const size = UNITS[unit]!;
    if (exact && rest % size !== 0) continue;
    const count = Math.floor(rest / size);
    if (count > 0) {
      text += `${count}${unit}`;
      rest -= count * size;
    }
  }
  return text;
}

/** A duration's seconds, given the query's step and range in seconds. */
export function durationSeconds(expr: DurationExpr, step: number, range: number): number {
  switch (expr.kind) {
    case "constant":
      return expr.seconds;
    case "step":
      return step;
    case "range":
      return range;
    case "negate":
      return -durationSeconds(expr.of, step, range);
    case "operation": {
      const left = durationSeconds(expr.left, step, range);
      const right = durationSeconds(expr.right, step, range);
      switch (expr.op) {
        case "+":
          return left + right;
        case "-":
          return left - right;
        case "*":
          return left * right;
        case "/":
          return left / right;
        case "%":
          return left % right;
        case "^":
          return left ** right;
        case "min_of":
          return Math.min(left, right);
        case "max_of":
          return Math.max(left, right);
      }
    }
  }
}
