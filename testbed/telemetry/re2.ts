/**
 * Go's regular expressions in time linear in the text (re2js, a port of RE2). For patterns that come from outside: with
 * a backtracking engine a query such as `|~ "(a+)+$"` would stop the whole process for minutes.
 */
import { RE2JS, RE2JSException } from "re2js";

/** A pattern that RE2 refuses; the message is Go's. */
export class Re2Error extends Error {
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
    test: tester(pattern, compiled, options.anchored ?? false),
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

/** A pattern without operators is a search for its text. */
function tester(pattern: string, compiled: RE2JS, anchored: boolean): (text: string) => boolean {
  if (/^[\w\s\-:/,;=<>@#%&"'~!]*$/.test(pattern)) {
    return anchored ? (text) => text === pattern : (text) => text.includes(pattern);
  }
  return anchored ? (text) => compiled.testExact(text) : (text) => compiled.test(text);
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
