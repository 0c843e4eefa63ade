import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/fixtures.js";
import { cli } from "./support.js";

function file(text: string): string {
  const path = join(temporaryFolder(), "rules.yaml");
  writeFileSync(path, text);
  return path;
}

const RULES = `groups:
  - name: mine
    rules:
      - record: pods:running
        expr: sum(kube_pod_status_phase{phase="Running"})
      - alert: Built
        expr: pods:running < 1
      - alert: Lacking
        expr: no_such_metric > 1
      - alert: Busy
        expr: pods:running > 1
`;

describe("rules check", () => {
  it("says which rules lack metrics, and which are active in health", async () => {
    const { code, out } = await cli(["rules", "check", file(RULES), "--json"]);
    expect(code).toBe(0);
    const rules: { rule: string; missing: string[]; active: boolean }[] = JSON.parse(out).rules;
    expect(rules.map(({ rule, missing, active }) => [rule, missing, active])).toEqual([
      ["pods:running", [], false],
      ["Built", [], false],
      ["Lacking", ["no_such_metric"], false],
      ["Busy", [], true],
    ]);
    const { out: text } = await cli(["rules", "check", file(RULES)]);
    expect(text).toContain("4 rules: 0 cannot be evaluated, 1 active in health, 1 read metrics");
    expect(text).toContain("missing  mine / Lacking: no_such_metric");
  });

  it.each([
    ["a rule that is no PromQL", "groups: [{name: a, rules: [{alert: A, expr: 'sum('}]}]", /rules\.yaml.*\ba\b.*A/s],
    ["a file that is no YAML", "groups: [", /rules\.yaml/],
  ])("refuses %s by name", async (_name, text, message) => {
    const { code, err } = await cli(["rules", "check", file(text)]);
    expect(code).toBe(2);
    expect(err).toMatch(message);
  });

  it("refuses a file that is not there", async () => {
    const { code, err } = await cli(["rules", "check", "nowhere.yaml"]);
    expect([code, err]).toEqual([2, expect.stringContaining("nowhere.yaml: cannot be read (ENOENT)")]);
  });
});
