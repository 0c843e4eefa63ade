/** `itbench compare`: two runs side by side. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Comparison, compareRuns, RunFolderError, RunStore, type StoredRun } from "../run/index.js";
import { EXIT } from "./errors.js";
import { type Colors, colorsFor, type Io } from "./io.js";
import { type Column, renderTable } from "./table.js";

export function compareCommand(a: string, b: string, options: { json?: boolean }, io: Io): number {
  const comparison = compareRuns(openRun(a), openRun(b));
  if (comparison.total.pairs === 0) {
    throw new RunFolderError(`${a} and ${b} have no trial of the same scenario in common: there is nothing to compare`);
  }
  io.out(options.json ? `${JSON.stringify(comparison, null, 2)}\n` : comparisonText(comparison, colorsFor(io)));
  return EXIT.ok;
}

/** A run folder, by its path or by its name under `runs/`. @throws RunFolderError when it holds no run */
function openRun(folder: string): StoredRun {
  const path = [resolve(folder), resolve("runs", folder)].find((one) => existsSync(one));
  const store = path === undefined ? undefined : new RunStore(path);
  const run = store?.read();
  if (!run || !store) throw new RunFolderError(`${folder} holds no run: give the folder that \`itbench run\` named`);
  return { name: run.name, configuration: run.configuration, trials: store.trials() };
}

type Section = Comparison["total"];

function comparisonText(comparison: Comparison, c: Colors): string {
  const { a, b, options, scenarios, total } = comparison;
  const lines = [`${c.bold("A")} ${a}`, `${c.bold("B")} ${b}`, ""];
  if (options.length === 0) lines.push("No option differs.");
  for (const { path, a: left, b: right } of options) lines.push(`${path}: ${show(left)} -> ${show(right)}`);
  lines.push("");
  const rows = scenarios.map((scenario) => [scenario.scenario, ...cells(scenario, c)]);
  const titles = ["SCENARIO", "PAIRS", "DIAGNOSIS", "MITIGATION", "RESOLVED", "FALSE ALARM", "STEPS", "TOKENS"];
  const columns = titles.map((title, index) => ({ title, align: index === 0 ? "left" : "right" }) as Column);
  const text = [lines.join("\n"), renderTable(columns, [...rows, ["all", ...cells(total, c)]]), summary(total)];
  for (const id of comparison.changed_scenarios) {
    text.push(`${id} is not the same scenario in both runs: left out\n`);
  }
  const unpaired = comparison.only_in_a + comparison.only_in_b;
  if (unpaired > 0)
    text.push(`Left out: ${comparison.only_in_a} trials only in A, ${comparison.only_in_b} only in B\n`);
  return text.join("\n");
}

function cells(section: Section, c: Colors): string[] {
  const rate = (value: Section["diagnosis"]) => {
    if (value === null) return c.dim("-");
    const text = `${value.a.passed} -> ${value.b.passed} of ${value.a.total}`;
    return value.only_a + value.only_b === 0 ? text : c.bold(text);
  };
  const mean = ({ a, b }: Section["steps"]) => `${number(a)} -> ${number(b)}`;
  return [
    String(section.pairs),
    rate(section.diagnosis),
    rate(section.mitigation),
    rate(section.resolved),
    rate(section.false_alarm),
    mean(section.steps),
    mean(section.tokens),
  ];
}

/** The differences of all pairs, in words. */
function summary(total: Section): string {
  const names = ["diagnosis", "mitigation", "resolved", "false_alarm"] as const;
  const lines = names.flatMap((name) => {
    const value = total[name];
    if (value === null) return [];
    const points = value.difference * 100;
    const split = `${value.only_a} pairs only in A, ${value.only_b} only in B`;
    return [`  ${name.replace("_", " ").padEnd(12)} ${signed(points)} points  (${split})`];
  });
  for (const name of ["steps", "tokens"] as const) {
    lines.push(`  ${name.padEnd(12)} ${signed(total[name].difference)} in the mean`);
  }
  return `B against A, over ${total.pairs} ${total.pairs === 1 ? "pair" : "pairs"}:\n${lines.join("\n")}\n`;
}

function show(value: unknown): string {
  return value === null || value === undefined ? "none" : typeof value === "string" ? value : JSON.stringify(value);
}

function signed(value: number): string {
  const text = number(Math.abs(value));
  return Number(text) === 0 ? "±0" : `${value < 0 ? "-" : "+"}${text}`;
}

function number(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}
