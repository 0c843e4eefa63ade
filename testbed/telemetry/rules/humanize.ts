/** How Prometheus' templates write numbers for people. */

/** The value of a template, or of a string that holds a number. */
export function toNumber(value: unknown): number {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  const text = String(value);
  if (/^[+-]?inf$/i.test(text)) return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return text.trim() === "" ? Number.NaN : Number(text);
}

/** Go's `%.4g`. */
export function fourDigits(value: number): string {
  return generalFormat(value, 4);
}

/** Go's `%.<precision>g`: no trailing zeros, an exponent of two digits where one is needed. */
export function generalFormat(value: number, precision: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value === 0) return "0";
  const digits = Math.max(precision, 1);
  const [mantissa, exponentText] = exponential(value, digits - 1).split("e");
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= digits) return `${trimZeros(mantissa!)}e${exponentText}`;
  return trimZeros(fixed(value, Math.max(0, digits - 1 - exponent)));
}

/** Go's `%.<decimals>f`: an exact half goes to the even neighbour, and no number has an exponent. */
export function fixed(value: number, decimals: number): string {
  const size = Math.abs(value);
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  if (size >= 1e21) return sign + BigInt(size).toString() + (decimals > 0 ? `.${"0".repeat(decimals)}` : "");
  const rounded = size.toFixed(decimals);
  const [whole, fraction = ""] = size.toFixed(Math.min(100, decimals + 60)).split(".");
  const isHalf = /^50*$/.test(fraction.slice(decimals));
  if (!isHalf) return sign + rounded;
  const lower = decimals > 0 ? `${whole}.${fraction.slice(0, decimals)}` : whole!;
  return sign + (Number(lower.at(-1)) % 2 === 0 ? lower : rounded);
}

/** Go's `%.<decimals>e`: halves to even, two digits of exponent at least. */
export function exponential(value: number, decimals: number): string {
  const [mantissa, exponent] = value.toExponential(decimals).split("e");
  const [exact, exactExponent] = value.toExponential(Math.min(100, decimals + 60)).split("e");
  const cut = exact!.indexOf(".") + 1 + decimals;
  const lower = decimals > 0 ? exact!.slice(0, cut) : exact!.slice(0, cut - 1);
  const isHalf = /^50*$/.test(exact!.slice(cut)) && Number(lower.at(-1)) % 2 === 0;
  return isHalf ? `${lower}${goExponent(exactExponent!)}` : `${mantissa}${goExponent(exponent!)}`;
}

