/**
 * Templates of alert labels and annotations: Go's text/template with Prometheus' variables (`$labels`, `$value`,
 * `$externalLabels`) and functions. What is not here (define, block, template, break, graph links) is refused by name
 * when the rule is loaded.
 */

import { parseDuration } from "../promql/index.js";
import { compileRe2 } from "../re2.js";
import {
  humanize,
  humanize1024,
  humanizeDuration,
  humanizePercentage,
  humanizeTimestamp,
  plain,
  sprintf,
  toNumber,
} from "./humanize.js";

/** A template that cannot be compiled or run. */
export class TemplateError extends Error {
  override name = "TemplateError";
}

/** One sample of a template's own `query`. */
export interface TemplateSample {
  labels: Readonly<Record<string, string>>;
  value: number;
}

export interface TemplateData {
  labels: Readonly<Record<string, string>>;
  value: number;
  externalLabels?: Readonly<Record<string, string>>;
  /** Runs an instant query, for the function of that name. */
  query?: (text: string) => TemplateSample[];
}

export type Template = (data: TemplateData) => string;

type Value = unknown;
/** Variables of a block, and of the blocks around it. */
interface Variables {
  own: Map<string, Value>;
  outer: Variables | undefined;
}
interface Scope {
  dot: Value;
  variables: Variables;
  data: TemplateData;
}
type Evaluate = (scope: Scope) => Value;

type Node =
  | { type: "text"; text: string }
  | { type: "output"; evaluate: Evaluate }
  | { type: "assign"; names: string[]; declares: boolean; evaluate: Evaluate }
  | { type: "if" | "with" | "range"; names: string[]; condition: Evaluate; body: Node[]; otherwise: Node[] };

type TemplateFunction = (args: Value[], data: TemplateData) => Value;

const less = (a: Value, b: Value): boolean =>
  typeof a === "string" && typeof b === "string" ? a < b : toNumber(a) < toNumber(b);
const equal = (a: Value, b: Value): boolean =>
  typeof a === "string" || typeof b === "string" || typeof a === "boolean" ? a === b : toNumber(a) === toNumber(b);
const isAddress = (text: string): boolean => /^\d+\.\d+\.\d+\.\d+(:\d+)?$|^\[.*\](:\d+)?$/.test(text);

