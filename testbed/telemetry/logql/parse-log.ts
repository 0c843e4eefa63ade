/** The log part of the grammar: selector and pipeline. */

import { compileRe2, Re2Error } from "../re2.js";
import type { LabelAssignment, LabelFilter, LineFilterOp, LogExpr, NumberOp, Stage, StreamMatcher } from "./ast.js";
import type { Cursor } from "./cursor.js";
import { LogQLParseError } from "./errors.js";
import { compilePattern, compilePatternFilter } from "./pipeline/pattern.js";
import { parseTemplate } from "./pipeline/template.js";

const MATCH_OPS = ["=", "!=", "=~", "!~"];
const LINE_FILTER_OPS = ["|=", "!=", "|~", "!~", "|>", "!>"];
const NUMBER_OPS: Readonly<Record<string, NumberOp>> = {
  "=": "==",
  "==": "==",
  "!=": "!=",
  ">": ">",
  ">=": ">=",
  "<": "<",
  "<=": "<=",
};

/** `{name="value", ...}` @throws LogQLParseError */
export function parseSelector(cursor: Cursor): StreamMatcher[] {
  cursor.expect("{");
  const matchers: StreamMatcher[] = [];
  if (!cursor.is("IDENTIFIER", "}")) cursor.fail("IDENTIFIER", "}");
  while (!cursor.is("}")) {
    const name = cursor.expect("IDENTIFIER");
    const op = cursor.token;
    if (!MATCH_OPS.includes(op.kind)) cursor.fail(...MATCH_OPS);
    cursor.next();
    const value = cursor.expect("STRING");
    const matcher: StreamMatcher = { name: name.text, op: op.kind as StreamMatcher["op"], value: value.text };
    checkRegexp(cursor, matcher);
    matchers.push(matcher);
    if (!cursor.is(",", "}")) cursor.fail("}", ",");
    if (cursor.accept(",") && !cursor.is("IDENTIFIER", "}")) cursor.fail("IDENTIFIER");
  }
  cursor.next();
  return matchers;
}

/** Loki refuses selectors that would read every stream. @throws LogQLParseError */
export function checkSelector(matchers: readonly StreamMatcher[]): void {
  const selective = matchers.some((matcher) => {
    if (matcher.op === "=") return matcher.value !== "";
    if (matcher.op === "=~") return !compileRe2(matcher.value, { anchored: true, dotAll: true }).test("");
    return false;
  });
  if (!selective) {
    throw new LogQLParseError(
      "queries require at least one regexp or equality matcher that does not have an empty-compatible value. " +
        'For instance, app=~".*" does not meet this requirement, but app=~".+" will',
    );
  }
}

function checkRegexp(cursor: Cursor, matcher: StreamMatcher): void {
  if (matcher.op !== "=~" && matcher.op !== "!~") return;
  checkPattern(cursor, matcher.value, { anchored: true });
}

function checkPattern(cursor: Cursor, pattern: string, options?: { anchored?: boolean }): void {
  const token = cursor.peek(-1);
  try {
    compileRe2(pattern, options);
  } catch (error) {
    if (error instanceof Re2Error) cursor.failWith(error.message, token);
    throw error;
  }
}

/** Selector and pipeline. Stops before `[` and before `| unwrap`, which belong to metric queries. */
export function parseLogExpr(cursor: Cursor): LogExpr {
  if (cursor.is("(")) {
    cursor.next();
    const inner = cursor.nested(() => parseLogExpr(cursor));
    cursor.expect(")");
    inner.stages.push(...parsePipeline(cursor));
    return inner;
  }
  const matchers = parseSelector(cursor);
  checkSelector(matchers);
  return { type: "log", matchers, stages: parsePipeline(cursor) };
}

