/** How the server prints values in the cells of its tables. */
import type { KubeObject } from "../objects.js";

/** A duration as Kubernetes shortens it: 45s, 3m20s, 5h12m, 2d3h, 400d. @param ms milliseconds */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 60 * 2) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return pair(minutes, "m", seconds % 60, "s");
  if (minutes < 60 * 3) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return pair(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  if (hours < 24 * 8) return pair(Math.trunc(hours / 24), "d", hours % 24, "h");
  if (hours < 24 * 365 * 2) return `${Math.trunc(hours / 24)}d`;
  if (hours < 24 * 365 * 8) return pair(Math.trunc(hours / 24 / 365), "y", Math.trunc(hours / 24) % 365, "d");
  return `${Math.trunc(hours / 24 / 365)}y`;
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}

/** Age of a time, `<unknown>` when there is none. */
export function since(time: string | undefined | null, now: number): string {
  return time ? humanDuration(now - Date.parse(time)) : "<unknown>";
}

export const age = (object: KubeObject, now: number): string => since(object.metadata.creationTimestamp, now);

/** `a=b,c=d`, sorted; `<none>` when empty. */
export function labelText(labels: Record<string, string> | undefined): string {
  const parts = Object.keys(labels ?? {})
    .sort()
    .map((key) => `${key}=${labels![key]}`);
  return parts.length === 0 ? "<none>" : parts.join(",");
}

/** A label selector as text: `app=web,tier in (a,b),!old`; `<none>` for the empty one. */
export function selectorText(selector: any): string {
  if (selector === undefined || selector === null) return "<none>";
  const parts = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => [key, `${key}=${value}`]);
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    const list = [...values].sort().join(",");
    if (operator === "In") parts.push([key, values.length === 1 ? `${key} in (${list})` : `${key} in (${list})`]);
    else if (operator === "NotIn") parts.push([key, `${key} notin (${list})`]);
    else if (operator === "Exists") parts.push([key, key]);
    else parts.push([key, `!${key}`]);
  }
  if (parts.length === 0) return "<none>";
  return parts
    .sort((a, b) => (a[0]! < b[0]! ? -1 : a[0]! > b[0]! ? 1 : 0))
    .map((p) => p[1])
    .join(",");
}

/** Names and images of a pod template's containers, comma separated. */
export function containerCells(containers: any[] | undefined): [string, string] {
  const list = containers ?? [];
  return [list.map((c) => c.name ?? "").join(","), list.map((c) => c.image ?? "").join(",")];
}
