/** Reads what a nested model answered: a JSON object, or text in a fence. */
import { jsonrepair } from "jsonrepair";

/** The first fenced block of `text` (of one of `languages`, when given), without its fence. */
export function fenced(text: string, languages?: readonly string[]): string | undefined {
  for (const match of text.matchAll(/```([A-Za-z0-9_+-]*)[^\n]*\n([\s\S]*?)(?:\n?```|$)/g)) {
    if (languages === undefined || languages.includes(match[1]!.toLowerCase())) return match[2]!.trim();
  }
  return undefined;
}

/**
 * `text` as a JSON object or list, repaired where that helps; undefined when it is neither. A selector such as
 * `{service="billing"}` begins like JSON, and a repair would make nonsense of it: it is left alone.
 */
export function parseLoosely(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text) || /^\s*\{\s*[A-Za-z_][\w.]*\s*(=|!=|!~)/.test(text)) return undefined;
  for (const read of [JSON.parse, (t: string) => JSON.parse(jsonrepair(t))]) {
    try {
      const value: unknown = read(text);
      if (typeof value === "object" && value !== null) return value;
    } catch {
      // The next reading may do better.
    }
  }
  return undefined;
}

/** The first JSON object in `text`, repaired where that helps; undefined when there is none. */
export function readObject(text: string): Record<string, unknown> | undefined {
  const inner = fenced(text) ?? text;
  const start = inner.indexOf("{");
  if (start < 0) return undefined;
  for (const candidate of [objectAt(inner, start), inner.slice(start)]) {
    const value = candidate === undefined ? undefined : parseLoosely(candidate);
    if (value !== undefined && !Array.isArray(value)) return value as Record<string, unknown>;
  }
  return undefined;
}

/** The balanced object that begins at `start`; undefined when its end is missing. */
export function objectAt(text: string, start: number): string | undefined {
  let depth = 0;
  let quoted = false;
  for (let i = start; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c === "\\") i++;
      else if (c === '"') quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === "{" || c === "[") depth++;
    else if (c === "}" || c === "]") {
      depth--;
      if (depth === 0) return text.slice(start, i + 1);
    }
  }
  return undefined;
}

/** `value` as a finite number, also out of a string such as "30" or "30m" (the unit is the caller's). */
export function readNumber(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "string") return undefined;
  const number = Number.parseFloat(value);
  return Number.isFinite(number) ? number : undefined;
}

export function readString(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