/** Stages as far as they go; an unwrap is left to the caller. */
export function parsePipeline(cursor: Cursor): Stage[] {
  const stages: Stage[] = [];
  for (;;) {
    if (cursor.is(...LINE_FILTER_OPS)) stages.push(parseLineFilter(cursor));
    else if (cursor.is("|") && cursor.peek().kind !== "unwrap") {
      cursor.next();
      stages.push(parseStage(cursor));
    } else return stages;
  }
}

function parseLineFilter(cursor: Cursor): Stage {
  const op = cursor.next().kind as LineFilterOp;
  const alternatives = [parseLineOperand(cursor, op)];
  while (cursor.accept("or")) alternatives.push(parseLineOperand(cursor, op));
  return { type: "lineFilter", op, alternatives };
}

function parseLineOperand(cursor: Cursor, op: LineFilterOp) {
  if (cursor.token.call && cursor.token.text === "ip") {
    if (op !== "|=" && op !== "!=") cursor.failWith(`ip: invalid operation`);
    return { value: parseIp(cursor), ip: true };
  }
  const value = cursor.expect("STRING").text;
  if (op === "|~" || op === "!~") checkPattern(cursor, value);
  if (op === "|>" || op === "!>") orFail(cursor, () => compilePatternFilter(value));
  return { value, ip: false };
}

function parseIp(cursor: Cursor): string {
  cursor.next();
  cursor.expect("(");
  const range = cursor.expect("STRING").text;
  cursor.expect(")");
  return range;
}

function parseStage(cursor: Cursor): Stage {
  const token = cursor.token;
  switch (token.kind) {
    case "json":
    case "logfmt":
      return parseFieldParser(cursor, token.kind);
    case "regexp": {
      cursor.next();
      const pattern = cursor.expect("STRING").text;
      checkPattern(cursor, pattern);
      if (compileRe2(pattern).names.length === 0)
        cursor.failWith("at least one named capture must be supplied", cursor.peek(-1));
      return { type: "regexp", pattern };
    }
    case "pattern": {
      cursor.next();
      const pattern = cursor.expect("STRING").text;
      orFail(cursor, () => compilePattern(pattern));
      return { type: "pattern", pattern };
    }
    case "unpack":
      cursor.next();
      return { type: "unpack" };
    case "decolorize":
      cursor.next();
      return { type: "decolorize" };
    case "line_format": {
      cursor.next();
      const template = cursor.expect("STRING").text;
      orFail(cursor, () => parseTemplate(template));
      return { type: "lineFormat", template };
    }
    case "label_format":
      return parseLabelFormat(cursor);
    case "drop":
    case "keep":
      return parseDropKeep(cursor, token.kind);
    case "IDENTIFIER":
    case "(":
      return { type: "labelFilter", filter: parseLabelFilter(cursor) };
    default:
      return cursor.fail();
  }
}

function parseFieldParser(cursor: Cursor, type: "json" | "logfmt"): Stage {
  cursor.next();
  let strict = false;
  let keepEmpty = false;
  while (type === "logfmt" && cursor.is("FLAG")) {
    const flag = cursor.next();
    if (flag.text === "--strict") strict = true;
    else if (flag.text === "--keep-empty") keepEmpty = true;
    else cursor.failWith(`syntax error: unexpected ${flag.text}`, flag);
  }
  const extractions: { label: string; path: string }[] = [];
  if (cursor.is("IDENTIFIER")) {
    do {
      const label = cursor.expect("IDENTIFIER").text;
      const path = cursor.accept("=") ? cursor.expect("STRING").text : label;
      extractions.push({ label, path });
    } while (cursor.accept(","));
  }
  return { type, strict, keepEmpty, extractions };
}

function parseLabelFormat(cursor: Cursor): Stage {
  cursor.next();
  const assignments: LabelAssignment[] = [];
  do {
    const label = cursor.expect("IDENTIFIER").text;
    cursor.expect("=");
    if (cursor.is("IDENTIFIER")) assignments.push({ label, from: cursor.next().text });
    else if (cursor.is("STRING")) {
      const template = cursor.next().text;
      orFail(cursor, () => parseTemplate(template));
      assignments.push({ label, template });
    } else cursor.fail("IDENTIFIER", "STRING");
  } while (cursor.accept(","));
  const seen = new Set<string>();
  for (const { label } of assignments) {
    if (seen.has(label)) {
      throw new LogQLParseError(`multiple label name '${label}' not allowed in a single format operation`);
    }
    seen.add(label);
  }
  return { type: "labelFormat", assignments };
}

