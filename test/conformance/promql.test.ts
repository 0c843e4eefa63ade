/** Prometheus' own PromQL tests. The minimum per file may only rise. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { packageFile } from "../../paths.js";
import type { Outcome } from "./promqltest.js";
import { runScript } from "./promqltest.js";

const folder = packageFile("..", "shared", "data", "promqltest");
const present = existsSync(folder);
/**
 * Evaluations that pass. What fails: start timestamps (`@st`), an experiment for which the store has no column. What
 * does not count: native histograms, which the store does not hold.
 */
const MINIMUM: Record<string, number> = {
  "aggregators.test": 125,
  "at_modifier.test": 78,
  "collision.test": 2,
  "duration_expression.test": 59,
  "extended_vectors.test": 120,
  "fill-modifier.test": 46,
  "functions.test": 323,
  "histograms.test": 93,
  "info.test": 52,
  "limit.test": 1,
  "literals.test": 25,
  "name_label_dropping.test": 30,
  "native_histograms.test": 3,
  "operators.test": 142,
  "range_queries.test": 16,
  "selectors.test": 31,
  "staleness.test": 17,
  "start_timestamps.test": 2,
  "subquery.test": 32,
  "trig_functions.test": 19,
  "type_and_unit.test": 58,
};

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
      expect(count("passed")).toBeGreaterThanOrEqual(MINIMUM[file] ?? outcomes.length);
    });
  }
  afterAll(() => {
    console.log(
      `promqltest: ${totals.passed} of ${totals.passed + totals.failed} evaluations on floats pass; ` +
        `${totals.native} on native histograms are not supported`,
    );
  });
});
