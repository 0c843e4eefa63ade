/** What a model gave as a tool's arguments, brought into the form that the tool's schema wants where that is plain. */
import type { ZodIssue, ZodTypeAny } from "zod";
import { readJsonText } from "./json-text.js";

export type Checked = { ok: true; args: Record<string, unknown> } | { ok: false; problems: string[] };

/** Checks `args` against `schema`; numbers and booleans in quotes, JSON in a string and needless nulls are mended. */
export function checkArguments(schema: ZodTypeAny, args: unknown): Checked {
  let value = unwrap(schema, args);
  for (let round = 0; round < 8; round++) {
    const result = schema.safeParse(value);
    if (result.success) return { ok: true, args: result.data as Record<string, unknown> };
    const mended = result.error.issues.reduce((current, issue) => mend(current, issue), value);
    if (mended === value) return { ok: false, problems: result.error.issues.map(describe) };
    value = mended;
  }
  const result = schema.safeParse(value);
  return result.success
    ? { ok: true, args: result.data as Record<string, unknown> }
    : { ok: false, problems: result.error.issues.map(describe) };
}

/**
 * Name of the field that a bare text most likely means: the first one that takes it, the required ones first; or the
 * only field there is.
 */
export function fieldFor(schema: ZodTypeAny, text: string): string | undefined {
  const fields = Object.entries((schema as { shape?: Record<string, ZodTypeAny> }).shape ?? {});
  const fitting = fields.filter(([, field]) => field.safeParse(text).success);
  const required = fitting.find(([, field]) => !field.isOptional());
  return (required ?? fitting[0] ?? (fields.length === 1 ? fields[0] : undefined))?.[0];
}

const WRAPPER = /^(__arg1|input|args|arguments|parameters|kwargs|action_input|tool_input)$/;

/** Arguments wrapped in one more layer (`{"input": {...}}`), given as JSON text, or as bare text, are taken out of it. */
function unwrap(schema: ZodTypeAny, args: unknown): unknown {
  if (typeof args === "string") {
    const parsed = readJsonText(args);
    if (parsed?.ok) return unwrap(schema, parsed.value);
    // Half an object is no text.
    if (parsed !== undefined) return args;
    const field = fieldFor(schema, args);
    return field === undefined ? args : { [field]: args };
  }
  if (typeof args !== "object" || args === null) return args ?? {};
  const shape = (schema as { shape?: Record<string, unknown> }).shape ?? {};
  const [only, ...others] = Object.keys(args);
  if (only === undefined || others.length > 0 || only in shape || !WRAPPER.test(only)) return args;
  return unwrap(schema, (args as Record<string, unknown>)[only]);
}

function mend(root: unknown, issue: ZodIssue): unknown {
  if (issue.code !== "invalid_type" || issue.path.length === 0) return root;
  const copy = structuredClone(root);
  let holder: any = copy;
  for (const key of issue.path.slice(0, -1)) holder = holder?.[key];
  const key = issue.path.at(-1)!;
  const value: unknown = holder?.[key];
  if (holder === undefined || holder === null) return root;
  if (issue.received === "null") {
    delete holder[key];
    return copy;
  }
  if (issue.expected === "string" && ["number", "boolean"].includes(issue.received)) {
    holder[key] = String(value);
    return copy;
  }
  if (issue.expected === "string" && ["array", "object"].includes(issue.received)) {
    holder[key] = isArgv(key, value) ? value.join(" ") : JSON.stringify(value);
    return copy;
  }
  if (issue.expected === "array" && issue.received === "object") {
    holder[key] = [value];
    return copy;
  }
  if (typeof value !== "string") return root;
  if (issue.expected === "number") {
    const number = readQuantity(value, String(key));
    if (number === undefined) return root;
    holder[key] = number;
    return copy;
  }
  if (issue.expected === "boolean" && /^(true|false|yes|no)$/i.test(value.trim())) {
    holder[key] = /^(true|yes)$/i.test(value.trim());
    return copy;
  }
  if (issue.expected === "array" || issue.expected === "object") {
    const parsed = readJsonText(value);
    if (parsed?.ok) {
      holder[key] = parsed.value;
      return copy;
    }
    if (issue.expected === "array" && parsed === undefined) {
      holder[key] = value.trim() === "" ? [] : [value];
      return copy;
    }
  }
  return root;
}

/** A command given as a list of words. */
function isArgv(key: string | number, value: unknown): value is string[] {
  const words = Array.isArray(value) && value.every((one) => typeof one === "string" && /^\S+$/.test(one));
  return words && value.length > 0 && /^(command|cmd|query)$/.test(String(key));
}

const SECONDS: Record<string, number> = {
  s: 1,
  sec: 1,
  second: 1,
  m: 60,
  min: 60,
  minute: 60,
  h: 3600,
  hr: 3600,
  hour: 3600,
};

/**
 * A number in a text, in the unit that the field's name says: "90s" and "5m" for `seconds` are 90 and 300. A unit that does
 * not fit, or words, are not guessed at.
 */
function readQuantity(text: string, field: string): number | undefined {
  const match = /^\s*(-?\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(text);
  if (match === null) return undefined;
  const number = Number(match[1]);
  const unit = match[2]!.toLowerCase();
  if (unit === "") return number;
  const given = SECONDS[unit] ?? SECONDS[unit.replace(/s$/, "")];
  const wanted = /second/.test(field)
    ? 1
    : /minute|window|since/.test(field)
      ? 60
      : /hour/.test(field)
        ? 3600
        : undefined;
  return given === undefined || wanted === undefined ? undefined : (number * given) / wanted;
}

function describe(issue: ZodIssue): string {
  const where = issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  if (issue.code === "invalid_type" && issue.received === "undefined") return `${where}is missing (${issue.expected})`;
  return `${where}${issue.message.replace(/^Expected/, "expected")}`;
}
