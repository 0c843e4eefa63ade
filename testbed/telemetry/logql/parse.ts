/** LogQL's parser: text to syntax tree. The log part stands in parse-log.ts. */

import { compileRe2 } from "../re2.js";
import type {
  BinaryExpr,
  BinaryOp,
  Expr,
  Grouping,
  LabelFilter,
  LogExpr,
  MetricExpr,
  RangeAggregation,
  RangeOp,
  StreamMatcher,
  Unwrap,
  VectorMatching,
  VectorOp,
} from "./ast.js";
import { Cursor } from "./cursor.js";
import { LogQLParseError } from "./errors.js";
import { tokenize } from "./lexer.js";
import { checkSelector, parseLabelFilter, parseLogExpr, parsePipeline, parseSelector } from "./parse-log.js";

/** What each range function asks: an unwrap, a parameter; whether it may group. */
const RANGE_OPS: Readonly<
  Record<RangeOp, { unwrap: "always" | "never" | "maybe"; grouping: boolean; parameter?: true }>
> = {
  rate: { unwrap: "maybe", grouping: false },
  rate_counter: { unwrap: "always", grouping: false },
  count_over_time: { unwrap: "never", grouping: false },
  bytes_rate: { unwrap: "never", grouping: false },
  bytes_over_time: { unwrap: "never", grouping: false },
  absent_over_time: { unwrap: "maybe", grouping: false },
  sum_over_time: { unwrap: "always", grouping: false },
  avg_over_time: { unwrap: "always", grouping: true },
  min_over_time: { unwrap: "always", grouping: true },
  max_over_time: { unwrap: "always", grouping: true },
  stddev_over_time: { unwrap: "always", grouping: true },
  stdvar_over_time: { unwrap: "always", grouping: true },
  quantile_over_time: { unwrap: "always", grouping: true, parameter: true },
  first_over_time: { unwrap: "always", grouping: true },
  last_over_time: { unwrap: "always", grouping: true },
};

const VECTOR_OPS = new Set<string>([
  "sum",
  "avg",
  "min",
  "max",
  "count",
  "stddev",
  "stdvar",
  "topk",
  "bottomk",
  "approx_topk",
  "sort",
  "sort_desc",
]);
const WITH_PARAMETER = new Set<string>(["topk", "bottomk", "approx_topk"]);

/** Loosest first; `^` binds to the right. */
const PRECEDENCE: Readonly<Record<string, number>> = {
  or: 1,
  and: 2,
  unless: 2,
  "==": 3,
  "!=": 3,
  ">": 3,
  ">=": 3,
  "<": 3,
  "<=": 3,
  "+": 4,
  "-": 4,
  "*": 5,
  "/": 5,
  "%": 5,
  "^": 6,
};
const COMPARISONS = new Set(["==", "!=", ">", ">=", "<", "<="]);

/** Loki's own limit, in bytes there. */
const MAX_QUERY_LENGTH = 131_072;

/**
 * Parses a query of either kind.
 * @throws LogQLParseError with line and column
 */
export function parseQuery(query: string): Expr {
  if (query.length > MAX_QUERY_LENGTH) {
    throw new LogQLParseError(`input size too long (${query.length} > ${MAX_QUERY_LENGTH})`);
  }
  const cursor = new Cursor(tokenize(query));
  const expr = parseExpr(cursor, 0);
  if (!cursor.is("$end")) cursor.fail();
  return expr;
}

/** Parses `{...}` alone, as the series and label endpoints take it. @throws LogQLParseError */
export function parseStreamSelector(text: string): StreamMatcher[] {
  const cursor = new Cursor(tokenize(text));
  const matchers = parseSelector(cursor);
  if (!cursor.is("$end")) cursor.fail();
  if (matchers.length > 0) checkSelector(matchers);
  return matchers;
}

function parseExpr(cursor: Cursor, minimum: number): Expr {
  return cursor.nested(() => parseOperations(cursor, minimum));
}

function parseOperations(cursor: Cursor, minimum: number): Expr {
  let left = parseUnary(cursor);
  for (;;) {
    const op = cursor.token.kind;
    const precedence = PRECEDENCE[op];
    if (precedence === undefined || precedence < minimum) return left;
    cursor.next();
    cursor.countOperator();
    const bool = cursor.accept("bool") !== undefined;
    const matching = parseMatching(cursor);
    const right = parseExpr(cursor, op === "^" ? precedence : precedence + 1);
    left = makeBinary(op as BinaryOp, bool, matching, left, right);
  }
}

