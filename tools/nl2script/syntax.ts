/** What a script is made of, once it is read. */

/** Parts stand side by side in one word; a quoted variable is never split at white space. */
export type Part =
  | { type: "text"; text: string }
  | { type: "variable"; name: string; quoted: boolean }
  | { type: "output"; pipeline: Pipeline; quoted: boolean };

export type Word = Part[];

/** kubectl, then filters; one list of words each. */
export interface Pipeline {
  commands: Word[][];
  /** Errors go through the filters too: `2>&1`. */
  mergeStderr: boolean;
}

export type Statement =
  | { type: "run"; pipeline: Pipeline }
  | { type: "echo"; words: Word[] }
  | { type: "set"; name: string; value: Word }
  | { type: "for"; name: string; items: Word[]; body: Statement[] };

/** The script says what cannot be done here; the message says what to write instead. */
export class ScriptError extends Error {
  override readonly name = "ScriptError";
}
