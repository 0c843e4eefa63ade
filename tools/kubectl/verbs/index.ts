/** The verbs of this kubectl: one entry a file. */
import type { Verb } from "../context.js";
import type { FlagSpecs } from "../flags.js";
import { authVerbs } from "./auth.js";
import { createVerbs } from "./create.js";
import { remove } from "./delete.js";
import { describe } from "./describe.js";
import { events } from "./events.js";
import { explain } from "./explain.js";
import { autoscale, expose } from "./expose.js";
import { FILE_FLAGS, GLOBAL_FLAGS } from "./flag-sets.js";
import { get } from "./get.js";
import { annotate, label } from "./labels.js";
import { logs } from "./logs.js";
import { manifestVerbs } from "./manifests.js";
import { nodeVerbs } from "./nodes.js";
import { patch } from "./patch.js";
import { rolloutVerbs } from "./rollout.js";
import { scale } from "./scale.js";
import { apiResources, apiVersions, clusterInfo, version } from "./server-info.js";
import { setVerbs } from "./set.js";
import { topVerbs } from "./top.js";
import { wait } from "./wait.js";

export const VERBS: readonly Verb[] = [
  get,
  describe,
  logs,
  events,
  ...topVerbs,
  explain,
  apiResources,
  apiVersions,
  version,
  clusterInfo,
  ...authVerbs,
  ...rolloutVerbs,
  scale,
  ...setVerbs,
  patch,
  label,
  annotate,
  ...manifestVerbs,
  ...createVerbs,
  remove,
  expose,
  autoscale,
  ...nodeVerbs,
  wait,
];

/** The verb that the words begin with, the longest name first (`rollout status` before `rollout`). */
export function findVerb(words: readonly string[]): Verb | undefined {
  return VERBS.filter((verb) => verb.name.every((part, i) => words[i] === part)).sort(
    (a, b) => b.name.length - a.name.length,
  )[0];
}

/** All flags that a verb takes. */
export function flagsOf(verb: Verb): FlagSpecs {
  return { ...FILE_FLAGS, ...GLOBAL_FLAGS, ...verb.flags };
}
