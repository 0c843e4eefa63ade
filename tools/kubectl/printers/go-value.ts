/** Values as Go's fmt package prints them, for kubectl's templates and messages. */
import { byteOrder } from "./json.js";

/** `%v`: `map[a:1 b:[x y]]`. */
export function goPlain(value: any): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(goPlain).join(" ")}]`;
  if (typeof value === "object")
    return `map[${Object.keys(value)
      .sort(byteOrder)
      .map((key) => `${key}:${goPlain(value[key])}`)
      .join(" ")}]`;
  if (typeof value === "number") return goNumber(value);
  return String(value);
}

/** Whole numbers plainly; others in Go's %v form, with an exponent from 21 digits on. */
export function goNumber(value: number): string {
  return String(value).replace(/e([+-])(\d)$/, "e$10$2");
}

/** `%q`. */
export function goQuote(text: string): string {
  let out = '"';
  for (const c of text) {
    const p = c.codePointAt(0) as number;
    if (c === '"' || c === "\\") out += `\\${c}`;
    else if (c === "\n") out += "\\n";
    else if (c === "\t") out += "\\t";
    else if (c === "\r") out += "\\r";
    else if (p < 0x20 || p === 0x7f) out += `\\x${p.toString(16).padStart(2, "0")}`;
    else out += c;
  }
  return `${out}"`;
}

/** `%#v`: `map[string]interface {}{"a":1}`. */
export function goSyntax(value: any): string {
  if (value === null || value === undefined) return "interface {}(nil)";
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (typeof value === "object")
    return `map[string]interface {}{${Object.keys(value)
      .sort(byteOrder)
      .map((key) => `${goQuote(key)}:${goSyntax(value[key])}`)
      .join(", ")}}`;
  if (typeof value === "string") return goQuote(value);
  return typeof value === "number" ? goNumber(value) : String(value);
}
