/**
 * YAML as kubectl writes it: sorted keys, sequences not indented, and the choice of style, quoting and folding of the
 * Go library (libyaml's emitter with a width of 80). A general YAML library differs in all four.
 */
import { byteOrder } from "./json.js";

const WIDTH = 80;

/** What an unquoted scalar would be read as something else than a string (YAML 1.1 as go-yaml reads it). */
const RESOLVES =
  /^(?:~|null|Null|NULL|true|True|TRUE|false|False|FALSE|y|Y|yes|Yes|YES|on|On|ON|n|N|no|No|NO|off|Off|OFF|<<|=|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|)$/;
const INTEGER = /^[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*)$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$/;
const BASE60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const TIMESTAMP =
  /^\d{4}-\d{1,2}-\d{1,2}(?:(?:[Tt]|[ \t]+)\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:[ \t]*(?:Z|[-+]\d{1,2}(?::?\d{2})?))?)?$/;

function isOtherType(text: string): boolean {
  if (RESOLVES.test(text)) return true;
  if (!/^[-+.0-9]/.test(text)) return false;
  return INTEGER.test(text) || FLOAT.test(text) || BASE60.test(text) || TIMESTAMP.test(text);
}

interface Analysis {
  multiline: boolean;
  blockPlain: boolean;
  singleQuoted: boolean;
  block: boolean;
}

const INDICATOR_FIRST = new Set([..."#,[]{}&*!|>'\"%@`"]);

/** As the library sees it, which knows no characters beyond the first plane: emoji are escaped. */
function printable(c: string): boolean {
  const p = c.codePointAt(0) as number;
  if (p === 0x0a || p === 0x85) return true;
  return (p >= 0x20 && p <= 0x7e) || (p >= 0xa0 && p <= 0xd7ff) || (p >= 0xe000 && p <= 0xfffd && p !== 0xfeff);
}

function isBreak(c: string | undefined): boolean {
  return c === "\n" || c === "\r" || c === "\u0085" || c === "\u2028" || c === "\u2029";
}

function isBlank(c: string | undefined): boolean {
  return c === undefined || c === " " || c === "\t" || isBreak(c);
}

/** libyaml's yaml_emitter_analyze_scalar, for block context. */
function analyze(chars: readonly string[]): Analysis {
  if (chars.length === 0) return { multiline: false, blockPlain: true, singleQuoted: true, block: false };
  let indicators = chars.length >= 3 && ["---", "..."].includes(chars.slice(0, 3).join(""));
  let special = false;
  let breaks = false;
  let leading = false;
  let trailingSpace = false;
  let trailingBreak = false;
  let breakSpace = false;
  let spaceBreak = false;
  let previousSpace = false;
  let previousBreak = false;
  let afterBlank = true;
  const last = chars.length - 1;
  chars.forEach((c, i) => {
    const beforeBlank = isBlank(chars[i + 1]);
    if (i === 0) {
      if (INDICATOR_FIRST.has(c)) indicators = true;
      else if ((c === "?" || c === ":" || c === "-") && beforeBlank) indicators = true;
    } else if (c === ":" && beforeBlank) indicators = true;
    else if (c === "#" && afterBlank) indicators = true;
    if (!printable(c)) special = true;
    if (isBreak(c)) breaks = true;
    if (c === " ") {
      if (i === 0) leading = true;
      if (i === last) trailingSpace = true;
      if (previousBreak) breakSpace = true;
      previousSpace = true;
      previousBreak = false;
    } else if (isBreak(c)) {
      if (i === 0) leading = true;
      if (i === last) trailingBreak = true;
      if (previousSpace) spaceBreak = true;
      previousSpace = false;
      previousBreak = true;
    } else {
      previousSpace = false;
      previousBreak = false;
    }
    afterBlank = isBlank(c);
  });
  const result: Analysis = { multiline: breaks, blockPlain: true, singleQuoted: true, block: true };
  if (leading || trailingSpace || trailingBreak) result.blockPlain = false;
  if (trailingSpace) result.block = false;
  if (breakSpace) result.blockPlain = result.singleQuoted = false;
  if (spaceBreak || special) result.blockPlain = result.singleQuoted = result.block = false;
  if (breaks || indicators) result.blockPlain = false;
  return result;
}

const ESCAPES: Record<string, string> = {
  "\0": "\\0",
  "\x07": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  "\x1b": "\\e",
  '"': '\\"',
  "\\": "\\\\",
  "\u0085": "\\N",
  "\u00a0": "\\_",
  "\u2028": "\\L",
  "\u2029": "\\P",
};

