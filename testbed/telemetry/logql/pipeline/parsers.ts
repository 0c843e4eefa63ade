/** Parser stages: json, logfmt, regexp, pattern, unpack. Each turns the line's text into labels. */

import { compileRe2 } from "../../re2.js";
import type { Stage } from "../ast.js";
import type { LineContext, LineStage } from "./line.js";
import { compilePattern } from "./pattern.js";

type FieldParser = Extract<Stage, { type: "json" | "logfmt" }>;

/** `| json` (every field, nested names joined with `_`, arrays left out) or `| json label="path"`. */
export function jsonStage(stage: FieldParser): LineStage {
  const paths = stage.extractions.map(({ label, path }) => ({ label, steps: jsonPath(path) }));
  return (line) => {
    let document: unknown;
    try {
      document = parseJson(line.text);
    } catch (error) {
      line.fail("JSONParserErr", error instanceof Error ? error.message : String(error));
      return true;
    }
    if (paths.length > 0) {
      for (const { label, steps } of paths) line.extract(label, jsonText(follow(document, steps)) ?? "");
    } else if (isObject(document)) flatten(line, document, "");
    else line.fail("JSONParserErr", "expecting json object(6), but it is not");
    return true;
  };
}

/** A number that JavaScript would write differently: too long, a trailing zero, an exponent. */
const INEXACT_NUMBER = /[-\d.]{16,}|\.\d*0(?!\d)|\d[eE]/;
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

/** JSON, with numbers kept as they are written: an order number of 19 digits stays what it is. @throws SyntaxError */
function parseJson(text: string): unknown {
  const document = JSON.parse(text);
  if (!INEXACT_NUMBER.test(text)) return document;
  return JSON.parse(text.replace(STRING_OR_NUMBER, (token) => (token.startsWith('"') ? token : `"${token}"`)));
}

function flatten(line: LineContext, object: Record<string, unknown>, prefix: string): void {
  for (const [key, value] of Object.entries(object)) {
    const name = prefix === "" ? sanitize(key) : `${prefix}_${sanitizeInner(key)}`;
    if (isObject(value)) flatten(line, value, name);
    else if (!Array.isArray(value) && value !== null) line.extract(name, String(value));
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A key as a label name: what a name may not hold becomes `_`; a leading digit gets one in front. */
function sanitize(key: string): string {
  const name = sanitizeInner(key);
  return /^\d/.test(name) ? `_${name}` : name;
}
function sanitizeInner(key: string): string {
  return key.replace(/[^a-zA-Z0-9_]/g, "_");
}

function jsonPath(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  for (const match of path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g)) {
    steps.push(match[1] ?? (match[2] !== undefined ? Number(match[2]) : match[3]!));
  }
  return steps;
}

function follow(document: unknown, steps: readonly (string | number)[]): unknown {
  let value = document;
  for (const step of steps) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

function jsonText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** `| logfmt [--strict] [--keep-empty] [label="key"]`. */
export function logfmtStage(stage: FieldParser): LineStage {
  const wanted = new Map<string, string[]>();
  for (const { label, path } of stage.extractions) wanted.set(path, [...(wanted.get(path) ?? []), label]);
  return (line) => {
    const found = new Set<string>();
    const bad = eachLogfmt(line.text, (key, value) => {
      if (wanted.size === 0) {
        if (value !== "" || stage.keepEmpty) line.extract(sanitize(key), value);
        return;
      }
      for (const label of wanted.get(key) ?? []) {
        line.extract(label, value);
        found.add(label);
      }
    });
    for (const { label } of stage.extractions) if (!found.has(label)) line.extract(label, "");
    if (bad !== undefined && stage.strict) line.fail("LogfmtParserErr", bad);
    return true;
  };
}

/** Calls `field` for each `key=value`; returns what is wrong with the first bad one. */
function eachLogfmt(text: string, field: (key: string, value: string) => void): string | undefined {
  let problem: string | undefined;
  let at = 0;
  while (at < text.length) {
    while (at < text.length && text.charCodeAt(at) <= 32) at++;
    if (at >= text.length) break;
    const start = at;
    while (at < text.length && text.charCodeAt(at) > 32 && text[at] !== "=" && text[at] !== '"') at++;
    const key = text.slice(start, at);
    if (text[at] === '"' || (text[at] === "=" && key === "")) {
      problem ??= `logfmt syntax error at pos ${at + 1} : unexpected '${text[at]}'`;
      while (at < text.length && text.charCodeAt(at) > 32) at++;
      continue;
    }
    if (text[at] !== "=") {
      field(key, "");
      continue;
    }
    at++;
    if (text[at] === '"') {
      const end = quotedEnd(text, at);
      if (end === -1) return problem ?? `logfmt syntax error at pos ${text.length + 1} : unterminated quoted value`;
      field(key, unquote(text.slice(at, end + 1)));
      at = end + 1;
    } else {
      const valueStart = at;
      while (at < text.length && text.charCodeAt(at) > 32) at++;
      field(key, text.slice(valueStart, at));
    }
  }
  return problem;
}

function quotedEnd(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === '"') return i;
  }
  return -1;
}

function unquote(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted.slice(1, -1).replace(/\\(.)/g, "$1");
  }
}

export function regexpStage(pattern: string): LineStage {
  const expression = compileRe2(pattern);
  return (line) => {
    const match = expression.exec(line.text);
    if (match === undefined) return true;
    for (const [name, value] of Object.entries(match.named)) if (value !== undefined) line.extract(name, value);
    return true;
  };
}

export function patternStage(pattern: string): LineStage {
  const match = compilePattern(pattern);
  return (line) => {
    for (const [name, value] of match(line.text) ?? []) line.extract(name, value);
    return true;
  };
}

/** `| unpack`: labels that a collector packed into the line; `_entry` becomes the line. */
export function unpackStage(): LineStage {
  return (line) => {
    let document: unknown;
    try {
      document = JSON.parse(line.text);
    } catch {
      document = undefined;
    }
    if (!isObject(document)) {
      line.fail("JSONParserErr", "expecting json object(6), but it is not");
      return true;
    }
    for (const [key, value] of Object.entries(document)) {
      if (typeof value !== "string") continue;
      if (key === "_entry") line.text = value;
      else line.extract(sanitize(key), value);
    }
    return true;
  };
}
