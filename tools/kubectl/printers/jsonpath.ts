/**
 * kubectl's JSONPath templates: `{...}` parts in literal text, `range`/`end`, wildcards, recursive descent, slices,
 * unions and filters. Missing fields print nothing unless asked otherwise.
 */

import { PrintBudget } from "./bound.js";
import { goNumber } from "./go-value.js";
import { compactJson } from "./json.js";

export class JsonPathError extends Error {}

type Node =
  | { type: "text"; text: string }
  | { type: "list"; nodes: Node[] }
  | { type: "field"; name: string }
  | { type: "array"; start?: number; end?: number; step?: number; index: boolean }
  | { type: "wildcard" }
  | { type: "recursive" }
  | { type: "union"; nodes: Node[] }
  | { type: "filter"; left: Node[]; right: Node[]; operator: string }
  | { type: "int"; value: number }
  | { type: "float"; value: number }
  | { type: "bool"; value: boolean }
  | { type: "range"; path: Node[]; body: Node[] }
  | { type: "end" };

export interface JsonPathOptions {
  /** A missing field prints nothing; else it is an error. */
  allowMissing: boolean;
}

/** Parses the inside of a string in quotes. */
function unquote(text: string): string {
  const quote = text[0] as string;
  const body = text.slice(1, -1);
  return body.replace(/\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)/gs, (_, code: string) => {
    const simple: Record<string, string> = {
      n: "\n",
      t: "\t",
      r: "\r",
      a: "\x07",
      b: "\b",
      f: "\f",
      v: "\v",
      "\\": "\\",
    };
    if (code.length > 1) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    if (code === quote || code === "'" || code === '"') return code;
    return simple[code] ?? `\\${code}`;
  });
}

class Parser {
  private at = 0;
  private readonly text: string;
  constructor(text: string) {
    this.text = text;
  }

  template(): Node[] {
    const nodes: Node[] = [];
    while (this.at < this.text.length) {
      const open = this.text.indexOf("{", this.at);
      if (open < 0) {
        nodes.push({ type: "text", text: this.text.slice(this.at) });
        break;
      }
      if (open > this.at) nodes.push({ type: "text", text: this.text.slice(this.at, open) });
      this.at = open + 1;
      nodes.push(this.action());
    }
    return nest(nodes);
  }

  /** The inside of `{...}`, up to and with the closing brace. */
  private action(): Node {
    this.space();
    const word = /^(range|end)(?![A-Za-z0-9_])/.exec(this.text.slice(this.at))?.[1];
    if (word === "end") {
      this.at += 3;
      this.close();
      return { type: "end" };
    }
    if (word === "range") {
      this.at += 5;
      return { type: "range", path: this.body(), body: [] };
    }
    return { type: "list", nodes: this.body() };
  }

  private body(): Node[] {
    const nodes: Node[] = [];
    for (;;) {
      this.space();
      if (this.at >= this.text.length) throw new JsonPathError("unclosed action");
      if (this.text[this.at] === "}") {
        this.at++;
        return nodes;
      }
      this.step(nodes);
    }
  }

  private close(): void {
    this.space();
    if (this.text[this.at] !== "}") throw new JsonPathError("unclosed action");
    this.at++;
  }

  private space(): void {
    while (/[ \t\r\n]/.test(this.text[this.at] ?? "")) this.at++;
  }

