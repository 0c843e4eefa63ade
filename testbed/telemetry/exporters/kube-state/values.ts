/** Small conversions that all kinds share. */
import { quantityValue } from "../../../kube/quantity.js";
import type { Labels } from "../../metrics.js";
import type { Write } from "../object-cache.js";

/** Seconds since the epoch of an RFC 3339 time; undefined when there is none. */
export function seconds(time: string | undefined | null): number | undefined {
  if (!time) return undefined;
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? undefined : ms / 1000;
}

/** Writes the sample when there is a value. */
export function writeIf(write: Write, metric: string, labels: Labels, value: number | undefined): void {
  if (value !== undefined) write(metric, labels, value);
}

export const flag = (condition: unknown): number => (condition ? 1 : 0);

/** One series for each possible value, 1 for the one that holds. */
export function writeEnum(
  write: Write,
  metric: string,
  labels: Labels,
  label: string,
  values: readonly string[],
  actual: string | undefined,
): void {
  for (const value of values) write(metric, { ...labels, [label]: value }, flag(value === actual));
}

const CONDITION_STATES = ["true", "false", "unknown"] as const;

/** A condition's status as three series. */
export function writeCondition(write: Write, metric: string, labels: Labels, label: string, status: string): void {
  writeEnum(write, metric, labels, label, CONDITION_STATES, status.toLowerCase());
}

/** kube-state-metrics' names of resources and their units. */
export function resourceUnit(resource: string): { resource: string; unit: string } {
  const name = resource.replace(/[^a-zA-Z0-9_]/g, "_");
  if (resource === "cpu") return { resource: name, unit: "core" };
  if (resource === "memory" || resource.endsWith("storage") || resource.startsWith("hugepages-")) {
    return { resource: name, unit: "byte" };
  }
  if (resource.startsWith("attachable-volumes-") || resource === "pods" || resource.includes("/")) {
    return { resource: name, unit: "integer" };
  }
  return { resource: name, unit: "" };
}

/** Requests, limits, capacity: one series a resource. */
export function writeResources(
  write: Write,
  metric: string,
  labels: Labels,
  resources: Readonly<Record<string, string>> | undefined,
): void {
  for (const [name, quantity] of Object.entries(resources ?? {})) {
    write(metric, { ...labels, ...resourceUnit(name) }, quantityValue(quantity));
  }
}

/** The controlling owner, or the first. */
export function owners(object: {
  metadata: { ownerReferences?: { kind: string; name: string; controller?: boolean }[] };
}) {
  const references = object.metadata.ownerReferences ?? [];
  if (references.length === 0) return [{ owner_kind: "", owner_name: "", owner_is_controller: "" }];
  return references.map(({ kind, name, controller }) => ({
    owner_kind: kind,
    owner_name: name,
    owner_is_controller: String(controller ?? false),
  }));
}