function goExponent(exponent: string): string {
  return `e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

function trimZeros(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

const LARGE = ["k", "M", "G", "T", "P", "E", "Z", "Y"];
const SMALL = ["m", "u", "n", "p", "f", "a", "z", "y"];

/** With a metric prefix: 1234567 is 1.235M. */
export function humanize(value: unknown): string {
  let v = toNumber(value);
  if (v === 0 || !Number.isFinite(v)) return fourDigits(v);
  let prefix = "";
  if (Math.abs(v) >= 1) {
    for (const next of LARGE) {
      if (Math.abs(v) < 1000) break;
      prefix = next;
      v /= 1000;
    }
  } else {
    for (const next of SMALL) {
      if (Math.abs(v) >= 1) break;
      prefix = next;
      v *= 1000;
    }
  }
  return `${fourDigits(v)}${prefix}`;
}

/** With a binary prefix: 2048 is 2ki. */
export function humanize1024(value: unknown): string {
  let v = toNumber(value);
  if (Math.abs(v) <= 1 || !Number.isFinite(v)) return fourDigits(v);
  let prefix = "";
  for (const next of ["ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi"]) {
    if (Math.abs(v) < 1024) break;
    prefix = next;
    v /= 1024;
  }
  return `${fourDigits(v)}${prefix}`;
}

/** Seconds as days, hours, minutes and seconds; below one with a prefix. */
export function humanizeDuration(value: unknown): string {
  let v = toNumber(value);
  if (!Number.isFinite(v)) return fourDigits(v);
  if (v === 0) return "0s";
  if (Math.abs(v) >= 1) {
    const sign = v < 0 ? "-" : "";
    const total = Math.trunc(Math.abs(v));
    const seconds = total % 60;
    const minutes = Math.trunc(total / 60) % 60;
    const hours = Math.trunc(total / 3600) % 24;
    const days = Math.trunc(total / 86_400);
    if (days !== 0) return `${sign}${days}d ${hours}h ${minutes}m ${seconds}s`;
    if (hours !== 0) return `${sign}${hours}h ${minutes}m ${seconds}s`;
    if (minutes !== 0) return `${sign}${minutes}m ${seconds}s`;
    return `${sign}${fourDigits(Math.abs(v))}s`;
  }
  let prefix = "";
  for (const next of SMALL) {
    if (Math.abs(v) >= 1) break;
    prefix = next;
    v *= 1000;
  }
  return `${fourDigits(v)}${prefix}s`;
}

export function humanizePercentage(value: unknown): string {
  return `${fourDigits(toNumber(value) * 100)}%`;
}

/** Seconds since the epoch as Go prints a UTC time. */
export function humanizeTimestamp(value: unknown): string {
  const v = toNumber(value);
  if (!Number.isFinite(v)) return fourDigits(v);
  // Go counts nanoseconds in 64 bits.
  if (Math.abs(v) > 9.2e9) throw new RangeError(`humanizeTimestamp: ${plain(v)} is no time`);
  const date = new Date(v * 1000);
  const fraction = date.getUTCMilliseconds();
  const tail = fraction === 0 ? "" : `.${String(fraction).padStart(3, "0").replace(/0+$/, "")}`;
  return `${date.toISOString().slice(0, 19).replace("T", " ")}${tail} +0000 UTC`;
}

/** Go's fmt.Sprintf, as far as templates use it. @throws Error naming a verb that is not known */
export function sprintf(format: string, args: readonly unknown[]): string {
  let next = 0;
  return format.replace(
    /%([-+ 0#]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])/g,
    (_, flags: string, width: string | undefined, precision: string | undefined, verb: string) => {
      if (verb === "%") return "%";
      if (next >= args.length) return `%!${verb}(MISSING)`;
      const value = args[next++];
      let text = formatVerb(verb, value, precision === undefined ? undefined : Number(precision));
      const numeric = "deEfFgG".includes(verb);
      if (numeric && flags.includes("+") && !/^[-+]/.test(text)) text = `+${text}`;
      const size = Number(width ?? 0);
      if (flags.includes("-")) return text.padEnd(size);
      if (!flags.includes("0") || (numeric && special(value) !== undefined)) return text.padStart(size);
      const sign = numeric && /^[-+]/.test(text) ? text[0]! : "";
      return sign + text.slice(sign.length).padStart(size - sign.length, "0");
    },
  );
}

function formatVerb(verb: string, value: unknown, precision: number | undefined): string {
  switch (verb) {
    case "d":
      return String(Math.trunc(toNumber(value)));
    case "f":
    case "F":
      return special(value) ?? fixed(toNumber(value), precision ?? 6);
    case "e":
      return special(value) ?? exponential(toNumber(value), precision ?? 6);
    case "g":
      return precision === undefined ? plain(value) : generalFormat(toNumber(value), precision);
    case "s":
    case "v": {
      const text = plain(value);
      return precision === undefined ? text : text.slice(0, precision);
    }
    case "q":
      return JSON.stringify(plain(value));
    case "t":
      return String(Boolean(value));
    case "x":
      return typeof value === "string" ? Buffer.from(value).toString("hex") : Math.trunc(toNumber(value)).toString(16);
    default:
      throw new Error(`printf: verb %${verb} is not supported`);
  }
}

function special(value: unknown): string | undefined {
  const v = toNumber(value);
  return Number.isFinite(v) ? undefined : fourDigits(v);
}

/** A value as Go prints it with %v: floats from 1e+06 on have an exponent; integers, here bigints, never. */
export function plain(value: unknown): string {
  if (value === undefined || value === null) return "<no value>";
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return fourDigits(value);
    const exponent = Number(value.toExponential().split("e")[1]);
    if (value !== 0 && (exponent < -4 || exponent >= 6)) {
      return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
    }
    return Object.is(value, -0) ? "-0" : String(value);
  }
  if (typeof value === "object") {
    const entries = Object.entries(value as Record<string, unknown>).sort(([a], [b]) => (a < b ? -1 : 1));
    return `map[${entries.map(([key, item]) => `${key}:${plain(item)}`).join(" ")}]`;
  }
  return String(value);
}
