/**
 * Go's regular expressions in time linear in the text (re2js, a port of RE2). For patterns that come from outside: with
 * a backtracking engine a query such as `|~ "(a+)+$"` would stop the whole process for minutes.
 */
import { RE2JS, RE2JSException } from "re2js";
import { goRegex, RegexError } from "./regex.js";

/** A pattern that RE2 refuses; the message is Go's. */
export class Re2Error extends RegexError {
  override name = "Re2Error";
}

export interface Re2Options {
  /** The whole text must match. */
  anchored?: boolean;
  /** `.` matches a newline too. */
  dotAll?: boolean;
}

export interface Re2 {
  test(text: string): boolean;
  /** Whole match and groups, then the named groups by name; undefined when nothing matches. */
  exec(text: string): { groups: (string | undefined)[]; named: Record<string, string | undefined> } | undefined;
  /** Every match replaced; `$1`, `${1}`, `$name` in the replacement stand for groups, as in Go. */
  replaceAll(text: string, replacement: string): string;
  /** Every match replaced by exactly this text. */
  replaceLiteral(text: string, replacement: string): string;
  /** Matches that do not overlap. */
  count(text: string): number;
  /** Names of the groups, in order. */
  readonly names: readonly string[];
}

/** Compiles a pattern in Go's syntax. @throws Re2Error */
export function compileRe2(pattern: string, options: Re2Options = {}): Re2 {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern, options.dotAll ? RE2JS.DOTALL : 0);
  } catch (error) {
    if (error instanceof RE2JSException) throw new Re2Error(error.message);
    throw error;
  }
  const byName = Object.entries(compiled.namedGroups()).sort(([, a], [, b]) => a - b);
  const groupCount = compiled.groupCount();
  type Matcher = ReturnType<RE2JS["matcher"]>;

  function groupsOf(matcher: Matcher): (string | undefined)[] {
    return Array.from({ length: groupCount + 1 }, (_unused, i) => matcher.group(i) ?? undefined);
  }

  function namedOf(groups: readonly (string | undefined)[]): Record<string, string | undefined> {
    return Object.fromEntries(byName.map(([name, i]) => [name, groups[i]]));
  }

  /** Calls `visit` for each match. As in Go, an empty match right behind another one does not count. */
  function eachMatch(text: string, visit: (matcher: Matcher) => void): void {
    const matcher = compiled.matcher(text);
    let end = -1;
    while (matcher.find()) {
      const accepted = matcher.end() > matcher.start() || matcher.start() !== end;
      end = matcher.end();
      if (accepted) visit(matcher);
    }
  }

  function replace(text: string, make: (groups: (string | undefined)[]) => string): string {
    let out = "";
    let at = 0;
    eachMatch(text, (matcher) => {
      out += text.slice(at, matcher.start()) + make(groupsOf(matcher));
      at = matcher.end();
    });
    return out + text.slice(at);
  }

  return {
    names: byName.map(([name]) => name),
    test: tester(pattern, compiled, options),
    exec(text) {
      const matcher = compiled.matcher(text);
      if (options.anchored ? !matcher.matches() : !matcher.find()) return undefined;
      const groups = groupsOf(matcher);
      return { groups, named: namedOf(groups) };
    },
    replaceAll: (text, replacement) =>
      replace(text, (groups) => expand(replacement, { groups, named: namedOf(groups) })),
    replaceLiteral: (text, replacement) => replace(text, () => replacement),
    count(text) {
      let count = 0;
      eachMatch(text, () => count++);
      return count;
    },
  };
}

/**
 * The fastest engine that is safe: a search for plain text; JavaScript's own, many times faster than any other, where
 * the pattern leaves it little to go back to; else RE2's.
 */
function tester(pattern: string, compiled: RE2JS, options: Re2Options): (text: string) => boolean {
  const { anchored = false } = options;
  if (PLAIN.test(pattern)) return anchored ? (text) => text === pattern : (text) => text.includes(pattern);
  // What may be anything at the ends of a search says nothing. Brackets may not be cut in two.
  const inner =
    anchored || pattern.includes("|")
      ? pattern
      : pattern.replace(/^(\(\?i\))?(?:\.\*\??)+|(?<!\\)(?:\.\*\??)+$/g, "$1");
  if (isTame(inner)) {
    const native = nativeRegex(inner, options);
    if (native !== undefined) return (text) => native.test(text);
  }
  return anchored ? (text) => compiled.testExact(text) : (text) => compiled.test(text);
}

const PLAIN = /^[\w\s\-:/,;=<>@#%&"'~!]*$/;

/** Undefined for what the translation does not know. */
function nativeRegex(pattern: string, { anchored = false, dotAll = false }: Re2Options): RegExp | undefined {
  try {
    return goRegex(pattern, { anchored, dotAll });
  } catch (error) {
    if (error instanceof RegexError) return undefined;
    throw error;
  }
}

/**
 * Whether a backtracking engine is safe with the pattern: at most one unbounded repetition, of a single character or
 * class. Then the time is at most quadratic in the text, and nearly always linear.
 */
export function isTame(pattern: string): boolean {
  let unbounded = 0;
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i]!;
    if (char === "\\") {
      if (pattern[i + 1] === "Q") return false;
      i++;
    } else if (char === "[") {
      const close = pattern.indexOf("]", pattern[i + 1] === "^" ? i + 3 : i + 2);
      if (close === -1 || pattern.slice(i, close).includes("\\")) return false;
      if (pattern.slice(i + 1, close).includes("[")) return false;
      i = close;
    } else if (char === "*" || char === "+" || (char === "{" && /^\{\d/.test(pattern.slice(i)))) {
      if (char === "{" && /^\{\d{1,2}(?:,\d{1,2})?\}/.test(pattern.slice(i)) && pattern[i - 1] !== ")") continue;
      if (++unbounded > 1 || pattern[i - 1] === ")") return false;
    }
  }
  return true;
}

/** Go's Expand: `$name` takes the longest name; groups that are not there are empty. */
export function expand(
  replacement: string,
  match: { groups: readonly (string | undefined)[]; named: Readonly<Record<string, string | undefined>> },
): string {
  return replacement.replace(/\$\$|\$\{(\w+)\}|\$(\w+)/g, (whole, braced?: string, bare?: string) => {
    if (whole === "$$") return "$";
    const name = braced ?? bare!;
    return (/^\d+$/.test(name) ? match.groups[Number(name)] : match.named[name]) ?? "";
  });
}