const FUNCTIONS: Record<string, TemplateFunction> = {
  humanize: ([v]) => humanize(v),
  humanize1024: ([v]) => humanize1024(v),
  humanizeDuration: ([v]) => humanizeDuration(v),
  humanizePercentage: ([v]) => humanizePercentage(v),
  humanizeTimestamp: ([v]) => humanizeTimestamp(v),
  title: ([v]) => String(v).replace(/\b\p{L}/gu, (letter) => letter.toUpperCase()),
  toUpper: ([v]) => String(v).toUpperCase(),
  toLower: ([v]) => String(v).toLowerCase(),
  stripPort: ([v]) => String(v).replace(/^(\[[^\]]*\]|[^:]*):\d+$/, "$1"),
  stripDomain: ([v]) => (isAddress(String(v)) ? v : String(v).replace(/^([^.:]+)(?:\.[^:]*)?(:\d+)?$/, "$1$2")),
  match: ([pattern, v]) => compileRe2(String(pattern)).test(String(v)),
  reReplaceAll: ([pattern, replacement, v]) => compileRe2(String(pattern)).replaceAll(String(v), String(replacement)),
  parseDuration: ([v]) => {
    const ms = parseDuration(String(v));
    if (ms === undefined) throw new TemplateError(`parseDuration: not a duration: ${plain(v)}`);
    return ms / 1000;
  },
  toTime: ([v]) => humanizeTimestamp(v),
  printf: ([format, ...args]) => sprintf(String(format), args),
  // Go's Sprint: a space between two operands when neither is a string.
  print: (args) =>
    args
      .map((v, i) => (i > 0 && typeof v !== "string" && typeof args[i - 1] !== "string" ? " " : "") + plain(v))
      .join(""),
  println: (args) => `${args.map(plain).join(" ")}\n`,
  len: ([v]) =>
    BigInt(
      typeof v === "string" ? Buffer.byteLength(v) : Array.isArray(v) ? v.length : Object.keys(v as object).length,
    ),
  index: ([v, ...keys]) =>
    keys.reduce((value, key) => {
      if (Array.isArray(value) && !(toNumber(key) in value))
        throw new TemplateError(`index out of range: ${plain(key)}`);
      return (value as Record<string, Value> | undefined)?.[String(key)] ?? "";
    }, v),
  slice: ([v, from, to]) =>
    (v as string | Value[]).slice(toNumber(from ?? 0n), to === undefined ? undefined : toNumber(to)),
  urlquery: (args) => encodeURIComponent(args.map(plain).join("")).replaceAll("%20", "+"),
  html: (args) =>
    args
      .map(plain)
      .join("")
      .replace(/[&<>"']/g, (char) => `&${{ "&": "amp", "<": "lt", ">": "gt", '"': "#34", "'": "#39" }[char]};`),
  eq: ([a, ...others]) => others.some((b) => equal(a, b)),
  ne: ([a, b]) => !equal(a, b),
  lt: ([a, b]) => less(a, b),
  le: ([a, b]) => less(a, b) || equal(a, b),
  // As in Go, the opposites: so NaN is greater than everything.
  gt: ([a, b]) => !(less(a, b) || equal(a, b)),
  ge: ([a, b]) => !less(a, b),
  and: (args) => args.find((v) => !truthy(v)) ?? args.at(-1),
  or: (args) => args.find(truthy) ?? args.at(-1),
  not: ([v]) => !truthy(v),
  query: ([text], data) => {
    if (data.query === undefined) throw new TemplateError("query is not possible here");
    return data.query(String(text));
  },
  first: ([samples]) => {
    const [first] = samples as TemplateSample[];
    if (first === undefined) throw new TemplateError("first() called on vector with no elements");
    return first;
  },
  label: ([name, sample]) => (sample as TemplateSample).labels[String(name)] ?? "",
  value: ([sample]) => (sample as TemplateSample).value,
  sortByLabel: ([name, samples]) =>
    [...(samples as TemplateSample[])].sort((a, b) =>
      (a.labels[String(name)] ?? "") < (b.labels[String(name)] ?? "") ? -1 : 1,
    ),
  safeHtml: ([v]) => v,
  externalURL: () => "",
  pathPrefix: () => "",
};

/** The functions that a template may call. */
export const TEMPLATE_FUNCTION_NAMES: readonly string[] = Object.keys(FUNCTIONS).sort();

function truthy(value: Value): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === 0n || value === false) {
    return false;
  }
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

/** Compiles a template. @throws TemplateError that names what is wrong or not supported */
export function compileTemplate(source: string): Template {
  if (!source.includes("{{")) return () => source;
  const parser = createParser(split(source));
  const nodes = parser.body();
  return (data) => {
    const variables = new Map<string, Value>([
      ["$", data.labels],
      ["$labels", data.labels],
      ["$value", data.value],
      ["$externalLabels", data.externalLabels ?? {}],
      ["$externalURL", ""],
    ]);
    const dot = { Labels: data.labels, Value: data.value, ExternalLabels: data.externalLabels ?? {} };
    return run(nodes, { dot, variables: { own: variables, outer: undefined }, data });
  };
}

type Segment = { text: string } | { action: string };

