/** Faults of a command line that no server has to be asked about: shell syntax, filters, flags, the guard's refusals. */
import type { Finding } from "../../lint/finding.js";
import { didYouMean } from "../../suggest.js";
import { parseCommandLine } from "../command-line.js";
import { runFilter } from "../filters/index.js";
import { guard, type Policy } from "../guard.js";
import { type Invocation, verbWord } from "../invocation.js";
import { printGoTemplate } from "../printers/go-template.js";
import { findVerb, flagsOf, VERBS } from "../verbs/index.js";
import { splitWords } from "../words.js";
import { findingAt } from "./places.js";

export interface ReadCommand {
  /** kubectl's own words, `kubectl` first. */
  argv: string[];
  invocation: Invocation;
}

const PLACEHOLDERS = [
  /<[a-z][a-z0-9 _-]*>/i,
  /(?<![=\w])\{\{? ?[a-z][\w.-]* ?\}?\}(?=\s|$)/,
  /(?<![\w=-])(?:YOUR_)?[A-Z]+[_-](?:NAME|NAMESPACE)\b/,
];

/** The command when nothing is wrong with how it is written; otherwise what is. */
export async function readCommand(text: string, policy: Policy): Promise<ReadCommand | { findings: Finding[] }> {
  const bare = withoutQuoted(text);
  const placeholder = PLACEHOLDERS.map((pattern) => pattern.exec(bare)).find((match) => match !== null) ?? null;
  // To the command line an angle bracket is a redirection; the writer of a placeholder needs other advice.
  if (placeholder !== null) {
    const message = `a placeholder is left, ${placeholder[0]}: put a real name there; list the objects first to learn it`;
    return { findings: [{ message, word: placeholder[0], start: placeholder.index }] };
  }
  const parsed = parseCommandLine(text);
  if (!parsed.ok) return { findings: [commandLineFinding(text, parsed.error)] };
  const [argv = [], ...filters] = parsed.pipeline;
  const unknown = unknownCreation(argv);
  if (unknown !== undefined)
    return { findings: [findingAt(text, argv, `"${unknown.word}"`, "create", unknown.message)] };
  const verdict = guard(argv, policy);
  if (!verdict.ok) {
    const message = "usage" in verdict ? verdict.usage : verdict.message;
    return { findings: [findingAt(text, argv, message, verbWord(argv), withAdvice(message, argv))] };
  }
  const findings: Finding[] = [];
  const template = templateFault(verdict.invocation);
  if (template !== undefined) findings.push(findingAt(text, argv, `"${template.text}"`, "-o", template.message));
  for (const filter of filters) {
    const { stderr } = await runFilter(filter, "");
    // A program that was too slow on a busy machine has not been found wrong.
    if (stderr && !/did not end/.test(stderr)) findings.push(filterFinding(text, filter, stderr.trim()));
  }
  return findings.length > 0 ? { findings } : { argv, invocation: verdict.invocation };
}

/** `create` with a kind that it does not know: what it says of the flags behind it would lead astray. */
function unknownCreation(argv: readonly string[]): { word: string; message: string } | undefined {
  if (verbWord(argv) !== "create") return undefined;
  const word = argv[argv.indexOf("create") + 1];
  if (word === undefined || word.startsWith("-") || /^[^a-z]*$/i.test(word)) return undefined;
  const kinds = [...new Set(VERBS.filter(({ name }) => name[0] === "create").flatMap(({ name }) => name[1] ?? []))];
  if (kinds.includes(word)) return undefined;
  const near = didYouMean(word, kinds, 2);
  const message = `kubectl create ${word} is not available${near}; other kinds are made with \`kubectl create -f -\` and a manifest`;
  return { word, message };
}

