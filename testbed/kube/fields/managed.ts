/**
 * Field ownership (metadata.managedFields): who set which field, for writes (operation Update) and for server-side apply.
 * Follows the updater of structured-merge-diff: an update owns what it added or changed, and takes it from the others;
 * an apply owns what its configuration names, conflicts with others who own a field with another value, and gives up
 * what it no longer names.
 */
import type { KubeObject } from "../objects.js";
import type { Type } from "../schema/types.js";
import { difference, equalSets, type FieldSet, intersection, isEmpty, members, printPath, union } from "./set.js";
import { compare, fieldSet, merge, removeFields } from "./typed.js";

export interface ManagedFieldsEntry {
  manager?: string;
  operation?: "Apply" | "Update";
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: FieldSet;
  subresource?: string;
}

/** Who writes, and through which door. */
export interface Workflow {
  manager: string;
  /** API version of the request's object. */
  apiVersion: string;
  subresource?: string;
  /** RFC 3339, now. */
  time: string;
  /** Top-level fields that this door does not write, e.g. `status`. */
  ignored: readonly string[];
}

export interface ApplyConflict {
  manager: string;
  entry: ManagedFieldsEntry;
  path: string;
}

/** Fields of others that an apply would change. */
export class ApplyConflicts extends Error {
  readonly conflicts: ApplyConflict[];
  constructor(conflicts: ApplyConflict[]) {
    super("conflicting fields");
    this.conflicts = conflicts;
  }
}

/** Update entries kept before the oldest are folded into one. */
const MAX_UPDATERS = 10;
const ANCIENT = "ancient-changes";
const BOOKKEEPING = new Set([
  "name",
  "namespace",
  "creationTimestamp",
  "selfLink",
  "uid",
  "generation",
  "managedFields",
  "resourceVersion",
]);

/** The part of an object that can be owned. */
function ownable(object: any, ignored: readonly string[]): any {
  const out: Record<string, unknown> = {};
  for (const key in object) {
    if (key === "apiVersion" || key === "kind" || ignored.includes(key)) continue;
    if (key !== "metadata") out[key] = object[key];
    else {
      const metadata: Record<string, unknown> = {};
      for (const name in object.metadata) {
        if (!BOOKKEEPING.has(name)) metadata[name] = object.metadata[name];
      }
      out.metadata = metadata;
    }
  }
  return out;
}

const identity = (e: ManagedFieldsEntry) =>
  `${e.manager ?? ""}\n${e.operation}\n${e.operation === "Apply" ? "" : e.apiVersion}\n${e.subresource ?? ""}`;

function entriesOf(object: KubeObject): Map<string, ManagedFieldsEntry> {
  const map = new Map<string, ManagedFieldsEntry>();
  for (const entry of (object.metadata.managedFields ?? []) as ManagedFieldsEntry[]) map.set(identity(entry), entry);
  return map;
}

function makeEntry(workflow: Workflow, operation: "Apply" | "Update", fieldsV1: FieldSet): ManagedFieldsEntry {
  return {
    manager: workflow.manager,
    operation,
    apiVersion: workflow.apiVersion,
    time: workflow.time,
    fieldsType: "FieldsV1",
    fieldsV1,
    ...(workflow.subresource ? { subresource: workflow.subresource } : {}),
  };
}

/** The entries after an ordinary write turned `live` into `next`. */
export function managedByUpdate(live: any, next: KubeObject, type: Type, workflow: Workflow): ManagedFieldsEntry[] {
  const entries = entriesOf(next);
  const change = compare(ownable(live, workflow.ignored), ownable(next, workflow.ignored), type);
  const written = union(change.added, change.modified);
  const mine = makeEntry(workflow, "Update", {});
  const id = identity(mine);
  takeFromOthers(entries, id, written, change.removed);
  const before = entries.get(id)?.fieldsV1 ?? {};
  const after = union(difference(before, change.removed), written);
  if (isEmpty(after)) entries.delete(id);
  else if (!equalSets(before, after)) entries.set(id, { ...mine, fieldsV1: after });
  return sorted(capped([...entries.values()]));
}

/**
 * Applies `config` to `live`.
 * @returns the merged object (not yet decoded again) and the entries
 * @throws ApplyConflicts unless `force`
 */
