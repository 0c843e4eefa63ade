/**
 * A subset of Go's templates for `-o go-template`: fields, `range`/`else`/`end`, `if`/`else if`/`else`, `with`,
 * variables, pipelines, and the functions index, len, printf, print, println, eq, ne, lt, le, gt, ge, and, or, not,
 * exists, html, js, urlquery, slice, base64decode. `define`, `template`, `block` and method calls are not there.
 */
import { KubectlError } from "../errors.js";
import { PrintBudget } from "./bound.js";
import { goPlain, goQuote } from "./go-value.js";
import { compactJson } from "./json.js";

type Part = { text: string } | { action: string };
type Node =
  | { type: "text"; text: string }
  | { type: "action"; code: string }
  | { type: "if" | "with" | "range"; code: string; body: Node[]; otherwise: Node[] };

function bad(message: string): KubectlError {
  return new KubectlError(`error: error parsing template: ${message}`);
}

function scan(template: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  let trim = false;
  for (;;) {
    const open = template.indexOf("{{", at);
    let text = open < 0 ? template.slice(at) : template.slice(at, open);
    if (trim) text = text.replace(/^\s+/, "");
    if (open >= 0 && /^\{\{-\s/.test(template.slice(open, open + 4))) text = text.replace(/\s+$/, "");
    if (text) parts.push({ text });
    if (open < 0) return parts;
    let end = open + 2;
    let quote = "";
    for (; end < template.length; end++) {
      const c = template[end] as string;
      if (quote) {
        if (c === "\\" && quote !== "`") end++;
        else if (c === quote) quote = "";
      } else if (c === '"' || c === "`") quote = c;
      else if (template.startsWith("}}", end)) break;
    }
    if (end >= template.length) throw bad("template: output:1: unclosed action");
    let action = template.slice(open + 2, end);
    if (/^-\s/.test(action)) action = action.slice(1);
    trim = /\s-$/.test(action);
    if (trim) action = action.slice(0, -1);
    action = action.trim();
    if (!/^\/\*.*\*\/$/s.test(action)) parts.push({ action });
    at = end + 2;
  }
}

function build(parts: Part[]): Node[] {
  const root: Node[] = [];
  const stack: { list: Node[]; node?: Node & { otherwise: Node[] }; chained?: boolean }[] = [{ list: root }];
  for (const part of parts) {
    const top = stack.at(-1) as (typeof stack)[number];
    if ("text" in part) {
      top.list.push({ type: "text", text: part.text });
      continue;
    }
    const word = /^(if|with|range|else|end|define|template|block|break|continue)\b/.exec(part.action)?.[1];
    const rest = word ? part.action.slice(word.length).trim() : "";
    if (word === "if" || word === "with" || word === "range") {
      const node: Node = { type: word, code: rest, body: [], otherwise: [] };
      top.list.push(node);
      stack.push({ list: node.body, node });
    } else if (word === "else") {
      if (!top.node) throw bad("template: output:1: unexpected {{else}}");
      top.list = top.node.otherwise;
      const chained = /^(if|with)\s+(.*)$/s.exec(rest);
      if (chained) {
        const node: Node = { type: chained[1] as "if", code: chained[2] as string, body: [], otherwise: [] };
        top.list.push(node);
        stack.push({ list: node.body, node, chained: true });
      }
    } else if (word === "end") {
      if (stack.length === 1) throw bad("template: output:1: unexpected {{end}}");
      while ((stack.pop() as (typeof stack)[number]).chained);
    } else if (word) throw bad(`{{${word}}} is not available in this kubectl; use -o json or jsonpath`);
    else top.list.push({ type: "action", code: part.action });
  }
  if (stack.length > 1) throw bad("template: output:1: unexpected EOF");
  return root;
}

const TOKEN =
  /\s+|("(?:[^"\\]|\\.)*"|`[^`]*`)|([-+]?\d+(?:\.\d+)?)|(\$[A-Za-z0-9_]*)|((?:\.[A-Za-z_][A-Za-z0-9_]*)+|\.)|([A-Za-z_][A-Za-z0-9_]*)|(:=|=|\||\(|\)|,)/y;

function tokenize(code: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < code.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(code);
    if (!match) throw bad(`template: output:1: unexpected ${goQuote(code.slice(at, at + 1))} in operand`);
    if (match[0].trim() !== "") {
      // `$x.field` and `(…).field` belong together: mark a field that follows without a blank.
      const glued = match[4] !== undefined && at > 0 && !/\s/.test(code[at - 1] as string) && match[4] !== ".";
      tokens.push(glued ? `\u0001${match[0]}` : match[0]);
    }
  }
  return tokens;
}

