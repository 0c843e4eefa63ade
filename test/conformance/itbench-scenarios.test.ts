/** ITBench's own scenario files, run as they are by the rule-based playbook through the command line. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli } from "../harness/cli/support.js";
import { temporaryFolder } from "../harness/support/fixtures.js";
import { SHARED } from "../harness/support/shared.js";

const NUMBERS = [2, 20, 24, 30, 58, 105, 114];
const TRIALS = 2;
const there = existsSync(SHARED);

describe.skipIf(!there)(there ? "ITBench's scenarios" : "ITBench's scenarios (skipped: ../shared is not there)", () => {
  it("the playbook resolves at least 5 of 7, and the same way in each trial", { timeout: 300_000 }, async () => {
    const out = join(temporaryFolder(), "run");
    const files = NUMBERS.map((number) => join(SHARED, "data/itbench/scenarios", `${number}.json`));
    const options = ["--model", "playbook", "--trials", String(TRIALS), "--concurrency", "2", "--out", out, "--json"];
    const { code, out: json, err } = await cli(["run", "--scenario", files.join(","), ...options]);
    expect([code, err.includes("environment-error")]).toEqual([0, false]);
    const { trials, summary } = JSON.parse(json);
    expect(summary).toMatchObject({ trials: NUMBERS.length * TRIALS, scenarios: NUMBERS.length });
    const resolved = NUMBERS.filter((number) =>
      trials
        .filter((trial: { scenario: string }) => trial.scenario === `sre-${number}`)
        .every((trial: { resolved: number }) => trial.resolved === 1),
    );
    expect(resolved.length).toBeGreaterThanOrEqual(5);
    for (const trial of trials) expect([trial.scenario, trial.warnings]).toEqual([trial.scenario, []]);
    for (const number of NUMBERS) {
      const [first, ...others] = Array.from({ length: TRIALS }, (_, index) => events(out, number, index + 1));
      for (const other of others) expect(other).toEqual(first);
    }
  });
});

/** A transcript without the times of its events. */
function events(run: string, number: number, trial: number): unknown[] {
  const file = join(run, "trials", `sre-${number}`, String(trial), "transcript.jsonl");
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines.map((line) => {
    const { time: _, ...event } = JSON.parse(line);
    return event;
  });
}