function makeBinary(
  op: BinaryOp,
  bool: boolean,
  matching: VectorMatching | undefined,
  left: Expr,
  right: Expr,
): BinaryExpr {
  for (const [leg, expr] of [
    ["left", left],
    ["right", right],
  ] as const) {
    if (expr.type === "log") {
      throw new LogQLParseError(`unexpected type for ${leg} leg of binary operation (${op}): ${goType(expr)}`);
    }
    if (expr.type === "number" && (op === "and" || op === "or" || op === "unless")) {
      throw new LogQLParseError(
        `unexpected literal for ${leg} leg of logical/set binary operation (${op}): ${expr.value}`,
      );
    }
  }
  if (bool && !COMPARISONS.has(op)) {
    throw new LogQLParseError(`syntax error: unexpected bool`);
  }
  return {
    type: "binary",
    op,
    bool,
    left: left as MetricExpr,
    right: right as MetricExpr,
    ...(matching === undefined ? {} : { matching }),
  };
}

function goType(expr: LogExpr): string {
  return expr.stages.length === 0 ? "*syntax.MatchersExpr" : "*syntax.PipelineExpr";
}

function parseMatching(cursor: Cursor): VectorMatching | undefined {
  if (!cursor.is("on", "ignoring")) return undefined;
  const on = cursor.next().kind === "on";
  const matching: VectorMatching = { on, labels: parseLabelList(cursor), include: [] };
  if (cursor.is("group_left", "group_right")) {
    matching.group = cursor.next().kind === "group_left" ? "left" : "right";
    if (cursor.is("(")) matching.include = parseLabelList(cursor);
  }
  return matching;
}

function parseLabelList(cursor: Cursor): string[] {
  cursor.expect("(");
  const labels: string[] = [];
  if (!cursor.is("IDENTIFIER", ")")) cursor.fail("IDENTIFIER", ")");
  while (!cursor.is(")")) {
    labels.push(cursor.expect("IDENTIFIER").text);
    if (!cursor.is(",", ")")) cursor.fail(",", ")");
    cursor.accept(",");
  }
  cursor.next();
  return labels;
}

function parseUnary(cursor: Cursor): Expr {
  const token = cursor.token;
  if (token.kind === "NUMBER") return { type: "number", value: cursor.next().value };
  if ((token.kind === "-" || token.kind === "+") && cursor.peek().kind === "NUMBER") {
    cursor.next();
    return { type: "number", value: (token.kind === "-" ? -1 : 1) * cursor.next().value };
  }
  if (token.kind === "{") return parseLogExpr(cursor);
  if (token.kind === "(") return parseParenthesized(cursor);
  if (token.kind === "IDENTIFIER" && token.call) return parseCall(cursor);
  return cursor.fail();
}

/** `( metric )`, or `( {selector} ... ) | more`. */
function parseParenthesized(cursor: Cursor): Expr {
  cursor.next();
  const inner = parseExpr(cursor, 0);
  cursor.expect(")");
  if (inner.type === "log") inner.stages.push(...parsePipeline(cursor));
  return inner;
}

function parseCall(cursor: Cursor): MetricExpr {
  const token = cursor.token;
  if (token.text in RANGE_OPS) return parseRangeAggregation(cursor, token.text as RangeOp);
  if (VECTOR_OPS.has(token.text)) return parseVectorAggregation(cursor, token.text as VectorOp);
  if (token.text === "label_replace") return parseLabelReplace(cursor);
  if (token.text === "vector") {
    cursor.next();
    cursor.expect("(");
    const sign = cursor.accept("-") ? -1 : 1;
    const value = sign * cursor.expect("NUMBER").value;
    cursor.expect(")");
    return { type: "vector", value };
  }
  cursor.failWith("syntax error: unexpected IDENTIFIER", token);
}

function parseLabelReplace(cursor: Cursor): MetricExpr {
  cursor.next();
  cursor.expect("(");
  const expr = metric(cursor, parseExpr(cursor, 0));
  const texts: string[] = [];
  for (let i = 0; i < 4; i++) {
    cursor.expect(",");
    texts.push(cursor.expect("STRING").text);
  }
  const token = cursor.peek(-1);
  cursor.expect(")");
  const [dst, replacement, src, pattern] = texts as [string, string, string, string];
  try {
    compileRe2(pattern, { anchored: true });
  } catch {
    cursor.failWith(`invalid regex in label_replace: ${pattern}`, token);
  }
  return { type: "labelReplace", expr, dst, replacement, src, pattern };
}

function metric(cursor: Cursor, expr: Expr): MetricExpr {
  // Where a metric is asked for, the closing bracket after a plain selector is what Loki finds unexpected.
  if (expr.type === "log") return cursor.fail();
  return expr;
}

function parseGrouping(cursor: Cursor): Grouping | undefined {
  if (!cursor.is("by", "without")) return undefined;
  return { without: cursor.next().kind === "without", labels: parseLabelList(cursor) };
}

