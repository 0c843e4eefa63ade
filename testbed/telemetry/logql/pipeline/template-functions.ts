/** Functions of line_format and label_format templates. */
import { parseBytes, parseDuration } from "../units.js";
import type { LineContext } from "./line.js";

export type TemplateValue = string | number | boolean | Date | undefined;

export type TemplateFunction = (args: TemplateValue[], line: LineContext) => TemplateValue;

const text = (value: TemplateValue): string => (value === undefined ? "" : String(value));
const number = (value: TemplateValue): number => {
  const parsed = typeof value === "number" ? value : Number(text(value));
  return Number.isNaN(parsed) ? 0 : parsed;
};
const whole = (value: TemplateValue): number => Math.trunc(number(value));
const truthy = (value: TemplateValue): boolean => value !== undefined && value !== "" && value !== 0 && value !== false;
const title = (value: string): string =>
  value.replace(/(^|\s)(\S)/g, (_all, gap: string, first: string) => gap + first.toUpperCase());

function compare(a: TemplateValue, b: TemplateValue): number {
  if (typeof a === "number" || typeof b === "number") return number(a) - number(b);
  return text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0;
}

function trunc(count: number, value: string): string {
  if (count >= 0) return value.slice(0, count);
  return value.slice(Math.max(0, value.length + count));
}

/** printf with the verbs that templates use: %s %v %q %d %f %.2f %x %t, width and `-`, `0` flags. */
export function printf(format: string, args: readonly TemplateValue[]): string {
  let next = 0;
  return format.replace(
    /%([-+0 ]*)(\d+)?(?:\.(\d+))?([svqdfgext%])/g,
    (_all, flags: string, width?: string, precision?: string, verb?: string) => {
      if (verb === "%") return "%";
      const value = args[next++];
      let out: string;
      if (verb === "d") out = String(whole(value));
      else if (verb === "f") out = number(value).toFixed(precision === undefined ? 6 : Number(precision));
      else if (verb === "e") out = number(value).toExponential(precision === undefined ? 6 : Number(precision));
      else if (verb === "g") out = String(number(value));
      else if (verb === "x")
        out = typeof value === "number" ? value.toString(16) : Buffer.from(text(value)).toString("hex");
      else if (verb === "q") out = JSON.stringify(text(value));
      else out = precision === undefined ? text(value) : text(value).slice(0, Number(precision));
      if (width === undefined) return out;
      if (flags.includes("-")) return out.padEnd(Number(width));
      return out.padStart(Number(width), flags.includes("0") ? "0" : " ");
    },
  );
}

/** Go's reference time layout, as far as layouts are made of its usual pieces. */
function formatDate(layout: string, date: Date): string {
  const pad = (value: number, length = 2) => String(value).padStart(length, "0");
  const iso = date.toISOString();
  const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
  return layout.replace(/2006|01|02|15|03|04|05|\.0+|\.9+|Jan|Mon|PM|MST|Z07:00|-0700/g, (piece) => {
    if (piece === "2006") return iso.slice(0, 4);
    if (piece === "01") return iso.slice(5, 7);
    if (piece === "02") return iso.slice(8, 10);
    if (piece === "15") return iso.slice(11, 13);
    if (piece === "03") return pad(date.getUTCHours() % 12 || 12);
    if (piece === "04") return iso.slice(14, 16);
    if (piece === "05") return iso.slice(17, 19);
    if (piece === "Jan") return months[date.getUTCMonth()]!;
    if (piece === "Mon") return days[date.getUTCDay()]!;
    if (piece === "PM") return date.getUTCHours() < 12 ? "AM" : "PM";
    if (piece === "MST") return "UTC";
    if (piece === "Z07:00") return "Z";
    if (piece === "-0700") return "+0000";
    const digits = pad(date.getUTCMilliseconds(), 3)
      .padEnd(piece.length - 1, "0")
      .slice(0, piece.length - 1);
    if (piece.startsWith(".0")) return `.${digits}`;
    const shortened = digits.replace(/0+$/, "");
    return shortened === "" ? "" : `.${shortened}`;
  });
}

const upper: TemplateFunction = ([value]) => text(value).toUpperCase();
const lower: TemplateFunction = ([value]) => text(value).toLowerCase();
/** `Name` functions of older Loki take their subject first, the others (for pipes) last. */
const subjectFirst =
  (apply: (subject: string, ...rest: TemplateValue[]) => TemplateValue): TemplateFunction =>
  (args) =>
    apply(text(args[0]), ...args.slice(1));
const subjectLast =
  (apply: (subject: string, ...rest: TemplateValue[]) => TemplateValue): TemplateFunction =>
  (args) =>
    apply(text(args.at(-1)), ...args.slice(0, -1));

const trimSet = (value: string, set: string, left: boolean, right: boolean): string => {
  let start = 0;
  let end = value.length;
  while (left && start < end && set.includes(value[start]!)) start++;
  while (right && end > start && set.includes(value[end - 1]!)) end--;
  return value.slice(start, end);
};

