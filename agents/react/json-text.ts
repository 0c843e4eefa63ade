/**
 * Reads JSON as models write it: Python dicts, smart quotes, trailing commas, quotes inside quotes, a missing brace. What
 * was cut off in the middle of a value is never completed: the rest of `kubectl delete pod checkout` is not ours to guess.
 */
import { jsonrepair } from "jsonrepair";

export type JsonReading =
  /** `end`: index behind the value. */
  { ok: true; value: object; end: number } | { ok: false; fault: string; end: number };

export interface ReadOptions {
  /** The backend says that the answer was cut off at the token limit: nothing is completed then. */
  cut?: boolean;
  /** Nothing is completed in any case: not even a closing bracket, before which another field may have been meant. */
  whole?: boolean;
}

/** Deeper than arguments ever are; a run of opening brackets must not be read again from each of them. */
const MAX_DEPTH = 64;
const CLOSERS: Record<string, string> = { "{": "}", "[": "]" };
const QUOTES: Record<string, string> = { '"': '"', "'": "'", "“": "”", "‘": "’", "„": "“" };

/** Reads the object or list that begins at `start` (a `{` or `[`) of `text`. */
export function readJsonAt(text: string, start: number, options: ReadOptions = {}): JsonReading {
  const span = scan(text, start);
  if (span.tooDeep) return { ok: false, fault: `it is nested deeper than ${MAX_DEPTH} levels`, end: span.end };
  const body = text.slice(start, span.end);
  if (span.open === "") {
    const value = parse(body, span.requoted);
    return value === undefined
      ? { ok: false, fault: "it is not valid JSON", end: span.end }
      : { ok: true, value, end: span.end };
  }
  if (options.cut) return { ok: false, fault: "it was cut off at the token limit", end: span.end };
  // Only closing brackets may be missing: a string, a number or a key that breaks off could have gone on.
  const value =
    options.whole || span.inString || !/(["'”’\]}]|\b(true|false|null|True|False|None))\s*(```\s*)?$/.test(body)
      ? undefined
      : parse(withoutFence(body) + span.open, withoutFence(span.requoted) + span.open);
  if (value === undefined) return { ok: false, fault: "it breaks off before its end", end: span.end };
  return { ok: true, value, end: span.end };
}

/** Reads `text` that is one object or list, whatever stands behind it; undefined when it does not begin like one. */
export function readJsonText(text: string, options: ReadOptions = {}): JsonReading | undefined {
  const start = text.search(/\S/);
  if (start < 0 || !/[[{]/.test(text[start]!) || isSelector(text.slice(start))) return undefined;
  return readJsonAt(text, start, options);
}

export type ArgumentsReading = { ok: true; args: Record<string, unknown> } | { ok: false; fault: string };

/**
 * Arguments of a tool call as backends hand them on: normally one JSON object. Nothing, `null`, `""`, `{}""`, an object
 * written twice, an empty object before the real one, and an object that is quoted once more are understood too.
 */
export function readArguments(text: string, options: ReadOptions = {}): ArgumentsReading {
  let rest = text.trim();
  if (rest === "" || rest === "null" || rest === '""' || rest === "None") return { ok: true, args: {} };
  const inner = quoted(rest);
  if (inner !== undefined) return readArguments(inner, options);
  const found: Record<string, unknown>[] = [];
  while (rest !== "") {
    const empty = /^(""|\s|<[^<>]*>|`)+/.exec(rest);
    if (empty !== null) {
      rest = rest.slice(empty[0].length);
      continue;
    }
    const reading = readJsonText(rest, options);
    if (reading === undefined) return { ok: false, fault: "it is not a JSON object" };
    if (!reading.ok) return { ok: false, fault: reading.fault };
    if (Array.isArray(reading.value)) return { ok: false, fault: "it is a list, not an object" };
    found.push(reading.value as Record<string, unknown>);
    rest = rest.slice(reading.end);
  }
  const full = found.filter((one) => Object.keys(one).length > 0);
  const distinct = new Map(full.map((one) => [JSON.stringify(one), one]));
  if (distinct.size > 1) return { ok: false, fault: "it holds several objects" };
  return { ok: true, args: full[0] ?? {} };
}

/** What stands in `text` when it is one JSON string. */
export function quoted(text: string): string | undefined {
  if (!/^\s*"[\s\S]*"\s*$/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `{service="cart"}` begins like JSON, but is a selector of a query language. */
export function isSelector(text: string): boolean {
  return /^\s*\{\s*[A-Za-z_][\w.]*\s*(=|!=|!~)/.test(text);
}

interface Span {
  end: number;
  /** Brackets that are missing at the end of the text. */
  open: string;
  inString: boolean;
  tooDeep?: boolean;
  /** The value with plain double quotes around its strings, and what stands inside them escaped. */
  requoted: string;
}

/** Where the value that begins at `start` ends. */
function scan(text: string, start: number): Span {
  const open: string[] = [];
  let quote = "";
  let requoted = "";
  for (let i = start; i < text.length; i++) {
    const c = text[i]!;
    if (quote !== "") {
      if (quote === '"""' ? text.startsWith('"""', i) : c !== "\\" && closes(text, i, quote)) {
        if (quote === '"""') i += 2;
        quote = "";
        requoted += '"';
      } else if (c === "\\") {
        const next = text[++i] ?? "";
        requoted += /["\\/bfnrtu]/.test(next) ? c + next : next === "'" || next === "\n" ? next : `\\\\${next}`;
      } else requoted += JSON.stringify(c).slice(1, -1);
    } else if (text.startsWith('"""', i) && opens(text, i)) {
      quote = '"""';
      requoted += '"';
      i += 2;
    } else if (c in QUOTES && opens(text, i)) {
      quote = QUOTES[c]!;
      requoted += '"';
    } else {
      requoted += c;
      if (c in CLOSERS) {
        if (open.push(CLOSERS[c]!) > MAX_DEPTH) return { end: i, open: "", inString: false, tooDeep: true, requoted };
      } else if (c === "}" || c === "]") {
        open.pop();
        if (open.length === 0) return { end: i + 1, open: "", inString: false, requoted };
      }
    }
  }
  return { end: text.length, open: open.reverse().join(""), inString: quote !== "", requoted };
}

/** A quote opens a string only where a key or a value may begin: the apostrophe of "it's" does not. */
function opens(text: string, at: number): boolean {
  for (let i = at - 1; i >= 0; i--) {
    if (/\s/.test(text[i]!)) continue;
    return /[{[,:(=]/.test(text[i]!);
  }
  return true;
}

/** A quote closes a string only where something may follow a key or a value: others stand inside, unescaped. */
function closes(text: string, at: number, quote: string): boolean {
  const c = text[at]!;
  if (c !== quote && !((quote === "”" || quote === "“") && /[”"]/.test(c))) return false;
  const next = /^\s*(.?)/s.exec(text.slice(at + 1, at + 200))![1]!;
  return next === "" || /[,:}\])`#/]/.test(next);
}

const withoutFence = (text: string) => text.replace(/\s*```\s*$/, "");

function parse(text: string, requoted: string): object | undefined {
  const attempts = [
    () => JSON.parse(text),
    () => JSON.parse(requoted),
    () => JSON.parse(jsonrepair(requoted)),
    () => JSON.parse(jsonrepair(text)),
  ];
  for (const attempt of attempts) {
    try {
      const value: unknown = attempt();
      if (typeof value === "object" && value !== null) return value;
    } catch {
      // The next reading may do better.
    }
  }
  return undefined;
}
