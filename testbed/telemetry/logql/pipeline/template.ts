/**
 * The part of Go's text/template that line_format and label_format use: fields, pipes, calls, literals, if/else, and
 * Loki's functions. What it lacks (range, with, variables, define) is refused by name.
 */
import type { LineContext } from "./line.js";
import { TEMPLATE_FUNCTIONS, type TemplateFunction, type TemplateValue } from "./template-functions.js";

/** Blocks in blocks, brackets in brackets. */
const MAX_DEPTH = 100;

export type Render = (line: LineContext) => string;

type Evaluate = (line: LineContext) => TemplateValue;

type Action =
  | { type: "text"; text: string }
  | { type: "pipe"; evaluate: Evaluate }
  | { type: "if"; branches: { condition: Evaluate | undefined; body: Action[] }[] };

/** Compiles a template. @throws Error with Go's wording where it is known */
export function parseTemplate(source: string): Render {
  const segments = split(source);
  const actions = parseBody({ segments, at: 0, depth: 0 }, false);
  return (line) => run(actions, line);
}

type Segment = { text: string } | { action: string };

function split(source: string): Segment[] {
  const segments: Segment[] = [];
  let at = 0;
  let trimNext = false;
  while (at < source.length) {
    const open = source.indexOf("{{", at);
    let text = source.slice(at, open === -1 ? undefined : open);
    if (trimNext) text = text.trimStart();
    trimNext = false;
    if (open === -1) {
      if (text !== "") segments.push({ text });
      break;
    }
    const close = actionEnd(source, open + 2);
    let action = source.slice(open + 2, close);
    if (/^-\s/.test(action)) {
      text = text.trimEnd();
      action = action.slice(1);
    }
    if (/\s-$/.test(action)) {
      trimNext = true;
      action = action.slice(0, -1);
    }
    if (text !== "") segments.push({ text });
    action = action.trim();
    if (!action.startsWith("/*")) segments.push({ action });
    at = close + 2;
  }
  return segments;
}

/** Position of the `}}` that closes an action; quotes hide it. */
function actionEnd(source: string, start: number): number {
  for (let i = start; i < source.length; i++) {
    const char = source[i]!;
    if (char === '"' || char === "`") {
      const from = i;
      for (i++; i < source.length && source[i] !== char; i++) if (char === '"' && source[i] === "\\") i++;
      if (i >= source.length) throw new Error(`template: line:1: unterminated quoted string at ${from + 1}`);
    } else if (source.startsWith("}}", i)) return i;
  }
  throw new Error("template: line:1: unclosed action");
}

interface BodyState {
  segments: Segment[];
  at: number;
  depth: number;
}

function parseBody(state: BodyState, nested: boolean): Action[] {
  if (state.depth > MAX_DEPTH) throw new Error("template: line:1: nested too deeply");
  const actions: Action[] = [];
  while (state.at < state.segments.length) {
    const segment = state.segments[state.at]!;
    if ("text" in segment) {
      actions.push({ type: "text", text: segment.text });
      state.at++;
      continue;
    }
    const keyword = /^[a-z]+\b/.exec(segment.action)?.[0];
    if (keyword === "end" || keyword === "else") {
      if (!nested) throw new Error(`template: line:1: unexpected {{${keyword}}}`);
      return actions;
    }
    state.at++;
    if (keyword === "if") actions.push(parseIf(state, segment.action.slice(2)));
    else if (keyword !== undefined && ["range", "with", "define", "template", "block", "break"].includes(keyword)) {
      throw new Error(`template: line:1: {{${keyword}}} is not supported here`);
    } else if (/^\$\w*\s*:?=/.test(segment.action)) {
      throw new Error("template: line:1: variables are not supported here");
    } else actions.push({ type: "pipe", evaluate: compilePipe(segment.action) });
  }
  if (nested) throw new Error("template: line:1: unexpected EOF");
  return actions;
}

function parseIf(state: BodyState, condition: string): Action {
  state.depth++;
  const branches: { condition: Evaluate | undefined; body: Action[] }[] = [];
  let current: Evaluate | undefined = compilePipe(condition);
  for (;;) {
    branches.push({ condition: current, body: parseBody(state, true) });
    const action = (state.segments[state.at++] as { action: string }).action;
    if (action === "end") {
      state.depth--;
      return { type: "if", branches };
    }
    const again = /^else\s+if\b(.*)$/s.exec(action);
    current = again === null ? undefined : compilePipe(again[1]!);
  }
}

