/** Command-line flags, read the way kubectl's flag library (pflag) reads them, with its error messages. */
import { KubectlError } from "./errors.js";

export type FlagType = "string" | "bool" | "int" | "duration" | "list" | "csv";

export interface FlagSpec {
  type: FlagType;
  short?: string;
  /** Value taken when the flag stands without one: `--dry-run`. */
  bare?: string;
  default?: string | boolean | number;
  /** Flags that change who asks, whom, or how: never an agent's to set. The text says what to do instead. */
  forbidden?: string;
}

export type FlagSpecs = Record<string, FlagSpec>;

/** Flags as given; `list` keeps each occurrence, `csv` also splits at commas. */
export class Flags {
  readonly args: string[] = [];
  /** Arguments behind `--`. */
  readonly afterDash: string[] = [];
  private readonly values = new Map<string, string | boolean | number | string[]>();
  private readonly specs: FlagSpecs;

  constructor(specs: FlagSpecs) {
    this.specs = specs;
  }

  set(name: string, value: string | boolean | number | string[]): void {
    this.values.set(name, value);
  }

  has(name: string): boolean {
    return this.values.has(name);
  }

  string(name: string): string {
    const value = this.values.get(name) ?? this.specs[name]?.default;
    return value === undefined ? "" : String(value);
  }

  bool(name: string): boolean {
    return (this.values.get(name) ?? this.specs[name]?.default ?? false) === true;
  }

  int(name: string): number {
    return Number(this.values.get(name) ?? this.specs[name]?.default ?? 0);
  }

  /** Seconds. */
  duration(name: string): number {
    return parseDuration(this.string(name) || "0s") ?? 0;
  }

  list(name: string): string[] {
    const value = this.values.get(name);
    return Array.isArray(value) ? value : [];
  }

  names(): string[] {
    return [...this.values.keys()];
  }
}

const DURATION_UNITS: Record<string, number> = { h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9 };

/** Go's time.ParseDuration, in seconds; undefined when it is none. */
export function parseDuration(text: string): number | undefined {
  const sign = text.startsWith("-") ? -1 : 1;
  const body = text.replace(/^[+-]/, "");
  if (body === "0") return 0;
  let total = 0;
  let rest = body;
  if (rest === "") return undefined;
  while (rest !== "") {
    const match = /^(\d+\.?\d*|\.\d+)(ms|us|µs|ns|h|m|s)/.exec(rest);
    if (!match) return undefined;
    total += Number(match[1]) * (DURATION_UNITS[match[2] as string] as number);
    rest = rest.slice(match[0].length);
  }
  return sign * total;
}

const BOOLEANS: Record<string, boolean> = {
  "1": true,
  t: true,
  T: true,
  true: true,
  TRUE: true,
  True: true,
  "0": false,
  f: false,
  F: false,
  false: false,
  FALSE: false,
  False: false,
};

export interface ParseFailure {
  error: string;
}

function convert(spec: FlagSpec, shown: string, text: string, previous: unknown): string | boolean | number | string[] {
  const bad = (why: string) => new KubectlError(`Error: invalid argument "${text}" for "${shown}" flag: ${why}`);
  switch (spec.type) {
    case "bool": {
      const value = BOOLEANS[text];
      if (value === undefined) throw bad(`strconv.ParseBool: parsing "${text}": invalid syntax`);
      return value;
    }
    case "int":
      if (!/^[+-]?\d+$/.test(text)) throw bad(`strconv.ParseInt: parsing "${text}": invalid syntax`);
      return Number(text);
    case "duration":
      if (parseDuration(text) === undefined)
        throw bad(
          /^[+-]?[\d.]+$/.test(text) ? `time: missing unit in duration "${text}"` : `time: invalid duration "${text}"`,
        );
      return text;
    case "list":
      return [...(Array.isArray(previous) ? previous : []), text];
    case "csv":
      return [...(Array.isArray(previous) ? previous : []), ...text.split(",").filter((part) => part !== "")];
    default:
      return text;
  }
}

/**
 * Reads flags anywhere among the arguments; the rest becomes `args`. `path` is the command for the usage hint
 * (`kubectl get`).
 *
 * @throws KubectlError with pflag's message and the hint
 */
export function parseFlags(argv: readonly string[], specs: FlagSpecs, path: string): Flags {
  const flags = new Flags(specs);
  const shorts = new Map<string, string>();
  for (const [name, spec] of Object.entries(specs)) if (spec.short) shorts.set(spec.short, name);
  const raw = new Map<string, unknown>();
  const put = (name: string, shown: string, text: string) => {
    const spec = specs[name] as FlagSpec;
    const value = convert(spec, shown, text, raw.get(name));
    raw.set(name, value);
    flags.set(name, value);
  };
  try {
    for (let i = 0; i < argv.length; i++) {
      const arg = argv[i] as string;
      if (arg === "--") {
        flags.afterDash.push(...argv.slice(i + 1));
        break;
      }
      if (arg.startsWith("--")) {
        const equals = arg.indexOf("=");
        const name = equals < 0 ? arg.slice(2) : arg.slice(2, equals);
        if (name === "" || name.startsWith("-")) throw new KubectlError(`Error: bad flag syntax: ${arg}`);
        const spec = Object.hasOwn(specs, name) ? specs[name] : undefined;
        if (!spec) throw new KubectlError(`Error: unknown flag: --${name}`);
        const shown = spec.short ? `-${spec.short}, --${name}` : `--${name}`;
        if (equals >= 0) put(name, shown, arg.slice(equals + 1));
        else if (spec.type === "bool") put(name, shown, "true");
        else if (spec.bare !== undefined) put(name, shown, spec.bare);
        else if (i + 1 < argv.length) put(name, shown, argv[++i] as string);
        else throw new KubectlError(`Error: flag needs an argument: --${name}`);
      } else if (arg.startsWith("-") && arg.length > 1) {
        let rest = arg.slice(1);
        while (rest !== "") {
          const letter = rest[0] as string;
          const name = shorts.get(letter);
          if (!name) throw new KubectlError(`Error: unknown shorthand flag: '${letter}' in -${rest}`);
          const spec = specs[name] as FlagSpec;
          const shown = `-${letter}, --${name}`;
          if (rest.length > 2 && rest[1] === "=") {
            put(name, shown, rest.slice(2));
            rest = "";
          } else if (spec.type === "bool" || spec.bare !== undefined) {
            put(name, shown, spec.bare ?? "true");
            rest = rest.slice(1);
          } else if (rest.length > 1) {
            put(name, shown, rest.slice(1));
            rest = "";
          } else if (i + 1 < argv.length) {
            put(name, shown, argv[++i] as string);
            rest = "";
          } else throw new KubectlError(`Error: flag needs an argument: '${letter}' in -${letter}`);
        }
      } else flags.args.push(arg);
    }
  } catch (error) {
    if (error instanceof KubectlError) throw new KubectlError(`${error.message}\nSee '${path} --help' for usage.`);
    throw error;
  }
  return flags;
}
