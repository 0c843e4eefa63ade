/** Go's RE2 syntax on JavaScript's engine, as far as the two differ in what queries use. */

const POSIX_CLASS: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7F",
  blank: "\\t ",
  cntrl: "\\x00-\\x1F\\x7F",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

/** Thrown for a pattern that RE2 would refuse; the message is RE2's as far as it is known. */
export class RegexpError extends Error {
  override name = "RegexpError";
}

/**
 * Compiles a Go regular expression. Flags (`(?i)`, `(?s)`, `(?m)`) count for the whole pattern, wherever they stand:
 * JavaScript of this version has no scoped flags, and queries mean the whole pattern. Look-around and back references
 * are refused, as RE2 refuses them.
 * @param anchored the whole text must match, as label matchers ask
 * @throws RegexpError
 */
export function compileRegexp(source: string, options: { anchored?: boolean; flags?: string } = {}): RegExp {
  const flags = new Set(options.flags ?? "");
  const translated = translate(source, flags);
  try {
    return new RegExp(options.anchored ? `^(?:${translated})$` : translated, [...flags].join(""));
  } catch (error) {
    throw new RegexpError(`error parsing regexp: ${reasonOf(error, source)}`);
  }
}

/** Names of the capture groups, in order. */
export function groupNames(source: string): string[] {
  return [...source.matchAll(/\(\?P?<([^>=!][^>]*)>/g)].map((match) => match[1]!);
}

function translate(pattern: string, flags: Set<string>): string {
  let out = "";
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i]!;
    if (char === "\\") {
      const next = pattern[i + 1];
      if (next === undefined)
        throw new RegexpError("error parsing regexp: trailing backslash at end of expression: ``");
      if (next === "Q") {
        const end = pattern.indexOf("\\E", i + 2);
        out += escapeRegexp(pattern.slice(i + 2, end === -1 ? undefined : end));
        i = end === -1 ? pattern.length : end + 1;
        continue;
      }
      if (/[1-9]/.test(next)) throw new RegexpError(`error parsing regexp: invalid escape sequence: \`\\${next}\``);
      if (next === "A") out += "^";
      else if (next === "z") out += "$";
      else if (next === "a") out += "\\x07";
      else if (next === "x" && pattern[i + 2] === "{") {
        const end = pattern.indexOf("}", i);
        out += String.fromCodePoint(Number.parseInt(pattern.slice(i + 3, end), 16)).replace(
          /[\\^$.*+?()[\]{}|]/g,
          "\\$&",
        );
        i = end;
        continue;
      } else out += char + next;
      i++;
    } else if (char === "[") {
      const end = classEnd(pattern, i);
      if (end === -1) throw new RegexpError(`error parsing regexp: missing closing ]: \`${pattern.slice(i)}\``);
      out += translateClass(pattern.slice(i, end + 1));
      i = end;
    } else if (char === "(" && pattern[i + 1] === "?") {
      if (pattern.startsWith("(?P<", i)) {
        out += "(?<";
        i += 3;
      } else if (/^\(\?(?:[=!]|<[=!])/.test(pattern.slice(i))) {
        const bad = pattern.startsWith("(?<", i) ? pattern.slice(i, i + 4) : pattern.slice(i, i + 3);
        throw new RegexpError(`error parsing regexp: invalid or unsupported Perl syntax: \`${bad}\``);
      } else {
        const inline = /^\(\?([imsU]*)(?:-[imsU]+)?([:)])/.exec(pattern.slice(i));
        if (inline === null) out += char;
        else {
          for (const flag of inline[1]!) if (flag !== "U") flags.add(flag);
          out += inline[2] === ":" ? "(?:" : "";
          i += inline[0].length - 1;
        }
      }
    } else out += char;
  }
  return out;
}

/** Position of the bracket that closes the class opened at `start`, or -1. */
function classEnd(pattern: string, start: number): number {
  let i = start + 1;
  if (pattern[i] === "^") i++;
  if (pattern[i] === "]") i++;
  for (; i < pattern.length; i++) {
    if (pattern[i] === "\\") i++;
    else if (pattern.startsWith("[:", i)) {
      const end = pattern.indexOf(":]", i);
      if (end !== -1) i = end + 1;
    } else if (pattern[i] === "]") return i;
  }
  return -1;
}

function translateClass(text: string): string {
  const negated = text.startsWith("[^");
  let body = text.slice(negated ? 2 : 1, -1);
  if (body.startsWith("]")) body = `\\${body}`;
  body = body.replace(/\[:(\^?)(\w+):\]/g, (whole, not: string, name: string) => {
    const members = POSIX_CLASS[name];
    if (members === undefined || not !== "") {
      throw new RegexpError(`error parsing regexp: invalid character class range: \`${whole}\``);
    }
    return members;
  });
  return `[${negated ? "^" : ""}${body}]`;
}

/** The text as a pattern that matches it. */
export function escapeRegexp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

function reasonOf(error: unknown, source: string): string {
  const message = error instanceof Error ? error.message : String(error);
  if (/Unterminated group/.test(message)) return `missing closing ): \`${source}\``;
  if (/Unmatched '\)'/.test(message)) return `unexpected ): \`${source}\``;
  if (/Nothing to repeat/.test(message))
    return `missing argument to repetition operator: \`${/[*+?]/.exec(source)?.[0] ?? source}\``;
  if (/Range out of order/.test(message)) return `invalid character class range: \`${source}\``;
  if (/Duplicate capture group/.test(message)) return `duplicate capture group name: \`${source}\``;
  return `${message.replace(/^Invalid regular expression: /, "")}`;
}