  private step(nodes: Node[]): void {
    const c = this.text[this.at] as string;
    if (c === "." && this.text[this.at + 1] === ".") {
      this.at += 2;
      nodes.push({ type: "recursive" });
      if (/[^.[\]{}\s]/.test(this.text[this.at] ?? "")) this.field(nodes);
    } else if (c === ".") {
      this.at++;
      if (/[^[\]{}\s.]/.test(this.text[this.at] ?? "")) this.field(nodes);
    } else if (c === "[") this.bracket(nodes);
    else if (c === '"' || c === "'") nodes.push({ type: "text", text: this.quoted() });
    else if (c === "$" || c === "@") this.at++;
    else if (c === "*") {
      this.at++;
      nodes.push({ type: "wildcard" });
    } else if (/[-+0-9]/.test(c)) {
      const number = /^[-+]?\d+(\.\d+)?/.exec(this.text.slice(this.at))?.[0];
      if (!number) throw new JsonPathError(`unrecognized character in action: U+${hex(c)} '${c}'`);
      this.at += number.length;
      nodes.push(
        number.includes(".") ? { type: "float", value: Number(number) } : { type: "int", value: Number(number) },
      );
    } else if (/[A-Za-z_]/.test(c)) {
      const word = /^[A-Za-z0-9_]+/.exec(this.text.slice(this.at))?.[0] as string;
      this.at += word.length;
      if (word === "true" || word === "false") nodes.push({ type: "bool", value: word === "true" });
      else throw new JsonPathError(`unrecognized identifier ${word}`);
    } else throw new JsonPathError(`unrecognized character in action: U+${hex(c)} '${c}'`);
  }

  private quoted(): string {
    const quote = this.text[this.at] as string;
    let end = this.at + 1;
    while (end < this.text.length && this.text[end] !== quote) end += this.text[end] === "\\" ? 2 : 1;
    if (end >= this.text.length) throw new JsonPathError("unterminated quoted string");
    const raw = this.text.slice(this.at, end + 1);
    this.at = end + 1;
    return unquote(raw);
  }

