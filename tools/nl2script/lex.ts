/** From the text of a script to words and operators. What only a shell could do is refused, with advice. */
import { type Part, type Pipeline, ScriptError, type Word } from "./syntax.js";

export type Token =
  | { type: "word"; word: Word; plain: string | undefined }
  /** `|`, `|&`, `;`, a line break, or `2>&1`. */
  | { type: "operator"; text: "|" | "|&" | ";" | "\n" | "2>&1" };

const INVISIBLE = /[^\P{Cc}\t\n]|[\p{Cf}\p{Zl}\p{Zp}]/u;
const CURLY = /[\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb]/u;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*/;

const ADVICE: Record<string, string> = {
  "&&": "`&&` is not available: put each command on a line of its own",
  "||": "`||` is not available: a command that fails does not stop the script, its error is shown",
  "&": "background jobs (`&`) are not available: leave the `&` out",
  ";;": "`case` is not available: filter with grep or a selector instead",
  "(": "sub-shells are not available: write the commands alone, and put arguments with parentheses in quotes",
  ")": "a `)` stands alone: put arguments with parentheses in quotes",
  "<": "files cannot be read, and here-documents are not available: apply manifests with nl2kubectl",
  ">": "output cannot be written to files: it is returned to you as it is; leave the redirection out",
};

/**
 * @param inner reads the text inside `$( )`
 * @throws ScriptError
 */
export function lex(text: string, inner: (text: string) => Pipeline): Token[] {
  const odd = INVISIBLE.exec(text);
  if (odd) {
    const code = (odd[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    throw new ScriptError(`the script holds the invisible character U+${code}; leave it out`);
  }
  return new Lexer(text, inner).tokens();
}

class Lexer {
  readonly #text: string;
  readonly #inner: (text: string) => Pipeline;
  readonly #tokens: Token[] = [];
  #at = 0;
  /** The word that is being read; undefined between words. */
  #word: Word | undefined;
  #plain: string | undefined;

  constructor(text: string, inner: (text: string) => Pipeline) {
    this.#text = text;
    this.#inner = inner;
  }

  tokens(): Token[] {
    while (this.#at < this.#text.length) this.#step(this.#text[this.#at]!);
    this.#end();
    return this.#tokens;
  }

  #step(c: string): void {
    if (c === " " || c === "\t") {
      this.#end();
      this.#at++;
    } else if (c === "\\") this.#escape();
    else if (c === "'") this.#single();
    else if (c === '"') this.#double();
    else if (c === "$" || c === "`") this.#dollar(false);
    else if (CURLY.test(c)) throw new ScriptError(`the typographic quote ${c} does not quote; use plain ' or "`);
    else if (c === "#" && this.#word === undefined) this.#skipComment();
    else if ("\n;|&<>()".includes(c)) this.#operator(c);
    else {
      this.#add(c, true);
      this.#at++;
    }
  }

  #escape(): void {
    const next = this.#text[this.#at + 1];
    if (next !== "\n") this.#add(next ?? "\\", false);
    this.#at += 2;
  }

  #single(): void {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end < 0) throw new ScriptError("a single quote (') is not closed");
    this.#add(this.#text.slice(this.#at + 1, end), false);
    this.#at = end + 1;
  }

  #double(): void {
    this.#add("", false);
    this.#at++;
    for (;;) {
      const c = this.#text[this.#at];
      if (c === undefined) throw new ScriptError('a double quote (") is not closed');
      if (c === '"') break;
      if (c === "\\" && /[$`"\\\n]/.test(this.#text[this.#at + 1] ?? "")) this.#escape();
      else if (c === "$" || c === "`") this.#dollar(true);
      else {
        this.#add(c, false);
        this.#at++;
      }
    }
    this.#at++;
  }

  #dollar(quoted: boolean): void {
    const rest = this.#text.slice(this.#at);
    if (rest.startsWith("`")) throw new ScriptError("backticks are not available: write $(kubectl ...) instead");
    if (rest.startsWith("$((")) throw new ScriptError("arithmetic is not available");
    if (rest.startsWith("$(")) {
      const end = closing(this.#text, this.#at + 2);
      const pipeline = this.#inner(this.#text.slice(this.#at + 2, end));
      this.#part({ type: "output", pipeline, quoted });
      this.#at = end + 1;
      return;
    }
    const braced = /^\$\{([^}]*)\}/.exec(rest);
    const name = braced ? braced[1]! : NAME.exec(rest.slice(1))?.[0];
    if (braced && NAME.exec(name!)?.[0] !== name) {
      throw new ScriptError(`\${${name}} is not available: only $name and \${name} are`);
    }
    if (name !== undefined) {
      this.#part({ type: "variable", name, quoted });
      this.#at += braced ? braced[0].length : name.length + 1;
      return;
    }
    if (/^\$[0-9?!#@*$-]/.test(rest)) {
      throw new ScriptError(
        `${rest.slice(0, 2)} is not available: there are no arguments; put awk and jq programs in single quotes`,
      );
    }
    this.#add("$", false);
    this.#at++;
  }

  #skipComment(): void {
    const end = this.#text.indexOf("\n", this.#at);
    this.#at = end < 0 ? this.#text.length : end;
  }

  #operator(c: string): void {
    const rest = this.#text.slice(this.#at);
    if (c === ">" && rest.startsWith(">&1") && this.#plain === "2") {
      this.#word = undefined;
      this.#plain = undefined;
      this.#tokens.push({ type: "operator", text: "2>&1" });
      this.#at += 3;
      return;
    }
    if (c === ">" && this.#plain === "2") {
      throw new ScriptError("leave the redirection of errors (2>) out: output and errors are shown apart");
    }
    this.#end();
    const two = rest.slice(0, 2);
    if (ADVICE[two] !== undefined) throw new ScriptError(ADVICE[two]);
    if (two === "|&") {
      this.#tokens.push({ type: "operator", text: "|&" });
      this.#at += 2;
      return;
    }
    if (ADVICE[c] !== undefined) throw new ScriptError(ADVICE[c]);
    this.#tokens.push({ type: "operator", text: c as "|" | ";" | "\n" });
    this.#at++;
  }

  /** @param bare written without quotes: such a word may be a keyword */
  #add(text: string, bare: boolean): void {
    this.#plain = this.#word === undefined ? (bare ? text : undefined) : bare ? append(this.#plain, text) : undefined;
    this.#word ??= [];
    const last = this.#word.at(-1);
    if (last?.type === "text") last.text += text;
    else this.#word.push({ type: "text", text });
  }

  #part(part: Part): void {
    this.#word ??= [];
    this.#word.push(part);
    this.#plain = undefined;
  }

  #end(): void {
    if (this.#word !== undefined) this.#tokens.push({ type: "word", word: this.#word, plain: this.#plain });
    this.#word = undefined;
    this.#plain = undefined;
  }
}

function append(plain: string | undefined, text: string): string | undefined {
  return plain === undefined ? undefined : plain + text;
}

/** Where the parenthesis that is open at `from` closes; quotes and inner parentheses are passed over. */
function closing(text: string, from: number): number {
  let depth = 1;
  for (let i = from; i < text.length; i++) {
    const c = text[i]!;
    if (c === "\\") i++;
    else if (c === "'") {
      const end = text.indexOf("'", i + 1);
      if (end < 0) break;
      i = end;
    } else if (c === '"') {
      for (i++; i < text.length && text[i] !== '"'; i++) if (text[i] === "\\") i++;
    } else if (c === "(") depth++;
    else if (c === ")" && --depth === 0) return i;
  }
  throw new ScriptError("a $( is not closed");
}
