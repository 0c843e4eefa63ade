/** Turns PromQL into a syntax tree, with Prometheus' precedence, modifiers and type rules. */
import type { Matcher } from "../metrics.js";
import { goRegex, RegexError } from "../regex.js";
import type {
  AtModifier,
  Binary,
  Expr,
  MatrixSelector,
  Subquery,
  ValueType,
  VectorMatching,
  VectorSelector,
} from "./ast.js";
import { unwrap } from "./ast.js";
import type { Cursor } from "./cursor.js";
import { createCursor } from "./cursor.js";
import { createDurationParser } from "./duration-parser.js";
import { PromqlParseError } from "./errors.js";
import type { Token } from "./lexer.js";
import { isComparison, isSetOperator, PRECEDENCE, UNARY_PRECEDENCE } from "./operators.js";
import { AGGREGATIONS, FUNCTIONS } from "./signatures.js";
import { TYPE_NAMES, typeOf } from "./types.js";

export interface ParseOptions {
  /** Allows what Prometheus keeps behind feature flags: experimental functions, `anchored`, `smoothed`. */
  experimental?: boolean;
}

const MODES: Record<"anchored" | "smoothed", readonly string[]> = {
  anchored: ["changes", "delta", "increase", "rate", "resets"],
  smoothed: ["delta", "increase", "rate"],
};

/** Parses a query. @throws PromqlParseError */
export function parse(query: string, options: ParseOptions = {}): Expr {
  const parser = createParser(query, options);
  return parser.whole();
}

/** Parses a selector such as `up{job="x"}`, as the API's `match[]` has it. @throws PromqlParseError */
export function parseSelector(text: string): Matcher[] {
  const expr = parse(text);
  if (expr.kind !== "selector" || expr.offset !== undefined || expr.at !== undefined) {
    throw new PromqlParseError("expected a metric selector", text, 0);
  }
  return expr.matchers;
}

