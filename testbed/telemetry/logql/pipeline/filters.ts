/** Stages that keep or drop lines: line filters and label filters. */

import { compileRe2 } from "../../re2.js";
import type { LabelFilter, LineFilterOperand, NumberOp, Stage, StreamMatcher } from "../ast.js";
import { parseBytes, parseDuration, parseNumber } from "../units.js";
import { compileIpRange, findIps } from "./ip.js";
import { ERROR_LABEL, type LineContext, type LineStage } from "./line.js";
import { compilePatternFilter } from "./pattern.js";

export function lineFilterStage(stage: Extract<Stage, { type: "lineFilter" }>): LineStage {
  const kind = stage.op[1] === "=" ? "text" : stage.op[1] === "~" ? "regexp" : "pattern";
  const tests = stage.alternatives.map((operand) => lineTest(kind, operand));
  const first = tests[0]!;
  const any = tests.length === 1 ? first : (text: string) => tests.some((test) => test(text));
  return stage.op[0] === "!" ? (line) => !any(line.text) : (line) => any(line.text);
}

function lineTest(kind: "text" | "regexp" | "pattern", operand: LineFilterOperand): (text: string) => boolean {
  if (operand.ip) {
    const inRange = compileIpRange(operand.value);
    return (text) => findIps(text).some(inRange);
  }
  if (kind === "text") return (text) => text.includes(operand.value);
  if (kind === "pattern") return compilePatternFilter(operand.value);
  const expression = compileRe2(operand.value);
  return (text) => expression.test(text);
}

/** A matcher on a label's value; a label that is not there counts as empty. */
export function compileMatcher(matcher: Pick<StreamMatcher, "op" | "value">): (value: string | undefined) => boolean {
  if (matcher.op === "=") return (value) => (value ?? "") === matcher.value;
  if (matcher.op === "!=") return (value) => (value ?? "") !== matcher.value;
  const expression = compileRe2(matcher.value, { anchored: true, dotAll: true });
  return matcher.op === "=~" ? (value) => expression.test(value ?? "") : (value) => !expression.test(value ?? "");
}

export function labelFilterStage(filter: LabelFilter): LineStage {
  switch (filter.type) {
    case "and": {
      const [left, right] = [labelFilterStage(filter.left), labelFilterStage(filter.right)];
      return (line) => left(line) && right(line);
    }
    case "or": {
      const [left, right] = [labelFilterStage(filter.left), labelFilterStage(filter.right)];
      return (line) => left(line) || right(line);
    }
    case "string": {
      const test = compileMatcher(filter.matcher);
      const { name } = filter.matcher;
      return (line) => test(line.get(name));
    }
    case "ip": {
      const inRange = compileIpRange(filter.range);
      return (line) => {
        if (line.error !== undefined) return true;
        const value = line.get(filter.label);
        return value !== undefined && findIps(value).some(inRange) !== filter.negated;
      };
    }
    case "number":
      return numberStage(filter);
  }
}

function numberStage(filter: Extract<LabelFilter, { type: "number" }>): LineStage {
  const compare = COMPARE[filter.op];
  const read = filter.unit === "duration" ? secondsOf : filter.unit === "bytes" ? parseBytes : parseNumber;
  return (line: LineContext) => {
    // A line that carries an error passes: only a filter on the error itself drops it.
    if (line.error !== undefined && filter.label !== ERROR_LABEL) return true;
    const text = line.get(filter.label);
    if (text === undefined || text === "") return false;
    const value = read(text);
    if (value === undefined) {
      line.fail("LabelFilterErr", `cannot read ${JSON.stringify(text)} as ${filter.unit}`);
      return true;
    }
    return compare(value, filter.value);
  };
}

function secondsOf(text: string): number | undefined {
  const duration = parseDuration(text);
  return duration === undefined ? undefined : duration / 1000;
}

const COMPARE: Readonly<Record<NumberOp, (a: number, b: number) => boolean>> = {
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
};
