/** grep over the piped lines: -i -v -E -F -w -x -c -n -o -q -m, -A -B -C, -e. Basic, extended and Perl-like patterns. */
import { type Filter, FilterError, linesOf, noFiles, readOptions, textOf } from "./filter.js";
import { compilePattern, type Pattern } from "./pattern.js";

const CLASSES: Record<string, string> = {
  alpha: "A-Za-z",
  digit: "0-9",
  alnum: "A-Za-z0-9",
  upper: "A-Z",
  lower: "a-z",
  space: "\\s",
  blank: " \\t",
  punct: "!-\\/:-@\\[-`{-~",
  xdigit: "0-9A-Fa-f",
};

/** POSIX basic or extended syntax to RE2's. */
export function toRegExp(pattern: string, mode: "basic" | "extended" | "perl"): string {
  let out = "";
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i] as string;
    if (c === "[") {
      // Inside brackets nothing but a class and the closing bracket is special.
      let end = i + 1;
      if (pattern[end] === "^") end++;
      if (pattern[end] === "]") end++;
      while (end < pattern.length && pattern[end] !== "]")
        end = pattern.startsWith("[:", end) ? pattern.indexOf(":]", end) + 2 : end + 1;
      const inside = pattern.slice(i + 1, end);
      const negated = inside.startsWith("^");
      const body = (negated ? inside.slice(1) : inside)
        .replace(/\[:(\w+):\]/g, (_, name: string) => `\uE000${name}\uE001`)
        .replace(mode === "perl" ? /[[\]]/g : /[\\[\]]/g, "\\$&")
        .replace(/\uE000(\w+)\uE001/g, (_, name: string) => CLASSES[name] ?? "");
      out += `[${negated ? "^" : ""}${body}]`;
      i = end;
    } else if (c === "\\") {
      const next = pattern[++i] ?? "";
      if (mode === "basic" && "(){}|+?".includes(next)) out += next;
      else if (next === "<" || next === ">") out += "\\b";
      else if (/[wWsSbBdD]/.test(next) || /\d/.test(next)) out += `\\${next}`;
      else if (mode === "perl") out += `\\${next}`;
      else out += next.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
    } else if (mode === "basic" && "(){}|+?".includes(c)) out += `\\${c}`;
    else if (c === "*" && out === "" && mode === "basic") out += "\\*";
    else if (c === "{" && mode !== "basic" && !/^\{\d+(,\d*)?\}/.test(pattern.slice(i))) out += "\\{";
    else if (c === "}" && mode !== "basic" && !/\{\d+(,\d*)?$/.test(pattern.slice(0, i))) out += "\\}";
    else out += c;
  }
  return out;
}

function compile(patterns: string[], flags: Set<string>): Pattern {
  const sources = patterns
    .flatMap((p) => p.split("\n"))
    .map((pattern) => {
      const source = flags.has("F")
        ? pattern.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")
        : toRegExp(pattern, flags.has("P") ? "perl" : flags.has("E") ? "extended" : "basic");
      return flags.has("x") ? `^(?:${source})$` : `(?:${source})`;
    });
  return compilePattern("grep", sources.join("|"), { ignoreCase: flags.has("i"), word: flags.has("w") });
}

export const grep: Filter = {
  name: "grep",
  run(args, input) {
    const numeric = args.map((arg) => (/^-\d+$/.test(arg) ? `-C${arg.slice(1)}` : arg));
    const { flags, values, rest } = readOptions("grep", numeric, {
      flags: "ivEFPGwxcnoqhHsaly",
      values: "ABCem",
      long: {
        "ignore-case": "i",
        "invert-match": "v",
        "extended-regexp": "E",
        "fixed-strings": "F",
        "perl-regexp": "P",
        "word-regexp": "w",
        "line-regexp": "x",
        count: "c",
        "line-number": "n",
        "only-matching": "o",
        quiet: "q",
        "after-context": "A",
        "before-context": "B",
        context: "C",
        regexp: "e",
        "max-count": "m",
        color: "h",
        colour: "h",
        "no-filename": "h",
        text: "a",
        "line-buffered": "h",
      },
    });
    const patterns = values.get("e") ?? rest.splice(0, 1);
    if (patterns.length === 0) throw new FilterError("grep: a pattern is missing");
    noFiles("grep", rest);
    const test = compile(patterns, flags);
    const number = (letter: string) => {
      const text = values.get(letter)?.at(-1) ?? values.get("C")?.at(-1);
      if (text === undefined || (letter === "m" && !values.has("m"))) return 0;
      if (!/^\d+$/.test(text)) throw new FilterError(`grep: ${text}: invalid context length argument`);
      return Number(text);
    };
    const [after, before] = [number("A"), number("B")];
    const limit = values.has("m") ? number("m") : Number.POSITIVE_INFINITY;
    const lines = linesOf(input);
    const hits: number[] = [];
    for (let i = 0; i < lines.length && hits.length < limit; i++) {
      if (test.test(lines[i] as string) !== flags.has("v")) hits.push(i);
    }
    const code = hits.length > 0 ? 0 : 1;
    if (flags.has("q")) return { stdout: "", code };
    if (flags.has("l")) return { stdout: code === 0 ? "(standard input)\n" : "", code };
    if (flags.has("c")) return { stdout: `${hits.length}\n`, code };
    const out: string[] = [];
    if (flags.has("o")) {
      for (const i of hits)
        for (const { start, end } of flags.has("v") ? [] : test.matches(lines[i] as string)) {
          const text = (lines[i] as string).slice(start, end);
          if (text !== "") out.push(flags.has("n") ? `${i + 1}:${text}` : text);
        }
      return { stdout: textOf(out), code };
    }
    const matched = new Set(hits);
    let last = -1;
    for (const hit of hits)
      for (let i = Math.max(last + 1, hit - before); i <= Math.min(lines.length - 1, hit + after); i++) {
        if (i > last + 1 && last >= 0 && (after > 0 || before > 0) && i === Math.max(last + 1, hit - before))
          out.push("--");
        out.push(flags.has("n") ? `${i + 1}${matched.has(i) ? ":" : "-"}${lines[i]}` : (lines[i] as string));
        last = i;
      }
    return { stdout: textOf(out), code };
  },
};

function variant(name: string, option: string): Filter {
  return { name, run: (args, input) => grep.run([option, ...args], input) };
}

export const egrep = variant("egrep", "-E");
export const fgrep = variant("fgrep", "-F");