export const TEMPLATE_FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  __line__: (_args, line) => line.text,
  __timestamp__: (_args, line) => new Date(line.timeMs),

  ToLower: lower,
  ToUpper: upper,
  lower,
  upper,
  title: ([value]) => title(text(value)),
  Replace: subjectFirst((value, from, to, count) =>
    replaceCount(value, text(from), text(to), count === undefined ? -1 : whole(count)),
  ),
  replace: subjectLast((value, from, to) => value.replaceAll(text(from), text(to))),
  Trim: subjectFirst((value, set) => trimSet(value, text(set), true, true)),
  TrimLeft: subjectFirst((value, set) => trimSet(value, text(set), true, false)),
  TrimRight: subjectFirst((value, set) => trimSet(value, text(set), false, true)),
  TrimPrefix: subjectFirst((value, prefix) =>
    value.startsWith(text(prefix)) ? value.slice(text(prefix).length) : value,
  ),
  TrimSuffix: subjectFirst((value, suffix) =>
    value.endsWith(text(suffix)) ? value.slice(0, value.length - text(suffix).length) : value,
  ),
  TrimSpace: ([value]) => text(value).trim(),
  trim: ([value]) => text(value).trim(),
  trimAll: subjectLast((value, set) => trimSet(value, text(set), true, true)),
  trimPrefix: subjectLast((value, prefix) =>
    value.startsWith(text(prefix)) ? value.slice(text(prefix).length) : value,
  ),
  trimSuffix: subjectLast((value, suffix) =>
    value.endsWith(text(suffix)) ? value.slice(0, value.length - text(suffix).length) : value,
  ),
  trunc: subjectLast((value, count) => trunc(whole(count), value)),
  substr: ([start, end, value]) =>
    whole(end) < 0 ? text(value).slice(whole(start)) : text(value).slice(Math.max(0, whole(start)), whole(end)),
  repeat: subjectLast((value, count) => value.repeat(Math.max(0, whole(count)))),
  indent: subjectLast((value, count) => value.replace(/^/gm, " ".repeat(whole(count)))),
  nindent: subjectLast((value, count) => `\n${value.replace(/^/gm, " ".repeat(whole(count)))}`),
  alignLeft: subjectLast((value, count) => value.slice(0, whole(count)).padEnd(whole(count))),
  alignRight: subjectLast((value, count) => value.slice(-whole(count)).padStart(whole(count))),
  contains: subjectLast((value, part) => value.includes(text(part))),
  hasPrefix: subjectLast((value, part) => value.startsWith(text(part))),
  hasSuffix: subjectLast((value, part) => value.endsWith(text(part))),
  regexReplaceAll: ([pattern, value, to], line) => line.pattern(text(pattern)).replaceAll(text(value), text(to)),
  regexReplaceAllLiteral: ([pattern, value, to], line) =>
    line.pattern(text(pattern)).replaceLiteral(text(value), text(to)),
  count: ([pattern, value], line) => line.pattern(text(pattern)).count(text(value)),
  urlencode: ([value]) => encodeURIComponent(text(value)).replaceAll("%20", "+"),
  urldecode: ([value]) => decodeURIComponent(text(value).replaceAll("+", " ")),
  b64enc: ([value]) => Buffer.from(text(value)).toString("base64"),
  b64dec: ([value]) => Buffer.from(text(value), "base64").toString(),
  default: ([fallback, value]) => (truthy(value) ? value : fallback),
  printf: ([format, ...rest]) => printf(text(format), rest),
  print: (args) => args.map(text).join(""),
  len: ([value]) => text(value).length,

  add: (args) => args.reduce<number>((sum, value) => sum + whole(value), 0),
  sub: ([a, b]) => whole(a) - whole(b),
  mul: (args) => args.reduce<number>((product, value) => product * whole(value), 1),
  div: ([a, b]) => Math.trunc(whole(a) / whole(b)),
  mod: ([a, b]) => whole(a) % whole(b),
  addf: (args) => args.reduce<number>((sum, value) => sum + number(value), 0),
  subf: ([a, ...rest]) => rest.reduce<number>((left, value) => left - number(value), number(a)),
  mulf: (args) => args.reduce<number>((product, value) => product * number(value), 1),
  divf: ([a, ...rest]) => rest.reduce<number>((left, value) => left / number(value), number(a)),
  max: (args) => Math.max(...args.map(whole)),
  min: (args) => Math.min(...args.map(whole)),
  maxf: (args) => Math.max(...args.map(number)),
  minf: (args) => Math.min(...args.map(number)),
  ceil: ([value]) => Math.ceil(number(value)),
  floor: ([value]) => Math.floor(number(value)),
  round: ([value, digits]) => Number(number(value).toFixed(whole(digits))),
  int: ([value]) => whole(value),
  float64: ([value]) => number(value),
  bytes: ([value]) => parseBytes(text(value)) ?? 0,
  duration: ([value]) => (parseDuration(text(value)) ?? 0) / 1000,
  duration_seconds: ([value]) => (parseDuration(text(value)) ?? 0) / 1000,

  date: ([layout, value]) => formatDate(text(layout), value instanceof Date ? value : new Date(text(value))),
  toDate: ([, value]) => new Date(text(value)),
  unixEpoch: ([value]) => (value instanceof Date ? String(Math.floor(value.getTime() / 1000)) : ""),
  unixEpochMillis: ([value]) => (value instanceof Date ? String(value.getTime()) : ""),

  eq: ([a, ...rest]) => rest.some((b) => compare(a, b) === 0),
  ne: ([a, b]) => compare(a, b) !== 0,
  lt: ([a, b]) => compare(a, b) < 0,
  le: ([a, b]) => compare(a, b) <= 0,
  gt: ([a, b]) => compare(a, b) > 0,
  ge: ([a, b]) => compare(a, b) >= 0,
  and: (args) => args.find((value) => !truthy(value)) ?? args.at(-1),
  or: (args) => args.find(truthy) ?? args.at(-1),
  not: ([value]) => !truthy(value),
};

function replaceCount(value: string, from: string, to: string, count: number): string {
  if (count < 0) return value.replaceAll(from, to);
  let out = value;
  let at = 0;
  for (let i = 0; i < count; i++) {
    const found = out.indexOf(from, at);
    if (found === -1) break;
    out = out.slice(0, found) + to + out.slice(found + from.length);
    at = found + to.length;
  }
  return out;
}
