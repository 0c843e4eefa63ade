/** Where in a command line something stands that a message speaks of. */
import type { Finding } from "../../lint/finding.js";

/** A word of the command line, and where the text spells it; absent where it stands nowhere. */
interface Placed {
  word: string;
  span: { start: number; end: number } | undefined;
}

/** `words`, which open `text`, with their places; the text still has the quotes and backslashes. */
function placed(text: string, words: readonly string[]): Placed[] {
  const spans: { start: number; end: number }[] = [];
  let start = -1;
  const close = (end: number) => {
    if (start >= 0) spans.push({ start, end });
    start = -1;
  };
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string;
    if (/[\s|&;<>()]/.test(c)) {
      close(i);
      continue;
    }
    if (c === "\\" && text[i + 1] === "\n") {
      close(i++);
      continue;
    }
    if (start < 0) start = i;
    if (c === "\\") i++;
    else if (c === "'" || c === '"') {
      for (i++; i < text.length && text[i] !== c; i++) if (c === '"' && text[i] === "\\") i++;
    }
  }
  close(text.length);
  if (spans[0] !== undefined && text.slice(spans[0].start, spans[0].end) === "$") spans.shift();
  return words.map((word, i) => ({ word, span: spans[i] }));
}

/** `name` in `placed`'s own spelling, or the whole word where it is spelt otherwise. */
function findingIn(text: string, { word, span }: Placed, name: string, message: string): Finding {
  if (span === undefined) return { message, word };
  const raw = text.slice(span.start, span.end);
  const inside = raw.lastIndexOf(name);
  // A flag stands for its value too.
  if (inside < 0 || name.startsWith("--")) return { message, word: raw, start: span.start };
  return { message, word: name, start: span.start + inside };
}

/** Phrases of kubectl's that name a word without quoting it. */
const UNQUOTED = [
  /parsing jsonpath (.+?), [a-z ]+/s,
  /custom-columns spec: ([^,]+),/,
  /argument syntax ([^,\s]+),/,
  /literal source ([^,\s]+),/,
  /container (\S+) is not valid/,
];

/** What a message names: what stands in quotes, flags, what stands in parentheses, fields as the flag of their name. */
function named(message: string): string[] {
  // An object that is invalid is not what is wrong with it.
  const text = message.replace(/\b[\w.]+ "[^"]*" is invalid/, "");
  const found = UNQUOTED.flatMap((pattern) => pattern.exec(text)?.[1] ?? []);
  for (const match of text.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']+)'/g))
    found.push((match[1] ?? match[2])!.replace(/\\(["\\])/g, "$1"));
  for (const match of text.matchAll(/(?<![\w-])--?[A-Za-z][\w-]*/g)) found.push(match[0]);
  for (const match of text.matchAll(/\(([^()\s]+)\)/g)) found.push(match[1]!);
  for (const match of text.matchAll(/\.(\w+): (?:Invalid|Required|Unsupported)/g)) found.push(`--${match[1]}`);
  if (/quantities must match/.test(text)) found.push("--limits", "--requests");
  return found;
}

/** For messages that name nothing: which of the command's arguments they are about. */
function implied(message: string, words: readonly string[], verb: string | undefined): string | undefined {
  const from = Math.max(1, verb === undefined ? 1 : words.indexOf(verb) + 1);
  const rest = words
    .slice(from)
    .filter((word, i, all) => !word.startsWith("-") && !/^-(n|l|c|o|p)$/.test(all[i - 1] ?? ""));
  if (/resource type as a separate argument/.test(message)) return rest.find((word) => !word.includes("/"));
  if (/by name across all namespaces|name cannot be provided/.test(message)) return rest[1] ?? rest[0];
  if (/no name was specified/.test(message)) return rest[0];
  if (/update is required/.test(message)) return rest.at(-1);
  if (/format specified but no/.test(message))
    return words.find((word, i) => /^(-o|--output)$/.test(words[i - 1] ?? "") || /^(-o.|--output=)/.test(word));
  return undefined;
}

/**
 * A finding at the word of the command that `message` names, or else at `fallback`.
 *
 * @param shown what the finding says, when that is not the message itself
 */
export function findingAt(
  text: string,
  words: readonly string[],
  message: string,
  fallback: string | undefined,
  shown = message,
): Finding {
  const all = placed(text, words);
  const own = all.slice(1);
  const argument = implied(message, words, fallback);
  for (const name of [...(argument === undefined ? [] : [argument]), ...named(message)].filter(Boolean)) {
    const hit =
      own.find(({ word }) => word === name) ??
      own.find(({ word }) => word.endsWith(`=${name}`)) ??
      own.find(({ word }) => word.startsWith(`${name}=`) || word.startsWith(`${name}/`) || word.endsWith(`/${name}`)) ??
      (name.length > 1 ? own.find(({ word }) => word.includes(name)) : undefined) ??
      (name.startsWith("-") && !name.startsWith("--")
        ? own.find(({ word }) => /^-[A-Za-z]/.test(word) && word.includes(name[1]!))
        : undefined);
    if (hit === undefined) continue;
    const next = all[all.indexOf(hit) + 1]?.span;
    // A flag whose value stands apart from it.
    if (name.startsWith("--") && hit.word === name && hit.span !== undefined && next !== undefined)
      return { message: shown, word: text.slice(hit.span.start, next.end), start: hit.span.start };
    return findingIn(text, hit, name, shown);
  }
  const hit = all.find(({ word }) => word === fallback) ?? own[0] ?? all[0];
  if (hit === undefined) return { message: shown, word: text.trim(), start: 0 };
  return findingIn(text, hit, hit.word, shown);
}
