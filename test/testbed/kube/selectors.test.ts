import { describe, expect, it } from "vitest";
import { labelsMatch, parseFieldSelector, parseSelector, selectorOf } from "../../../testbed/kube/selectors.js";

const labels = { app: "web", tier: "front", "example.com/n": "5" };

describe("label selectors", () => {
  it.each([
    ["app=web", true],
    ["app==web", true],
    ["app=db", false],
    ["app!=db", true],
    ["other!=x", true],
    ["app=web,tier!=back", true],
    ["tier in (front,back)", true],
    ["tier in (front, back), app", true],
    ["tier notin (front)", false],
    ["missing notin (a)", true],
    ["app", true],
    ["!app", false],
    ["!missing", true],
    ["example.com/n>4", true],
    ["example.com/n<5", false],
    ["app=", false],
    ["", true],
  ])("%s", (text, expected) => {
    expect(parseSelector(text)(labels)).toBe(expected);
  });

  it.each<[string, string | RegExp]>([
    ["app in web", /^unable to parse requirement/],
    ["=x", /^unable to parse requirement/],
    ["a b", /^unable to parse requirement/],
    ["app>x", /^unable to parse requirement/],
    ["bad key=1", /^unable to parse requirement/],
    ["app in (", "unable to parse requirement: found '', expected: ',' or ')'"],
    ["a=b,,c=d", "found ',', expected: identifier after ','"],
    ["a=b,", "found '', expected: identifier after ','"],
    ["a=b=c", "found '=', expected: ',' or 'end of string'"],
  ])("%j is refused", (text, why) => {
    expect(() => parseSelector(text)).toThrow(why);
  });

  it("treats a missing selector as nothing, an empty one as everything", () => {
    expect(selectorOf(undefined)(labels)).toBe(false);
    expect(selectorOf({})(labels)).toBe(true);
    expect(labelsMatch({}, labels)).toBe(false);
    expect(labelsMatch({ app: "web" }, labels)).toBe(true);
  });

  it.each([
    [{ key: "tier", operator: "In", values: ["front"] }, true],
    [{ key: "tier", operator: "NotIn", values: ["front"] }, false],
    [{ key: "app", operator: "Exists" }, true],
    [{ key: "app", operator: "DoesNotExist" }, false],
  ])("expression %j", (expression, expected) => {
    expect(selectorOf({ matchExpressions: [expression] })(labels)).toBe(expected);
  });
});

describe("field selectors", () => {
  it("splits terms, with escapes", () => {
    expect(parseFieldSelector("status.phase=Running,spec.nodeName!=a,metadata.name==x\\,y")).toEqual([
      { field: "status.phase", value: "Running", negative: false },
      { field: "spec.nodeName", value: "a", negative: true },
      { field: "metadata.name", value: "x,y", negative: false },
    ]);
  });
  it("refuses what is no comparison", () => {
    expect(() => parseFieldSelector("status.phase")).toThrow(/can't understand/);
  });
});
