/** Patterns of grep and awk. They come from a model, so they run on RE2, whose time is linear in the text. */
import { RE2JS } from "re2js";
import { FilterError } from "./filter.js";

export interface Pattern {
  test(line: string): boolean;
  /** Where it matches, left to right, without overlaps. */
  matches(line: string): { start: number; end: number }[];
}

export interface PatternOptions {
  ignoreCase?: boolean;
  /** Only between characters that are not part of a word. */
  word?: boolean;
}

/** @param name of the program, for the complaint. @throws FilterError when the pattern cannot be read */
export function compilePattern(name: string, source: string, options: PatternOptions = {}): Pattern {
  let program: RE2JS;
  try {
    program = RE2JS.compile(source, options.ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    throw new FilterError(`${name}: ${(error as Error).message}`);
  }
  const isWord = (c: string | undefined) => c !== undefined && /[\p{L}\p{N}_]/u.test(c);
  const next = (line: string, from: number): { start: number; end: number } | undefined => {
    const matcher = program.matcher(line);
    for (let at = from; at <= line.length; ) {
      if (!matcher.find(at)) return undefined;
      const [start, end] = [matcher.start(), matcher.end()];
      if (!options.word || (!isWord(line[start - 1]) && !isWord(line[end]))) return { start, end };
      at = start + 1;
    }
    return undefined;
  };
  return {
    test: (line) => next(line, 0) !== undefined,
    matches(line) {
      const found: { start: number; end: number }[] = [];
      for (let at = 0; at <= line.length; ) {
        const match = next(line, at);
        if (!match) break;
        found.push(match);
        at = match.end > match.start ? match.end : match.end + 1;
      }
      return found;
    },
  };
}
