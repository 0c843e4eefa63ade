/** The verbs of this kubectl: one entry a file. */
import type { Verb } from "../context.js";
import { describe } from "./describe.js";
import { FILE_FLAGS, GLOBAL_FLAGS } from "./flag-sets.js";
import { get } from "./get.js";

export const VERBS: readonly Verb[] = [get, describe];

/** The verb that the words begin with, the longest name first (`rollout status` before `rollout`). */
export function findVerb(words: readonly string[]): Verb | undefined {
  return VERBS.filter((verb) => verb.name.every((part, i) => words[i] === part)).sort(
    (a, b) => b.name.length - a.name.length,
  )[0];
}

/** All flags that a verb takes. */
export function flagsOf(verb: Verb) {
  return { ...FILE_FLAGS, ...GLOBAL_FLAGS, ...verb.flags };
}
