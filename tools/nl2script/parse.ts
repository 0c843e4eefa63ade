/**
 * Reads a script: lines with kubectl and filters, `name=value`, `echo`, and `for x in ...; do ...; done`. No shell ever
 * sees it; what is not in this list is refused, with what to write instead.
 */
import { lex, type Token } from "./lex.js";
import { type Part, type Pipeline, ScriptError, type Statement, type Word } from "./syntax.js";

const MAX_BYTES = 16 * 1024;
const MAX_DEPTH = 3;

const KEYWORDS: ReadonlyMap<string, string> = new Map([
  ["if", "`if` is not available: run the commands, and look at what they say"],
  ["while", "`while` is not available: to go through a list, write for x in $(kubectl get ... -o name); do ...; done"],
  ["until", "`until` is not available: use kubectl wait --timeout=60s, or the wait tool"],
  ["case", "`case` is not available: filter with grep or a selector instead"],
  ["function", "functions are not available: write the commands out"],
  ["select", "`select` is not available"],
  ["{", "blocks in braces are not available: write the commands alone"],
  ["[", "tests are not available: filter with grep, awk or jq instead"],
  ["[[", "tests are not available: filter with grep, awk or jq instead"],
  ["do", "a `do` stands alone: it belongs behind for x in ...;"],
  ["done", "a `done` stands alone: there is no for that it ends"],
  ["then", "`if` is not available: run the commands, and look at what they say"],
  ["set", "shell options are not available: leave `set` out"],
  ["export", "there is no environment: write name=value"],
  ["sleep", "sleeping is not available: use the wait tool"],
  ["cd", "there are no folders: leave `cd` out"],
  ["printf", "printf is not available: use echo"],
  ["read", "`read` is not available: write for x in $(kubectl get ... -o name); do ...; done"],
  ["xargs", "xargs is not available: write for x in $(kubectl get ... -o name); do ...; done"],
]);

