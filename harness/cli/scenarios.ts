/** `itbench scenarios list | show | validate` */

import { missingSupport } from "../run/support.js";
import {
  aliasSets,
  complexityOf,
  findScenario,
  findScenarios,
  type LoadedScenario,
  libraryScenarios,
  loadScenario,
  ScenarioFileError,
  UnknownScenarioError,
} from "../scenario/index.js";
import { EXIT } from "./errors.js";
import { colorsFor, type Io } from "./io.js";
import { renderTable, wrap } from "./table.js";

interface JsonOption {
  json?: boolean;
}

export async function listCommand(references: string[], options: JsonOption, io: Io): Promise<number> {
  const found = references.length > 0 ? findScenarios(references) : library();
  const loaded = await Promise.all(
    found.map(async (entry) => ({ ...describe(entry), missing: await missingSupport(entry.scenario) })),
  );
  if (options.json) {
    io.out(`${JSON.stringify(loaded, null, 2)}\n`);
    return EXIT.ok;
  }
  const rows = loaded.map(({ id, complexity, application, title, description, missing }) => {
    const what = title ?? description;
    const room = Math.max(20, io.columns - 52);
    const short = what.length > room ? `${what.slice(0, room - 1).trimEnd()}…` : what;
    return [id, complexity, application, missing.length === 0 ? "yes" : "no", short];
  });
  const columns = [
    { title: "SCENARIO" },
    { title: "LEVEL" },
    { title: "APPLICATION" },
    { title: "RUNS" },
    { title: "WHAT" },
  ];
  io.out(renderTable(columns, rows));
  const lacking = [...new Set(loaded.flatMap(({ missing }) => missing))].sort();
  if (lacking.length > 0) io.out(`\nRUNS no: the simulated testbed does not have\n  ${lacking.join("\n  ")}\n`);
  return EXIT.ok;
}

export async function showCommand(reference: string, options: JsonOption, io: Io): Promise<number> {
  const loaded = findScenario(reference);
  const missing = await missingSupport(loaded.scenario);
  const { scenario } = loaded;
  const complexity = complexityOf(scenario);
  if (options.json) {
    io.out(`${JSON.stringify({ ...loaded, complexity, missing }, null, 2)}\n`);
    return EXIT.ok;
  }
  const c = colorsFor(io);
  const head = (text: string) => `\n${c.bold(text)}\n`;
  const width = Math.min(io.columns, 100);
  const { groups, aliases, propagations } = scenario.ground_truth;
  const sets = aliasSets(
    groups.map((group) => group.id),
    aliases,
  );
  const name = (id: string) => {
    const group = groups.find((entry) => entry.id === id);
    return group ? `${group.kind} ${group.name ?? group.filter?.[0] ?? id}` : id;
  };
  io.out(`${c.bold(scenario.id)}  ${scenario.title ?? ""}\n${wrap(scenario.description, width)}\n`);
  io.out(head("About"));
  const from = scenario.provenance.itbench_scenario;
  io.out(
    renderTable(
      [{ title: "" }, { title: "" }],
      [
        ["persona", scenario.persona],
        ["application", applications(loaded)],
        ["level", levelText(complexity)],
        ["source", `${scenario.provenance.source ?? ""}${from === undefined ? "" : `, scenario ${from}`}` || "own"],
        ["file", loaded.file],
        ["runs here", missing.length === 0 ? "yes" : `no: the simulated testbed lacks ${missing.join("; ")}`],
      ],
      "  ",
    ).replace(/^\s*\n/, ""),
  );
  io.out(head("Fault"));
  const injections = scenario.disruptions.flatMap((disruption) => disruption.injections);
  if (injections.length === 0) io.out("  none: a healthy environment\n");
  for (const injection of injections) io.out(`  ${injection.id} ${JSON.stringify(injection.args)}\n`);
  io.out(head("Alerts that tell of it"));
  io.out(`  ${scenario.alerts.join(", ") || "any"}\n`);
  io.out(head("Root causes"));
  for (const group of groups.filter((entry) => entry.root_cause)) {
    const set = sets.find((ids) => ids.includes(group.id)) ?? [];
    const also = set.filter((id) => id !== group.id).map(name);
    io.out(`  ${group.namespace ?? "*"}/${group.kind}/${group.name ?? group.filter?.join("|")}`);
    io.out(`${also.length > 0 ? c.dim(`  (also ${also.join(", ")})`) : ""}\n`);
  }
  if (propagations.length > 0) io.out(head("How it spreads"));
  for (const { source, target, effect } of propagations) io.out(`  ${name(source)} -> ${name(target)}: ${effect}\n`);
  if (scenario.solutions.length > 0) io.out(head("How it is solved"));
  for (const variants of scenario.solutions) {
    variants.forEach((variant, index) => {
      for (const step of variant.steps) {
        io.out(
          `  ${index > 0 ? "or: " : ""}${step.text ?? ""}${step.command ? `\n      ${c.cyan(step.command)}` : ""}\n`,
        );
      }
    });
  }
  for (const warning of loaded.warnings) io.err(`warning: ${warning}\n`);
  return EXIT.ok;
}

