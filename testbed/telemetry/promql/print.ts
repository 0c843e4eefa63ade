/** Writes a syntax tree as PromQL, on one line, the way Prometheus shows the queries of its rules. */
import type { AtModifier, DurationExpr, Expr, Subquery, VectorMatching, VectorSelector } from "./ast.js";
import { formatDuration } from "./durations.js";
import { formatNumber } from "./format.js";

export function print(expr: Expr): string {
  switch (expr.kind) {
    case "number":
      return formatNumber(expr.value);
    case "string":
      return JSON.stringify(expr.value);
    case "selector":
      return selectorText(expr) + mode(expr) + timing(expr);
    case "matrix":
      return `${selectorText(expr.selector)}[${duration(expr.range)}]${mode(expr.selector)}${timing(expr.selector)}`;
    case "subquery": {
      const step = expr.step === undefined ? "" : duration(expr.step);
      return `${print(expr.expr)}[${duration(expr.range)}:${step}]${timing(expr)}`;
    }
    case "call":
      return `${expr.name}(${expr.args.map(print).join(", ")})`;
    case "aggregation": {
      const labels = expr.grouping.map(labelText).join(", ");
      const grouping = expr.without ? ` without (${labels}) ` : expr.grouping.length > 0 ? ` by (${labels}) ` : "";
      const args = expr.parameter === undefined ? [expr.expr] : [expr.parameter, expr.expr];
      return `${expr.op}${grouping}(${args.map(print).join(", ")})`;
    }
    case "binary": {
      const bool = expr.bool ? " bool" : "";
      const matching = expr.matching === undefined ? "" : matchingText(expr.matching);
      return `${print(expr.left)} ${expr.op}${bool}${matching} ${print(expr.right)}`;
    }
    case "unary":
      return `${expr.op}${print(expr.expr)}`;
    case "paren":
      return `(${print(expr.expr)})`;
  }
}

function selectorText({ name, matchers }: VectorSelector): string {
  const plainName = name !== undefined && /^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(name);
  const inner = matchers
    .filter((m) => !(name !== undefined && m.name === "__name__" && m.op === "=" && m.value === name))
    .map((m) => `${labelText(m.name)}${m.op}${JSON.stringify(m.value)}`);
  if (name !== undefined && !plainName) inner.unshift(JSON.stringify(name));
  const braces = inner.length > 0 || name === undefined ? `{${inner.join(",")}}` : "";
  return (plainName ? name : "") + braces;
}

function labelText(name: string): string {
  return /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name) ? name : JSON.stringify(name);
}

function mode({ mode }: VectorSelector): string {
  return mode === "plain" ? "" : ` ${mode}`;
}

function timing({ at, offset }: VectorSelector | Subquery): string {
  return (
    (at === undefined ? "" : ` @ ${atText(at)}`) + (offset === undefined ? "" : ` offset ${duration(offset, true)}`)
  );
}

function atText(at: AtModifier): string {
  return at.kind === "time" ? (at.ms / 1000).toFixed(3) : `${at.kind}()`;
}

/** @param single one operand: an operation gets parentheses, as after `offset` */
function duration(expr: DurationExpr, single = false): string {
  switch (expr.kind) {
    case "constant":
      return formatDuration(expr.seconds * 1000);
    case "step":
    case "range":
      return `${expr.kind}()`;
    case "negate":
      return `-${duration(expr.of, true)}`;
    case "operation": {
      if (expr.op === "min_of" || expr.op === "max_of") {
        return `${expr.op}(${duration(expr.left)}, ${duration(expr.right)})`;
      }
      const text = `${duration(expr.left, true)} ${expr.op} ${duration(expr.right, true)}`;
      return single ? `(${text})` : text;
    }
  }
}

function matchingText({ on, labels, cardinality, include, fillLeft, fillRight }: VectorMatching): string {
  let text = "";
  if (on || labels.length > 0) text += ` ${on ? "on" : "ignoring"} (${labels.map(labelText).join(", ")})`;
  if (cardinality === "many-to-one" || cardinality === "one-to-many") {
    const side = cardinality === "many-to-one" ? "group_left" : "group_right";
    // `group_left` without `on` or `ignoring` is no PromQL.
    if (text === "") text = " ignoring ()";
    text += ` ${side} (${include.map(labelText).join(", ")})`;
  }
  if (fillLeft !== undefined && Object.is(fillLeft, fillRight)) return `${text} fill (${formatNumber(fillLeft)})`;
  if (fillLeft !== undefined) text += ` fill_left (${formatNumber(fillLeft)})`;
  if (fillRight !== undefined) text += ` fill_right (${formatNumber(fillRight)})`;
  return text;
}
