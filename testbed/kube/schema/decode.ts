/**
 * Turns JSON into an object as the API server would write it back: fields of the schema only, quantities and times in
 * their canonical spelling, empty optional values left out, values that Go always writes put in. What the server would
 * refuse is thrown; what it would only warn of is collected.
 */
import { canonicalQuantity, QUANTITY_ERROR } from "../quantity.js";
import { type Field, goTypeName, type Type } from "./types.js";

/** A body that does not fit the schema; the message is what Go's decoder says. */
export class DecodeError extends Error {}

export interface Findings {
  /** `unknown field "spec.replica"` */
  strict: string[];
}

class MismatchError extends DecodeError {}

interface Walk {
  findings: Findings;
  /** The first value of a wrong type: it is told only when nothing else makes the body unreadable, as Go's decoder does. */
  mismatch?: MismatchError;
  known: unknown;
}

/**
 * Decodes `value` as `type`.
 * @param known a part of `value` that was decoded before: it is taken as it is
 * @throws DecodeError
 */
export function decodeObject(value: unknown, type: Type, findings: Findings, known?: unknown): any {
  const walk: Walk = { findings, known };
  const object = decodeStruct(value, type, "", walk, "");
  if (walk.mismatch) throw walk.mismatch;
  return object;
}

function decodeStruct(value: unknown, type: Type, path: string, walk: Walk, owner: string): any {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw mismatch(value, type, path, owner);
  const source = value as Record<string, unknown>;
  const out: Record<string, unknown> = {};
  const fields = type.fields!;
  const name = type.name ? type.name.slice(type.name.lastIndexOf(".") + 1) : owner;
  for (const key in source) {
    const field = fields.get(key);
    if (field === undefined) {
      if (type.preserve) out[key] = source[key];
      else walk.findings.strict.push(`unknown field "${join(path, key)}"`);
      continue;
    }
    const decoded = decodeField(source[key], field, path, walk, name);
    if (decoded !== undefined) out[key] = decoded;
  }
  for (const field of alwaysWritten(type)) {
    if (out[field.name] !== undefined) continue;
    if (field.embedded) out[field.name] = zeroStruct(field.type);
    else if (field.nullable) out[field.name] = null;
    else out[field.name] = field.zero;
  }
  return out;
}

function decodeField(value: unknown, field: Field, path: string, walk: Walk, owner: string): unknown {
  if (value === null || value === undefined) return undefined;
  if (value === walk.known) return value;
  const here = path === "" ? field.name : `${path}.${field.name}`;
  let decoded: any;
  try {
    decoded = decodeValue(value, field.type, here, walk, owner);
  } catch (error) {
    if (!(error instanceof MismatchError)) throw error;
    walk.mismatch ??= error;
    return undefined;
  }
  switch (field.type.kind) {
    case "list":
      return decoded !== undefined && decoded.length === 0 && field.zero === undefined && !field.type.keepEmpty
        ? undefined
        : decoded;
    case "map":
      if (decoded !== undefined && field.zero === undefined && !field.type.keepEmpty) {
        for (const _ in decoded) return decoded;
        return undefined;
      }
      return decoded;
    case "string":
    case "integer":
    case "boolean":
      return field.omitZero && field.zero === undefined && (decoded === "" || decoded === 0 || decoded === false)
        ? undefined
        : decoded;
    default:
      return decoded;
  }
}

function fits(value: unknown, type: Type): boolean {
  switch (type.kind) {
    case "struct":
    case "map":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "list":
      return Array.isArray(value);
    default:
      return false;
  }
}

function decodeValue(value: unknown, type: Type, path: string, walk: Walk, owner: string): any {
  if (type.lenient && !fits(value, type)) return value;
  switch (type.kind) {
    case "string":
      if (typeof value !== "string") throw mismatch(value, type, path, owner);
      return value;
    case "integer":
      if (typeof value !== "number" || !Number.isInteger(value)) throw mismatch(value, type, path, owner);
      return value;
    case "number":
      if (typeof value !== "number") throw mismatch(value, type, path, owner);
      return value;
    case "boolean":
      if (typeof value !== "boolean") throw mismatch(value, type, path, owner);
      return value;
    case "bytes":
      if (typeof value !== "string") throw mismatch(value, type, path, owner);
      return checkBase64(value);
    case "quantity": {
      if (typeof value !== "string" && typeof value !== "number") throw new DecodeError(QUANTITY_ERROR);
      const text = canonicalQuantity(value);
      if (text === undefined) throw new DecodeError(QUANTITY_ERROR);
      return text;
    }
    case "intOrString":
      if (typeof value === "number" && Number.isInteger(value)) return value;
      if (typeof value !== "string") throw mismatch(value, { kind: "integer", format: "int32" }, path, owner);
      return value;
    case "time":
    case "microTime":
      return decodeTime(value, type, path, owner);
    case "struct":
      return decodeStruct(value, type, path, walk, owner);
    case "map": {
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        throw mismatch(value, type, path, owner);
      }
      const out: Record<string, unknown> = {};
      const source = value as Record<string, unknown>;
      const element = type.element!;
      for (const key in source) {
        const item = source[key];
        if (item === null || item === undefined) {
          if (element.kind === "string") out[key] = "";
          else if (element.kind === "quantity") out[key] = "0";
          else if (element.kind === "bytes") out[key] = null;
        } else
          out[key] =
            element.kind === "any"
              ? item
              : decodeValue(item, element, element.fields ? `${path}.${key}` : path, walk, owner);
      }
      return out;
    }
    case "list": {
      if (!Array.isArray(value)) throw mismatch(value, type, path, owner);
      const element = type.element!;
      const out = new Array(value.length);
      for (let i = 0; i < value.length; i++) {
        const item = value[i];
        if (item === null || item === undefined) out[i] = element.kind === "struct" ? zeroStruct(element) : "";
        else out[i] = element.kind === "any" ? item : decodeValue(item, element, `${path}[${i}]`, walk, owner);
      }
      return out;
    }
    default:
      return value;
  }
}

