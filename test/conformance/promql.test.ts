/** Prometheus' own PromQL tests. The minimum per file may only rise. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { packageFile } from "../../paths.js";
import type { Outcome } from "./promqltest.js";
import { runScript } from "./promqltest.js";

const folder = packageFile("..", "shared", "data", "promqltest");
const present = existsSync(folder);
const MINIMUM: Record<string, number> = {};

describe.skipIf(!present)(present ? "promqltest" : "promqltest (skipped: ../shared/data/promqltest is absent)", () => {
  const totals = { passed: 0, failed: 0, native: 0 };
  for (const file of present ? readdirSync(folder).filter((name) => name.endsWith(".test")) : []) {
    it(file, () => {
      const outcomes = runScript(readFileSync(join(folder, file), "utf8"));
      const count = (kind: Outcome["kind"]): number => outcomes.filter((outcome) => outcome.kind === kind).length;
      for (const kind of ["passed", "failed", "native"] as const) totals[kind] += count(kind);
      if (process.env.PROMQLTEST_VERBOSE) {
        for (const { kind, line, query, problem } of outcomes) {
          if (kind === "failed") console.log(`${file}:${line} ${query}\n    ${problem?.slice(0, 600)}`);
        }
        console.log(`  "${file}": ${count("passed")}, // failed ${count("failed")}, native ${count("native")}`);
      }
      expect(count("passed")).toBeGreaterThanOrEqual(MINIMUM[file] ?? 0);
    });
  }
  afterAll(() => {
    console.log(
      `promqltest: ${totals.passed} of ${totals.passed + totals.failed} evaluations on floats pass; ` +
        `${totals.native} on native histograms are not supported`,
    );
  });
});