  private field(nodes: Node[]): void {
    let name = "";
    while (this.at < this.text.length) {
      const c = this.text[this.at] as string;
      if (c === "\\") {
        name += this.text[this.at + 1] ?? "";
        this.at += 2;
      } else if (/[.[\]{}|,;:/ \t\r\n"'()=!<>@$]/.test(c) && !(c === "/" || c === "@" || c === "$")) break;
      else {
        name += c;
        this.at++;
      }
    }
    if (name === "*") nodes.push({ type: "wildcard" });
    else nodes.push({ type: "field", name });
  }

  private bracket(nodes: Node[]): void {
    const start = this.at;
    // The closing bracket: quotes and inner brackets (in filters) may hold others.
    let depth = 0;
    let end = start;
    let quote = "";
    for (; end < this.text.length; end++) {
      const c = this.text[end] as string;
      if (quote) {
        if (c === "\\") end++;
        else if (c === quote) quote = "";
      } else if (c === '"' || c === "'") quote = c;
      else if (c === "[") depth++;
      else if (c === "]" && --depth === 0) break;
    }
    if (end >= this.text.length) throw new JsonPathError("unterminated array");
    const inside = this.text.slice(start + 1, end).trim();
    this.at = end + 1;
    if (inside.startsWith("?(")) {
      if (!inside.endsWith(")")) throw new JsonPathError("unterminated filter");
      nodes.push(parseFilter(inside.slice(2, -1)));
      return;
    }
    if (inside === "*") {
      nodes.push({ type: "wildcard" });
      return;
    }
    const parts = splitTop(inside, ",");
    if (parts.length > 1) {
      nodes.push({
        type: "union",
        nodes: parts.map((part) => ({ type: "list", nodes: new Parser(`{[${part.trim()}]}`).inner() })),
      });
      return;
    }
    if (/^(['"]).*\1$/s.test(inside)) {
      // kubectl reads ['a.b'] as .a.b: dots must be escaped inside brackets as well.
      const path = new Parser(`{.${inside.slice(1, -1)}}`).inner();
      nodes.push(...path);
      return;
    }
    const slice = /^(-?\d*)(:(-?\d*))?(:(-?\d*))?$/.exec(inside);
    if (!slice || inside === "") throw new JsonPathError(`invalid array index ${inside}`);
    const number = (text: string | undefined) => (text === undefined || text === "" ? undefined : Number(text));
    const node: Node = { type: "array", index: slice[2] === undefined };
    const [from, to, step] = [number(slice[1]), number(slice[3]), number(slice[5])];
    if (from !== undefined) node.start = from;
    if (to !== undefined) node.end = to;
    if (step !== undefined) node.step = step;
    nodes.push(node);
  }

  inner(): Node[] {
    this.at = 1;
    return this.body();
  }
}

function hex(c: string): string {
  return c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
}

function splitTop(text: string, separator: string): string[] {
  const parts = [""];
  let quote = "";
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string;
    if (quote) {
      if (c === quote) quote = "";
    } else if (c === '"' || c === "'") quote = c;
    else if (c === separator) {
      parts.push("");
      continue;
    }
    parts[parts.length - 1] += c;
  }
  return parts;
}

function parseFilter(text: string): Node {
  let quote = "";
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string;
    if (quote) {
      if (c === quote) quote = "";
      continue;
    }
    if (c === '"' || c === "'") {
      quote = c;
      continue;
    }
    const operator = /^(===|==|!=|<=|>=|=~|<|>)/.exec(text.slice(i))?.[1];
    if (!operator) continue;
    if (operator === "=~")
      throw new JsonPathError("unrecognized filter operator =~: regular expressions are not supported");
    return {
      type: "filter",
      left: filterSide(text.slice(0, i)),
      right: filterSide(text.slice(i + operator.length)),
      operator: operator === "===" ? "==" : operator,
    };
  }
  return { type: "filter", left: filterSide(text), right: [], operator: "exists" };
}

function filterSide(text: string): Node[] {
  return new Parser(`{${text.trim()}}`).inner();
}

function nest(flat: Node[]): Node[] {
  const stack: Node[][] = [[]];
  for (const node of flat) {
    const top = stack.at(-1) as Node[];
    if (node.type === "range") {
      top.push(node);
      stack.push(node.body);
    } else if (node.type === "end") {
      if (stack.length === 1) top.push(node);
      else stack.pop();
    } else top.push(node);
  }
  return stack[0] as Node[];
}

/** `$` in a filter or path means the value at hand, as kubectl has it. */
class Evaluator {
  private readonly options: JsonPathOptions;
  readonly budget = new PrintBudget();
  constructor(options: JsonPathOptions) {
    this.options = options;
  }

  run(nodes: readonly Node[], current: any[]): any[] {
    let values = current;
    for (const node of nodes) {
      values = this.step(node, values);
      this.budget.steps(values.length);
    }
    return values;
  }

  private step(node: Node, values: any[]): any[] {
    switch (node.type) {
      case "text":
        return [node.text];
      case "int":
      case "float":
      case "bool":
        return [node.value];
      case "list":
        return this.run(node.nodes, values);
      case "field":
        return this.field(node.name, values);
      case "wildcard":
        return values.flatMap((v) =>
          Array.isArray(v) ? v : v !== null && typeof v === "object" ? sortedKeys(v).map((k) => v[k]) : [],
        );
      case "recursive":
        return values.flatMap((v) => {
          const found = descend(v);
          this.budget.steps(found.length);
          return found;
        });
      case "union":
        return node.nodes.flatMap((part) => this.step(part, values));
      case "array":
        return values.flatMap((v) => this.slice(node, v));
      case "filter":
        return values.flatMap((v) => this.filter(node, v));
      default:
        return values;
    }
  }

  private field(name: string, values: any[]): any[] {
    const out: any[] = [];
    for (const value of values) {
      if (value === null || value === undefined) continue;
      if (typeof value === "object" && !Array.isArray(value) && Object.hasOwn(value, name)) {
        if (value[name] !== undefined) out.push(value[name]);
      }
    }
    if (out.length === 0 && !this.options.allowMissing) throw new JsonPathError(`${name} is not found`);
    return out;
  }

  private slice(node: Node & { type: "array" }, value: any): any[] {
    if (value === null || value === undefined) return [];
    if (!Array.isArray(value)) throw new JsonPathError(`${describe(value)} is not array or slice`);
    const length = value.length;
    if (node.index) {
      const index = node.start ?? 0;
      const at = index < 0 ? index + length : index;
      if (at >= length || at < 0)
        throw new JsonPathError(`array index out of bounds: index ${index < 0 ? at : index}, length ${length}`);
      return [value[at]];
    }
    let from = node.start ?? 0;
    let to = node.end ?? length;
    const step = node.step ?? 1;
    if (step <= 0) throw new JsonPathError("step must be > 0");
    if (from < 0) from += length;
    if (to < 0) to += length;
    if (from >= length && node.start !== undefined && length > 0 && node.end === undefined)
      throw new JsonPathError(`array index out of bounds: index ${from}, length ${length}`);
    if (from > to) throw new JsonPathError(`starting index ${from} is greater than ending index ${to}`);
    const out: any[] = [];
    for (let i = Math.max(0, from); i < Math.min(to, length); i += step) out.push(value[i]);
    return out;
  }

  private filter(node: Node & { type: "filter" }, value: any): any[] {
    if (value === null || value === undefined) return [];
    const items = Array.isArray(value)
      ? value
      : typeof value === "object"
        ? sortedKeys(value).map((k) => value[k])
        : undefined;
    if (!items) throw new JsonPathError(`${describe(value)} is not array or slice and cannot be filtered`);
    const quiet = new Evaluator({ allowMissing: true });
    return items.filter((item: any) => {
      const left = quiet.run(node.left, [item]);
      if (node.operator === "exists") return left.length > 0;
      const right = quiet.run(node.right, [item]);
      if (left.length === 0 || right.length === 0) return false;
      if (left.length > 1 || right.length > 1) throw new JsonPathError("can only compare one element at a time");
      return compare(left[0], right[0], node.operator);
    });
  }
}

function compare(a: any, b: any, operator: string): boolean {
  switch (operator) {
    case "==":
      return a === b;
    case "!=":
      return a !== b;
    case "<":
      return a < b;
    case ">":
      return a > b;
    case "<=":
      return a <= b;
    default:
      return a >= b;
  }
}

function sortedKeys(value: any): string[] {
  return Object.keys(value).sort();
}

function descend(value: any): any[] {
  if (value === null || typeof value !== "object") return [];
  const children = Array.isArray(value) ? value : sortedKeys(value).map((k) => value[k]);
  return [value, ...children.flatMap((child: any) => descend(child))];
}

/** The value's type, as Go names it. */
function describe(value: any): string {
  if (typeof value === "object") return "map[string]interface {}";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : "string";
}

export class JsonPath {
  private readonly nodes: Node[];
  private readonly evaluator: Evaluator;

  /** @throws JsonPathError when the template cannot be read */
  constructor(template: string, options: JsonPathOptions = { allowMissing: true }) {
    this.nodes = new Parser(template).template();
    this.evaluator = new Evaluator(options);
  }

  /** The template's text for `data`. */
  print(data: unknown): string {
    return this.render(this.nodes, [data]);
  }

  private render(nodes: readonly Node[], current: any[]): string {
    let out = "";
    for (const node of nodes) {
      if (node.type === "range")
        for (const item of this.evaluator.run(node.path, current)) out += this.render(node.body, [item]);
      else if (node.type === "text") out += this.evaluator.budget.text(node.text);
      else if (node.type === "end") throw new JsonPathError("not in range, nothing to end");
      else {
        const found = this.evaluator.run([node], current).map((value) => this.evaluator.budget.text(valueText(value)));
        out += found.join(" ");
      }
    }
    return out;
  }

  /** The values that all `{...}` parts find, flat. */
  values(data: unknown): any[] {
    const collect = (nodes: readonly Node[], current: any[]): any[] =>
      nodes.flatMap((node) =>
        node.type === "range"
          ? this.evaluator.run(node.path, current).flatMap((item) => collect(node.body, [item]))
          : node.type === "text"
            ? []
            : this.evaluator.run([node], current),
      );
    return collect(this.nodes, [data]);
  }
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "object") return compactJson(value);
  return typeof value === "number" ? goNumber(value) : String(value);
}

/** `x.y`, `.x.y` and `{.x.y}` all mean `{.x.y}`: for --sort-by and custom columns. */
export function relaxed(path: string): string {
  const match = /^\{(.*)\}$/s.exec(path.trim());
  const inner = (match?.[1] ?? path).trim().replace(/^\$/, "");
  if (inner === "") return "{}";
  return `{${inner.startsWith(".") || inner.startsWith("[") ? inner : `.${inner}`}}`;
}