/** A Go template is read when it is first filled in, which is too late here. */
function templateFault({ flags }: Invocation): { text: string; message: string } | undefined {
  const output = flags.string("output");
  const inline = /^(?:go-template|template)=(.*)$/s.exec(output)?.[1];
  const text = inline ?? (/^(go-template|template)$/.test(output) ? flags.string("template") : "");
  if (text === "") return undefined;
  try {
    printGoTemplate(text, {});
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (/unclosed|unexpected|unterminated|not defined|missing|bad character/i.test(message))
      return { text, message: `the template cannot be read: ${message.replace(/^error: /, "")}` };
  }
  return undefined;
}

/** The text with what stands in quotes blanked out, so that offsets stay. */
function withoutQuoted(text: string): string {
  return text.replace(/'[^']*'|"(?:[^"\\]|\\.)*"/g, (quoted) => " ".repeat(quoted.length));
}

/** At the sign, the quote or the word that the command line stumbled over. */
function commandLineFinding(text: string, message: string): Finding {
  const code = /U\+([0-9A-F]{4,6})/.exec(message)?.[1];
  if (code !== undefined) {
    const word = String.fromCodePoint(Number.parseInt(code, 16));
    return { message, word, start: Math.max(0, text.indexOf(word)) };
  }
  if (/quote .* is not closed/.test(message)) {
    const start = openQuote(text);
    return { message, word: text[start] ?? "", start };
  }
  const words = splitWords(text);
  if (!words.ok) return { message, word: text.trim(), start: 0 };
  let from = 0;
  let piped = true;
  for (const token of words.tokens) {
    const found = text.indexOf(token.text, from);
    const start = found < 0 ? from : found;
    if (found >= 0) from = found + token.text.length;
    const at: Finding = { message, word: token.text, start };
    if (token.type === "operator") {
      piped = token.text === "|" || token.text === "|&";
      if (!piped && token.text !== "2>&1") return at;
    } else if (piped) {
      piped = false;
      // The word that begins a part of the pipeline is the program.
      if (message.includes(token.text) && !(token.text === "kubectl" && start <= text.search(/\S/))) return at;
    }
  }
  return { message, word: words.tokens.at(-1)?.text ?? "", start: Math.max(0, text.trimEnd().length - 1) };
}

/** Offset of the quote that is not closed. */
function openQuote(text: string): number {
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === "\\") i++;
    else if (c === "'" || c === '"') {
      let end = i + 1;
      while (end < text.length && text[end] !== c) end += c === '"' && text[end] === "\\" ? 2 : 1;
      if (end >= text.length) return i;
      i = end;
    }
  }
  return 0;
}

/** kubectl's complaint about a verb or flag, without its usage hint, with what may have been meant. */
function withAdvice(message: string, argv: readonly string[]): string {
  const plain = message.replace(/\nSee '[^']*'.*$/s, "").trim();
  const flag = /unknown flag: --(\S+)/.exec(plain)?.[1];
  if (flag !== undefined) {
    const verb = findVerb(argv.slice(1).filter((word) => !word.startsWith("-")));
    if (verb === undefined) return plain;
    const allowed = Object.entries(flagsOf(verb)).filter(([, spec]) => spec.forbidden === undefined);
    return `${plain}: kubectl ${verb.name.join(" ")} has no such flag${didYouMean(
      flag,
      allowed.map(([name]) => name),
      2,
    )}`;
  }
  const word = /unknown command "([^"]+)"/.exec(plain)?.[1];
  if (word === undefined) return plain;
  const parent = VERBS.filter(({ name }) => name.length > 1 && argv.includes(name[0]!)).map(({ name }) => name[1]!);
  const names = parent.length > 0 ? parent : VERBS.map(({ name }) => name[0]!);
  return `${plain.split("\n")[0]}${didYouMean(word, [...new Set(names)], 3)}`;
}

function filterFinding(text: string, filter: readonly string[], message: string): Finding {
  const pipe = text.lastIndexOf(filter[0]!);
  const named = filter.slice(1).find((word) => message.includes(word)) ?? filter.at(-1)!;
  const start = text.indexOf(named, Math.max(0, pipe));
  return { message, word: named, ...(start < 0 ? {} : { start }) };
}