function parseDropKeep(cursor: Cursor, type: "drop" | "keep"): Stage {
  cursor.next();
  const items: { name: string; matcher?: StreamMatcher }[] = [];
  do {
    const name = cursor.expect("IDENTIFIER").text;
    if (MATCH_OPS.includes(cursor.token.kind)) {
      const op = cursor.next().kind as StreamMatcher["op"];
      const matcher: StreamMatcher = { name, op, value: cursor.expect("STRING").text };
      checkRegexp(cursor, matcher);
      items.push({ name, matcher });
    } else items.push({ name });
  } while (cursor.accept(","));
  return { type, items };
}

/** Label filters: `or` binds loosest; a comma is an `and`. */
export function parseLabelFilter(cursor: Cursor): LabelFilter {
  let left = parseLabelConjunction(cursor);
  while (cursor.accept("or")) {
    cursor.countOperator();
    left = { type: "or", left, right: parseLabelConjunction(cursor) };
  }
  return left;
}

function parseLabelConjunction(cursor: Cursor): LabelFilter {
  let left = parseLabelPredicate(cursor);
  while (cursor.is("and", ",") || (cursor.is("IDENTIFIER") && !cursor.token.call)) {
    cursor.countOperator();
    // Two filters side by side are an `and` too.
    if (!cursor.is("IDENTIFIER")) cursor.next();
    left = { type: "and", left, right: parseLabelPredicate(cursor) };
  }
  return left;
}

function parseLabelPredicate(cursor: Cursor): LabelFilter {
  if (cursor.accept("(")) {
    const inner = cursor.nested(() => parseLabelFilter(cursor));
    cursor.expect(")");
    return inner;
  }
  const label = cursor.expect("IDENTIFIER").text;
  const op = cursor.token.kind;
  if (!MATCH_OPS.includes(op) && NUMBER_OPS[op] === undefined) cursor.fail();
  cursor.next();
  if (cursor.is("STRING")) {
    if (!MATCH_OPS.includes(op)) cursor.fail("BYTES", "NUMBER", "DURATION");
    const matcher: StreamMatcher = { name: label, op: op as StreamMatcher["op"], value: cursor.next().text };
    checkRegexp(cursor, matcher);
    return { type: "string", matcher };
  }
  const numberOp = NUMBER_OPS[op];
  if (numberOp === undefined) return cursor.fail("STRING");
  if (cursor.token.call && cursor.token.text === "ip" && (op === "=" || op === "!=")) {
    return { type: "ip", label, negated: op === "!=", range: parseIp(cursor) };
  }
  const negative = cursor.accept("-") !== undefined;
  const value = cursor.token;
  const sign = negative ? -1 : 1;
  switch (value.kind) {
    case "NUMBER":
      cursor.next();
      return { type: "number", label, op: numberOp, value: sign * value.value, unit: "number" };
    case "DURATION":
      cursor.next();
      return { type: "number", label, op: numberOp, value: (sign * value.value) / 1000, unit: "duration" };
    case "BYTES":
      cursor.next();
      return { type: "number", label, op: numberOp, value: value.value, unit: "bytes" };
    default:
      return cursor.fail(...(op === "=" || op === "!=" ? [] : ["BYTES", "NUMBER", "DURATION"]));
  }
}

/** Runs a compiler of a nested language; what it throws becomes a parse error at the string that holds it. */
function orFail(cursor: Cursor, compile: () => unknown): void {
  try {
    compile();
  } catch (error) {
    cursor.failWith(error instanceof Error ? error.message : String(error), cursor.peek(-1));
  }
}
