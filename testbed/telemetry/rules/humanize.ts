/** How Prometheus' templates write numbers for people. */

/** The value of a template, or of a string that holds a number. */
export function toNumber(value: unknown): number {
  if (typeof value === "number") return value;
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
  const [, exponentText] = value.toExponential(digits - 1).split("e");
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= digits) {
    const mantissa = trimZeros(value.toExponential(digits - 1).split("e")[0]!);
    return `${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  return trimZeros(value.toFixed(Math.max(0, digits - 1 - exponent)));
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
      let text = formatVerb(verb, args[next++], precision === undefined ? undefined : Number(precision));
      if (flags.includes("+") && /^[\d.]/.test(text) && typeof args[next - 1] === "number") text = `+${text}`;
      const size = Number(width ?? 0);
      if (flags.includes("-")) return text.padEnd(size);
      return flags.includes("0") ? text.padStart(size, "0") : text.padStart(size);
    },
  );
}

function formatVerb(verb: string, value: unknown, precision: number | undefined): string {
  switch (verb) {
    case "d":
      return String(Math.trunc(toNumber(value)));
    case "f":
    case "F":
      return special(value) ?? toNumber(value).toFixed(precision ?? 6);
    case "e":
      return (
        special(value) ??
        toNumber(value)
          .toExponential(precision ?? 6)
          .replace(/e([+-])(\d)$/, "e$10$2")
      );
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
      return typeof value === "number" ? Math.trunc(value).toString(16) : Buffer.from(String(value)).toString("hex");
    default:
      throw new Error(`printf: verb %${verb} is not supported`);
  }
}

function special(value: unknown): string | undefined {
  const v = toNumber(value);
  return Number.isFinite(v) ? undefined : fourDigits(v);
}

/** A value as Go prints it with %v. */
export function plain(value: unknown): string {
  if (value === undefined || value === null) return "<no value>";
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return fourDigits(value);
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-4 || size >= 1e21)) {
      return String(value).includes("e")
        ? String(value).replace(/e([+-])(\d)$/, "e$10$2")
        : value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
    }
    return String(value);
  }
  if (typeof value === "object") {
    const entries = Object.entries(value as Record<string, unknown>).sort(([a], [b]) => (a < b ? -1 : 1));
    return `map[${entries.map(([key, item]) => `${key}:${plain(item)}`).join(" ")}]`;
  }
  return String(value);
}
