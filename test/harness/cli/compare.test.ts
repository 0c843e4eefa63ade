/** Attempts, runbooks and comparison on the command line, on the real testbed with the rule-based playbook. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { findScenario } from "../../../harness/scenario/index.js";
import { packageFile } from "../../../paths.js";
import { temporaryFolder } from "../support/fixtures.js";
import { cli } from "./support.js";

vi.setConfig({ testTimeout: 120_000 });

const run = (out: string, ...more: string[]) => ["run", "--scenario", "sre-24", "--out", out, ...more];

it("two runs that differ in one factor, the second with the notes of the first", async () => {
  const folder = temporaryFolder();
  const [a, b, notes] = ["a", "b", "notes"].map((name) => join(folder, name)) as [string, string, string];
  expect((await cli(run(a, "--save-incidents", notes))).code).toBe(0);
  expect(readdirSync(notes)).toEqual([expect.stringMatching(/^incident-[0-9a-f]{12}\.md$/)]);

  const second = await cli(run(b, "--attempts", "2", "--runbooks", notes, "--watch", "--json"));
  expect(second.code).toBe(0);
  expect(second.err).toMatch(/Attempt 1 of 2[\s\S]*found in runbooks: incident-[\s\S]*Attempt 1 verified/);
  const { trials, configuration, summary } = JSON.parse(second.out);
  expect(trials[0]).toMatchObject({ attempts: 1, mitigation: 1 });
  expect(summary.effort.attempts.mean).toBe(1);
  expect(configuration).toMatchObject({ attempts: 2, runbooks: { folder: notes, files: 1, top: 3 } });

  // What the author of the scenario wrote down stands nowhere in what the model was told.
  const transcript = readFileSync(join(b, "trials", "sre-24", "1", "transcript.jsonl"), "utf8");
  const { scenario } = findScenario("sre-24");
  const said = [
    scenario.title,
    scenario.description,
    ...scenario.ground_truth.propagations.flatMap(({ condition, effect }) => [condition, effect]),
    ...scenario.solutions.flat().flatMap(({ steps }) => steps.map((step) => step.text)),
    ...scenario.disruptions.flatMap(({ injections }) => injections.map((injection) => injection.id)),
  ].filter((text): text is string => text !== undefined && text.length > 12);
  expect(said.length).toBeGreaterThan(3);
  expect(said.filter((text) => transcript.includes(JSON.stringify(text).slice(1, -1)))).toEqual([]);

  const compared = await cli(["compare", a, b]);
  expect(compared).toMatchObject({ code: 0, err: "" });
  expect(compared.out).toContain("attempts: 1 -> 2");
  expect(compared.out).toMatch(/^sre-24 +1 +1 -> 1 of 1 +1 -> 1 of 1 +1 -> 1 of 1 +- /m);
  const machine = await cli(["compare", a, b, "--json"]);
  expect(JSON.parse(machine.out)).toMatchObject({ a: "a", b: "b", total: { pairs: 1, resolved: { difference: 0 } } });

  const refused = await cli(run(b, "--resume", "--attempts", "3", "--runbooks", notes));
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("attempts: 2 -> 3")]);
});

it("a healthy twin stands beside, not among, the scores", async () => {
  const { code, out, err } = await cli(run(join(temporaryFolder(), "run"), "--healthy"));
  expect(code).toBe(0);
  expect(out).toMatch(/FALSE ALARM/);
  expect(out).toMatch(/^sre-24-healthy +1 +- +- +- +no /m);
  expect(out).toMatch(/false alarm +0\.0 % +0\/1/);
  expect(out).not.toMatch(/^ +(diagnosis|resolved) /m);
  expect(err).toContain("no false alarm");
});

describe("wrong usage exits with 2 and says what to do", () => {
  const folder = () => {
    const made = join(temporaryFolder(), "x");
    mkdirSync(made);
    return made;
  };
  const withFile = (name: string) => {
    const made = folder();
    writeFileSync(join(made, name), "groups: []\npropagations: []\n");
    return made;
  };
  it.each([
    ["no folder of runbooks", () => ["--runbooks", "/nowhere/at/all"], /there is no folder/],
    ["runbooks of the library", () => ["--runbooks", packageFile("scenarios")], /scenario library/],
    ["a ground truth among the runbooks", () => ["--runbooks", withFile("notes.md")], /notes\.md.*ground truth/],
    ["no attempts", () => ["--attempts", "0"], /whole number, 1 or more/],
    ["a total without a price", () => ["--total-cost", "1", "--model", "ollama:x"], /--total-cost: the price/],
  ])("%s", async (_what, more, message) => {
    const { code, err } = await cli(run(join(temporaryFolder(), "run"), ...more()));
    expect([code, err]).toEqual([2, expect.stringMatching(message)]);
  });
  it.each([
    ["no run", () => ["compare", folder(), folder()], /holds no run/],
    ["one folder", () => ["compare", folder()], /missing required argument/],
  ])("%s", async (_what, args, message) => {
    const { code, err } = await cli(args());
    expect([code, err]).toEqual([2, expect.stringMatching(message)]);
  });
});
