import { describe, expect, it } from "vitest";
import { parseTime } from "../../tools/time.js";

const now = Date.parse("2026-01-01T12:00:00Z");

describe("parseTime", () => {
  it.each([
    ["10m", "2026-01-01T11:50:00Z"],
    ["-90s", "2026-01-01T11:58:30Z"],
    ["1.5 hours ago", "2026-01-01T10:30:00Z"],
    ["5 minutes ago", "2026-01-01T11:55:00Z"],
    ["11:05", "2026-01-01T11:05:00Z"],
    ["9:05:30", "2026-01-01T09:05:30Z"],
    ["11:05:30Z", "2026-01-01T11:05:30Z"],
    ["23:30", "2025-12-31T23:30:00Z"],
    ["2026-01-01T11:05:30Z", "2026-01-01T11:05:30Z"],
    ["2026-01-01 11:05:30Z", "2026-01-01T11:05:30Z"],
    ["2026-01-01 11:05:30", "2026-01-01T11:05:30Z"],
    ["2026-01-01T12:05:30+01:00", "2026-01-01T11:05:30Z"],
    ["1767265200", "2026-01-01T11:00:00Z"],
  ])("%s", (text, time) => expect(new Date(parseTime(text, now)).toISOString()).toBe(time.replace("Z", ".000Z")));

  it.each(["", "soon", "25:00", "12:61", "10", "yesterday"])("refuses %j, and says how to write one", (text) => {
    expect(() => parseTime(text, now)).toThrow(/is no time; write "10m" \(ago\)/);
  });
});
