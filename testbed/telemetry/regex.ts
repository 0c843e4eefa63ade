/**
 * Go's regular expressions (RE2 syntax, as Prometheus and Loki use them) translated to JavaScript's. What RE2 has and
 * JavaScript lacks is rewritten; what neither should run in (back references, lookaround) is refused, as RE2 does.
 */

/** A pattern that RE2 would refuse, or that cannot be translated; the message says where. */
export class RegexError extends Error {
  override name = "RegexError";
}

export interface GoRegexOptions {
  /** The whole text must match, as Prometheus' matchers ask. */
  anchored?: boolean;
  /** `.` matches a newline too, as in Prometheus' matchers. */
  dotAll?: boolean;
  /** Further JavaScript flags: "g", "d". */
  flags?: string;
}

/** POSIX classes and RE2's `\\s`, as ranges of characters. */
const CLASSES: Record<string, readonly [string, string][]> = {
  alnum: [
    ["0", "9"],
    ["A", "Z"],
    ["a", "z"],
  ],
  alpha: [
    ["A", "Z"],
    ["a", "z"],
  ],
  ascii: [["\0", "\x7f"]],
  blank: [
    ["\t", "\t"],
    [" ", " "],
  ],
  cntrl: [
    ["\0", "\x1f"],
    ["\x7f", "\x7f"],
  ],
  digit: [["0", "9"]],
  graph: [["!", "~"]],
  lower: [["a", "z"]],
  print: [[" ", "~"]],
  punct: [
    ["!", "/"],
    [":", "@"],
    ["[", "`"],
    ["{", "~"],
  ],
  space: [
    ["\t", "\r"],
    [" ", " "],
  ],
  upper: [["A", "Z"]],
  word: [
    ["0", "9"],
    ["A", "Z"],
    ["_", "_"],
    ["a", "z"],
  ],
  xdigit: [
    ["0", "9"],
    ["A", "F"],
    ["a", "f"],
  ],
  // Go's \s: no vertical tab.
  s: [
    ["\t", "\n"],
    ["\f", "\r"],
    [" ", " "],
  ],
};

/** A class, or all but it, as it is written inside brackets. */
function ranges(name: string, negated: boolean): string {
  const code = (n: number): string => `\\u{${n.toString(16)}}`;
  let out = "";
  let next = 0;
  for (const [low, high] of CLASSES[name]!.map(([l, h]) => [l.charCodeAt(0), h.charCodeAt(0)] as const)) {
    if (!negated) out += `${code(low)}-${code(high)}`;
    else if (next < low) out += `${code(next)}-${code(low - 1)}`;
    next = high + 1;
  }
  return negated ? `${out}${code(next)}-${code(0x10ffff)}` : out;
}

/** Compiles a Go pattern. @throws RegexError */
export function goRegex(pattern: string, options: GoRegexOptions = {}): RegExp {
  const translated = translate(pattern, options.dotAll ?? false);
  const source = options.anchored ? `^(?:${translated.source})$` : translated.source;
  try {
    return new RegExp(source, `u${translated.ignoreCase ? "i" : ""}${options.flags ?? ""}`);
  } catch (error) {
    throw new RegexError(`error parsing regexp \`${pattern}\`: ${(error as Error).message.replace(/^.*: /, "")}`);
  }
}

interface Flags {
  i: boolean;
  m: boolean;
  s: boolean;
  U: boolean;
}

