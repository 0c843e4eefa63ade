/** What a linter finds: what is wrong and how to mend it, and where. */
export interface Finding {
  /** What is wrong, and what to write instead. */
  message: string;
  /** The offending text; for a query that is no text, the name of its parameter. */
  word: string;
  /** Offset of `word` in the query's text, from 0; absent for a parameter, or where the text does not hold the word. */
  start?: number;
}

/** The finding as a sentence that names its place. */
export function findingText({ message, word, start }: Finding): string {
  // A word that the message names is found without its position.
  if (start === undefined || word === "" || message.includes(`position ${start + 1}`)) return message;
  const shown = word.length > 60 ? `${word.slice(0, 57)}...` : word;
  return message.includes(shown)
    ? `${message} (position ${start + 1})`
    : `${message} (at position ${start + 1}: ${shown})`;
}

/** Findings as sentences, each once. */
export function findingTexts(findings: readonly Finding[]): string[] {
  return [...new Set(findings.map(findingText))];
}

/** Offset of `line` and `column`, both from 1, in `text`; its end when there is no such place. */
export function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let i = 1; i < line; i++) {
    const end = text.indexOf("\n", start);
    if (end < 0) break;
    start = end + 1;
  }
  return Math.min(start + Math.max(0, column - 1), text.length);
}

/** The word, number, string or sign that stands at `start`; the last one where the text ends there. */
export function wordAt(text: string, start: number): { word: string; start: number } {
  const found = /^\s*([\w:.$-]+|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`[^`]*`?|[^\s\w]{1,2})/.exec(text.slice(start));
  if (found !== null) return { word: found[1]!, start: start + found[0].length - found[1]!.length };
  const last = /(\S)\s*$/.exec(text.slice(0, start));
  return last === null ? { word: "", start } : { word: last[1]!, start: last.index };
}
