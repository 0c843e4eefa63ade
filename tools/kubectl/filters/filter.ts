/** What may stand behind a `|`: a function over text, run in this process. */
export interface FilterResult {
  stdout: string;
  stderr?: string;
  code: number;
}

export interface Filter {
  name: string;
  run(args: string[], input: string): FilterResult | Promise<FilterResult>;
}

/** A filter's own complaint, in the words of the program that it stands for. */
export class FilterError extends Error {
  readonly code: number;
  constructor(message: string, code = 2) {
    super(message);
    this.code = code;
  }
}

/** Lines without the last line break; none for empty input. */
export function linesOf(text: string): string[] {
  if (text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}

export function textOf(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

export interface ShortOptions {
  /** Letters without a value. */
  flags: string;
  /** Letters with one. */
  values: string;
  /** Long names: to the letter. */
  long?: Record<string, string>;
}

/** Reads `-ivn`, `-A3`, `-A 3`, `--count`, `--after-context=3`. @throws FilterError */
export function readOptions(
  name: string,
  args: readonly string[],
  spec: ShortOptions,
): { flags: Set<string>; values: Map<string, string[]>; rest: string[] } {
  const flags = new Set<string>();
  const values = new Map<string, string[]>();
  const rest: string[] = [];
  const put = (letter: string, value: string) => values.set(letter, [...(values.get(letter) ?? []), value]);
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string;
    if (arg === "--") {
      rest.push(...args.slice(i + 1));
      break;
    }
    if (arg.startsWith("--")) {
      const equals = arg.indexOf("=");
      const word = equals < 0 ? arg.slice(2) : arg.slice(2, equals);
      const letter = spec.long?.[word];
      if (!letter) throw new FilterError(`${name}: the option --${word} is not available here`);
      if (spec.values.includes(letter)) {
        const value = equals < 0 ? args[++i] : arg.slice(equals + 1);
        if (value === undefined) throw new FilterError(`${name}: option '--${word}' requires an argument`);
        put(letter, value);
      } else flags.add(letter);
    } else if (/^-[^-]/.test(arg)) {
      for (let j = 1; j < arg.length; j++) {
        const letter = arg[j] as string;
        if (spec.flags.includes(letter)) flags.add(letter);
        else if (spec.values.includes(letter)) {
          const value = arg.slice(j + 1) || args[++i];
          if (value === undefined) throw new FilterError(`${name}: option requires an argument -- '${letter}'`);
          put(letter, value);
          break;
        } else throw new FilterError(`${name}: the option -${letter} is not available here`);
      }
    } else rest.push(arg);
  }
  return { flags, values, rest };
}

/** A filter reads the pipe only. */
export function noFiles(name: string, rest: readonly string[]): void {
  const files = rest.filter((word) => word !== "-");
  if (files.length > 0)
    throw new FilterError(`${name}: files cannot be read here (${files[0]}): only what comes through the pipe`);
}