/** Rewrites the pattern for the `u` flag; (?i) over the whole pattern becomes the flag, inside it is spelled out. */
function translate(pattern: string, dotAll: boolean): { source: string; ignoreCase: boolean } {
  const fail = (what: string): never => {
    throw new RegexError(`error parsing regexp \`${pattern}\`: ${what}`);
  };
  let flags: Flags = { i: false, m: false, s: dotAll, U: false };
  let ignoreCase = false;
  const stack: { flags: Flags; closers: string }[] = [];
  let closers = "";
  let out = "";
  let i = 0;

  const leading = /^\(\?([imsU]*i[imsU]*)\)/.exec(pattern);
  if (leading) {
    ignoreCase = true;
    for (const flag of leading[1]!) if (flag !== "i") flags[flag as keyof Flags] = true;
    i = leading[0].length;
  }

  const literal = (char: string): string => {
    const escaped = /[\^$\\.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char;
    if (!flags.i || char.toLowerCase() === char.toUpperCase()) return escaped;
    return `[${char.toLowerCase()}${char.toUpperCase()}]`;
  };

  while (i < pattern.length) {
    const char = String.fromCodePoint(pattern.codePointAt(i)!);
    if (char === "\\") {
      if (pattern[i + 1] === "Q") {
        const end = pattern.indexOf("\\E", i);
        const text = pattern.slice(i + 2, end < 0 ? undefined : end);
        for (const c of text) out += literal(c);
        i = end < 0 ? pattern.length : end + 2;
        continue;
      }
      const [text, next] = escapeSequence(pattern, i, false, fail);
      out += text;
      i = next;
    } else if (char === "[") {
      const [text, next] = characterClass(pattern, i, flags.i, fail);
      out += text;
      i = next;
    } else if (char === "(") {
      stack.push({ flags, closers });
      flags = { ...flags };
      closers = "";
      if (pattern[i + 1] !== "?") {
        out += "(";
        i += 1;
        continue;
      }
      const named = /^\(\?P?<([A-Za-z_]\w*)>/.exec(pattern.slice(i));
      const group = /^\(\?([imsU]*)(?:-([imsU]*))?([:)])/.exec(pattern.slice(i));
      if (named) {
        out += `(?<${named[1]}>`;
        i += named[0].length;
      } else if (group) {
        for (const flag of group[1] ?? "") flags[flag as keyof Flags] = true;
        for (const flag of group[2] ?? "") flags[flag as keyof Flags] = false;
        i += group[0].length;
        if (group[3] === ")") {
          // (?i) holds to the end of the group that it stands in.
          closers = stack.pop()!.closers;
        } else out += "(?:";
      } else fail(`invalid or unsupported Perl syntax: \`${pattern.slice(i, i + 3)}\``);
    } else if (char === ")") {
      const outer = stack.pop();
      if (outer === undefined) fail("unexpected )");
      else {
        out += `${closers})`;
        ({ flags, closers } = outer);
      }
      i += 1;
    } else if (char === ".") {
      out += flags.s ? "[\\s\\S]" : "[^\\n]";
      i += 1;
    } else if (char === "^") {
      out += flags.m ? "(?:(?<![^\\n]))" : "(?:^)";
      i += 1;
    } else if (char === "$") {
      out += flags.m ? "(?:(?![^\\n]))" : "(?:$)";
      i += 1;
    } else if (
      char === "*" ||
      char === "+" ||
      char === "?" ||
      (char === "{" && /^\{\d+(,\d*)?\}/.test(pattern.slice(i)))
    ) {
      const text = char === "{" ? /^\{\d+(,\d*)?\}/.exec(pattern.slice(i))![0] : char;
      i += text.length;
      out += text;
      if (pattern[i] === "?") {
        if (!flags.U) out += "?";
        i += 1;
      } else if (flags.U) out += "?";
    } else if (char === "{" || char === "}" || char === "]") {
      out += `\\${char}`;
      i += 1;
    } else if (char === "|") {
      out += char;
      i += 1;
    } else {
      out += literal(char);
      i += char.length;
    }
  }
  if (stack.length > 0) fail("missing closing )");
  return { source: out, ignoreCase };
}

/** One escape sequence at `i`: its translation and the position after it. */
function escapeSequence(pattern: string, i: number, inClass: boolean, fail: (what: string) => never): [string, number] {
  const char = pattern[i + 1];
  if (char === undefined) return fail("trailing backslash at end of expression");
  if (/[1-9]/.test(char)) return fail(`invalid escape sequence: \`\\${char}\``);
  if (char === "A" && !inClass) return ["(?:(?<![\\s\\S]))", i + 2];
  if (char === "z" && !inClass) return ["(?:(?![\\s\\S]))", i + 2];
  if (char === "a") return ["\\x07", i + 2];
  if (char === "0") {
    const octal = /^[0-7]{1,3}/.exec(pattern.slice(i + 1))![0];
    return [`\\u{${Number.parseInt(octal, 8).toString(16)}}`, i + 1 + octal.length];
  }
  if (char === "x") {
    const hex = /^\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})/.exec(pattern.slice(i));
    if (!hex) return fail("invalid escape sequence: `\\x`");
    return [`\\u{${hex[1] ?? hex[2]}}`, i + hex[0].length];
  }
  if (char === "p" || char === "P") {
    const property = /^\\([pP])(?:\{(\^?)(\w+)\}|(\w))/.exec(pattern.slice(i));
    if (!property) return fail("invalid character class range");
    const name = property[3] ?? property[4]!;
    const negated = (property[1] === "P") !== (property[2] === "^");
    const script = name.length > 2 ? `Script=${name}` : name;
    return [`\\${negated ? "P" : "p"}{${script}}`, i + property[0].length];
  }
  // RE2's \s has no \v, and none of these classes knows Unicode.
  if (char === "s" || char === "S") {
    const set = ranges("s", char === "S");
    return [inClass ? set : `[${set}]`, i + 2];
  }
  if (/[dDwWnrtfv]/.test(char)) return [`\\${char}`, i + 2];
  if ((char === "b" || char === "B") && !inClass) return [`(?:\\${char})`, i + 2];
  if (/[A-Za-z]/.test(char)) return fail(`invalid escape sequence: \`\\${char}\``);
  // The `u` flag allows an escaped syntax character only.
  if (/[\^$\\.*+?()[\]{}|/]/.test(char) || (inClass && char === "-")) return [`\\${char}`, i + 2];
  return [char, i + 2];
}

