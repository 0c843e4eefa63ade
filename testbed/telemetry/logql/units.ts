/** Durations and sizes as LogQL writes them. */

const DURATION_UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1e3,
  m: 60e3,
  h: 3600e3,
  d: 24 * 3600e3,
  w: 7 * 24 * 3600e3,
  y: 365 * 24 * 3600e3,
};

/** Decimal (kB) and binary (KiB) units, upper or lower case. */
const BYTE_UNIT: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  pb: 1e15,
  eb: 1e18,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
  pib: 2 ** 50,
  eib: 2 ** 60,
  k: 1e3,
  m: 1e6,
  g: 1e9,
  t: 1e12,
  ki: 2 ** 10,
  mi: 2 ** 20,
  gi: 2 ** 30,
  ti: 2 ** 40,
};

const DURATION = /^[-+]?(?:\d+(?:\.\d*)?(?:ns|us|µs|μs|ms|s|m|h|d|w|y))+$/;
const DURATION_PART = /(\d+(?:\.\d*)?)(ns|us|µs|μs|ms|s|m|h|d|w|y)/g;

/** Milliseconds of `1h30m`, `250ms`, `1.5s`, `7d`; undefined when the text is no duration. */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  if (!DURATION.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(DURATION_PART)) total += Number(amount) * DURATION_UNIT_MS[unit!]!;
  return text.startsWith("-") ? -total : total;
}

/** Bytes of `20MB`, `1.5 KiB`, `512`; undefined when the text is no size. */
export function parseBytes(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d*)?)\s*([a-zA-Z]*)\s*$/.exec(text);
  if (match === null) return undefined;
  const factor = match[2] === "" ? 1 : BYTE_UNIT[match[2]!.toLowerCase()];
  return factor === undefined ? undefined : Number(match[1]) * factor;
}

/** Number as Go's strconv.ParseFloat reads it; undefined when it is none. */
export function parseNumber(text: string): number | undefined {
  const trimmed = text.trim();
  if (/^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(trimmed)) return Number(trimmed);
  if (/^[-+]?0[xX][0-9a-fA-F]+$/.test(trimmed)) {
    return trimmed.startsWith("-") ? -Number(trimmed.slice(1)) : Number(trimmed.replace("+", ""));
  }
  const special = trimmed.toLowerCase().replace(/^\+/, "");
  if (special === "nan") return Number.NaN;
  if (special === "inf" || special === "infinity") return Number.POSITIVE_INFINITY;
  if (special === "-inf" || special === "-infinity") return Number.NEGATIVE_INFINITY;
  return undefined;
}