/** Parts text and actions; `{{-` and `-}}` take the space beside them. */
function split(source: string): Segment[] {
  const segments: Segment[] = [];
  const pattern = /\{\{(-\s)?((?:"(?:[^"\\]|\\.)*"|`[^`]*`|(?!\}\})[\s\S])*?)(\s-)?\}\}/g;
  let at = 0;
  let trim = false;
  const text = (raw: string, trimEnd: boolean): void => {
    const kept = trimEnd ? (trim ? raw.trim() : raw.trimEnd()) : trim ? raw.trimStart() : raw;
    if (kept !== "") segments.push({ text: kept });
  };
  for (const match of source.matchAll(pattern)) {
    text(source.slice(at, match.index), match[1] !== undefined);
    if (!/^\s*\/\*/.test(match[2]!)) segments.push({ action: match[2]!.trim() });
    trim = match[3] !== undefined;
    at = match.index + match[0].length;
  }
  const rest = source.slice(at);
  if (rest.includes("{{")) throw new TemplateError("unclosed action");
  text(rest, false);
  return segments;
}

function createParser(segments: Segment[]) {
  let at = 0;

  function body(): Node[] {
    const nodes = list();
    if (at < segments.length) throw new TemplateError(`unexpected {{${(segments[at] as { action: string }).action}}}`);
    return nodes;
  }

  /** Nodes up to an `end` or `else`, which is left standing. */
  function list(): Node[] {
    const nodes: Node[] = [];
    for (; at < segments.length; ) {
      const segment = segments[at]!;
      if ("text" in segment) {
        nodes.push({ type: "text", text: segment.text });
        at++;
        continue;
      }
      const { action } = segment;
      const keyword = /^[a-z]+/.exec(action)?.[0] ?? "";
      if (keyword === "end" || keyword === "else") return nodes;
      at++;
      if (keyword === "if" || keyword === "with" || keyword === "range") nodes.push(block(keyword, action));
      else if (["define", "template", "block", "break", "continue"].includes(keyword)) {
        throw new TemplateError(`{{${keyword}}} is not supported`);
      } else nodes.push(statement(action));
    }
    return nodes;
  }

  function block(type: "if" | "with" | "range", action: string): Node {
    const { names, evaluate } = declaration(action.slice(type.length));
    const inner = list();
    let otherwise: Node[] = [];
    const closing = segments[at++] as { action: string } | undefined;
    if (closing === undefined) throw new TemplateError(`{{${type}}} without {{end}}`);
    if (closing.action.startsWith("else")) {
      const again = /^else\s+(if|with)\b/.exec(closing.action);
      if (again) otherwise = [block(again[1] as "if" | "with", closing.action.replace(/^else\s+/, ""))];
      else {
        otherwise = list();
        if (segments[at++] === undefined) throw new TemplateError(`{{${type}}} without {{end}}`);
      }
    }
    return { type, names, condition: evaluate, body: inner, otherwise };
  }

  return { body };
}

function statement(action: string): Node {
  const { names, declares, evaluate } = declaration(action);
  return names.length > 0 ? { type: "assign", names, declares, evaluate } : { type: "output", evaluate };
}

/** `$a, $b := pipeline`, or a pipeline alone. */
function declaration(text: string): { names: string[]; declares: boolean; evaluate: Evaluate } {
  const match = /^\s*(\$\w+(?:\s*,\s*\$\w+)?)\s*(:?)=/.exec(text);
  if (!match) return { names: [], declares: false, evaluate: compilePipeline(text) };
  const evaluate = compilePipeline(text.slice(match[0].length));
  return { names: match[1]!.split(/\s*,\s*/), declares: match[2] === ":", evaluate };
}

const TOKEN =
  /\s*(?:("(?:[^"\\]|\\.)*")|`([^`]*)`|([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(\$\w*(?:\.\w+)*)|((?:\.[A-Za-z_]\w*)+|\.)|([A-Za-z_]\w*)|([|()]))/y;

function compilePipeline(text: string): Evaluate {
  const tokens: RegExpExecArray[] = [];
  const source = text.trimEnd();
  for (let from = 0; from < source.length; from = TOKEN.lastIndex) {
    TOKEN.lastIndex = from;
    const match = TOKEN.exec(source);
    if (!match)
      throw new TemplateError(`unexpected ${JSON.stringify(source.slice(from).trim())} in {{${text.trim()}}}`);
    tokens.push(match);
  }
  let at = 0;
  const isSign = (sign: string): boolean => tokens[at]?.[7] === sign;

  function pipeline(): Evaluate {
    let result = command(undefined);
    while (isSign("|")) {
      at++;
      result = command(result);
    }
    return result;
  }

  function command(piped: Evaluate | undefined): Evaluate {
    const token = tokens[at];
    if (token === undefined) throw new TemplateError(`missing value in {{${text.trim()}}}`);
    const name = token[6];
    if (name === undefined || name === "true" || name === "false") {
      const value = operand();
      if (piped !== undefined) throw new TemplateError(`cannot pipe into a value in {{${text.trim()}}}`);
      return value;
    }
    at++;
    const implementation = functionNamed(name);
    const args: Evaluate[] = [];
    while (at < tokens.length && !isSign("|") && !isSign(")")) args.push(operand());
    if (piped !== undefined) args.push(piped);
    return (scope) =>
      implementation(
        args.map((arg) => arg(scope)),
        scope.data,
      );
  }

  function operand(): Evaluate {
    const token = tokens[at++];
    if (token === undefined) throw new TemplateError(`missing value in {{${text.trim()}}}`);
    const [, quoted, raw, number, variable, field, name, sign] = token;
    if (quoted !== undefined) return constant(JSON.parse(quoted.replaceAll("\\'", "'")) as string);
    if (raw !== undefined) return constant(raw);
    if (number !== undefined) return constant(/^[-+]?\d+$/.test(number) ? BigInt(number) : Number(number));
    if (variable !== undefined) {
      const [root, ...path] = variable.split(".");
      return (scope) => follow(lookup(scope, root!), path);
    }
    if (field !== undefined) {
      const path = field.split(".").filter((part) => part !== "");
      return (scope) => follow(scope.dot, path);
    }
    if (name === "true" || name === "false") return constant(name === "true");
    if (name !== undefined) {
      const implementation = functionNamed(name);
      return (scope) => implementation([], scope.data);
    }
    if (sign === "(") {
      const inner = pipeline();
      if (!isSign(")")) throw new TemplateError(`unclosed parenthesis in {{${text.trim()}}}`);
      at++;
      return inner;
    }
    throw new TemplateError(`unexpected "${sign}" in {{${text.trim()}}}`);
  }

  const evaluate = pipeline();
  if (at < tokens.length) throw new TemplateError(`unexpected ")" in {{${text.trim()}}}`);
  return evaluate;
}

function constant(value: Value): Evaluate {
  return () => value;
}

function functionNamed(name: string): TemplateFunction {
  if (!Object.hasOwn(FUNCTIONS, name)) {
    throw new TemplateError(`function "${name}" is not supported; there are: ${TEMPLATE_FUNCTION_NAMES.join(", ")}`);
  }
  return FUNCTIONS[name]!;
}

function lookup(scope: Scope, name: string): Value {
  return declaring(scope, name).get(name);
}

/** The innermost block that declares a variable. */
function declaring(scope: Scope, name: string): Map<string, Value> {
  for (let at: Variables | undefined = scope.variables; at !== undefined; at = at.outer) {
    if (at.own.has(name)) return at.own;
  }
  throw new TemplateError(`undefined variable "${name}"`);
}

/** A label that is not there is empty, as Prometheus asks of Go's templates. */
function follow(value: Value, path: readonly string[]): Value {
  let current = value;
  for (const part of path) {
    if (current === null || typeof current !== "object") throw new TemplateError(`can't evaluate field ${part}`);
    const key = part === "Labels" || part === "Value" ? fieldOf(current, part) : part;
    current = (current as Record<string, Value>)[key] ?? "";
  }
  return current;
}

/** Samples of `query` have the fields Labels and Value. */
function fieldOf(holder: object, part: string): string {
  return part in holder ? part : part.toLowerCase();
}

function run(nodes: readonly Node[], scope: Scope): string {
  let out = "";
  for (const node of nodes) {
    switch (node.type) {
      case "text":
        out += node.text;
        break;
      case "output":
        out += plain(node.evaluate(scope));
        break;
      case "assign":
        (node.declares ? scope.variables.own : declaring(scope, node.names[0]!)).set(
          node.names[0]!,
          node.evaluate(scope),
        );
        break;
      default:
        out += runBlock(node, scope);
    }
  }
  return out;
}

function runBlock(node: Extract<Node, { condition: Evaluate }>, scope: Scope): string {
  const value = node.condition(scope);
  const inner = (dot: Value, bindings: [string, Value][]): Scope => ({
    dot,
    variables: { own: new Map(bindings), outer: scope.variables },
    data: scope.data,
  });
  if (!truthy(value)) return run(node.otherwise, inner(scope.dot, []));
  if (node.type !== "range") {
    const bindings: [string, Value][] = node.names.map((name) => [name, value]);
    return run(node.body, inner(node.type === "with" ? value : scope.dot, bindings));
  }
  const entries: [Value, Value][] = Array.isArray(value)
    ? value.map((item, i) => [BigInt(i), item])
    : Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries
    .map(([key, item]) => {
      const [first, second] = node.names;
      const bindings: [string, Value][] = [];
      if (second !== undefined) bindings.push([first!, key], [second, item]);
      else if (first !== undefined) bindings.push([first, item]);
      return run(node.body, inner(item, bindings));
    })
    .join("");
}