export function managedByApply(
  live: KubeObject,
  config: any,
  type: Type,
  workflow: Workflow,
  force: boolean,
  allowed?: FieldSet,
): { object: any; entries: ManagedFieldsEntry[] } {
  const entries = entriesOf(live);
  const part = ownable(config, workflow.ignored);
  const { metadata, ...others } = part;
  // Metadata as such belongs to nobody, only what is in it.
  const set = fieldSet(metadata === undefined || isEmpty(metadata) ? others : part, type);
  const mine = makeEntry(workflow, "Apply", set);
  const id = identity(mine);
  const before = entries.get(id)?.fieldsV1;
  let merged = merge(live, { ...part, metadata: { ...part.metadata } }, type);
  if (before && !isEmpty(before)) {
    let kept: FieldSet = set;
    for (const [key, entry] of entries) if (key !== id) kept = union(kept, entry.fieldsV1 ?? {});
    merged = removeFields(merged, type, difference(before, kept), kept);
  }
  const change = compare(ownable(live, workflow.ignored), ownable(merged, workflow.ignored), type);
  const written = union(change.added, change.modified);
  const conflicts: ApplyConflict[] = [];
  for (const [key, entry] of entries) {
    if (key === id) continue;
    let clash = intersection(entry.fieldsV1 ?? {}, written);
    if (allowed) clash = difference(clash, allowed);
    for (const path of members(clash)) {
      conflicts.push({ manager: entry.manager ?? "", entry, path: printPath(path) });
    }
  }
  if (conflicts.length > 0 && !force) throw new ApplyConflicts(conflicts);
  takeFromOthers(entries, id, written, change.removed);
  if (before && equalSets(before, set)) entries.set(id, { ...entries.get(id)!, apiVersion: workflow.apiVersion });
  else entries.set(id, mine);
  if (isEmpty(set)) entries.delete(id);
  return { object: merged, entries: sorted(capped([...entries.values()])) };
}

/** Of the fields in kubectl's last-applied annotation, those that `live` still has as they were applied. */
export function unchangedSinceLastApplied(live: KubeObject, lastApplied: any, type: Type): FieldSet {
  const applied = ownable(lastApplied, []);
  const change = compare(applied, ownable(live, []), type);
  return difference(difference(difference(fieldSet(applied, type), change.modified), change.added), change.removed);
}

function takeFromOthers(
  entries: Map<string, ManagedFieldsEntry>,
  id: string,
  written: FieldSet,
  removed: FieldSet,
): void {
  for (const [key, entry] of [...entries]) {
    if (key === id) continue;
    const before = entry.fieldsV1 ?? {};
    const left = difference(difference(before, intersection(before, written)), removed);
    if (left === before || equalSets(left, before)) continue;
    if (isEmpty(left)) entries.delete(key);
    else entries.set(key, { ...entry, fieldsV1: left });
  }
}

function capped(entries: ManagedFieldsEntry[]): ManagedFieldsEntry[] {
  const updaters = entries.filter((e) => e.operation === "Update");
  if (updaters.length <= MAX_UPDATERS) return entries;
  const oldest = sorted(updaters).slice(0, updaters.length - MAX_UPDATERS + 1);
  const folded = new Map<string, ManagedFieldsEntry>();
  for (const entry of oldest) {
    const known = folded.get(entry.apiVersion ?? "");
    folded.set(entry.apiVersion ?? "", {
      ...entry,
      manager: ANCIENT,
      fieldsV1: union(known?.fieldsV1 ?? {}, entry.fieldsV1 ?? {}),
    });
  }
  return [...entries.filter((e) => !oldest.includes(e)), ...folded.values()];
}

/** Appliers before updaters, then by time and name, as a server lists them. */
function sorted(entries: ManagedFieldsEntry[]): ManagedFieldsEntry[] {
  const text = (e: ManagedFieldsEntry) =>
    [e.operation, e.time ?? "", e.manager ?? "", e.apiVersion ?? "", e.subresource ?? ""].join("\n");
  return entries
    .map((entry) => [text(entry), entry] as const)
    .sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0))
    .map(([, entry]) => entry);
}
