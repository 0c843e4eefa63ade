import { describe, expect, it } from "vitest";
import { Random } from "../../../testbed/random.js";
import { compileRe2, isTame, type Re2, Re2Error } from "../../../testbed/telemetry/re2.js";

describe("RE2 patterns", () => {
  it.each<[string, string, boolean, { anchored?: boolean; dotAll?: boolean }?]>([
    ["error", "an error here", true],
    ["error", "an ERROR here", false],
    ["(?i)error", "an ERROR here", true],
    ["warn|(?i:err)or", "ERRor", true],
    ["cart", "cart-1", false, { anchored: true }],
    ["cart", "cart", true, { anchored: true }],
    ["cart.*", "cart-1", true, { anchored: true }],
    ["a|b", "ab", false, { anchored: true }],
    ["a.b", "a\nb", false],
    ["a.b", "a\nb", true, { dotAll: true }],
    ["", "", true, { anchored: true }],
    ["", "x", false, { anchored: true }],
    ["[[:digit:]]+ms", "12ms", true],
    ["\\Qa.b\\E", "a.b", true],
    ["\\Qa.b\\E", "axb", false],
    ["é+", "caféé", true],
    ["a{2}", "aa", true],
    ['"level":"error"', '{"level":"error"}', true],
  ])("%j on %j: %s", (pattern, text, expected, options) => {
    expect(compileRe2(pattern, options).test(text)).toBe(expected);
  });

  it("gives groups", () => {
    const match = compileRe2("(?P<verb>\\w+) (?P<path>/\\S*)( x)?").exec("did GET /cart");
    expect(match?.groups).toEqual(["GET /cart", "GET", "/cart", undefined]);
    expect(match?.named).toEqual({ verb: "GET", path: "/cart" });
    expect(compileRe2("(?P<b>b)(?P<a>a)").names).toEqual(["b", "a"]);
    expect(compileRe2("x").exec("y")).toBeUndefined();
    expect(compileRe2("x", { anchored: true }).exec("xx")).toBeUndefined();
  });

  it.each([
    ["(\\w+)/v(\\d)", "/api/v1", "$2:$1", "/1:api"],
    ["(?P<n>\\d)", "a1b2", "<$n>", "a<1>b<2>"],
    ["b*", "abc", "-", "-a-c-"],
    ["(a)", "aab", "$" + "{1}1", "a1a1b"],
    ["x", "xx", "$1$$", "$$"],
    ["(.)", "ab", "$1x", ""],
  ])("replaces %j in %j by %j", (pattern, text, replacement, expected) => {
    expect(compileRe2(pattern).replaceAll(text, replacement)).toBe(expected);
  });

  it("replaces by exactly a text, and counts", () => {
    expect(compileRe2("\\d").replaceLiteral("a1b2", "$0")).toBe("a$0b$0");
    expect(compileRe2("\\d").count("a1b22")).toBe(3);
  });

  it.each([
    ["[x", "missing closing ]: `[x`"],
    ["a(", "missing closing ): `a(`"],
    ["(?=a)", "invalid or unsupported Perl syntax: `(?=`"],
    ["(a)\\1", "invalid escape sequence: `\\1`"],
    ["a**", "invalid nested repetition operator: `**`"],
    ["*a", "missing argument to repetition operator: `*`"],
  ])("refuses %j as Go does", (pattern, reason) => {
    expect(() => compileRe2(pattern)).toThrow(Re2Error);
    expect(() => compileRe2(pattern)).toThrow(`error parsing regexp: ${reason}`);
  });

  it.each(["(a+)+$", "(a|aa)+$", "(.*)*x", "(?:[a-z]+)*!x", "(\\w+\\s?)*$x"])(
    "answers %j in linear time",
    (pattern) => {
      const started = performance.now();
      compileRe2(pattern).test(`${"a".repeat(2000)}!`);
      // A backtracking engine takes longer than the age of the universe.
      expect(performance.now() - started).toBeLessThan(2000);
    },
  );

  it.each<[string, boolean]>([
    ["(?i)error|fail|refused", true],
    ["5\\d\\d", true],
    ["status=(500|503)", true],
    ["error.*refused", true],
    ["[a-z]+x", true],
    ["a{1,3}b?", true],
    ["a.*b.*c", false],
    ["(a+)+$", false],
    ["(a|aa)+$", false],
    ["(ab)*", false],
    ["(a{2}){30}", false],
    ["a{1000}a*", false],
  ])("%j is left to a backtracking engine: %s", (pattern, expected) => expect(isTame(pattern)).toBe(expected));

  it("answer alike whichever engine runs them", () => {
    const random = new Random("engines");
    let compared = 0;
    const parts = [
      "a",
      "b",
      ".",
      "\\d",
      "[ab]",
      "[^a]",
      "(a|b)",
      "(?i:A)",
      ".*",
      "a*",
      "b+",
      "a?",
      "x{1,2}",
      "^",
      "$",
      "|",
      "\\.",
      "(?P<n>a)",
      "-",
    ];
    for (let i = 0; i < 2000; i++) {
      const pattern = Array.from({ length: 1 + random.int(5) }, () => random.pick(parts)).join("");
      const text = Array.from({ length: random.int(8) }, () =>
        random.pick(["a", "b", "A", "x", "1", ".", "-", "\n"]),
      ).join("");
      for (const anchored of [false, true]) {
        let compiled: Re2;
        try {
          compiled = compileRe2(pattern, { anchored });
        } catch (error) {
          expect(error).toBeInstanceOf(Re2Error);
          continue;
        }
        compared++;
        // exec always runs on RE2.
        const expected = compiled.exec(text) !== undefined;
        expect([pattern, text, anchored, compiled.test(text)]).toEqual([pattern, text, anchored, expected]);
      }
    }
    expect(compared).toBeGreaterThan(2000);
  });
});
