/** Filters that pick, order or count lines: head, tail, sort, uniq, wc, cut, tr, nl, cat, column. */
import { type Filter, FilterError, linesOf, noFiles, readOptions, textOf } from "./filter.js";

function count(name: string, args: readonly string[]): { n: number; sign: string; bytes: boolean } {
  // `-5` is short for `-n 5`, unless it is the value of -n itself.
  const plain = args.map((arg, i) =>
    /^-\d+$/.test(arg) && !/^-[nc]$/.test(args[i - 1] ?? "") ? `-n${arg.slice(1)}` : arg,
  );
  const { values, rest } = readOptions(name, plain, { flags: "q", values: "nc", long: { lines: "n", bytes: "c" } });
  noFiles(name, rest);
  const bytes = values.has("c");
  const text = values.get(bytes ? "c" : "n")?.at(-1) ?? "10";
  const match = /^([+-]?)(\d+)$/.exec(text);
  if (!match) throw new FilterError(`${name}: invalid number of ${bytes ? "bytes" : "lines"}: '${text}'`, 1);
  return { n: Number(match[2]), sign: match[1] as string, bytes };
}

export const head: Filter = {
  name: "head",
  run(args, input) {
    const { n, sign, bytes } = count("head", args);
    if (bytes)
      return {
        stdout: Buffer.from(input)
          .subarray(0, sign === "-" ? -n : n)
          .toString("utf8"),
        code: 0,
      };
    const lines = linesOf(input);
    return {
      stdout: textOf(sign === "-" ? lines.slice(0, Math.max(0, lines.length - n)) : lines.slice(0, n)),
      code: 0,
    };
  },
};

export const tail: Filter = {
  name: "tail",
  run(args, input) {
    if (args.some((arg) => /^-[a-z]*[fF]/.test(arg) || arg.startsWith("--follow")))
      throw new FilterError("tail: following (-f) never ends; leave it out", 1);
    const { n, sign, bytes } = count("tail", args);
    if (bytes) {
      const buffer = Buffer.from(input);
      return {
        stdout: (sign === "+" ? buffer.subarray(n - 1) : n === 0 ? Buffer.alloc(0) : buffer.subarray(-n)).toString(
          "utf8",
        ),
        code: 0,
      };
    }
    const lines = linesOf(input);
    return { stdout: textOf(sign === "+" ? lines.slice(Math.max(0, n - 1)) : n === 0 ? [] : lines.slice(-n)), code: 0 };
  },
};

const SIZES: Record<string, number> = {
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
};

function numeric(text: string, human: boolean): number {
  const match = /^\s*(-?\d*\.?\d+)([KMGT]i?)?/i.exec(text);
  if (!match) return 0;
  return Number(match[1]) * (human ? (SIZES[match[2] ?? ""] ?? 1) : 1);
}

function bytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export const sort: Filter = {
  name: "sort",
  run(args, input) {
    const { flags, values, rest } = readOptions("sort", args, {
      flags: "nrufbhsVgd",
      values: "kt",
      long: {
        "numeric-sort": "n",
        reverse: "r",
        unique: "u",
        "ignore-case": "f",
        "human-numeric-sort": "h",
        key: "k",
        "field-separator": "t",
        stable: "s",
        "version-sort": "V",
      },
    });
    noFiles("sort", rest);
    const separator = values.get("t")?.at(-1)?.replace("\\t", "\t");
    const keys = (values.get("k") ?? []).map((text) => {
      const match = /^(\d+)(?:\.\d+)?([a-zA-Z]*)(?:,(\d+)(?:\.\d+)?([a-zA-Z]*))?$/.exec(text);
      if (!match) throw new FilterError(`sort: invalid key '${text}'`);
      return {
        from: Number(match[1]),
        to: match[3] ? Number(match[3]) : undefined,
        flags: `${match[2]}${match[4] ?? ""}`,
      };
    });
    const pick = (line: string, from: number, to: number | undefined) => {
      const fields = separator ? line.split(separator) : (line.match(/\s*\S+/g) ?? []);
      return fields.slice(from - 1, to).join(separator ?? "");
    };
    const compareAs = (a: string, b: string, how: string) => {
      let [x, y] = [a, b];
      if (/[nhg]/.test(how)) return numeric(x, how.includes("h")) - numeric(y, how.includes("h"));
      if (how.includes("b")) [x, y] = [x.trimStart(), y.trimStart()];
      if (how.includes("V")) return x.localeCompare(y, "en", { numeric: true });
      if (how.includes("f")) [x, y] = [x.toUpperCase(), y.toUpperCase()];
      return bytes(x, y);
    };
    const global = [...flags].join("");
    const compare = (a: string, b: string): number => {
      for (const key of keys) {
        const how = /[a-zA-Z]/.test(key.flags) ? key.flags : global;
        const order = compareAs(pick(a, key.from, key.to), pick(b, key.from, key.to), how);
        if (order !== 0) return how.includes("r") ? -order : order;
      }
      if (keys.length === 0) {
        const order = compareAs(a, b, global);
        if (order !== 0) return flags.has("r") ? -order : order;
      }
      return 0;
    };
    const full = (a: string, b: string) =>
      compare(a, b) || (flags.has("s") || flags.has("u") ? 0 : flags.has("r") ? bytes(b, a) : bytes(a, b));
    let lines = linesOf(input).sort(full);
    if (flags.has("u")) lines = lines.filter((line, i) => i === 0 || compare(lines[i - 1] as string, line) !== 0);
    return { stdout: textOf(lines), code: 0 };
  },
};

