/** From kubectl's arguments to a verb with its flags, without asking any server. */
import { editDistance } from "../suggest.js";
import type { Verb } from "./context.js";
import { KubectlError } from "./errors.js";
import { type FlagSpecs, type Flags, parseFlags } from "./flags.js";
import { GLOBAL_FLAGS } from "./verbs/flag-sets.js";
import { findVerb, flagsOf, VERBS } from "./verbs/index.js";

export interface Invocation {
  verb: Verb;
  flags: Flags;
  specs: FlagSpecs;
}

/** Global flags that stand before the verb, the verb's words, and the rest. */
function separate(argv: readonly string[]): { before: string[]; words: string[] } {
  const before: string[] = [];
  let i = 0;
  for (; i < argv.length; i++) {
    const arg = argv[i] as string;
    if (arg === "--" || !arg.startsWith("-") || arg === "-") break;
    before.push(arg);
    if (takesNext(arg) && i + 1 < argv.length) before.push(argv[++i] as string);
  }
  return { before, words: argv.slice(i) };
}

/** A global flag that takes the next word as its value. */
function takesNext(arg: string): boolean {
  if (arg.includes("=")) return false;
  const name = arg.startsWith("--")
    ? arg.slice(2)
    : Object.entries(GLOBAL_FLAGS).find(([, spec]) => spec.short === arg[1])?.[0];
  const spec = name === undefined || !Object.hasOwn(GLOBAL_FLAGS, name) ? undefined : GLOBAL_FLAGS[name];
  return (
    spec !== undefined && spec.type !== "bool" && spec.bare === undefined && (arg.startsWith("--") || arg.length === 2)
  );
}

/** The words that are no flags and no values of global flags. */
function plainWords(words: readonly string[]): string[] {
  const out: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const arg = words[i] as string;
    if (arg === "--") break;
    if (!arg.startsWith("-")) out.push(arg);
    else if (takesNext(arg)) i++;
  }
  return out;
}

/** Verbs whose place is taken by sub-commands: `kubectl rollout` alone says which there are. */
function subcommands(word: string): string[] {
  return VERBS.filter((verb) => verb.name.length > 1 && verb.name[0] === word).map((verb) => verb.name[1] as string);
}

/** The message for a command that does not exist, with what it may have meant. */
function unknownCommand(word: string): string {
  const names = [...new Set(VERBS.map((verb) => verb.name[0] as string))].sort();
  const near = names.filter(
    (name) => name.startsWith(word.toLowerCase()) || editDistance(name, word.toLowerCase(), 3) < 3,
  );
  const hint = near.length > 0 ? `\n\nDid you mean this?\n${near.map((name) => `\t${name}`).join("\n")}` : "";
  return `Error: unknown command "${word}" for "kubectl"${hint}`;
}

/** The first word of a command line: what the guard looks at before anything is parsed. */
export function verbWord(argv: readonly string[]): string | undefined {
  return separate(argv.slice(1)).words[0];
}

/**
 * Parses `kubectl ...`.
 *
 * @throws KubectlError with kubectl's own message for an unknown verb or flag
 */
export function parseInvocation(argv: readonly string[]): Invocation {
  const { before, words } = separate(argv.slice(1));
  const [word] = words;
  if (word === undefined) throw new KubectlError("error: a command is missing; for example: kubectl get pods");
  // Flags may stand between the words of a verb (`rollout -n x status`); kubectl takes them, so they are moved behind.
  const path = plainWords(words);
  const verb = findVerb(path);
  const rest = [...words];
  for (const part of verb?.name ?? [word]) rest.splice(rest.indexOf(part), 1);
  if (!verb) {
    const subs = subcommands(word);
    if (subs.length === 0) throw new KubectlError(unknownCommand(word));
    if (path[1] !== undefined)
      throw new KubectlError(`error: unknown command "${path[1]}"\nSee 'kubectl ${word} -h' for help and examples`);
    throw new KubectlError(`error: kubectl ${word} needs one of: ${subs.join(", ")}`);
  }
  const specs = flagsOf(verb);
  return { verb, specs, flags: parseFlags([...before, ...rest], specs, `kubectl ${verb.name.join(" ")}`) };
}
