/** The level of a line that came without one, found in its text, as Loki's distributor finds it. */

/** `level=error`, `"severity": "WARN"`, and the names that loggers use beside these. */
const FIELD = /(?:^|[\s{,"])(?:level|lvl|severity|severity_text|loglevel)"?\s*[:=]\s*"?([a-zA-Z]+)/i;

const NAMES: Readonly<Record<string, string>> = {
  trace: "trace",
  trc: "trace",
  debug: "debug",
  dbg: "debug",
  info: "info",
  inf: "info",
  information: "info",
  informational: "info",
  warn: "warn",
  warning: "warn",
  wrn: "warn",
  error: "error",
  err: "error",
  critical: "critical",
  fatal: "fatal",
};

/** Words in the text, the first that is found counts: the order is Loki's. */
const WORDS: readonly (readonly [pattern: RegExp, level: string])[] = [
  [/info|INFO/, "info"],
  [/error|ERROR|err:|ERR:/, "error"],
  [/warn|WARN/, "warn"],
  [/CRITICAL|critical/, "critical"],
  [/debug|DEBUG/, "debug"],
];

/** One of trace, debug, info, warn, error, critical, fatal; `unknown` when nothing in the text says so. */
export function detectLevel(line: string): string {
  const named = FIELD.exec(line)?.[1];
  const level = named === undefined ? undefined : NAMES[named.toLowerCase()];
  if (level !== undefined) return level;
  return WORDS.find(([pattern]) => pattern.test(line))?.[1] ?? "unknown";
}
