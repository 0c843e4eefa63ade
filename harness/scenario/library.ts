/** Finds scenarios: by id in the package's library, by path, or several at once by pattern. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { packageFile } from "../../paths.js";
import { checkDocument, readDocument } from "./document.js";
import { groupMatcher } from "./entity.js";
import { ScenarioFileError, UnknownScenarioError } from "./errors.js";
import { fromIndex, isIndexScenario } from "./from-itbench.js";
import { type LoadedScenario, PERSONAS, type Scenario, scenarioSchema } from "./schema.js";
import { suggest } from "./suggest.js";

const LIST_FIX = "`itbench scenarios list` shows what there is; a file is named by its path";

/** Ids and files of the package's own library, by persona and number. */
export function libraryScenarios(): { id: string; file: string }[] {
  return PERSONAS.flatMap((persona) => {
    const folder = packageFile("scenarios", persona);
    const names = existsSync(folder) ? readdirSync(folder).filter((name) => /\.ya?ml$/.test(name)) : [];
    return names
      .map((name) => ({ id: name.replace(/\.ya?ml$/, ""), file: join(folder, name) }))
      .sort((a, b) => a.id.localeCompare(b.id, "en", { numeric: true }));
  });
}

/**
 * `sre-24`, or the path of a scenario file: our YAML, or a JSON file of ITBench's scenario index.
 * @throws UnknownScenarioError with names near a mistyped one; ScenarioFileError for a file that cannot be used.
 */
export function findScenario(reference: string): LoadedScenario {
  if (looksLikePath(reference)) return loadScenario(reference);
  const library = libraryScenarios();
  const entry = library.find(({ id }) => id === reference.toLowerCase());
  if (entry) return loadScenario(entry.file);
  if (existsSync(reference) && statSync(reference).isFile()) return loadScenario(reference);
  throw new UnknownScenarioError(
    reference,
    suggest(
      reference,
      library.map(({ id }) => id),
    ),
    LIST_FIX,
  );
}

/**
 * References as a command line has them: ids, paths, folders, patterns with `*` and `?` (over ids or file names), and
 * lists of those with commas. Keeps the order; the same file counts once.
 * @throws as findScenario; UnknownScenarioError for a pattern that matches nothing.
 */
export function findScenarios(references: readonly string[]): LoadedScenario[] {
  const found = new Map<string, LoadedScenario>();
  for (const reference of references.flatMap((text) => (existsSync(text) ? [text] : splitList(text)))) {
    for (const loaded of expand(reference)) found.set(loaded.file, loaded);
  }
  const byId = new Map<string, LoadedScenario>();
  for (const loaded of found.values()) {
    const twin = byId.get(loaded.scenario.id);
    if (twin) {
      throw new ScenarioFileError(loaded.file, [
        { field: "id", problem: `"${loaded.scenario.id}" is also the id of ${twin.file}`, fix: "run one of the two" },
      ]);
    }
    byId.set(loaded.scenario.id, loaded);
  }
  return [...found.values()];
}

/** Reads one scenario file of either format. */
export function loadScenario(path: string): LoadedScenario {
  const file = resolve(path);
  const document = readDocument(file);
  if (isIndexScenario(document)) return fromIndex(document);
  const scenario = checkDocument(document, scenarioSchema, KNOWN_FIELDS);
  return { scenario, file, format: "itbench-baselines", warnings: warningsOf(scenario) };
}

const KNOWN_FIELDS = [
  ...Object.keys(scenarioSchema.shape),
  ...Object.keys(scenarioSchema.shape.ground_truth.removeDefault().shape),
  ...["injections", "preInjection", "postInjection", "applications", "args", "kind", "namespace", "name", "filter"],
  ...["root_cause", "steps", "command", "text", "level", "chain_length", "resolution_steps", "technologies"],
  ...["source", "target", "condition", "effect", "itbench_scenario", "note", "may_remove", "group_id", "metadata"],
];

function warningsOf(scenario: Scenario): string[] {
  const { groups, aliases, propagations, alerts } = scenario.ground_truth;
  const ids = new Set(groups.map((group) => group.id));
  const used = [
    ...aliases.flat().map((id) => ["aliases", id]),
    ...propagations.flatMap(({ source, target }) => [source, target].map((id) => ["propagations", id])),
    ...alerts.flatMap(({ group_id }) => (group_id ? [["alerts", group_id]] : [])),
  ] as [string, string][];
  const warnings = used
    .filter(([, id]) => !ids.has(id))
    .map(([where, id]) => `ground_truth.${where} names "${id}", which is no group`);
  for (const { group, invalid } of groups.map(groupMatcher)) {
    for (const { filter } of invalid) {
      warnings.push(`ground_truth.groups ${group.id}: filter "${filter}" is no regular expression; matched literally`);
    }
  }
  if (scenario.disruptions.length > 0 && !groups.some((group) => group.root_cause)) {
    warnings.push("ground_truth.groups names no root cause: every diagnosis will be wrong");
  }
  return warnings;
}

function expand(reference: string): LoadedScenario[] {
  if (existsSync(reference) && statSync(reference).isDirectory()) {
    const files = scenarioFiles(reference);
    if (files.length > 0) return files.map(loadScenario);
    throw new UnknownScenarioError(reference, [], "the folder holds no .yaml or .json file");
  }
  if (!/[*?]/.test(reference)) return [findScenario(reference)];
  const pattern = wildcard(basename(reference));
  const files = reference.includes("/")
    ? scenarioFiles(dirname(reference)).filter((file) => pattern.test(basename(file)))
    : libraryScenarios().flatMap(({ id, file }) => (pattern.test(id) ? [file] : []));
  if (files.length === 0) throw new UnknownScenarioError(reference, [], `the pattern matches nothing; ${LIST_FIX}`);
  return files.map(loadScenario);
}

function scenarioFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /\.(ya?ml|json)$/i.test(name))
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .map((name) => join(folder, name));
}

function wildcard(pattern: string): RegExp {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "i");
}

function looksLikePath(reference: string): boolean {
  return /[/\\]/.test(reference) || /\.(ya?ml|json)$/i.test(reference);
}

function splitList(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
