/** What a model gave as a tool's arguments, brought into the form that the tool's schema wants where that is plain. */
import type { ZodIssue, ZodTypeAny } from "zod";
import { parseLoosely } from "../../tools/index.js";

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
    const parsed = parseLoosely(args);
    if (parsed !== undefined) return unwrap(schema, parsed);
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
    holder[key] = JSON.stringify(value);
    return copy;
  }
  if (issue.expected === "array" && issue.received === "object") {
    holder[key] = [value];
    return copy;
  }
  if (typeof value !== "string") return root;
  if (issue.expected === "number" && value.trim() !== "" && Number.isFinite(Number.parseFloat(value))) {
    holder[key] = Number.parseFloat(value);
    return copy;
  }
  if (issue.expected === "boolean" && /^(true|false|yes|no)$/i.test(value.trim())) {
    holder[key] = /^(true|yes)$/i.test(value.trim());
    return copy;
  }
  if (issue.expected === "array" || issue.expected === "object") {
    const parsed = parseLoosely(value);
    if (parsed !== undefined && typeof parsed === "object") {
      holder[key] = parsed;
      return copy;
    }
    if (issue.expected === "array") {
      holder[key] = value.trim() === "" ? [] : [value];
      return copy;
    }
  }
  return root;
}

function describe(issue: ZodIssue): string {
  const where = issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  if (issue.code === "invalid_type" && issue.received === "undefined") return `${where}is missing (${issue.expected})`;
  return `${where}${issue.message.replace(/^Expected/, "expected")}`;
}
