/** Whatever a model writes as a query is answered with a result or a typed error, soon. */
import { describe, expect, it } from "vitest";
import { Random } from "../../../../testbed/random.js";
import { createLogStore } from "../../../../testbed/telemetry/log-store.js";
import { LogQLEvaluationError, LogQLParseError, queryRange } from "../../../../testbed/telemetry/logql/index.js";

const store = createLogStore();
const lines = [
  '{"level":"error","n":1}',
  'level=info msg="x" dur=5ms',
  "plain text",
  "",
  '{"a":[1,{"b":2}]}',
  '="',
  "\u001b[31mred",
];
for (const [i, line] of lines.entries()) store.append({ app: "a", pod: `p${i % 2}` }, { timeMs: i * 1000, line });

const WORDS = [
  '{app="a"}',
  "{",
  "}",
  "(",
  ")",
  "[5m]",
  "[1s]",
  ",",
  "|",
  "|=",
  "|~",
  "!=",
  "!~",
  "|>",
  "=",
  "==",
  ">",
  "<=",
  "+",
  "-",
  "*",
  "/",
  "%",
  "^",
  '"x"',
  '"(?P<n>\\\\w+)"',
  "`<a> <b>`",
  '"{{.level}}"',
  '"(["',
  "1",
  "0.5",
  "5m",
  "10KB",
  "level",
  "n",
  "dur",
  "app",
  "json",
  "logfmt",
  "--strict",
  "regexp",
  "pattern",
  "unpack",
  "line_format",
  "label_format",
  "drop",
  "keep",
  "decolorize",
  "unwrap",
  "duration(dur)",
  "rate",
  "count_over_time",
  "sum",
  "sum_over_time",
  "quantile_over_time",
  "topk",
  "avg",
  "sort",
  "by",
  "without",
  "on",
  "ignoring",
  "group_left",
  "bool",
  "and",
  "or",
  "unless",
  "offset",
  "vector",
  "label_replace",
  "absent_over_time",
  "ip",
  "#",
  "\n",
  "'",
  "\\",
  "é",
  "@",
  "$",
];

function outcome(query: string): string {
  try {
    queryRange(store, query, { startMs: 0, endMs: 20_000, stepMs: 5_000, limit: 10, direction: "backward" });
    return "answered";
  } catch (error) {
    if (error instanceof LogQLParseError || error instanceof LogQLEvaluationError) return "refused";
    throw new Error(`${JSON.stringify(query.slice(0, 300))}: ${(error as Error).message}`);
  }
}

describe("any text", () => {
  it("of random tokens is answered or refused", () => {
    const random = new Random("logql");
    for (let i = 0; i < 3000; i++) {
      const query = Array.from({ length: 1 + random.int(10) }, () => random.pick(WORDS)).join(random.pick(["", " "]));
      outcome(query);
    }
  });

  it("that is a valid query with a token taken out, doubled or changed is answered or refused", () => {
    const random = new Random("mutants");
    const valid = [
      'sum by ( app ) ( rate ( {app="a"} | json | level = "error" [5m] ) )',
      '{app="a"} |= "x" or "y" | logfmt | dur > 5ms and n = 1 | line_format "{{.msg}}" | drop n',
      'topk ( 2 , sum ( count_over_time ( {app="a"} | decolorize [1m] ) ) by ( pod ) ) / on ( pod ) group_left ( ) vector ( 2 )',
      'quantile_over_time ( 0.5 , {app="a"} | logfmt | unwrap duration ( dur ) | __error__ = "" [5m] ) by ( app )',
    ];
    let answered = 0;
    for (const query of valid) {
      expect(outcome(query)).toBe("answered");
      for (let i = 0; i < 400; i++) {
        const tokens = query.split(" ");
        const at = random.int(tokens.length);
        tokens.splice(at, random.int(2), ...(random.int(3) === 0 ? [] : [random.pick([...WORDS, tokens[at]!])]));
        if (outcome(tokens.join(" ")) === "answered") answered++;
      }
    }
    expect(answered).toBeGreaterThan(20);
  });

  it.each(["and", "or", "unless", "+", "/", "%", "^", "==", "> bool"])(
    "that puts %s between numbers and vectors is answered or refused",
    (op) => {
      const sides = ["1", "(1 + 1)", 'count_over_time({app="a"}[1m])'];
      for (const left of sides) for (const right of sides) outcome(`${left} ${op} ${right}`);
    },
  );

  it("that nests deeply is refused, not crashed on", () => {
    for (const size of [2_000, 20_000, 100_000]) {
      expect(outcome(`${"(".repeat(size)}1${")".repeat(size)}`)).toBe("refused");
      expect(outcome(`{app="a"} | ${"(".repeat(size)}n=1`)).toBe("refused");
      expect(outcome(`count_over_time(${"(".repeat(size)}{app="a"}`)).toBe("refused");
      expect(outcome(`${"1 + ".repeat(size)}1`)).toBe("refused");
      expect(outcome(`${"1 ^ ".repeat(size)}1`)).toBe("refused");
      expect(outcome(`${"sum(".repeat(size)}1`)).toBe("refused");
      expect(outcome(`{app="a"} | ${"n=1 or ".repeat(size)}n=2`)).toBe("refused");
      expect(outcome(`{app="a"} | line_format \`${"{{ (".repeat(size)}\``)).toBe("refused");
      expect(outcome(`{app="a"} | line_format \`${"{{ if .a }}".repeat(size)}\``)).toBe("refused");
      expect(outcome(`{app="a"} | line_format \`{{ ${"(".repeat(size)}.a${")".repeat(size)} }}\``)).toBe("refused");
    }
    expect(outcome(`${"(".repeat(50)}1${")".repeat(50)}${" + 1".repeat(500)}`)).toBe("answered");
  });

  it("with a pattern that would make a backtracking engine run for ever is answered", () => {
    const long = createLogStore();
    long.append({ app: "a", pod: "a".repeat(60) }, { timeMs: 0, line: `${"a".repeat(500)}!` });
    const ask = (query: string) =>
      queryRange(long, query, { startMs: 0, endMs: 1, stepMs: 1, limit: 1, direction: "backward" });
    const started = performance.now();
    for (const pattern of ["(a+)+$", "(a|aa)+$", "(.*)*x"]) {
      ask(`{app="a"} |~ "${pattern}"`);
      ask(`{app="a", pod=~"${pattern}b"}`);
      ask(`{app="a"} | regexp "(?P<n>${pattern})" | n=~"${pattern}"`);
      ask(`{app="a"} | line_format \`{{ regexReplaceAll "${pattern}" __line__ "" }}\``);
    }
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