function parseVectorAggregation(cursor: Cursor, op: VectorOp): MetricExpr {
  cursor.next();
  let grouping = parseGrouping(cursor);
  cursor.expect("(");
  let parameter: number | undefined;
  if (cursor.is("NUMBER") && cursor.peek().kind === ",") {
    parameter = cursor.next().value;
    cursor.next();
  }
  const expr = metric(cursor, parseExpr(cursor, 0));
  cursor.expect(")");
  grouping ??= parseGrouping(cursor);
  if (WITH_PARAMETER.has(op) && parameter === undefined) {
    throw new LogQLParseError(`parameter required for operation ${op}`);
  }
  if (!WITH_PARAMETER.has(op) && parameter !== undefined) {
    throw new LogQLParseError(`unsupported parameter for operation ${op}(${parameter},`);
  }
  if (parameter !== undefined && (!Number.isInteger(parameter) || parameter <= 0)) {
    throw new LogQLParseError(`invalid parameter (must be greater than 0) ${op}(${parameter}`);
  }
  return {
    type: "aggregate",
    op,
    expr,
    ...(parameter === undefined ? {} : { parameter }),
    ...(grouping === undefined ? {} : { grouping }),
  };
}

function parseRangeAggregation(cursor: Cursor, op: RangeOp): RangeAggregation {
  cursor.next();
  let grouping = parseGrouping(cursor);
  cursor.expect("(");
  let parameter: number | undefined;
  if (cursor.is("NUMBER") && cursor.peek().kind === ",") {
    parameter = cursor.next().value;
    cursor.next();
  }
  const range = parseLogRange(cursor);
  cursor.expect(")");
  grouping ??= parseGrouping(cursor);
  const rule = RANGE_OPS[op];
  if (rule.parameter && parameter === undefined) throw new LogQLParseError(`parameter required for operation ${op}`);
  if (!rule.parameter && parameter !== undefined) {
    throw new LogQLParseError(`parameter ${parameter} not supported for operation ${op}`);
  }
  if (grouping !== undefined && !rule.grouping) {
    throw new LogQLParseError(`grouping not allowed for ${op} aggregation`);
  }
  if (range.unwrap === undefined && rule.unwrap === "always") {
    throw new LogQLParseError(`invalid aggregation ${op} without unwrap`);
  }
  if (range.unwrap !== undefined && rule.unwrap === "never") {
    throw new LogQLParseError(`invalid aggregation ${op} with unwrap`);
  }
  return {
    type: "range",
    op,
    ...range,
    ...(parameter === undefined ? {} : { parameter }),
    ...(grouping === undefined ? {} : { grouping }),
  };
}

interface LogRange {
  log: LogExpr;
  rangeMs: number;
  offsetMs: number;
  unwrap?: Unwrap;
}

/** `{..} | stages [5m] offset 1m`; stages and unwrap may also follow the range. */
function parseLogRange(cursor: Cursor): LogRange {
  if (cursor.is("(")) {
    // Either brackets around the whole range, or around the log query alone.
    const mark = cursor.mark();
    cursor.next();
    const inner = cursor.nested(() => parseLogRangeBody(cursor, false));
    if (inner !== undefined && cursor.accept(")")) return inner;
    cursor.reset(mark);
  }
  return parseLogRangeBody(cursor, true)!;
}

function parseLogRangeBody(cursor: Cursor, required: boolean): LogRange | undefined {
  if (!cursor.is("{", "(")) cursor.fail("(", "{");
  const log = parseLogExpr(cursor);
  let unwrap = parseUnwrap(cursor);
  if (!cursor.is("RANGE")) {
    if (!required) return undefined;
    cursor.fail();
  }
  const rangeMs = cursor.next().value;
  let offsetMs = parseOffset(cursor);
  log.stages.push(...parsePipeline(cursor));
  unwrap ??= parseUnwrap(cursor);
  if (offsetMs === 0) offsetMs = parseOffset(cursor);
  return { log, rangeMs, offsetMs, ...(unwrap === undefined ? {} : { unwrap }) };
}

function parseOffset(cursor: Cursor): number {
  if (!cursor.accept("offset")) return 0;
  const sign = cursor.accept("-") ? -1 : 1;
  return sign * cursor.expect("DURATION").value;
}

function parseUnwrap(cursor: Cursor): Unwrap | undefined {
  if (!cursor.is("|") || cursor.peek().kind !== "unwrap") return undefined;
  cursor.next();
  cursor.next();
  const name = cursor.expect("IDENTIFIER");
  let unwrap: Unwrap;
  if (name.call && ["duration", "duration_seconds", "bytes"].includes(name.text)) {
    cursor.expect("(");
    const label = cursor.expect("IDENTIFIER").text;
    cursor.expect(")");
    unwrap = { label, conversion: name.text as NonNullable<Unwrap["conversion"]>, filters: [] };
  } else unwrap = { label: name.text, filters: [] };
  while (cursor.is("|")) {
    cursor.next();
    const filter: LabelFilter = parseLabelFilter(cursor);
    unwrap.filters.push(filter);
  }
  return unwrap;
}
