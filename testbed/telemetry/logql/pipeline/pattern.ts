/** The `pattern` language: literals and `<captures>`, matched left to right without backtracking. */

type Part = { literal: string } | { capture: string };

/** A compiled pattern: what it captured, in order; undefined when the line does not begin as the pattern does. */
export type PatternMatcher = (line: string) => [name: string, value: string][] | undefined;

/** @throws Error for a pattern without named captures, with two captures side by side, or with a name twice */
export function compilePattern(pattern: string): PatternMatcher {
  const parts = partsOf(pattern);
  const names = parts.flatMap((part) => ("capture" in part && part.capture !== "_" ? [part.capture] : []));
  if (names.length === 0) throw new Error("at least one capture is required");
  checkNeighbours(parts);
  for (const [i, name] of names.entries()) {
    if (names.indexOf(name) !== i) throw new Error(`duplicate capture name (${name})`);
  }
  return (line) => {
    const captured: [string, string][] = [];
    let rest = line;
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i]!;
      if ("literal" in part) {
        // Only the first literal can stand here: the others are consumed with the capture before them.
        if (!rest.startsWith(part.literal)) return undefined;
        rest = rest.slice(part.literal.length);
        continue;
      }
      const after = parts[i + 1];
      const end = after !== undefined && "literal" in after ? rest.indexOf(after.literal) : -1;
      if (part.capture !== "_") captured.push([part.capture, end === -1 ? rest : rest.slice(0, end)]);
      if (end === -1) return captured;
      rest = rest.slice(end + (after as { literal: string }).literal.length);
      i++;
    }
    return captured;
  };
}

/** For `|>` and `!>`: whether the whole line has the shape. @throws Error for named captures */
export function compilePatternFilter(pattern: string): (line: string) => boolean {
  const parts = partsOf(pattern);
  checkNeighbours(parts);
  for (const part of parts) {
    if ("capture" in part && part.capture !== "_") throw new Error("named captures are not allowed in pattern filters");
  }
  return (line) => {
    let at = 0;
    for (const [i, part] of parts.entries()) {
      if ("capture" in part) continue;
      const last = i === parts.length - 1;
      const found =
        i === 0
          ? line.startsWith(part.literal)
            ? 0
            : -1
          : last
            ? line.lastIndexOf(part.literal)
            : line.indexOf(part.literal, at);
      if (found < at) return false;
      at = found + part.literal.length;
      if (last && at !== line.length) return false;
    }
    return true;
  };
}

function partsOf(pattern: string): Part[] {
  if (pattern === "") throw new Error("empty pattern");
  const parts: Part[] = [];
  let at = 0;
  for (const match of pattern.matchAll(/<([a-zA-Z_][a-zA-Z0-9_]*)>/g)) {
    if (match.index > at) parts.push({ literal: pattern.slice(at, match.index) });
    parts.push({ capture: match[1]! });
    at = match.index + match[0].length;
  }
  if (at < pattern.length) parts.push({ literal: pattern.slice(at) });
  return parts;
}

function checkNeighbours(parts: readonly Part[]): void {
  for (let i = 0; i + 1 < parts.length; i++) {
    const [left, right] = [parts[i]!, parts[i + 1]!];
    if ("capture" in left && "capture" in right) {
      throw new Error(`found consecutive capture '<${left.capture}><${right.capture}>'`);
    }
  }
}
