/** Where in a command line something stands that a message speaks of. */
import type { Finding } from "../../lint/finding.js";

/** A word of the command line with its offset; -1 where the text spells it otherwise (escapes, joined quotes). */
interface Placed {
  word: string;
  start: number;
}

/** Offsets of `words`, which stand in `text` in this order. */
function placed(text: string, words: readonly string[]): Placed[] {
  let from = 0;
  return words.map((word) => {
    const start = text.indexOf(word, from);
    if (start < 0) return { word, start };
    from = start + word.length;
    return { word, start };
  });
}

/** What a message names: flags, what stands in quotes, and the word behind a colon. */
function named(message: string): string[] {
  const found: string[] = [];
  for (const match of message.matchAll(/"((?:[^"\\]|\\.)+)"|'([^']+)'|(--?[A-Za-z][\w-]*)|\(([^()\s]+)\)/g))
    found.push((match[1] ?? match[2] ?? match[3] ?? match[4])!.replace(/\\(["\\])/g, "$1"));
  return found;
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
  for (const name of named(message)) {
    const hit =
      own.find(({ word }) => word === name) ??
      own.find(({ word }) => word.startsWith(`${name}=`) || word.startsWith(`${name}/`) || word.endsWith(`/${name}`)) ??
      (name.length > 1 ? own.find(({ word }) => word.includes(name)) : undefined) ??
      (name.startsWith("-") && !name.startsWith("--")
        ? own.find(({ word }) => /^-[A-Za-z]/.test(word) && word.includes(name[1]!))
        : undefined);
    if (hit === undefined) continue;
    const inside = Math.max(0, hit.word.indexOf(name));
    const word = hit.word.includes(name) ? name : hit.word;
    return { message: shown, word, ...(hit.start < 0 ? {} : { start: hit.start + inside }) };
  }
  const hit = all.find(({ word }) => word === fallback) ?? own[0] ?? all[0];
  if (hit === undefined) return { message: shown, word: text.trim(), start: 0 };
  return { message: shown, word: hit.word, ...(hit.start < 0 ? {} : { start: hit.start }) };
}
