/**
 * Splits a command line into shell words and operators, as POSIX quoting says, without running or expanding anything.
 * Written here and not taken from a library: the guard must know which `$`, backtick or `;` stood inside quotes, and
 * the word splitters on npm expand variables or lose that.
 */

export type Token =
  | { type: "word"; text: string; quoted: boolean }
  /** `|`, `;`, `&&`, `2>&1`, `>`, ... or `$` for an expansion and "\n" for a line break. */
  | { type: "operator"; text: string };

export type Words = { ok: true; tokens: Token[] } | { ok: false; error: string };

/** Characters that can make a command read differently from what it does: controls, bidi marks, zero-width. */
const DECEPTIVE = /[^\P{Cc}\t\n]|[\p{Cf}\p{Zl}\p{Zp}]/u;
const TYPOGRAPHIC = /[\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb\u2032\u2033\uff02\uff07]/u;

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Splits `text` into words and operators; quotes are removed, a quoted operator is part of its word. */
export function splitWords(text: string): Words {
  const input = text.replace(/\r\n/g, "\n").trim();
  const odd = DECEPTIVE.exec(input);
  if (odd) return { ok: false, error: `the command holds the invisible character ${codePoint(odd[0])}; leave it out` };

  const tokens: Token[] = [];
  let word = "";
  let open = false;
  let quoted = false;
  const flush = () => {
    if (open) tokens.push({ type: "word", text: word, quoted });
    word = "";
    open = false;
    quoted = false;
  };
  const expansion = (at: number): boolean => /^\$[A-Za-z0-9_({'"?!#@*$-]/.test(input.slice(at, at + 2));

  for (let i = 0; i < input.length; i++) {
    const c = input[i] as string;
    if (c === "\\") {
      if (input[i + 1] === "\n") i++;
      else {
        word += input[i + 1] ?? "\\";
        open = true;
        i++;
      }
    } else if (c === "'") {
      const end = input.indexOf("'", i + 1);
      if (end < 0) return { ok: false, error: "a single quote (') is not closed" };
      word += input.slice(i + 1, end);
      open = quoted = true;
      i = end;
    } else if (c === '"') {
      open = quoted = true;
      let closed = false;
      for (i++; i < input.length; i++) {
        const d = input[i] as string;
        if (d === '"') {
          closed = true;
          break;
        }
        if (d === "\\" && /[$`"\\\n]/.test(input[i + 1] ?? "")) {
          i++;
          if (input[i] !== "\n") word += input[i];
        } else if (d === "`" || (d === "$" && expansion(i) && input[i + 1] !== "'" && input[i + 1] !== '"')) {
          tokens.push({ type: "operator", text: d });
          word += d;
        } else word += d;
      }
      if (!closed) return { ok: false, error: 'a double quote (") is not closed' };
    } else if (TYPOGRAPHIC.test(c)) {
      return {
        ok: false,
        error: `the typographic quote ${c} (${codePoint(c)}) does not quote; use plain ' or " instead`,
      };
    } else if (c === "`" || (c === "$" && expansion(i))) {
      flush();
      tokens.push({ type: "operator", text: c });
    } else if (c === " " || c === "\t") {
      flush();
    } else if (c === "#" && !open) {
      const end = input.indexOf("\n", i);
      i = end < 0 ? input.length : end - 1;
    } else if (c === "\n" || "|&;<>()".includes(c)) {
      // A digit right before a redirection belongs to it: 2>&1.
      let prefix = "";
      if ((c === ">" || c === "<") && open && !quoted && /^\d$/.test(word)) {
        prefix = word;
        word = "";
        open = false;
      }
      flush();
      const rest = input.slice(i);
      const operator = /^(?:>&\d|>>|>\||<<<|<<-?|<>|&>>?|&&|\|\||\|&|;;|[|&;<>()\n])/.exec(rest)?.[0] ?? c;
      tokens.push({ type: "operator", text: prefix + operator });
      i += operator.length - 1;
    } else {
      word += c;
      open = true;
    }
  }
  flush();
  return { ok: true, tokens };
}
