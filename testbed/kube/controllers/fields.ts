/** Small helpers for writing API fields the way Go's `omitempty` does, and for int-or-percent values. */

/** Sets `field` when the value says something (not 0, "", undefined, an empty list), else removes it. */
export function setOrOmit(target: Record<string, any>, field: string, value: unknown): void {
  const empty = value === undefined || value === 0 || value === "" || (Array.isArray(value) && value.length === 0);
  if (empty) delete target[field];
  else target[field] = value;
}

/** `25%` of `total`, or the plain number; percentages round up or down as asked. */
export function intOrPercent(value: number | string | undefined, total: number, round: "up" | "down"): number {
  if (value === undefined) return 0;
  if (typeof value === "number") return value;
  if (!value.endsWith("%")) return Number(value) || 0;
  const exact = (Number(value.slice(0, -1)) * total) / 100;
  return round === "up" ? Math.ceil(exact) : Math.floor(exact);
}

/** Deep equality of JSON values. */
export function same(a: any, b: any): boolean {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a)) return a.length === b.length && a.every((item: any, i: number) => same(item, b[i]));
  const keys = Object.keys(a).filter((key) => a[key] !== undefined);
  if (keys.length !== Object.keys(b).filter((key) => b[key] !== undefined).length) return false;
  return keys.every((key) => same(a[key], b[key]));
}

/** Go's `time.Duration` text for whole seconds: `10s`, `1m20s`, `5m0s`, `1h0m0s`. */
export function goDuration(seconds: number): string {
  const s = Math.floor(seconds);
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m${s % 60}s`;
  return `${Math.floor(s / 3600)}h${Math.floor((s % 3600) / 60)}m${s % 60}s`;
}

/** Go's `time.Duration` text for milliseconds: `850ms`, `1.204s`, `1m2.5s`. */
export function goMilliseconds(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = Number(((ms - minutes * 60_000) / 1000).toFixed(3));
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}
