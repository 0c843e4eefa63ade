import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageFile } from "../../../../paths.js";
import { runScript } from "./runner.js";

const folder = packageFile("test", "testbed", "telemetry", "logql");

for (const file of readdirSync(folder)
  .filter((name) => name.endsWith(".test"))
  .sort()) {
  describe(file, () => {
    const evaluations = runScript(readFileSync(join(folder, file), "utf8"));
    it("holds evaluations", () => expect(evaluations.length).toBeGreaterThan(0));
    for (const { line, query, actual, expected, partial } of evaluations) {
      it(`${line}: ${query}`, () => {
        if (partial) expect(actual[0]).toContain(expected.join("\n"));
        // Series of a vector stand in no order, except where the query sorts.
        else if (/^(sort|topk|bottomk|\{)/.test(query)) expect(actual).toEqual(expected);
        else expect([...actual].sort()).toEqual([...expected].sort());
      });
    }
  });
}

describe("the test language", () => {
  it("tells a wrong expectation from a right one", () => {
    const [evaluation] = runScript(
      'hide detected_level\nload 10s\n  {a="b"} - x\neval logs from 0s to 1m {a="b"}\n  {a="b"} 0s y\n',
    );
    expect(evaluation!.actual).toEqual(['{a="b"} 0s x']);
    expect(evaluation!.actual).not.toEqual(evaluation!.expected);
  });
  it.each(["nonsense", 'load x\n  {a="b"} - x', "load 1s\n  no stream", "eval what"])("refuses %j", (script) => {
    expect(() => runScript(script)).toThrow();
  });
});