export const uniq: Filter = {
  name: "uniq",
  run(args, input) {
    const { flags, rest } = readOptions("uniq", args, {
      flags: "cdui",
      values: "",
      long: { count: "c", repeated: "d", unique: "u", "ignore-case": "i" },
    });
    noFiles("uniq", rest);
    const groups: { line: string; count: number }[] = [];
    const key = (line: string) => (flags.has("i") ? line.toLowerCase() : line);
    for (const line of linesOf(input)) {
      const last = groups.at(-1);
      if (last && key(last.line) === key(line)) last.count++;
      else groups.push({ line, count: 1 });
    }
    const kept = groups.filter((g) => (!flags.has("d") || g.count > 1) && (!flags.has("u") || g.count === 1));
    return {
      stdout: textOf(kept.map((g) => (flags.has("c") ? `${String(g.count).padStart(7)} ${g.line}` : g.line))),
      code: 0,
    };
  },
};

export const wc: Filter = {
  name: "wc",
  run(args, input) {
    const { flags, rest } = readOptions("wc", args, {
      flags: "lwcm",
      values: "",
      long: { lines: "l", words: "w", bytes: "c", chars: "m" },
    });
    noFiles("wc", rest);
    const all: [string, number][] = [
      ["l", (input.match(/\n/g) ?? []).length],
      ["w", (input.match(/\S+/g) ?? []).length],
      ["m", [...input].length],
      ["c", Buffer.byteLength(input)],
    ];
    const chosen = flags.size === 0 ? all.filter(([l]) => l !== "m") : all.filter(([l]) => flags.has(l));
    const pad = chosen.length === 1 ? 0 : 7;
    return { stdout: `${chosen.map(([, n]) => String(n).padStart(pad)).join(" ")}\n`, code: 0 };
  },
};

function ranges(text: string): (position: number) => boolean {
  const parts = text.split(",").map((part) => {
    const match = /^(\d*)(-?)(\d*)$/.exec(part);
    if (!match || (match[1] === "" && match[3] === "")) throw new FilterError(`cut: invalid field value '${part}'`, 1);
    const from = match[1] === "" ? 1 : Number(match[1]);
    return { from, to: match[2] === "" ? from : match[3] === "" ? Number.POSITIVE_INFINITY : Number(match[3]) };
  });
  return (position) => parts.some(({ from, to }) => position >= from && position <= to);
}

export const cut: Filter = {
  name: "cut",
  run(args, input) {
    const { flags, values, rest } = readOptions("cut", args, {
      flags: "s",
      values: "dfcb",
      long: { delimiter: "d", fields: "f", characters: "c", bytes: "b", "only-delimited": "s" },
    });
    noFiles("cut", rest);
    const fields = values.get("f")?.at(-1);
    const characters = values.get("c")?.at(-1) ?? values.get("b")?.at(-1);
    if (fields === undefined && characters === undefined)
      throw new FilterError("cut: you must specify a list of bytes, characters, or fields", 1);
    const delimiter = values.get("d")?.at(-1) ?? "\t";
    if ([...delimiter].length !== 1) throw new FilterError("cut: the delimiter must be a single character", 1);
    const wanted = ranges(fields ?? (characters as string));
    const out: string[] = [];
    for (const line of linesOf(input)) {
      if (fields === undefined) out.push([...line].filter((_, i) => wanted(i + 1)).join(""));
      else if (line.includes(delimiter))
        out.push(
          line
            .split(delimiter)
            .filter((_, i) => wanted(i + 1))
            .join(delimiter),
        );
      else if (!flags.has("s")) out.push(line);
    }
    return { stdout: textOf(out), code: 0 };
  },
};

