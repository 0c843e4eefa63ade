/** The grammar of durations: in brackets a whole expression, after `offset` one operand. */
import type { DurationExpr, DurationOperator } from "./ast.js";
import type { Cursor } from "./cursor.js";
import { durationSeconds } from "./durations.js";
import { PRECEDENCE, UNARY_PRECEDENCE } from "./operators.js";

export function createDurationParser(cursor: Cursor) {
  const { peek, take, isOperator, accept, expect, nested, numberOf } = cursor;
  const fail: Cursor["fail"] = cursor.fail;
  const unexpected: Cursor["unexpected"] = cursor.unexpected;

  /** After `offset`: one signed operand, so that `offset 1m + 2` adds two to the values. */
  function signedDuration(): DurationExpr {
    if (accept("-")) return negate(durationOperand());
    accept("+");
    return durationOperand();
  }

  function durationExpression(minimum: number): DurationExpr {
    return nested("duration expression", () => durationOperators(minimum));
  }

  function durationOperators(minimum: number): DurationExpr {
    let left: DurationExpr;
    if (accept("-")) left = negate(durationExpression(UNARY_PRECEDENCE + 1));
    else if (accept("+")) left = durationExpression(UNARY_PRECEDENCE + 1);
    else left = durationOperand();
    for (;;) {
      const token = peek();
      if (token.kind !== "operator" || !"+-*/%^".includes(token.text)) return left;
      const precedence = PRECEDENCE[token.text]!;
      if (precedence < minimum) return left;
      take();
      const right = durationExpression(token.text === "^" ? precedence : precedence + 1);
      left = durationOperation(token.text as DurationOperator, left, right, token.start);
    }
  }

  function durationOperand(): DurationExpr {
    const token = peek();
    if (token.kind === "number" || token.kind === "duration") {
      take();
      return { kind: "constant", seconds: numberOf(token) };
    }
    if (accept("(")) {
      const inner = durationExpression(0);
      expect(")", "duration expression");
      return inner;
    }
    const word = token.kind === "identifier" ? token.text.toLowerCase() : "";
    if ((word === "step" || word === "range") && isOperator("(", 1)) {
      take();
      take();
      expect(")", "duration expression");
      return { kind: word };
    }
    if ((word === "min_of" || word === "max_of") && isOperator("(", 1)) {
      take();
      take();
      const left = durationExpression(0);
      expect(",", "duration expression");
      const right = durationExpression(0);
      expect(")", "duration expression");
      return durationOperation(word, left, right, token.start);
    }
    return unexpected("duration", "duration");
  }

  function negate(of: DurationExpr): DurationExpr {
    return of.kind === "constant" ? { kind: "constant", seconds: -of.seconds } : { kind: "negate", of };
  }

  function durationOperation(op: DurationOperator, left: DurationExpr, right: DurationExpr, at: number): DurationExpr {
    if (right.kind === "constant" && right.seconds === 0) {
      if (op === "/") fail("division by zero", at);
      if (op === "%") fail("modulo by zero", at);
    }
    const operation: DurationExpr = { kind: "operation", op, left, right };
    if (left.kind !== "constant" || right.kind !== "constant") return operation;
    return { kind: "constant", seconds: durationSeconds(operation, 0, 0) };
  }

  return { signedDuration, durationExpression };
}
