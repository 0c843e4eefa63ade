/**
 * Reads ground truths in every form that ITBench's files have: flat; `itbench.io/v1` with a `spec`; flat with
 * `metadata`; `itbench.io/v2` with entities and solutions instead of groups and a chain. What is odd but usable
 * (ids that name no group, filters that are no regular expressions ...) becomes a warning, never an error.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseSource, readDocument } from "./document.js";
import { groupMatcher } from "./entity.js";
import { ScenarioFileError } from "./errors.js";
import type { GroundTruth, Group, Solution } from "./schema.js";

export interface LoadedGroundTruth {
  truth: GroundTruth;
  /** v2 files say how to solve the problem as well. */
  solutions: Solution[][];
  version: "v1" | "v2";
  warnings: string[];
}

/** @throws ScenarioFileError when the file is missing, not YAML or JSON, or holds no ground truth at all. */
export function readGroundTruth(file: string): LoadedGroundTruth {
  return toGroundTruth(readDocument(file).value, file);
}

/** The same for text at hand; `file` is for messages. */
export function parseGroundTruth(source: string, file = "ground truth"): LoadedGroundTruth {
  return toGroundTruth(parseSource(file, source).value, file);
}

const FILE_NAMES = ["ground_truth.yaml", "ground_truth.yml", "ground_truth.json", "gt.yaml", "gt.json"];
const LIST_NAMES = ["ground_truths.json", "ground_truths.yaml", "ground_truths.yml"];

/**
 * Reads all ground truths under `path`: one file, a file with a list (entries have an `id`) or a map by id, or a folder
 * of scenario folders (`Scenario-1`, `scenario_1`, `Incident-1`, `1` ...). Keys are the bare ids: `1`.
 */
export function readGroundTruths(path: string): Map<string, LoadedGroundTruth> {
  const found = new Map<string, LoadedGroundTruth>();
  if (!existsSync(path)) throw new ScenarioFileError(path, [{ problem: "no such file or folder" }]);
  if (!statSync(path).isDirectory()) {
    addContainer(readDocument(path).value, path, found);
    return found;
  }
  const list = LIST_NAMES.find((name) => existsSync(join(path, name)));
  if (list) {
    addContainer(readDocument(join(path, list)).value, join(path, list), found);
    return found;
  }
  const own = FILE_NAMES.find((name) => existsSync(join(path, name)));
  if (own) {
    found.set(bareId(path.split("/").filter(Boolean).at(-1) ?? path), readGroundTruth(join(path, own)));
    return found;
  }
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const name = entry.isDirectory()
      ? FILE_NAMES.find((candidate) => existsSync(join(path, entry.name, candidate)))
      : undefined;
    if (name) found.set(bareId(entry.name), readGroundTruth(join(path, entry.name, name)));
  }
  if (found.size === 0) {
    throw new ScenarioFileError(path, [
      { problem: "holds no ground truth", fix: `expected <scenario>/${FILE_NAMES.join(", ")}, or ${LIST_NAMES[0]}` },
    ]);
  }
  return found;
}

/** `Scenario-1`, `scenario_01`, `Incident-1`, `sre-1`, `1` -> `1`; other names stay as they are. */
export function bareId(name: string): string {
  const match = /^(?:scenario|incident|sre|finops|ciso)?[-_ ]?i?0*(\d+)$/i.exec(name.trim());
  return match ? match[1]! : name.trim();
}

function addContainer(value: unknown, file: string, found: Map<string, LoadedGroundTruth>): void {
  if (Array.isArray(value)) {
    value.forEach((entry, index) => {
      const record = asRecord(entry);
      const id = record?.id ?? record?.scenario_id ?? record?.incident_id ?? record?.scenario ?? String(index + 1);
      const body = record?.ground_truth ?? record?.groundTruth ?? record?.gt ?? entry;
      const place = `${file}[${index}]`;
      found.set(bareId(String(id)), toGroundTruth(unwrapText(body, place), place));
    });
    return;
  }
  const record = asRecord(value);
  if (record && !looksLikeTruth(record)) {
    for (const [id, body] of Object.entries(record)) {
      const place = `${file}: ${id}`;
      const inner = unwrapText(asRecord(body)?.ground_truth ?? asRecord(body)?.groundTruth ?? body, place);
      if (looksLikeTruth(asRecord(inner) ?? {})) found.set(bareId(id), toGroundTruth(inner, place));
    }
    if (found.size > 0) return;
  }
  const name = asRecord(record?.metadata)?.name;
  const id = typeof name === "string" ? name : /([^/\\]+?)(?:\.v\d)?\.(?:ya?ml|json)$/i.exec(file)?.[1];
  found.set(bareId(id ?? file), toGroundTruth(value, file));
}