function characterSet(text: string): string[] {
  const plain = text
    .replace(/\[:(\w+):\]/g, (whole, name: string) => {
      const of: Record<string, string> = {
        lower: "a-z",
        upper: "A-Z",
        digit: "0-9",
        alpha: "A-Za-z",
        alnum: "A-Za-z0-9",
        space: " \t\n",
        blank: " \t",
      };
      return of[name] ?? whole;
    })
    .replace(/\\(n|t|r|\\|0)/g, (_, c: string) => ({ n: "\n", t: "\t", r: "\r", "\\": "\\", "0": "\0" })[c] as string);
  const out: string[] = [];
  const chars = [...plain];
  for (let i = 0; i < chars.length; i++) {
    if (chars[i + 1] === "-" && chars[i + 2] !== undefined) {
      const [from, to] = [chars[i]?.codePointAt(0) ?? 0, chars[i + 2]?.codePointAt(0) ?? 0];
      for (let p = from; p <= to && p - from < 512; p++) out.push(String.fromCodePoint(p));
      i += 2;
    } else out.push(chars[i] as string);
  }
  return out;
}

export const tr: Filter = {
  name: "tr",
  run(args, input) {
    const { flags, rest } = readOptions("tr", args, {
      flags: "dsc",
      values: "",
      long: { delete: "d", "squeeze-repeats": "s" },
    });
    if (rest.length === 0) throw new FilterError("tr: missing operand", 1);
    if (rest.length === 1 && flags.size === 0) throw new FilterError(`tr: missing operand after '${rest[0]}'`, 1);
    const from = characterSet(rest[0] as string);
    const inFrom = (c: string) => from.includes(c) !== flags.has("c");
    let out = "";
    const to = rest[1] === undefined ? undefined : characterSet(rest[1]);
    const squeeze = flags.has("s") ? (to && !flags.has("d") ? (c: string) => to.includes(c) : inFrom) : undefined;
    let previous = "";
    for (const c of input) {
      if (flags.has("d") && inFrom(c)) continue;
      let piece = c;
      if (to && !flags.has("d") && inFrom(c))
        piece = flags.has("c") ? (to.at(-1) as string) : (to[Math.min(from.indexOf(c), to.length - 1)] as string);
      if (squeeze?.(piece) && piece === previous) continue;
      out += piece;
      previous = piece;
    }
    return { stdout: out, code: 0 };
  },
};

export const nl: Filter = {
  name: "nl",
  run: (args, input) => {
    noFiles("nl", readOptions("nl", args, { flags: "", values: "bnws" }).rest);
    let n = 0;
    return {
      stdout: textOf(linesOf(input).map((line) => (line === "" ? "       " : `${String(++n).padStart(6)}\t${line}`))),
      code: 0,
    };
  },
};

export const cat: Filter = {
  name: "cat",
  run: (args, input) => {
    noFiles(
      "cat",
      args.filter((arg) => !arg.startsWith("-")),
    );
    return { stdout: input, code: 0 };
  },
};

export const column: Filter = {
  name: "column",
  run(args, input) {
    const { values, rest } = readOptions("column", args, {
      flags: "t",
      values: "s",
      long: { table: "t", separator: "s" },
    });
    noFiles("column", rest);
    const separator = values.get("s")?.at(-1);
    const rows = linesOf(input).map((line) => (separator ? line.split(separator) : line.trim().split(/\s+/)));
    const widths: number[] = [];
    for (const row of rows)
      row.forEach((cell, i) => {
        widths[i] = Math.max(widths[i] ?? 0, cell.length);
      });
    return {
      stdout: textOf(
        rows.map((row) =>
          row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd((widths[i] as number) + 2))).join(""),
        ),
      ),
      code: 0,
    };
  },
};
