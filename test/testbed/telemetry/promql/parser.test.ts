import { describe, expect, it } from "vitest";
import type { Expr } from "../../../../testbed/telemetry/promql/index.js";
import {
  formatDuration,
  PromqlParseError,
  parse,
  parseDuration,
  parseSelector,
  print,
} from "../../../../testbed/telemetry/promql/index.js";

/** The tree as text, all parentheses shown. */
function show(expr: Expr): string {
  switch (expr.kind) {
    case "number":
      return String(expr.value);
    case "string":
      return JSON.stringify(expr.value);
    case "selector":
      return expr.name ?? "{}";
    case "matrix":
      return `${show(expr.selector)}[]`;
    case "subquery":
      return `${show(expr.expr)}[:]`;
    case "call":
      return `${expr.name}(${expr.args.map(show).join(", ")})`;
    case "aggregation":
      return `${expr.op}(${[expr.parameter, expr.expr].flatMap((e) => (e ? show(e) : [])).join(", ")})`;
    case "binary":
      return `(${show(expr.left)} ${expr.op} ${show(expr.right)})`;
    case "unary":
      return `${expr.op}${show(expr.expr)}`;
    case "paren":
      return show(expr.expr);
  }
}

describe("precedence", () => {
  it.each([
    ["a + b * c", "(a + (b * c))"],
    ["a * b + c", "((a * b) + c)"],
    ["a ^ b ^ c", "(a ^ (b ^ c))"],
    ["-a ^ b", "-(a ^ b)"],
    ["-a * b", "(-a * b)"],
    ["a - b - c", "((a - b) - c)"],
    ["a or b and c unless d", "(a or ((b and c) unless d))"],
    ["a > b + c", "(a > (b + c))"],
    ["a % b atan2 c", "((a % b) atan2 c)"],
    ["a offset 5m + b", "(a + b)"],
    ["sum by (x) (a) / on (x) group_left sum(b)", "(sum(a) / sum(b))"],
    ["sum(a) by (x)", "sum(a)"],
    ["sum", "sum"],
    ["and + unless", "(and + unless)"],
    ["offset", "offset"],
    ["topk(3, rate(a[5m]))", "topk(3, rate(a[]))"],
    ["max_over_time(rate(a[5m])[1h:30s])", "max_over_time(rate(a[])[:])"],
    ["5m", "300"],
    ["0x1F + 1e3", "(31 + 1000)"],
    ["a:b:c{x='y'} # comment\n + 1", "(a:b:c + 1)"],
    ['{"a.b", "c d"="e"}', "a.b"],
  ])("%s", (query, tree) => {
    expect(show(parse(query))).toBe(tree);
  });
});

describe("errors say where and what", () => {
  it.each([
    ["", "no expression"],
    ["a +", "1:4: parse error: unexpected end of input"],
    ["sum(a", "1:6"],
    ["a{b=c}", "1:5"],
    ["a{b=~'('}", "error parsing regexp"],
    ["{}", "at least one non-empty matcher"],
    ["{x=~'.*'}", "at least one non-empty matcher"],
    ["rate(a)", 'expected type range vector in call to function "rate", got instant vector'],
    ["a[5m]", undefined],
    ["a[5m] + 1", "binary expression must contain only scalar and instant vector"],
    ["1 == 1", "must use BOOL modifier"],
    ["1 and a", 'set operator "and" not allowed'],
    ["a and on(x) group_left b", "no grouping allowed"],
    ["nope(a)", 'unknown function with name "nope"'],
    ["rate(a[5m], 2)", "argument(s) in call to"],
    ["a[5x]", "bad number or duration"],
    ["a[0s]", "duration must be greater than 0"],
    ["a offset 5m offset 5m", "offset may not be set multiple times"],
    ["sum(a)[5m]", "ranges only allowed for vector selectors"],
    ["label_replace(a, 'x', 'y', 'z')", "got 4"],
    ["'a' + 1", "binary expression must contain only"],
    ["a\n  + )", "2:5"],
    ["a{b='c'", "unexpected end of input in label matching"],
    ["limitk(1, a)", "experimental"],
    ["a[5m] anchored", "experimental"],
    ['"\\q"', "unknown escape"],
    ["'open", "unterminated"],
    [`${"(".repeat(5000)}a${")".repeat(5000)}`, "nested too deeply"],
    [`${"-".repeat(5000)}a`, "nested too deeply"],
    [`a[${"(".repeat(5000)}5m${")".repeat(5000)}]`, "nested too deeply"],
    ["a </ 2", "native histograms, which are not supported"],
    ["a * on (x) group_right (b) atan2 - 2", "unexpected <atan2>"],
    ["on", "unexpected <on>"],
    ["a $ b", "unexpected character: '$'"],
  ])("%s", (query, message) => {
    if (message === undefined) return void expect(() => parse(query)).not.toThrow();
    expect(() => parse(query)).toThrow(PromqlParseError);
    expect(() => parse(query)).toThrow(message);
  });
});

describe("print", () => {
  it.each([
    [
      "sum(rate(a{x='1',y=~\"b\"}[5m]))by(x,y)/on(x)group_left(z)b",
      'sum by (x, y) (rate(a{x="1",y=~"b"}[5m])) / on (x) group_left (z) b',
    ],
    ["sum\n  without (x)\n (a) # note", "sum without (x) (a)"],
    ["count by () (a)", "count(a)"],
    ["topk(3,a offset 90s)", "topk(3, a offset 1m30s)"],
    ["-(a)^2 == bool -1", "-(a) ^ 2 == bool -1"],
    ["a @ 1.5 offset -5m", "a @ 1.500 offset -5m"],
    ["max_over_time(a[1h:] @ end())", "max_over_time(a[1h:] @ end())"],
    ["a or ignoring(x) b and on() c", "a or ignoring (x) b and on () c"],
    ["{'a.b','c d'='e'}", '{"a.b","c d"="e"}'],
    ["{__name__=~'a|b'}", '{__name__=~"a|b"}'],
    ["label_replace(a,'x','$1','y','(.*)')", 'label_replace(a, "x", "$1", "y", "(.*)")'],
    ["a + fill_left(1) b", "a + fill_left (1) b"],
    ["1e3 * 0x10 + Inf", "1000 * 16 + +Inf"],
    ["rate(a[step() * 2 + 1m] smoothed)", "rate(a[(step() * 2s) + 1m] smoothed)"],
  ])("%s", (query, text) => {
    const printed = print(parse(query, { experimental: true }));
    expect(printed).toBe(text);
    expect(print(parse(printed, { experimental: true }))).toBe(text);
  });
});

it("reads selectors for match[]", () => {
  expect(parseSelector('up{job=~"a|b"}')).toEqual([
    { name: "job", op: "=~", value: "a|b" },
    { name: "__name__", op: "=", value: "up" },
  ]);
  expect(() => parseSelector("up + 1")).toThrow("expected a metric selector");
});

it.each([
  ["5m", 300_000],
  ["1h30m", 5_400_000],
  ["1d", 86_400_000],
  ["1w", 604_800_000],
  ["500ms", 500],
  ["0", 0],
  ["5", undefined],
  ["m5", undefined],
  ["5m1h", undefined],
  ["", undefined],
])("duration %s", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
  if (ms !== undefined && ms > 0) expect(parseDuration(formatDuration(ms))).toBe(ms);
});
