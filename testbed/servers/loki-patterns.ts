/** Patterns of log lines: words that vary between lines (numbers, identifiers, quoted values) become `<_>`. */
import { levelOf } from "../telemetry/logql/index.js";
import type { LogEntry } from "../telemetry/logs.js";

export interface LinePattern {
  pattern: string;
  level: string;
  /** Seconds since the epoch and lines in the step that begins there. */
  samples: [number, number][];
}

/** Longest hexadecimal or numeric runs, addresses and quoted strings: the parts of a line that name one occasion. */
const VARIABLE =
  /"[^"]*"|'[^']*'|\b\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?|\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b|\b[0-9a-f]{8,}\b|[-+]?\d[\d.,]*(?:[a-zµ]{1,2}\b)?/gi;

/** Groups lines by shape; most frequent first. A simple stand-in for Loki's Drain-based miner. */
export function minePatterns(entries: readonly LogEntry[], stepMs: number): LinePattern[] {
  const found = new Map<string, { level: string; counts: Map<number, number>; total: number }>();
  for (const entry of entries) {
    const pattern = entry.line.replace(VARIABLE, "<_>").replace(/<_>(?:[\s,:]*<_>)+/g, "<_>");
    const level = levelOf(entry);
    const key = `${level} ${pattern}`;
    const group = found.get(key) ?? { level, counts: new Map(), total: 0 };
    const step = Math.floor(entry.timeMs / stepMs) * stepMs;
    group.counts.set(step, (group.counts.get(step) ?? 0) + 1);
    group.total++;
    found.set(key, group);
  }
  return [...found]
    .sort(([, a], [, b]) => b.total - a.total)
    .map(([key, { level, counts }]) => ({
      pattern: key.slice(level.length + 1),
      level,
      samples: [...counts].sort(([a], [b]) => a - b).map(([step, count]) => [step / 1000, count]),
    }));
}