/** Checks each file by itself, so that all problems are seen at once. Exit code 2 when a file cannot be used. */
export async function validateCommand(references: string[], options: JsonOption, io: Io): Promise<number> {
  const given = references.length > 0 ? references : libraryScenarios().map(({ file }) => file);
  const flat = (await Promise.all(given.map(check))).flat();
  const failed = flat.filter((result) => result.problem !== undefined).length;
  if (options.json) {
    io.out(`${JSON.stringify(flat, null, 2)}\n`);
  } else {
    const c = colorsFor(io);
    for (const { reference, id, problem, warnings } of flat) {
      if (problem !== undefined) io.err(`${c.red("invalid")}  ${problem}\n`);
      else io.out(`${c.green("valid")}    ${id}  ${c.dim(reference)}\n`);
      for (const warning of warnings) io.out(`         ${c.yellow("warning")}: ${warning}\n`);
    }
    io.out(`${flat.length - failed} valid, ${failed} invalid\n`);
  }
  return failed > 0 ? EXIT.usage : EXIT.ok;
}

interface Validation {
  reference: string;
  id?: string;
  problem?: string;
  warnings: string[];
}

async function check(reference: string): Promise<Validation[]> {
  try {
    const found = findScenarios([reference]).map(async ({ scenario, file, warnings }) => {
      // Such a scenario is a right one all the same: another testbed may have what it needs.
      const lacking = (await missingSupport(scenario)).map((part) => `does not run here: no ${part}`);
      return { reference: file, id: scenario.id, warnings: [...warnings, ...lacking] };
    });
    return await Promise.all(found);
  } catch (error) {
    if (!(error instanceof ScenarioFileError) && !(error instanceof UnknownScenarioError)) throw error;
    return [{ reference, problem: error.message, warnings: [] }];
  }
}

function library(): LoadedScenario[] {
  return libraryScenarios().map(({ file }) => loadScenario(file));
}

function describe(loaded: LoadedScenario) {
  const { scenario, file } = loaded;
  const { level, computed, value } = complexityOf(scenario);
  return {
    id: scenario.id,
    persona: scenario.persona,
    complexity: level,
    computed_complexity: computed,
    complexity_value: Math.round(value * 100) / 100,
    application: applications(loaded),
    title: scenario.title ?? null,
    description: scenario.description,
    faults: scenario.disruptions.flatMap((disruption) => disruption.injections.map((injection) => injection.id)),
    file,
  };
}

function applications({ scenario }: LoadedScenario): string {
  return scenario.environment.applications.map((application) => application.id).join(", ");
}

function levelText({
  level,
  computed,
  value,
  chainLength,
  resolutionSteps,
  technologies,
}: ReturnType<typeof complexityOf>) {
  const product = `cube root of ${chainLength} (chain) x ${resolutionSteps} (steps) x ${technologies} (technologies)`;
  return `${level}; computed ${computed} (${value.toFixed(2)}: ${product})`;
}
