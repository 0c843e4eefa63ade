import { describe, expect, it } from "vitest";
import { valueMatches } from "../../tools/label-match.js";

describe("valueMatches", () => {
  it.each([
    ["cart", "cart", true],
    ["car", "cart", false],
    ["cart|ad", "ad", true],
    ["(?i)CART", "cart", true],
    [".*", "", true],
    ["fr.*", "frontend", true],
    ["[", "anything", true],
  ])("%s against %s: %s", (pattern, value, expected) => {
    expect(valueMatches(pattern, value)).toBe(expected);
  });

  it("answers a pattern that would keep a backtracking engine busy for ever", () => {
    expect(valueMatches("(a+)+", `${"a".repeat(100)}!`)).toBe(false);
  });
});