function run(actions: readonly Action[], line: LineContext): string {
  let out = "";
  for (const action of actions) {
    if (action.type === "text") out += action.text;
    else if (action.type === "pipe") out += textOf(action.evaluate(line));
    else {
      const branch = action.branches.find(({ condition }) => condition === undefined || truthy(condition(line)));
      if (branch !== undefined) out += run(branch.body, line);
    }
  }
  return out;
}

function textOf(value: TemplateValue): string {
  if (value === undefined) return "";
  if (value instanceof Date) return value.toISOString();
  return String(value);
}

/** Go's idea of truth: not the zero value. */
export function truthy(value: TemplateValue): boolean {
  return value !== undefined && value !== "" && value !== 0 && value !== false;
}

const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|`([^`]*)`|(-?\d+(?:\.\d+)?)|(\.[A-Za-z_][\w]*)|([A-Za-z_]\w*)|([|().]))/y;

type PipeToken =
  | { type: "literal"; value: string | number }
  | { type: "field"; name: string }
  | { type: "name"; name: string }
  | { type: "sign"; sign: string };

function pipeTokens(text: string): PipeToken[] {
  const tokens: PipeToken[] = [];
  let at = 0;
  const end = text.trimEnd().length;
  while (at < end) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) {
      throw new Error(`template: line:1: unexpected ${JSON.stringify(text.slice(at).trim().slice(0, 12))} in operand`);
    }
    at = TOKEN.lastIndex;
    const [, quoted, raw, number, field, name, sign] = match;
    if (quoted !== undefined)
      tokens.push({ type: "literal", value: JSON.parse(quoted.replace(/\\'/g, "'")) as string });
    else if (raw !== undefined) tokens.push({ type: "literal", value: raw });
    else if (number !== undefined) tokens.push({ type: "literal", value: Number(number) });
    else if (field !== undefined) tokens.push({ type: "field", name: field.slice(1) });
    else if (name !== undefined) tokens.push({ type: "name", name });
    else tokens.push({ type: "sign", sign: sign! });
  }
  return tokens;
}

function functionNamed(name: string): TemplateFunction {
  if (!Object.hasOwn(TEMPLATE_FUNCTIONS, name)) throw new Error(`template: line:1: function "${name}" not defined`);
  return TEMPLATE_FUNCTIONS[name]!;
}

function compilePipe(text: string): Evaluate {
  const tokens = pipeTokens(text);
  let at = 0;
  let depth = 0;
  const evaluate = pipeline();
  if (at < tokens.length) throw new Error("template: line:1: unexpected right paren");
  return evaluate;

  function isSign(sign: string): boolean {
    const token = tokens[at];
    return token?.type === "sign" && token.sign === sign;
  }

  function pipeline(): Evaluate {
    let result = command(undefined);
    while (isSign("|")) {
      at++;
      result = command(result);
    }
    return result;
  }

  /** A call with its arguments, or one operand. `piped` is what the command before it gave: the last argument. */
  function command(piped: Evaluate | undefined): Evaluate {
    const token = tokens[at];
    if (token === undefined) throw new Error("template: line:1: missing value for command");
    if (token.type !== "name" || token.name === "true" || token.name === "false") {
      const value = operand();
      if (piped !== undefined) throw new Error("template: line:1: non executable command in pipeline stage 2");
      return value;
    }
    at++;
    const implementation = functionNamed(token.name);
    const args: Evaluate[] = [];
    while (at < tokens.length && !isSign("|") && !isSign(")")) args.push(operand());
    if (piped !== undefined) args.push(piped);
    return (line) =>
      implementation(
        args.map((arg) => arg(line)),
        line,
      );
  }

  function operand(): Evaluate {
    const token = tokens[at++];
    if (token === undefined) throw new Error("template: line:1: missing value for command");
    if (token.type === "literal") {
      const { value } = token;
      return () => value;
    }
    if (token.type === "field") {
      const { name } = token;
      return (line) => line.get(name) ?? "";
    }
    if (token.type === "name") {
      if (token.name === "true" || token.name === "false") {
        const value = token.name === "true";
        return () => value;
      }
      const implementation = functionNamed(token.name);
      return (line) => implementation([], line);
    }
    if (token.sign === "(") {
      if (++depth > MAX_DEPTH) throw new Error("template: line:1: nested too deeply");
      const inner = pipeline();
      depth--;
      if (!isSign(")")) throw new Error("template: line:1: unclosed left paren");
      at++;
      return inner;
    }
    if (token.sign === ".") return (line) => JSON.stringify(line.labels());
    throw new Error(`template: line:1: unexpected "${token.sign}" in operand`);
  }
}
