/** Kubernetes quantities: `100m`, `1.5Gi`, `2e3`. */
const SUFFIX: Record<string, number> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** The number, or undefined when it is no quantity. */
export function parseQuantity(text: unknown): number | undefined {
  if (typeof text === "number") return text;
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+))((?:[eE][-+]?\d+)|[KMGTPE]i|[numkMGTPE]?)$/.exec(String(text ?? ""));
  if (!match) return undefined;
  const suffix = match[2] as string;
  if (/^[eE][-+]?\d/.test(suffix)) return Number(`${match[1]}${suffix}`);
  return Number(match[1]) * (SUFFIX[suffix] as number);
}

/** Milli-units, rounded up as kubectl rounds: 0.1 -> 100. */
export function milli(text: unknown): number {
  return Math.ceil((parseQuantity(text) ?? 0) * 1000 - 1e-9);
}

/** Sums quantities in the format of the first, in canonical form. */
export function formatQuantity(value: number, like: "binary" | "decimal"): string {
  if (value === 0) return "0";
  if (like === "decimal" || value !== Math.floor(value)) {
    const m = Math.round(value * 1000);
    if (m % 1000 !== 0) return `${m}m`;
    const whole = m / 1000;
    for (const [suffix, size] of [
      ["E", 1e18],
      ["P", 1e15],
      ["T", 1e12],
      ["G", 1e9],
      ["M", 1e6],
      ["k", 1e3],
    ] as const)
      if (whole >= size && whole % size === 0) return `${whole / size}${suffix}`;
    return String(whole);
  }
  for (const [suffix, size] of [
    ["Ei", 2 ** 60],
    ["Pi", 2 ** 50],
    ["Ti", 2 ** 40],
    ["Gi", 2 ** 30],
    ["Mi", 2 ** 20],
    ["Ki", 2 ** 10],
  ] as const)
    if (value >= size && value % size === 0) return `${value / size}${suffix}`;
  return String(value);
}
