/** Small pieces of text that all renderings share. */

/** Rows as columns two spaces apart; the last column is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, cell.length);
    });
  }
  return rows
    .map((row) =>
      row
        .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i]!)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** A number with four significant digits; large and tiny ones with a unit of ten. */
export function compactNumber(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  const magnitude = Math.abs(value);
  if (magnitude >= 1e12 || magnitude < 1e-4) return value.toExponential(2);
  if (magnitude >= 1e4) return String(Math.round(value));
  return String(Number(value.toPrecision(4)));
}

/** Seconds as `1.2 s`, `350 ms`, `4m30s`, `2h5m`. */
export function duration(seconds: number): string {
  if (seconds === 0) return "0 s";
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)} us`;
  if (seconds < 1) return `${Number((seconds * 1000).toPrecision(3))} ms`;
  if (seconds < 60) return `${Number(seconds.toPrecision(3))} s`;
  const whole = Math.round(seconds);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  if (hours > 0) return `${hours}h${minutes}m`;
  return whole % 60 === 0 ? `${minutes}m` : `${minutes}m${whole % 60}s`;
}

/** `2026-01-31 14:05:09Z` */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")}Z`;
}

/** `14:05:09` */
export function timeOfDay(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}

/** `{a="x", b="y"}`, names in order. */
export function labelSet(labels: Readonly<Record<string, string>>): string {
  const names = Object.keys(labels).sort();
  return `{${names.map((name) => `${name}="${labels[name]}"`).join(", ")}}`;
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : noun.endsWith("ss") ? "es" : "s"}`.replace("seriess", "series");
}
