import { describe, expect, it } from "vitest";
import { goRegex, RegexError } from "../../../testbed/telemetry/regex.js";

describe("goRegex", () => {
  const cases: [pattern: string, text: string, matches: boolean][] = [
    ["a.c", "a\nc", false],
    ["(?s)a.c", "a\nc", true],
    ["(?s:a.)c", "a\nc", true],
    ["(?i)abc", "ABC", true],
    ["x(?i)abc", "xABC", true],
    ["x(?i)abc", "XABC", false],
    ["x(?i:abc)d", "xABCD", false],
    ["x(?i:a[b-d])d", "xADd", true],
    ["(?P<name>a+)b", "aab", true],
    ["[[:alpha:]_]+", "ab_", true],
    ["[[:digit:]]+", "ab", false],
    ["\\Qa.b\\E", "axb", false],
    ["\\Qa.b\\E", "a.b", true],
    ["a\\-b\\_c", "a-b_c", true],
    ["\\Aab\\z", "ab", true],
    ["\\x61\\x{62}", "ab", true],
    ["\\pL+", "äb", true],
    ["a{,2}", "a{,2}", true],
    ["a{2}", "aa", true],
    ["[]a]+", "]a", true],
    ["[^]a]", "]", false],
    ["{foo}", "{foo}", true],
    ["(?U)a+", "aa", true],
    ["a|b", "xb", false],
    ["[a&&b]", "&", true],
    ["[[:^digit:]]+", "a\u00a0", true],
    ["[[:^digit:]]", "1", false],
    ["[\\S]", "\u00a0", true],
    ["\\s", "\u00a0", false],
    ["[\\s]", "\v", false],
    ["[[:space:]]", "\v", true],
    ["a\\b?", "a", true],
    ["\\z*a\\A*", "a", true],
    ["^*a$+", "a", true],
    ["(?m)^?a$?", "a", true],
  ];
  it.each(cases)("%s on %j: %s", (pattern, text, matches) => {
    expect(goRegex(pattern, { anchored: true }).test(text)).toBe(matches);
  });
  it.each(["a(b", "a)", "[a", "(?=a)", "(?<!a)", "\\1", "a**", "*a", "\\", "[[:nope:]]", "\\y"])(
    "refuses %s",
    (pattern) => {
      expect(() => goRegex(pattern)).toThrow(RegexError);
    },
  );
});
