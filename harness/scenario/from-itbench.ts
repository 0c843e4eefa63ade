/** Reads a scenario of ITBench's scenario index (JSON), with its ground truth from the folder beside it. */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { checkDocument, type FileDocument } from "./document.js";
import { ScenarioFileError } from "./errors.js";
import { asRecord, type LoadedGroundTruth, readGroundTruth, readSolutions } from "./ground-truth.js";
import { reconcile } from "./reconcile.js";
import { COMPLEXITIES, type LoadedScenario, PERSONAS, scenarioSchema } from "./schema.js";

const injection = z.object({ id: z.string().min(1), args: z.record(z.unknown()).default({}) });

/** What of the index's file is used; fields beside these are let pass. */
const indexSchema = z.object({
  id: z.union([z.number().int(), z.string().min(1)]),
  category: z.enum(PERSONAS).default("sre"),
  complexity: z.string().optional(),
  description: z.string().min(1),
  alerts: z.array(z.union([z.string(), z.object({ id: z.string() }), z.object({ name: z.string() })])).default([]),
  environment: z.object({
    applications: z.array(z.object({ id: z.string().min(1), args: z.record(z.unknown()).optional() })).min(1),
  }),
  disruptions: z
    .array(
      z.object({
        injections: z.array(injection).min(1),
        waitFor: z
          .object({ preInjection: z.array(injection).optional(), postInjection: z.array(injection).optional() })
          .optional(),
      }),
    )
    .default([]),
  solutions: z.unknown().optional(),
  tags: z.array(z.string()).default([]),
});

const KNOWN_FIELDS = ["id", "category", "complexity", "description", "alerts", "environment", "applications"].concat([
  "disruptions",
  "injections",
  "waitFor",
  "preInjection",
  "postInjection",
  "solutions",
  "tags",
  "args",
]);

/** The paper's and the index's words for a level. */
const LEVELS: Record<string, (typeof COMPLEXITIES)[number]> = { low: "easy", medium: "medium", high: "hard" };

/** Whether a document has the shape of the index's scenarios rather than of ours. */
export function isIndexScenario({ value, file }: FileDocument): boolean {
  const record = asRecord(value);
  if (!record || "persona" in record) return false;
  if (/\.json$/i.test(file)) return true;
  return ["category", "index", "platforms", "$schema"].some((key) => key in record) || typeof record.id === "number";
}

/** @throws ScenarioFileError that names every field that is wrong. */
export function fromIndex(document: FileDocument): LoadedScenario {
  const index = checkDocument(document, indexSchema, KNOWN_FIELDS);
  const number = typeof index.id === "number" ? index.id : Number(/\d+$/.exec(index.id)?.[0] ?? Number.NaN);
  const key = Number.isNaN(number) ? String(index.id) : String(number);
  const warnings: string[] = [];
  const level = levelOf(index.complexity);
  if (index.complexity !== undefined && !level) warnings.push(`complexity "${index.complexity}" is unknown; left out`);

  const disruptions = index.disruptions.map(({ injections, waitFor }) => ({
    ...(waitFor?.preInjection ? { preInjection: waitFor.preInjection } : {}),
    injections,
    ...(waitFor?.postInjection ? { postInjection: waitFor.postInjection } : {}),
  }));
  const files = groundTruthFiles(document.file, key);
  const read = (file: string | undefined) => (file === undefined ? undefined : readOrWarn(file, warnings));
  const v2 = read(files.v2);
  const { truth, warnings: odd } = reconcile(disruptions, read(files.v1), v2);
  warnings.push(...odd);

  const solutions = readSolutions(index.solutions);
  const raw = {
    id: /^\d+$/.test(key) ? `${index.category}-${key}` : key.toLowerCase(),
    persona: index.category,
    description: index.description,
    complexity: level ? { level } : {},
    tags: index.tags,
    provenance: { source: "ITBench", ...(Number.isNaN(number) ? {} : { itbench_scenario: number }) },
    environment: index.environment,
    disruptions,
    alerts: index.alerts.map((alert) => (typeof alert === "string" ? alert : "id" in alert ? alert.id : alert.name)),
    ground_truth: truth,
    solutions: solutions.length > 0 ? solutions : (v2?.solutions ?? []),
  };
  const scenario = checkDocument({ ...document, value: raw }, scenarioSchema, KNOWN_FIELDS);
  return { scenario, file: document.file, format: "itbench-index", warnings };
}

function levelOf(word: string | undefined): (typeof COMPLEXITIES)[number] | undefined {
  const lower = word?.toLowerCase();
  return COMPLEXITIES.find((level) => level === lower) ?? (lower === undefined ? undefined : LEVELS[lower]);
}

/** `scenario_N.v1.yaml` and `.v2.yaml` (or one without a version) in `../groundtruth`, or in the same folder. */
function groundTruthFiles(file: string, key: string): { v1?: string; v2?: string } {
  const folder = dirname(file);
  const places = ["groundtruth", "ground_truth", "groundtruths"].map((name) => join(folder, "..", name));
  const stems = [...new Set([`scenario_${key}`, `scenario-${key}`, basename(file).replace(/\.[^.]+$/, "")])];
  const find = (suffixes: string[]) => {
    for (const place of [...places, folder]) {
      for (const stem of stems) {
        for (const suffix of suffixes) {
          const candidate = join(place, `${stem}${suffix}`);
          if (candidate !== file && existsSync(candidate)) return candidate;
        }
      }
    }
    return undefined;
  };
  const v1 = find([".v1.yaml", ".v1.yml", ".v1.json", ".groundtruth.yaml", ".ground_truth.yaml"]);
  const v2 = find([".v2.yaml", ".v2.yml", ".v2.json"]);
  return { ...(v1 ? { v1 } : {}), ...(v2 ? { v2 } : {}) };
}

/** A scenario runs without its ground truth's chain; a broken file of it is worth a warning. */
function readOrWarn(file: string, warnings: string[]): LoadedGroundTruth | undefined {
  try {
    return readGroundTruth(file);
  } catch (error) {
    if (!(error instanceof ScenarioFileError)) throw error;
    warnings.push(`${error.message}: left out`);
    return undefined;
  }
}