/** Lists keep some ground truths as text, of JSON or of YAML. */
function unwrapText(value: unknown, file: string): unknown {
  return typeof value === "string" ? parseSource(file, value).value : value;
}

function looksLikeTruth(record: Record<string, unknown>): boolean {
  const body = asRecord(record.spec) ?? record;
  return ["groups", "entities", "propagations", "fault", "alerts", "aliases"].some((key) => Array.isArray(body[key]));
}

/** @throws ScenarioFileError when `value` holds none of the parts of a ground truth. */
export function toGroundTruth(value: unknown, file: string): LoadedGroundTruth {
  const outer = asRecord(value);
  const body = asRecord(outer?.spec) ?? outer;
  if (!outer || !body || !looksLikeTruth(outer)) {
    throw new ScenarioFileError(file, [
      { problem: "is no ground truth", fix: "expected `groups` and `propagations`, or `entities`" },
    ]);
  }
  const warnings: string[] = [];
  const warn = (text: string) => warnings.push(`${file}: ${text}`);
  const version = Array.isArray(body.groups) || !Array.isArray(body.entities) ? "v1" : "v2";
  const groups = [
    ...records(body.groups).map((entry, index) => readGroup(entry, index, warn)),
    ...records(body.entities).map((entry, index) => readEntity(entry, index, warn)),
  ].filter((group) => group !== undefined);
  const truth: GroundTruth = {
    fault: readFaults(body.fault ?? body.faults),
    alerts: readAlerts(body.alerts),
    groups: dropDuplicates(groups, warn),
    aliases: (Array.isArray(body.aliases) ? body.aliases : [])
      .filter((alias): alias is unknown[] => Array.isArray(alias))
      .map((alias) => alias.map(String)),
    propagations: records(body.propagations).flatMap((entry) => {
      const [source, target] = [entry.source ?? entry.from, entry.target ?? entry.to].map(textOf);
      if (!source || !target) {
        warn("propagations: an entry without `source` or `target` is left out");
        return [];
      }
      return [{ source, target, condition: textOf(entry.condition) ?? "", effect: textOf(entry.effect) ?? "" }];
    }),
    recommended_actions: readActions(body.recommended_actions ?? body.recommendedActions),
  };
  warnAboutIds(truth, warn);
  for (const { invalid, group } of truth.groups.map(groupMatcher)) {
    for (const { filter } of invalid) {
      warn(`group ${group.id}: filter "${filter}" is no regular expression; it is matched literally`);
    }
  }
  return { truth, solutions: readSolutions(body.solutions), version, warnings };
}

function readGroup(entry: Record<string, unknown>, index: number, warn: (text: string) => void): Group | undefined {
  const kind = textOf(entry.kind);
  const id = textOf(entry.id) ?? `group-${index + 1}`;
  const filter = (Array.isArray(entry.filter) ? entry.filter : [entry.filter ?? entry.filters ?? []])
    .flat()
    .map(textOf)
    .filter((text) => text !== undefined);
  const name = textOf(entry.name);
  if (!kind || (filter.length === 0 && !name)) {
    warn(`group ${id} has ${kind ? "neither name nor filter" : "no kind"}; it is left out`);
    return undefined;
  }
  return compact({
    id,
    kind,
    namespace: textOf(entry.namespace),
    name,
    filter: filter.length > 0 ? filter : undefined,
    root_cause: isTrue(entry.root_cause ?? entry.rootCause ?? entry.is_root_cause),
  });
}

