/** JSON as Go's encoding/json writes it: sorted keys, four blanks, `<`, `>` and `&` escaped. */

/** A copy with sorted keys and without undefined values. */
export function sorted(value: any): any {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  const out: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort(byteOrder)) if (value[key] !== undefined) out[key] = sorted(value[key]);
  return out;
}

/** Go orders strings by their UTF-8 bytes; JavaScript by UTF-16 units. */
export function byteOrder(a: string, b: string): number {
  return a < b
    ? surrogate(a) || surrogate(b)
      ? Buffer.compare(Buffer.from(a), Buffer.from(b))
      : -1
    : a > b
      ? surrogate(a) || surrogate(b)
        ? Buffer.compare(Buffer.from(a), Buffer.from(b))
        : 1
      : 0;
}

function surrogate(text: string): boolean {
  return /[\ud800-\udfff]/.test(text);
}

function escapeHtml(text: string): string {
  return text.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Object keys that look like integers lose their sorted place in JavaScript objects, so the text is built by hand. */
function write(value: any, indent: string, step: string): string {
  if (value === null || value === undefined) return "null";
  if (typeof value !== "object") return escapeHtml(JSON.stringify(value));
  const inner = indent + step;
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const parts = Array.isArray(value)
    ? value.map((item) => write(item, inner, step))
    : Object.keys(value)
        .filter((key) => value[key] !== undefined)
        .sort(byteOrder)
        .map((key) => `${escapeHtml(JSON.stringify(key))}:${step ? " " : ""}${write(value[key], inner, step)}`);
  if (parts.length === 0) return open + close;
  return step
    ? `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`
    : `${open}${parts.join(",")}${close}`;
}

export function printJson(value: unknown): string {
  return `${write(value, "", "    ")}\n`;
}

export function compactJson(value: unknown): string {
  return write(value, "", "");
}