/** @throws ScriptError that says what to write instead */
export function parseScript(text: string): Statement[] {
  if (Buffer.byteLength(text) > MAX_BYTES) throw new ScriptError(`the script is longer than ${MAX_BYTES / 1024} KiB`);
  const script = text.replace(/\r\n?/g, "\n").replace(/^\s*#!.*\n/, "");
  const parser = new Parser(lex(script, readInner));
  const statements = parser.statements(0, false);
  if (statements.length === 0) throw new ScriptError("the script is empty; write kubectl commands, one a line");
  return statements;
}

/** What stands inside `$( )`: one pipeline. */
function readInner(text: string): Pipeline {
  const parser = new Parser(
    lex(text.trim(), () => {
      throw new ScriptError("$( ) inside $( ) is not available: assign the inner one to a variable first");
    }),
  );
  const statements = parser.statements(0, false);
  const [only] = statements;
  if (statements.length !== 1 || only?.type !== "run") {
    throw new ScriptError("inside $( ) stands one kubectl command, with filters behind | at most");
  }
  return only.pipeline;
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** @param inside a `for`, whose `done` ends them */
  statements(depth: number, inside: boolean): Statement[] {
    const found: Statement[] = [];
    for (;;) {
      while (this.#separator()) this.#at++;
      if (this.#at >= this.#tokens.length) {
        if (inside) throw new ScriptError("a `for` is not ended: write `done` behind its commands");
        return found;
      }
      if (inside && this.#keyword() === "done") {
        this.#at++;
        this.#mustEnd("done");
        return found;
      }
      found.push(this.#statement(depth));
    }
  }

  #statement(depth: number): Statement {
    const token = this.#tokens[this.#at]!;
    const keyword = this.#keyword();
    if (keyword === "for") return this.#for(depth);
    refuseKeyword(keyword);
    const assignment = token.type === "word" ? assigned(token.word) : undefined;
    if (assignment !== undefined && token.type === "word") {
      this.#at++;
      this.#mustEnd(`${assignment.name}=...`);
      return { type: "set", ...assignment };
    }
    if (keyword === "echo") {
      this.#at++;
      const words = this.#words();
      noOutput(words.flat(), "echo");
      this.#mustEnd("echo");
      return { type: "echo", words };
    }
    return { type: "run", pipeline: this.#pipeline() };
  }

  #for(depth: number): Statement {
    if (depth + 1 > MAX_DEPTH) throw new ScriptError(`loops are nested deeper than ${MAX_DEPTH}`);
    this.#at++;
    const name = this.#keyword();
    if (name === undefined || !/^[A-Za-z_]\w*$/.test(name)) {
      throw new ScriptError("behind `for` stands the name of a variable: for x in ...; do ...; done");
    }
    this.#at++;
    if (this.#keyword() !== "in") throw new ScriptError("write the list: for x in a b c; do ...; done");
    this.#at++;
    const items = this.#words();
    if (!this.#separator()) throw new ScriptError("behind the list of a `for` stand `;` and `do`");
    while (this.#separator()) this.#at++;
    if (this.#keyword() !== "do") throw new ScriptError("behind the list of a `for` stand `;` and `do`");
    this.#at++;
    return { type: "for", name, items, body: this.statements(depth + 1, true) };
  }

  #pipeline(): Pipeline {
    const commands: Word[][] = [];
    let mergeStderr = false;
    for (;;) {
      const words = this.#words();
      if (words.length === 0) throw new ScriptError("there is nothing on one side of a `|`");
      noOutput(words.flat(), "a command");
      refuseKeyword(plainText(words[0]!));
      commands.push(words);
      let token = this.#tokens[this.#at];
      if (token?.type === "operator" && token.text === "2>&1") {
        mergeStderr = true;
        token = this.#tokens[++this.#at];
      }
      if (token?.type !== "operator" || (token.text !== "|" && token.text !== "|&")) break;
      if (token.text === "|&") mergeStderr = true;
      this.#at++;
      while (this.#tokens[this.#at]?.type === "operator" && this.#separator("\n")) this.#at++;
    }
    const name = plainText(commands[0]![0]!);
    if (name !== "kubectl") {
      throw new ScriptError(
        name === undefined
          ? "a command begins with the word kubectl itself, not with a variable"
          : `only kubectl can be run here, not ${name}; start the line with kubectl`,
      );
    }
    return { commands, mergeStderr };
  }

  #words(): Word[] {
    const words: Word[] = [];
    for (let token = this.#tokens[this.#at]; token?.type === "word"; token = this.#tokens[++this.#at]) {
      words.push(token.word);
    }
    return words;
  }

  /** The word that stands here, when it is written without quotes. */
  #keyword(): string | undefined {
    const token = this.#tokens[this.#at];
    return token?.type === "word" ? token.plain : undefined;
  }

  #separator(only?: string): boolean {
    const token = this.#tokens[this.#at];
    if (token?.type !== "operator") return false;
    return only === undefined ? token.text === ";" || token.text === "\n" : token.text === only;
  }

  #mustEnd(what: string): void {
    if (this.#at < this.#tokens.length && !this.#separator()) {
      throw new ScriptError(`behind ${what} the line ends: put the next command on a line of its own`);
    }
  }
}

function refuseKeyword(word: string | undefined): void {
  const advice = word === undefined ? undefined : KEYWORDS.get(word);
  if (advice !== undefined) throw new ScriptError(advice);
}

/** `name=value`, when the word is that. */
function assigned(word: Word): { name: string; value: Word } | undefined {
  const [first, ...rest] = word;
  if (first?.type !== "text") return undefined;
  const match = /^([A-Za-z_]\w*)=/.exec(first.text);
  if (!match) return undefined;
  const text = first.text.slice(match[0].length);
  // What is assigned is never split.
  const whole = rest.map((part): Part => (part.type === "text" ? part : { ...part, quoted: true }));
  return { name: match[1]!, value: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...whole] };
}

/** The text of a word without variables. */
export function plainText(word: Word): string | undefined {
  return word.every((part) => part.type === "text")
    ? word.map((part) => (part.type === "text" ? part.text : "")).join("")
    : undefined;
}

function noOutput(parts: readonly Part[], where: string): void {
  if (parts.some((part) => part.type === "output")) {
    throw new ScriptError(
      `$( ) cannot stand in ${where}: assign it first (x=$(kubectl ...)), or go through it with for x in $(kubectl ...); do`,
    );
  }
}