/** A v2 entity is an object that is a root cause. */
function readEntity(entry: Record<string, unknown>, index: number, warn: (text: string) => void): Group | undefined {
  const metadata = asRecord(entry.metadata) ?? entry;
  const [kind, name, namespace] = [entry.kind, metadata.name, metadata.namespace].map(textOf);
  if (!kind || !name) {
    warn(`entities[${index}] has no ${kind ? "name" : "kind"}; it is left out`);
    return undefined;
  }
  return compact({ id: `${kind}/${name}`.toLowerCase(), kind, namespace, name, root_cause: true });
}

function dropDuplicates(groups: Group[], warn: (text: string) => void): Group[] {
  const seen = new Set<string>();
  return groups.filter((group) => {
    if (seen.has(group.id)) warn(`group ${group.id} is there twice; the first one counts`);
    return !seen.has(group.id) && seen.add(group.id);
  });
}

function readFaults(value: unknown): GroundTruth["fault"] {
  const list = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return records(list).map((fault) => {
    const entity = asRecord(fault.entity);
    return compact({
      category: textOf(fault.category),
      condition: textOf(fault.condition),
      fault_mechanism: textOf(fault.fault_mechanism ?? fault.faultMechanism),
      entity:
        entity && compact({ kind: textOf(entity.kind), name: textOf(entity.name), group_id: textOf(entity.group_id) }),
    });
  });
}

function readAlerts(value: unknown): GroundTruth["alerts"] {
  const list = Array.isArray(value) ? value : [];
  return list.flatMap((entry) => {
    const record = typeof entry === "string" ? { id: entry } : asRecord(entry);
    const id = textOf(record?.id ?? record?.name);
    if (!record || !id) return [];
    const labels = asRecord(record.labels);
    return [
      compact({
        id,
        group_id: textOf(record.group_id),
        labels: labels && Object.fromEntries(Object.entries(labels).map(([key, label]) => [key, String(label)])),
        metadata: asRecord(record.metadata),
      }),
    ];
  });
}

function readActions(value: unknown): GroundTruth["recommended_actions"] {
  return records(value).flatMap((entry) => {
    const solution = asRecord(entry.solution) ?? entry;
    const actions = (Array.isArray(solution.actions) ? solution.actions : [solution.actions])
      .map(textOf)
      .filter((text) => text !== undefined);
    return actions.length > 0 ? [{ solution: compact({ id: textOf(solution.id), actions }) }] : [];
  });
}

/** `solutions[problem][variant].steps[]`; variants without steps are left out. */
export function readSolutions(value: unknown): Solution[][] {
  if (!Array.isArray(value)) return [];
  return value
    .map((problem) =>
      records(Array.isArray(problem) ? problem : [problem]).flatMap((variant) => {
        const steps = records(variant.steps)
          .map((step) => compact({ command: textOf(step.command), text: textOf(step.text) }))
          .filter((step) => step.command !== undefined || step.text !== undefined);
        return steps.length > 0 ? [{ steps }] : [];
      }),
    )
    .filter((problem) => problem.length > 0);
}

function warnAboutIds(truth: GroundTruth, warn: (text: string) => void): void {
  const ids = new Set(truth.groups.map((group) => group.id));
  const check = (id: string, where: string) => {
    if (!ids.has(id)) warn(`${where} names "${id}", which is no group`);
  };
  for (const alias of truth.aliases) {
    for (const id of alias) check(id, "aliases");
    if (alias.length === 1) warn(`aliases: "${alias[0]}" stands alone`);
  }
  for (const { source, target } of truth.propagations) {
    check(source, "propagations");
    check(target, "propagations");
  }
  for (const { id, group_id } of truth.alerts) if (group_id !== undefined) check(group_id, `alert ${id}`);
}

export function asRecord(value: unknown): Record<string, unknown> | undefined {
  return value !== null && typeof value === "object" && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

export function records(value: unknown): Record<string, unknown>[] {
  return (Array.isArray(value) ? value : []).map(asRecord).filter((record) => record !== undefined);
}

/** A trimmed text, also of a number; undefined for everything else and for the empty text. */
export function textOf(value: unknown): string | undefined {
  const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
  return typeof text === "string" && text.trim() !== "" ? text.trim() : undefined;
}

function isTrue(value: unknown): boolean {
  return value === true || (typeof value === "string" && /^(true|yes)$/i.test(value.trim()));
}

/** Without the keys whose value is undefined. */
export function compact<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;
}