/** A bracket expression at `i`. */
function characterClass(
  pattern: string,
  start: number,
  ignoreCase: boolean,
  fail: (what: string) => never,
): [string, number] {
  let i = start + 1;
  let out = "[";
  if (pattern[i] === "^") {
    out += "^";
    i += 1;
  }
  for (let first = true; ; first = false) {
    const char = pattern[i];
    if (char === undefined) return fail(`missing closing ]: \`${pattern.slice(start)}\``);
    if (char === "]" && !first) break;
    const posix = /^\[:(\^?)(\w+):\]/.exec(pattern.slice(i));
    if (posix) {
      const name = posix[2]!;
      if (!Object.hasOwn(CLASSES, name) || name === "s") {
        return fail(`invalid character class range: \`${posix[0]}\``);
      }
      out += ranges(name, posix[1] === "^");
      i += posix[0].length;
    } else if (char === "\\") {
      const [text, next] = escapeSequence(pattern, i, true, fail);
      out += text;
      i = next;
    } else {
      const point = String.fromCodePoint(pattern.codePointAt(i)!);
      if (ignoreCase && /[a-zA-Z]/.test(point) && pattern[i + 1] === "-" && /[a-zA-Z]/.test(pattern[i + 2] ?? "")) {
        const end = pattern[i + 2]!;
        out += `${point.toLowerCase()}-${end.toLowerCase()}${point.toUpperCase()}-${end.toUpperCase()}`;
        i += 3;
        continue;
      }
      if (ignoreCase && /[a-zA-Z]/.test(point)) out += point.toLowerCase() + point.toUpperCase();
      else out += /[[\](){}/|^]/.test(point) ? `\\${point}` : point;
      i += point.length;
    }
  }
  return [`${out}]`, i + 1];
}