function escapeCharacter(c: string): string {
  const named = ESCAPES[c];
  if (named) return named;
  const p = c.codePointAt(0) as number;
  if (p <= 0xff) return `\\x${p.toString(16).toUpperCase().padStart(2, "0")}`;
  if (p <= 0xffff) return `\\u${p.toString(16).toUpperCase().padStart(4, "0")}`;
  return `\\U${p.toString(16).toUpperCase().padStart(8, "0")}`;
}

/** Folds at blanks once the column is past the width, as libyaml does. `column` is where the text starts. */
function fold(chars: readonly string[], column: number, indent: string, style: "plain" | "single" | "double"): string {
  let out = style === "plain" ? "" : style === "single" ? "'" : '"';
  let at = column + out.length;
  let spaces = false;
  const breakable = (i: number) =>
    !spaces &&
    at > WIDTH &&
    (style === "plain" || (i > 0 && i < chars.length - 1)) &&
    (style === "double" || chars[i + 1] !== " ");
  chars.forEach((c, i) => {
    if (c === " ") {
      if (breakable(i)) {
        out += `\n${indent}`;
        at = indent.length;
        if (style === "double" && chars[i + 1] === " ") {
          out += "\\";
          at++;
        }
      } else {
        out += " ";
        at++;
      }
      spaces = true;
      return;
    }
    spaces = false;
    let piece = c;
    if (style === "single" && c === "'") piece = "''";
    else if (style === "double" && (!printable(c) || isBreak(c) || c === '"' || c === "\\" || c === "\ufeff"))
      piece = escapeCharacter(c);
    out += piece;
    at += piece.length;
  });
  return out + (style === "plain" ? "" : style === "single" ? "'" : '"');
}

function literal(text: string, indent: string): string {
  let head = "|";
  if (/^[ \n]/.test(text)) head += "2";
  if (!text.endsWith("\n")) head += "-";
  else if (text === "\n" || text.endsWith("\n\n")) head += "+";
  const body = text.replace(/\n$/, "").split("\n");
  return `${head}\n${body.map((line) => (line === "" ? "" : indent + line)).join("\n")}`;
}

/** A scalar at `column`; folded and literal lines start with `indent`. Keys are never folded nor literal. */
function scalar(value: unknown, column: number, indent: string, key = false): string {
  if (value === null || value === undefined) return "null";
  if (typeof value !== "string") return typeof value === "number" ? numberText(value) : String(value);
  const chars = [...value];
  const style = analyze(chars);
  if (value.includes("\n")) {
    if (style.block && !key) return literal(value, indent);
  } else if (!isOtherType(value)) {
    if (style.blockPlain && !style.multiline) return key ? value : fold(chars, column, indent, "plain");
    if (style.singleQuoted) return key ? `'${value.replace(/'/g, "''")}'` : fold(chars, column, indent, "single");
  }
  return fold(chars, key ? Number.NEGATIVE_INFINITY : column, indent, "double");
}

function numberText(value: number): string {
  if (Number.isInteger(value))
    return Math.abs(value) < 1e21 ? String(value) : value.toExponential().replace(/e\+?/, "e+");
  return String(value);
}

function empty(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.length === 0 ? "[]" : undefined;
  if (value !== null && typeof value === "object")
    return Object.values(value).every((v) => v === undefined) ? "{}" : undefined;
  return undefined;
}

function isCollection(value: unknown): boolean {
  return value !== null && typeof value === "object" && empty(value) === undefined;
}

function node(value: any, indent: string, lines: string[]): void {
  if (Array.isArray(value)) {
    for (const item of value) {
      if (isCollection(item)) {
        const inner: string[] = [];
        node(item, `${indent}  `, inner);
        inner[0] = `${indent}- ${(inner[0] as string).slice(indent.length + 2)}`;
        lines.push(...inner);
      } else lines.push(`${indent}- ${empty(item) ?? scalar(item, indent.length + 2, `${indent}  `)}`);
    }
    return;
  }
  for (const key of Object.keys(value).sort(byteOrder)) {
    const item = value[key];
    if (item === undefined) continue;
    const head = `${indent}${scalar(key, 0, "", true)}:`;
    if (isCollection(item)) {
      lines.push(head);
      node(item, Array.isArray(item) ? indent : `${indent}  `, lines);
    } else lines.push(`${head} ${empty(item) ?? scalar(item, head.length + 1, `${indent}  `)}`);
  }
}

export function printYaml(value: unknown): string {
  if (!isCollection(value)) return `${empty(value) ?? scalar(value, 0, "")}\n`;
  const lines: string[] = [];
  node(value, "", lines);
  return `${lines.join("\n")}\n`;
}
