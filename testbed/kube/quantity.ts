/** Resource quantities (`100m`, `64Mi`, `1e3`): parsing, exact comparison, and the canonical spelling of the API server. */

export interface Quantity {
  /** Value in units of 10^-9, exact. */
  nano: bigint;
  format: "binary" | "decimal" | "exponent";
}

const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: Record<string, number> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const DECIMAL_NAMES = new Map(Object.entries(DECIMAL).map(([name, power]) => [power, name]));
const SHAPE = /^([+-]?)(\d*)(?:\.(\d*))?([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;

/** What a malformed quantity is told. */
export const QUANTITY_ERROR =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** The quantity that `text` spells, or undefined when it is none. Fractions below 10^-9 round away from zero. */
export function parseQuantity(text: string | number): Quantity | undefined {
  const match = SHAPE.exec(String(text));
  if (!match || (match[2] === "" && (match[3] ?? "") === "")) return undefined;
  const [, sign, whole = "", fraction = "", suffix = ""] = match;
  let digits = BigInt(`${whole}${fraction}` || "0");
  let nano: bigint;
  let format: Quantity["format"] = "decimal";
  const scale = fraction.length;
  const power = suffix.endsWith("i") ? BINARY.indexOf(suffix) : -1;
  if (power > 0) {
    format = "binary";
    digits *= 1024n ** BigInt(power);
    nano = shift(digits, 9 - scale);
  } else {
    let exponent = DECIMAL[suffix];
    if (exponent === undefined) {
      exponent = Number(suffix.slice(1));
      format = "exponent";
    }
    nano = shift(digits, 9 - scale + exponent);
  }
  return { nano: sign === "-" ? -nano : nano, format };
}

function shift(digits: bigint, power: number): bigint {
  if (power >= 0) return digits * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  const quotient = digits / divisor;
  return digits % divisor === 0n ? quotient : quotient + 1n;
}

/** The spelling in which the API server writes a quantity: no fractions, the largest unit that needs none. */
export function formatQuantity({ nano, format }: Quantity): string {
  if (nano === 0n) return "0";
  const sign = nano < 0n ? "-" : "";
  let n = nano < 0n ? -nano : nano;
  if (format === "binary") {
    // Below 1024 and with a fraction, binary quantities are written as decimal ones.
    if (n % 1_000_000_000n === 0n && n >= 1024n * 1_000_000_000n) {
      n /= 1_000_000_000n;
      let power = 0;
      while (power < 6 && n % 1024n === 0n) {
        n /= 1024n;
        power++;
      }
      return `${sign}${n}${BINARY[power]}`;
    }
  }
  let exponent = -9;
  while (exponent < 18 && n % 1000n === 0n) {
    n /= 1000n;
    exponent += 3;
  }
  if (format === "exponent") return exponent === 0 ? `${sign}${n}` : `${sign}${n}e${exponent}`;
  return `${sign}${n}${DECIMAL_NAMES.get(exponent)}`;
}

const canonical = new Map<string, string | undefined>();

/** Canonical spelling of `text`, or undefined when it is no quantity. */
export function canonicalQuantity(text: string | number): string | undefined {
  const key = String(text);
  if (canonical.has(key)) return canonical.get(key);
  const quantity = parseQuantity(key);
  const value = quantity && formatQuantity(quantity);
  if (canonical.size < 4096) canonical.set(key, value);
  return value;
}

/** The value as a number; malformed text counts as 0. */
export function quantityValue(text: string | number | undefined): number {
  if (text === undefined) return 0;
  const quantity = parseQuantity(text);
  return quantity ? Number(quantity.nano) / 1e9 : 0;
}

/** Negative, 0 or positive, as `a` is less than, equal to or greater than `b`. */
export function compareQuantities(a: string | number, b: string | number): number {
  const x = parseQuantity(a)?.nano ?? 0n;
  const y = parseQuantity(b)?.nano ?? 0n;
  return x < y ? -1 : x > y ? 1 : 0;
}
