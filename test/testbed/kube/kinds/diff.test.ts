import { describe, expect, it } from "vitest";
import { jsonDiff } from "../../../../testbed/kube/kinds/diff.js";

describe("a change of JSON as a unified diff", () => {
  it("shows three lines around a change", () => {
    const before = { a: 1, b: 2, c: 3, d: { e: 4 }, f: 5, g: 6, h: 7 };
    expect(jsonDiff(before, { ...before, d: { e: 9 } })).toBe(
      '@@ -3,7 +3,7 @@\n  "b": 2,\n  "c": 3,\n  "d": {\n-  "e": 4\n+  "e": 9\n  },\n  "f": 5,\n  "g": 6,\n',
    );
  });
  it("says nothing of equals", () => {
    expect(jsonDiff({ a: [1] }, { a: [1] })).toBe("");
  });
  it("splits changes that are far apart", () => {
    const list = Array.from({ length: 30 }, (_, i) => i);
    const changed = list.map((n) => (n === 2 || n === 25 ? -n : n));
    expect(jsonDiff(list, changed).match(/^@@/gm)).toHaveLength(2);
  });
});
