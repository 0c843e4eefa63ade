/** Times as a model writes them. */
import { ToolFailure } from "./context.js";
import { timestamp } from "./render/text.js";

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000 };

/**
 * `10m` ago, `14:05` or `14:05:30` (the latest such time of day, UTC), `2026-01-31T14:05:00Z`, or seconds since the
 * epoch; as milliseconds since the epoch.
 *
 * @throws ToolFailure for anything else
 */
export function parseTime(text: string, now: number): number {
  const trimmed = text.trim();
  const ago = /^-?(\d+(?:\.\d+)?)\s*(s|m|h)[a-z]*(?:\s+ago)?$/i.exec(trimmed);
  if (ago) return now - Number(ago[1]) * UNITS[ago[2]!.toLowerCase()]!;
  const clock = /^(\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s*(?:Z|UTC)?$/i.exec(trimmed);
  if (clock) {
    const day = new Date(now).toISOString().slice(0, 10);
    const time = Date.parse(`${day}T${clock[1]!.padStart(2, "0")}:${clock[2]}:${clock[3] ?? "00"}Z`);
    if (!Number.isNaN(time)) return time > now ? time - 24 * 3_600_000 : time;
  }
  if (/^\d{9,11}(\.\d+)?$/.test(trimmed)) return Number(trimmed) * 1000;
  if (/^\d{4}-\d\d-\d\d/.test(trimmed)) {
    const iso = trimmed.replace(/^(\d{4}-\d\d-\d\d)[ T]/, "$1T").replace(/\s*UTC$/i, "Z");
    const zoned = /(Z|[+-]\d\d:?\d\d)$/i.test(iso) || !iso.includes("T") ? iso : `${iso}Z`;
    const time = Date.parse(zoned);
    if (!Number.isNaN(time)) return time;
  }
  throw new ToolFailure(`"${text}" is no time; write "10m" (ago), "14:05:00" or "${timestamp(now)}"`);
}
