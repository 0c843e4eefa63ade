/** Plain JSON values: copying, comparing, reading and writing by path. */

/** A deep copy; faster than structuredClone for plain JSON. */
export function clone<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const out = new Array(value.length);
    for (let i = 0; i < value.length; i++) out[i] = clone(value[i]);
    return out as T;
  }
  const out: Record<string, unknown> = {};
  for (const key in value) {
    const item = value[key];
    out[key] = typeof item === "object" ? clone(item) : item;
  }
  return out as T;
}

/** Deep equality; undefined and a missing key are the same, the order of keys does not matter. */
export function equal(a: any, b: any): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!equal(a[i], b[i])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  let count = 0;
  for (const key in a) {
    if (a[key] === undefined) continue;
    count++;
    if (!equal(a[key], b[key])) return false;
  }
  for (const key in b) if (b[key] !== undefined) count--;
  return count === 0;
}

/** The value at a path of keys, undefined when something on the way is missing. */
export function at(value: any, ...path: (string | number)[]): any {
  let here = value;
  for (const key of path) {
    if (here === undefined || here === null) return undefined;
    here = here[key];
  }
  return here;
}

/** Is it an object, neither null nor a list? */
export function isObject(value: unknown): value is Record<string, any> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** JSON with sorted keys, for keys of maps and hashes. */
export function stableStringify(value: any): string {
  if (Array.isArray(value)) return `[${value.map(stableStringify).join(",")}]`;
  if (isObject(value)) {
    const parts = Object.keys(value)
      .filter((key) => value[key] !== undefined)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${stableStringify(value[key])}`);
    return `{${parts.join(",")}}`;
  }
  return JSON.stringify(value);
}

/** Go's words for where a character does not belong, by those of JSON.parse. */
const MISPLACED: [RegExp, string][] = [
  [/Expected property name|Expected double-quoted property name/, "looking for beginning of object key string"],
  [/Expected ',' or '}'/, "after object key:value pair"],
  [/Expected ',' or '\]'/, "after array element"],
  [/Expected ':'/, "after object key"],
  [/Unexpected non-whitespace/, "after top-level value"],
];

/** A character as Go quotes it. */
function shown(character: string): string {
  if (/[ -&(-~\u00a1-\uffff]/.test(character)) return character;
  const code = character.charCodeAt(0).toString(16);
  return character === "'"
    ? "\\'"
    : code.length > 2 || Number.parseInt(code, 16) > 0x7f
      ? `\\u${code.padStart(4, "0")}`
      : `\\x${code.padStart(2, "0")}`;
}

/** What Go's decoder says of broken JSON. */
export function jsonProblem(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : String(error);
  const position = /at position (\d+)/.exec(message)?.[1];
  const at = position === undefined ? text.search(/\S/) : Number(position);
  const character = text[at];
  if (/Unexpected end|Unterminated/.test(message) || character === undefined || at >= text.trimEnd().length) {
    return "unexpected end of JSON input";
  }
  const literal = ["true", "false", "null"].find((word) => word[0] === character);
  if (literal) {
    let same = 1;
    while (same < literal.length && text[at + same] === literal[same]) same++;
    if (same < literal.length) {
      return `invalid character '${text[at + same] ?? ""}' in literal ${literal} (expecting '${literal[same]}')`;
    }
  }
  const where = MISPLACED.find(([pattern]) => pattern.test(message))?.[1] ?? "looking for beginning of value";
  return `invalid character '${shown(character)}' ${where}`;
}