const writtenFields = new WeakMap<Type, Field[]>();

/** The fields that Go writes whether set or not. */
function alwaysWritten(type: Type): Field[] {
  let list = writtenFields.get(type);
  if (list === undefined) {
    list = [...type.fields!.values()].filter((f) => f.embedded || f.nullable || f.zero !== undefined);
    writtenFields.set(type, list);
  }
  return list;
}

/** What Go writes for a struct in which nothing is set. */
export function zeroStruct(type: Type): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const field of alwaysWritten(type)) {
    out[field.name] = field.embedded ? zeroStruct(field.type) : field.nullable ? null : field.zero;
  }
  return out;
}

function join(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

function mismatch(value: unknown, type: Type, path: string, owner: string): DecodeError {
  const what = Array.isArray(value)
    ? "array"
    : value === null
      ? "null"
      : typeof value === "boolean"
        ? "bool"
        : typeof value === "number"
          ? Number.isInteger(value)
            ? "number"
            : `number ${value}`
          : typeof value;
  const place = path.replace(/\[\d+\]/g, "");
  const where = path === "" ? "value" : `struct field ${owner}.${place}`;
  return new MismatchError(`json: cannot unmarshal ${what} into Go ${where} of type ${goTypeName(type)}`);
}

const TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function decodeTime(value: unknown, type: Type, path: string, owner: string): string {
  if (typeof value !== "string") throw mismatch(value, { kind: "string" }, path, owner);
  const match = TIME.exec(value);
  const layout = type.kind === "microTime" ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
  if (!match || Number.isNaN(Date.parse(value))) {
    throw new DecodeError(
      `parsing time ${JSON.stringify(value)} as "${layout}": cannot parse ${JSON.stringify(value)} as "2006"`,
    );
  }
  if (type.kind === "microTime") {
    const micro = (match[7] ?? ".").slice(1).padEnd(6, "0").slice(0, 6);
    const base = match[8] === "Z" ? value.slice(0, 19) : new Date(Date.parse(value)).toISOString().slice(0, 19);
    return `${base}.${micro}Z`;
  }
  if (value.length === 20) return value;
  return `${new Date(Date.parse(value)).toISOString().slice(0, 19)}Z`;
}

function checkBase64(text: string): string {
  const clean = text.replace(/[\r\n]/g, "");
  const bad = /[^A-Za-z0-9+/=]/.exec(clean);
  if (bad) throw new DecodeError(`illegal base64 data at input byte ${bad.index}`);
  if (clean.length % 4 !== 0)
    throw new DecodeError(`illegal base64 data at input byte ${clean.length - (clean.length % 4)}`);
  return clean;
}

/**
 * Fields that occur twice in the JSON text, as the strict decoder names them: `duplicate field "spec.replicas"`.
 * JSON.parse silently keeps the last one, so the text is scanned.
 */
export function duplicateFields(text: string): string[] {
  const found: string[] = [];
  let at = 0;
  const space = () => {
    while (at < text.length && text.charCodeAt(at) <= 32) at++;
  };
  const string = (): string => {
    const start = at++;
    while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
    at++;
    return JSON.parse(text.slice(start, at));
  };
  const value = (path: string): void => {
    space();
    const c = text[at];
    if (c === "{") {
      at++;
      const seen = new Set<string>();
      for (space(); at < text.length && text[at] !== "}"; space()) {
        const key = string();
        const here = join(path, key);
        if (seen.has(key)) found.push(`duplicate field "${here}"`);
        seen.add(key);
        space();
        at++; // the colon
        value(here);
        space();
        if (text[at] === ",") at++;
      }
      at++;
    } else if (c === "[") {
      at++;
      let index = 0;
      for (space(); at < text.length && text[at] !== "]"; space()) {
        value(`${path}[${index++}]`);
        space();
        if (text[at] === ",") at++;
      }
      at++;
    } else if (c === '"') string();
    else while (at < text.length && !",]} \n\r\t".includes(text[at]!)) at++;
  };
  value("");
  return found;
}