function truth(value: any): boolean {
  if (value === null || value === undefined) return false;
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object") return Object.keys(value).length > 0;
  return Boolean(value);
}

function field(value: any, path: string): any {
  let at = value;
  for (const name of path.split(".").filter(Boolean)) {
    if (at === null || at === undefined) return undefined;
    if (typeof at !== "object" || Array.isArray(at))
      throw new KubectlError(`can't evaluate field ${name} in type interface {}`);
    at = at[name];
  }
  return at;
}

function text(value: any): string {
  return value === undefined || value === null ? "<no value>" : goPlain(value);
}

/** Go itself takes no width beyond a million; here it must not make a text of nothing. */
const WIDEST = 10_000;

/** Go's Printf, for the verbs that templates use. */
function printf(format: string, values: any[]): string {
  let next = 0;
  const out = format.replace(
    /%([-+ 0#]*)(\d*)(?:\.(\d+))?([a-zA-Z%])/g,
    (whole, flags: string, size: string, digits: string | undefined, verb: string) => {
      if (verb === "%") return "%";
      if (next >= values.length) return `%!${verb}(MISSING)`;
      const value = values[next++];
      let body: string;
      if (verb === "q") body = goQuote(String(value));
      else if (verb === "f") body = Number(value).toFixed(digits === undefined ? 6 : Math.min(Number(digits), 100));
      else if (verb === "T") body = typeof value;
      else if (verb === "s" || verb === "v" || verb === "d" || verb === "t") {
        if (verb === "d" && typeof value !== "number") body = `%!d(${typeof value}=${goPlain(value)})`;
        else if (verb === "s" && typeof value === "number") body = `%!s(int64=${value})`;
        else body = goPlain(value);
        if (digits !== undefined && verb === "s") body = [...body].slice(0, Number(digits)).join("");
      } else if (verb === "x")
        body = typeof value === "number" ? value.toString(16) : Buffer.from(String(value)).toString("hex");
      else return whole;
      const pad = Math.min(Number(size || 0), WIDEST);
      if (flags.includes("-")) return body.padEnd(pad);
      return body.padStart(pad, flags.includes("0") && typeof value === "number" ? "0" : " ");
    },
  );
  return next < values.length ? `${out}%!(EXTRA ${values.slice(next).map(goPlain).join(", ")})` : out;
}

function compare(a: any, b: any): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const FUNCTIONS: Record<string, (...args: any[]) => any> = {
  len: (v) =>
    v === null || v === undefined ? 0 : typeof v === "object" ? Object.keys(v).length : Buffer.byteLength(String(v)),
  index: (v, ...keys) =>
    keys.reduce((at, key) => {
      if (at === null || at === undefined) return undefined;
      if (Array.isArray(at) && (key < 0 || key >= at.length))
        throw new KubectlError(`error calling index: reflect: slice index out of range`);
      return at[key];
    }, v),
  slice: (v, from = 0, to = v.length) => v.slice(from, to),
  printf: (format, ...values) => printf(String(format), values),
  print: (...values) => values.map(text).join(""),
  println: (...values) => `${values.map(text).join(" ")}\n`,
  eq: (a, ...others) => others.some((b) => a === b),
  ne: (a, b) => a !== b,
  lt: (a, b) => compare(a, b) < 0,
  le: (a, b) => compare(a, b) <= 0,
  gt: (a, b) => compare(a, b) > 0,
  ge: (a, b) => compare(a, b) >= 0,
  not: (a) => !truth(a),
  and: (...values) => values.find((v) => !truth(v)) ?? values.at(-1),
  or: (...values) => values.find(truth) ?? values.at(-1),
  exists: (v, ...keys) => keys.reduce((at, key) => at?.[key], v) !== undefined,
  base64decode: (v) => (v === "<masked>" ? v : Buffer.from(String(v), "base64").toString("utf8")),
  html: (v) => String(v).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`),
  js: (v) => JSON.stringify(String(v)).slice(1, -1),
  urlquery: (v) => encodeURIComponent(String(v)),
  toJson: compactJson,
};

type Scope = Map<string, any>;

class Run {
  private readonly root: any;
  private readonly budget = new PrintBudget();
  constructor(root: any) {
    this.root = root;
  }

  render(nodes: Node[], dot: any, scope: Scope): string {
    let out = "";
    for (const node of nodes) {
      this.budget.steps();
      if (node.type === "text") out += this.budget.text(node.text);
      else if (node.type === "action") {
        const { value, assigned } = this.pipeline(node.code, dot, scope);
        if (!assigned) out += this.budget.text(text(value));
      } else if (node.type === "range") out += this.range(node, dot, scope);
      else {
        const inner: Scope = new Map(scope);
        const { value } = this.pipeline(node.code, dot, inner);
        if (truth(value)) out += this.render(node.body, node.type === "with" ? value : dot, inner);
        else out += this.render(node.otherwise, dot, inner);
      }
    }
    return out;
  }

  private range(node: Node & { type: "if" | "with" | "range" }, dot: any, scope: Scope): string {
    const match = /^(\$\w+)(?:\s*,\s*(\$\w+))?\s*:=\s*(.*)$/s.exec(node.code);
    const { value } = this.pipeline(match ? (match[3] as string) : node.code, dot, scope);
    const entries: [any, any][] = Array.isArray(value)
      ? value.map((item, i) => [i, item])
      : value !== null && typeof value === "object"
        ? Object.keys(value)
            .sort()
            .map((key) => [key, value[key]])
        : [];
    if (entries.length === 0) return this.render(node.otherwise, dot, new Map(scope));
    return entries
      .map(([key, item]) => {
        this.budget.steps();
        const inner: Scope = new Map(scope);
        if (match?.[2]) inner.set(match[1] as string, key).set(match[2], item);
        else if (match) inner.set(match[1] as string, item);
        return this.render(node.body, item, inner);
      })
      .join("");
  }

  private pipeline(code: string, dot: any, scope: Scope): { value: any; assigned: boolean } {
    const assign = /^(\$\w+)\s*(:=|=)\s*(.*)$/s.exec(code);
    const tokens = tokenize(assign ? (assign[3] as string) : code);
    const { value, at } = this.commands(tokens, 0, dot, scope);
    if (at < tokens.length) throw bad(`template: output:1: unexpected ${goQuote(tokens[at] as string)}`);
    if (assign) scope.set(assign[1] as string, value);
    return { value, assigned: assign !== null };
  }

  private commands(tokens: string[], from: number, dot: any, scope: Scope): { value: any; at: number } {
    let at = from;
    let piped: { value: any } | undefined;
    for (;;) {
      const operands: any[] = [];
      let name: string | undefined;
      while (at < tokens.length && tokens[at] !== "|" && tokens[at] !== ")") {
        const token = tokens[at] as string;
        if (
          operands.length === 0 &&
          name === undefined &&
          /^[A-Za-z_]/.test(token) &&
          !/^(true|false|nil)$/.test(token)
        ) {
          if (!FUNCTIONS[token]) throw bad(`template: output:1: function ${goQuote(token)} not defined`);
          name = token;
          at++;
          continue;
        }
        const operand = this.operand(tokens, at, dot, scope);
        operands.push(operand.value);
        at = operand.at;
      }
      if (piped) operands.push(piped.value);
      if (name === undefined && operands.length === 0) throw bad("template: output:1: missing value for command");
      const value = name === undefined ? operands[0] : (FUNCTIONS[name] as (...a: any[]) => any)(...operands);
      if (tokens[at] !== "|") return { value, at };
      piped = { value };
      at++;
    }
  }

  private operand(tokens: string[], from: number, dot: any, scope: Scope): { value: any; at: number } {
    const token = tokens[from] as string;
    let at = from + 1;
    let value: any;
    if (token === "(") {
      const inner = this.commands(tokens, at, dot, scope);
      if (tokens[inner.at] !== ")") throw bad("template: output:1: unclosed left paren");
      value = inner.value;
      at = inner.at + 1;
    } else if (token.startsWith('"')) value = JSON.parse(token.replace(/\n/g, "\\n"));
    else if (token.startsWith("`")) value = token.slice(1, -1);
    else if (/^[-+]?\d/.test(token)) value = Number(token);
    else if (token === "$") value = this.root;
    else if (token.startsWith("$")) {
      if (!scope.has(token)) throw bad(`template: output:1: undefined variable ${goQuote(token)}`);
      value = scope.get(token);
    } else if (token.startsWith(".")) value = token === "." ? dot : field(dot, token);
    else if (token === "true" || token === "false") value = token === "true";
    else if (token === "nil") value = null;
    else if (FUNCTIONS[token]) value = (FUNCTIONS[token] as () => any)();
    else throw bad(`template: output:1: unexpected ${goQuote(token)}`);
    while (tokens[at]?.startsWith("\u0001")) value = field(value, (tokens[at++] as string).slice(1));
    return { value, at };
  }
}

/** @throws KubectlError for a template that cannot be read or run */
export function printGoTemplate(template: string, data: unknown): string {
  return new Run(data).render(build(scan(template)), data, new Map());
}