function createParser(query: string, options: ParseOptions) {
  const cursor = createCursor(query);
  const { peek, take, back, isOperator, isWord, accept, expect, lastEnd, nested, numberOf } = cursor;
  const fail: Cursor["fail"] = cursor.fail;
  const unexpected: Cursor["unexpected"] = cursor.unexpected;
  const { signedDuration, durationExpression } = createDurationParser(cursor);
  /** info()'s second argument may match what is empty: it narrows a metric that is given elsewhere. */
  let allowEmpty = false;

  function whole(): Expr {
    if (peek().kind === "end") fail("no expression found in input", 0);
    const expr = expression(0);
    if (peek().kind !== "end") unexpected("expression");
    return expr;
  }

  function binaryOperator(): string | undefined {
    const token = peek();
    const text = token.kind === "identifier" ? token.text.toLowerCase() : token.kind === "operator" ? token.text : "";
    return Object.hasOwn(PRECEDENCE, text) ? text : undefined;
  }

  function expression(minimum: number): Expr {
    return nested("expression", () => operators(minimum));
  }

  function operators(minimum: number): Expr {
    let left = unary();
    for (;;) {
      if (isOperator("</") || isOperator(">/")) {
        fail(`operator ${peek().text} trims native histograms, which are not supported`, peek().start);
      }
      const op = binaryOperator();
      if (op === undefined || PRECEDENCE[op]! < minimum) return left;
      const at = take();
      const modifiers = binaryModifiers(op);
      // `^` binds to the right, the others to the left.
      const right = expression(op === "^" ? PRECEDENCE[op]! : PRECEDENCE[op]! + 1);
      left = binary(op, at, left, right, modifiers);
    }
  }

  function unary(): Expr {
    const token = peek();
    if (token.kind === "operator" && (token.text === "+" || token.text === "-")) {
      take();
      const expr = expression(UNARY_PRECEDENCE + 1);
      const type = typeOf(expr);
      if (type !== "scalar" && type !== "vector") {
        fail(
          `unary expression only allowed on expressions of type scalar or instant vector, got "${TYPE_NAMES[type]}"`,
          token.start,
        );
      }
      const position = { start: token.start, end: lastEnd() };
      if (expr.kind === "number") return { ...expr, position, value: token.text === "-" ? -expr.value : expr.value };
      return { kind: "unary", position, op: token.text, expr };
    }
    return postfix(primary());
  }

  function primary(): Expr {
    const token = peek();
    switch (token.kind) {
      case "number":
      case "duration":
        take();
        return { kind: "number", position: span(token), value: numberOf(token) };
      case "string":
        take();
        return { kind: "string", position: span(token), value: token.text };
      case "operator":
        if (token.text === "(") {
          take();
          const expr = expression(0);
          expect(")", "paren expression");
          return { kind: "paren", position: { start: token.start, end: lastEnd() }, expr };
        }
        if (token.text === "{") return selector(undefined, token.start);
        return unexpected("expression");
      case "identifier":
        return named(token);
      default:
        return unexpected("expression");
    }
  }

  function named(token: Token): Expr {
    const word = token.text.toLowerCase();
    if (AGGREGATIONS.has(word) && (isOperator("(", 1) || isWord("by", 1) || isWord("without", 1))) {
      return aggregation();
    }
    if (isOperator("(", 1)) return call();
    take();
    if (word === "inf" || word === "nan") {
      return { kind: "number", position: span(token), value: word === "inf" ? Number.POSITIVE_INFINITY : Number.NaN };
    }
    // The other keywords may be names of metrics.
    if (["atan2", "bool", "group_left", "group_right", "ignoring", "on"].includes(word)) {
      fail(`unexpected <${word}> in expression`, token.start);
    }
    return selector(token.text, token.start);
  }

  function span(token: Token) {
    return { start: token.start, end: token.end };
  }

  // --- selectors ---

  function selector(name: string | undefined, start: number): VectorSelector {
    const matchers: Matcher[] = [];
    let metric = name;
    if (isOperator("{")) {
      take();
      while (!isOperator("}")) {
        const token = take();
        if (token.kind !== "identifier" && token.kind !== "string") {
          back();
          unexpected("label matching", 'identifier or "}"');
        }
        const op = peek();
        if (token.kind === "string" && (isOperator(",") || isOperator("}"))) {
          if (metric !== undefined)
            fail(`metric name must not be set twice: "${metric}" or "${token.text}"`, token.start);
          metric = token.text;
        } else {
          if (op.kind !== "operator" || !["=", "!=", "=~", "!~"].includes(op.text)) {
            unexpected("label matching", "label matching operator");
          }
          take();
          const value = peek();
          if (value.kind !== "string") unexpected("label matching", "string");
          take();
          matchers.push(matcher(token.text, op.text as Matcher["op"], value));
        }
        if (!accept(",") && !isOperator("}")) unexpected("label matching", '"," or "}"');
      }
      take();
    }
    if (metric !== undefined) {
      if (name !== undefined && matchers.some((m) => m.name === "__name__" && m.op === "=" && m.value !== "")) {
        const other = matchers.find((m) => m.name === "__name__")!;
        fail(`metric name must not be set twice: "${name}" or "${other.value}"`, start);
      }
      matchers.push({ name: "__name__", op: "=", value: metric });
    }
    if (!allowEmpty && !matchers.some(excludesEmpty))
      fail("vector selector must contain at least one non-empty matcher", start);
    return {
      kind: "selector",
      position: { start, end: lastEnd() },
      name: metric,
      matchers,
      offset: undefined,
      at: undefined,
      mode: "plain",
    };
  }

  function matcher(name: string, op: Matcher["op"], value: Token): Matcher {
    if (op === "=~" || op === "!~") {
      try {
        goRegex(value.text, { anchored: true, dotAll: true });
      } catch (error) {
        if (error instanceof RegexError) fail(error.message, value.start);
        throw error;
      }
    }
    return { name, op, value: value.text };
  }

  function postfix(start: Expr): Expr {
    let expr = start;
    for (;;) {
      if (isOperator("[")) expr = range(expr);
      else if (isWord("offset")) {
        const token = take();
        const target = timed(expr, "offset", token.start);
        if (target.offset !== undefined) fail("offset may not be set multiple times", token.start);
        target.offset = signedDuration();
        expr.position.end = lastEnd();
      } else if (isOperator("@")) {
        const token = take();
        const target = timed(expr, "@", token.start);
        if (target.at !== undefined) fail("@ <timestamp> may not be set multiple times", token.start);
        target.at = atModifier();
        expr.position.end = lastEnd();
      } else if ((isWord("anchored") || isWord("smoothed")) && (expr.kind === "matrix" || expr.kind === "selector")) {
        const token = take();
        if (!options.experimental) fail(`${token.text} modifier is experimental and not enabled`, token.start);
        const target = expr.kind === "matrix" ? expr.selector : expr;
        if (target.mode !== "plain") fail("anchored and smoothed may not be set multiple times", token.start);
        target.mode = token.text.toLowerCase() as "anchored" | "smoothed";
        expr.position.end = lastEnd();
      } else return expr;
    }
  }

  function timed(expr: Expr, what: string, position: number): VectorSelector | Subquery {
    if (expr.kind === "selector" || expr.kind === "subquery") return expr;
    if (expr.kind === "matrix") return expr.selector;
    return fail(
      `${what} modifier must be preceded by an instant vector selector or range vector selector or a subquery`,
      position,
    );
  }

  function atModifier(): AtModifier {
    if ((isWord("start") || isWord("end")) && isOperator("(", 1)) {
      const kind = take().text.toLowerCase() as "start" | "end";
      take();
      expect(")", "@ modifier");
      return { kind };
    }
    let sign = 1;
    if (isOperator("-")) sign = -1;
    if (isOperator("-") || isOperator("+")) take();
    const token = peek();
    const value =
      token.kind === "number" || token.kind === "duration"
        ? numberOf(token)
        : isWord("inf")
          ? Number.POSITIVE_INFINITY
          : isWord("nan")
            ? Number.NaN
            : unexpected("@", "timestamp");
    take();
    const ms = Math.round(sign * value * 1000);
    if (!Number.isFinite(ms) || Math.abs(ms) >= Number.MAX_SAFE_INTEGER) {
      fail(`timestamp out of bounds for @ modifier: ${sign * value}`, token.start);
    }
    return { kind: "time", ms };
  }

  function range(expr: Expr): MatrixSelector | Subquery {
    const open = take();
    const length = durationExpression(0);
    if (length.kind === "constant" && !(length.seconds > 0)) fail("duration must be greater than 0", open.end);
    if (accept(":")) {
      const step = isOperator("]") ? undefined : durationExpression(0);
      if (step?.kind === "constant" && !(step.seconds > 0)) fail("duration must be greater than 0", open.end);
      expect("]", "subquery or range");
      if (typeOf(expr) !== "vector") {
        fail(`subquery is only allowed on instant vector, got ${typeOf(expr)} instead`, expr.position.start);
      }
      return {
        kind: "subquery",
        position: { start: expr.position.start, end: lastEnd() },
        expr,
        range: length,
        step,
        offset: undefined,
        at: undefined,
      };
    }
    expect("]", "subquery or range");
    if (expr.kind !== "selector") return fail("ranges only allowed for vector selectors", open.start);
    if (expr.offset !== undefined) fail("no offset modifiers allowed before range", open.start);
    if (expr.at !== undefined) fail("no @ modifiers allowed before range", open.start);
    return { kind: "matrix", position: { start: expr.position.start, end: lastEnd() }, selector: expr, range: length };
  }

  // --- calls and aggregations ---

  function args(context: string, name?: string): Expr[] {
    expect("(", context);
    const list: Expr[] = [];
    if (accept(")")) return list;
    do {
      const outer = allowEmpty;
      allowEmpty = name === "info" && list.length > 0;
      list.push(expression(0));
      allowEmpty = outer;
    } while (accept(","));
    expect(")", context);
    return list;
  }

  function call(): Expr {
    const token = take();
    const name = token.text;
    const signature = FUNCTIONS.get(name);
    if (signature === undefined) return fail(`unknown function with name "${name}"`, token.start);
    if (signature.experimental && !options.experimental) {
      fail(`function "${name}" is not enabled: it is experimental`, token.start);
    }
    const list = args("function call", name);
    const optional = signature.optional ?? 0;
    const most = optional === "any" ? Number.POSITIVE_INFINITY : signature.args.length;
    const least = signature.args.length - (optional === "any" ? 1 : optional);
    if (list.length < least || list.length > most) {
      const bound = optional === 0 ? "" : list.length < least ? "at least " : "at most ";
      const count = list.length < least ? least : most;
      fail(`expected ${bound}${count} argument(s) in call to "${name}", got ${list.length}`, token.start);
    }
    for (const [i, arg] of list.entries()) {
      const wanted = signature.args[Math.min(i, signature.args.length - 1)]!;
      checkType(arg, wanted, `call to function "${name}"`);
      const inner = unwrap(arg);
      if (inner.kind === "matrix" && inner.selector.mode !== "plain") {
        const mode = inner.selector.mode;
        if (!MODES[mode].includes(name)) {
          fail(
            `${mode} modifier can only be used with: ${MODES[mode].join(", ")} - not with ${name}`,
            arg.position.start,
          );
        }
      }
    }
    if (name === "info" && list[1] !== undefined) {
      const inner = unwrap(list[1]);
      if (inner.kind !== "selector" || inner.name !== undefined) {
        fail(
          inner.kind === "selector"
            ? "expected label selectors only, got vector selector instead"
            : "expected label selectors as the second argument to info",
          list[1].position.start,
        );
      }
    }
    return { kind: "call", position: { start: token.start, end: lastEnd() }, name, args: list };
  }

  function aggregation(): Expr {
    const token = take();
    const op = token.text.toLowerCase();
    const signature = AGGREGATIONS.get(op)!;
    if (signature.experimental && !options.experimental) {
      fail(`aggregation "${op}" is not enabled: it is experimental`, token.start);
    }
    let grouping = groupingClause();
    const list = args("aggregation");
    grouping ??= groupingClause();
    const wanted = signature.parameter === undefined ? 1 : 2;
    if (list.length !== wanted) {
      fail(
        `wrong number of arguments for aggregate expression provided, expected ${wanted}, got ${list.length}`,
        token.start,
      );
    }
    const expr = list[wanted - 1]!;
    const parameter = wanted === 2 ? list[0]! : undefined;
    checkType(expr, "vector", "aggregation expression");
    if (parameter !== undefined) checkType(parameter, signature.parameter!, "aggregation parameter");
    return {
      kind: "aggregation",
      position: { start: token.start, end: lastEnd() },
      op,
      expr,
      parameter,
      without: grouping?.without ?? false,
      grouping: grouping?.labels ?? [],
    };
  }

  function groupingClause(): { without: boolean; labels: string[] } | undefined {
    if (!isWord("by") && !isWord("without")) return undefined;
    const without = take().text.toLowerCase() === "without";
    return { without, labels: labelList() };
  }

  function labelList(): string[] {
    expect("(", "grouping opts");
    const labels: string[] = [];
    while (!isOperator(")")) {
      const token = peek();
      if (token.kind !== "identifier" && token.kind !== "string") unexpected("grouping opts", "label");
      if (token.kind === "identifier" && token.text.includes(":")) unexpected("grouping opts", "label");
      take();
      labels.push(token.text);
      if (!accept(",") && !isOperator(")")) unexpected("grouping opts", '"," or ")"');
    }
    take();
    return labels;
  }

  // --- binary expressions ---

  interface Modifiers {
    bool: Token | undefined;
    matching: VectorMatching | undefined;
    grouped: Token | undefined;
  }

  function binaryModifiers(op: string): Modifiers {
    const found: Modifiers = { bool: undefined, matching: undefined, grouped: undefined };
    if (isWord("bool")) {
      found.bool = take();
      if (!isComparison(op)) fail("bool modifier can only be used on comparison operators", found.bool.start);
    }
    const matching: VectorMatching = {
      on: false,
      labels: [],
      cardinality: isSetOperator(op) ? "many-to-many" : "one-to-one",
      include: [],
      fillLeft: undefined,
      fillRight: undefined,
    };
    if ((isWord("on") || isWord("ignoring")) && isOperator("(", 1)) {
      matching.on = take().text.toLowerCase() === "on";
      matching.labels = labelList();
      found.matching = matching;
      if (isWord("group_left") || isWord("group_right")) {
        const token = take();
        found.grouped = token;
        matching.cardinality = token.text.toLowerCase() === "group_left" ? "many-to-one" : "one-to-many";
        if (isSetOperator(op)) fail(`no grouping allowed for "${op}" operation`, token.start);
        if (isOperator("(")) matching.include = labelList();
        for (const label of matching.include) {
          if (matching.on && matching.labels.includes(label)) {
            fail(`label "${label}" must not occur in ON and GROUP clause at once`, token.start);
          }
        }
      }
    }
    for (;;) {
      const word = peek().kind === "identifier" ? peek().text.toLowerCase() : "";
      if (!["fill", "fill_left", "fill_right"].includes(word) || !isOperator("(", 1)) break;
      const token = take();
      if (isSetOperator(op)) fail(`filling in missing series not allowed for set operators`, token.start);
      take();
      const sign = isOperator("-") ? -1 : 1;
      if (isOperator("-") || isOperator("+")) take();
      const inner = primary();
      if (inner.kind !== "number") return fail("fill value must be a number", token.start);
      expect(")", "fill modifier");
      found.matching = matching;
      found.grouped ??= token;
      if (word !== "fill_right") matching.fillLeft = sign * inner.value;
      if (word !== "fill_left") matching.fillRight = sign * inner.value;
    }
    return found;
  }

  function binary(op: string, at: Token, left: Expr, right: Expr, modifiers: Modifiers): Binary {
    const types = [typeOf(left), typeOf(right)] as const;
    for (const [i, type] of types.entries()) {
      if (type !== "scalar" && type !== "vector") {
        const side = i === 0 ? left : right;
        fail("binary expression must contain only scalar and instant vector types", side.position.start);
      }
    }
    const bothVectors = types[0] === "vector" && types[1] === "vector";
    if (isSetOperator(op) && !bothVectors) {
      fail(`set operator "${op}" not allowed in binary scalar expression`, at.start);
    }
    if (isComparison(op) && modifiers.bool === undefined && types[0] === "scalar" && types[1] === "scalar") {
      fail("comparisons between scalars must use BOOL modifier", at.start);
    }
    if (
      !bothVectors &&
      modifiers.matching !== undefined &&
      (modifiers.matching.labels.length > 0 || modifiers.grouped)
    ) {
      fail("vector matching only allowed between instant vectors", at.start);
    }
    const matching: VectorMatching | undefined = bothVectors
      ? (modifiers.matching ?? {
          on: false,
          labels: [],
          cardinality: isSetOperator(op) ? "many-to-many" : "one-to-one",
          include: [],
          fillLeft: undefined,
          fillRight: undefined,
        })
      : undefined;
    return {
      kind: "binary",
      position: { start: left.position.start, end: right.position.end },
      op,
      left,
      right,
      bool: modifiers.bool !== undefined,
      matching,
    };
  }

  function checkType(expr: Expr, wanted: ValueType, context: string): void {
    const got = typeOf(expr);
    if (got !== wanted) {
      fail(`expected type ${TYPE_NAMES[wanted]} in ${context}, got ${TYPE_NAMES[got]}`, expr.position.start);
    }
  }

  return { whole };
}

function excludesEmpty(matcher: Matcher): boolean {
  switch (matcher.op) {
    case "=":
      return matcher.value !== "";
    case "!=":
      return matcher.value === "";
    case "=~":
      return !goRegex(matcher.value, { anchored: true, dotAll: true }).test("");
    case "!~":
      return goRegex(matcher.value, { anchored: true, dotAll: true }).test("");
  }
}
