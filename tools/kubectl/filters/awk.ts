/**
 * A very small awk: `[condition] {print a, b}`. Conditions: `NR>1`, `NR==2`, `/regex/`, `$3 ~ /regex/`, `$3 !~ /re/`,
 * `$3 == "x"`, `$4 > 3`, joined by `&&` and `||`; operands: `$N`, `$NF`, `$0`, `NR`, `NF`, strings, numbers. `-F`.
 */
import { type Filter, FilterError, linesOf, readOptions, textOf } from "./filter.js";
import { toRegExp } from "./grep.js";
import { compilePattern, type Pattern } from "./pattern.js";

const REFUSED =
  "only `awk '[condition] {print $1, $2}'` is available here (conditions: NR>1, /text/, $3 == \"x\", $3 ~ /text/, $4 > 3); kubectl's -o custom-columns or jsonpath does the rest";

interface Line {
  text: string;
  fields: string[];
  number: number;
}

type Value = (line: Line) => string | number;
type Test = (line: Line) => boolean;

function operand(source: string): Value {
  const text = source.trim();
  let match = /^\$(\d+)$/.exec(text);
  if (match) {
    const index = Number(match[1]);
    return index === 0 ? (line) => line.text : (line) => line.fields[index - 1] ?? "";
  }
  match = /^\$\(?NF\s*(?:-\s*(\d+))?\)?$/.exec(text);
  if (match) {
    const back = Number(match[1] ?? 0);
    return (line) => line.fields[line.fields.length - 1 - back] ?? "";
  }
  if (text === "NR") return (line) => line.number;
  if (text === "NF") return (line) => line.fields.length;
  match = /^"((?:[^"\\]|\\.)*)"$/.exec(text);
  if (match) {
    const value = (match[1] as string).replace(/\\(.)/g, (_, c: string) => ({ n: "\n", t: "\t" })[c] ?? c);
    return () => value;
  }
  if (/^-?\d+(\.\d+)?$/.test(text)) return () => Number(text);
  throw new FilterError(`awk: ${REFUSED}`);
}

function splitAt(separator: Pattern): (text: string) => string[] {
  return (text) => {
    const fields: string[] = [];
    let from = 0;
    for (const { start, end } of separator.matches(text)) {
      if (end === start) continue;
      fields.push(text.slice(from, start));
      from = end;
    }
    return [...fields, text.slice(from)];
  };
}

/** Splits at `separator` outside of strings and regular expressions. */
function split(source: string, separator: string): string[] {
  const parts = [""];
  let quote = "";
  for (let i = 0; i < source.length; i++) {
    const c = source[i] as string;
    if (quote) {
      if (c === "\\") {
        parts[parts.length - 1] += c + (source[++i] ?? "");
        continue;
      }
      if (c === quote) quote = "";
    } else if (c === '"' || c === "/") quote = c;
    else if (source.startsWith(separator, i)) {
      parts.push("");
      i += separator.length - 1;
      continue;
    }
    parts[parts.length - 1] += c;
  }
  return parts;
}

function expression(source: string): Pattern {
  const match = /^\/(.*)\/$/s.exec(source.trim());
  const string = /^"(.*)"$/s.exec(source.trim());
  if (!match && !string) throw new FilterError(`awk: ${REFUSED}`);
  return compilePattern("awk", toRegExp(((match ?? string) as RegExpExecArray)[1] as string, "extended"));
}

function single(source: string): Test {
  const text = source.trim();
  if (text.startsWith("!") && !text.startsWith("!~")) {
    const inner = single(text.slice(1));
    return (line) => !inner(line);
  }
  if (/^\/.*\/$/s.test(text)) {
    const test = expression(text);
    return (line) => test.test(line.text);
  }
  const match = /^((?:"(?:[^"\\]|\\.)*"|[^=!<>~"])+?)\s*(==|!=|<=|>=|!~|~|<|>)\s*(.+)$/s.exec(text);
  if (!match) {
    const value = operand(text);
    return (line) => {
      const v = value(line);
      return v !== "" && v !== 0 && v !== "0";
    };
  }
  const [, left, operator, right] = match as unknown as [string, string, string, string];
  const a = operand(left);
  if (operator === "~" || operator === "!~") {
    const test = expression(right);
    return (line) => test.test(String(a(line))) === (operator === "~");
  }
  const b = operand(right);
  return (line) => {
    let [x, y]: (string | number)[] = [a(line), b(line)] as const;
    const number = (v: string | number) => typeof v === "number" || (v.trim() !== "" && Number.isFinite(Number(v)));
    const literal = right.trim().startsWith('"');
    if (!literal && number(x as any) && number(y as any)) [x, y] = [Number(x), Number(y)];
    else [x, y] = [String(x), String(y)];
    switch (operator) {
      case "==":
        return x === y;
      case "!=":
        return x !== y;
      case "<":
        return (x as any) < (y as any);
      case ">":
        return (x as any) > (y as any);
      case "<=":
        return (x as any) <= (y as any);
      default:
        return (x as any) >= (y as any);
    }
  };
}

function condition(source: string): Test {
  const any = split(source, "||").map((part) => split(part, "&&").map(single));
  return (line) => any.some((all) => all.every((test) => test(line)));
}

/** Operands of a print: `,` puts a blank between, juxtaposition none. */
function printList(source: string): Value {
  if (source.trim() === "") return (line) => line.text;
  const columns = split(source, ",").map((part) => {
    const pieces = part.match(/"(?:[^"\\]|\\.)*"|\$\(NF\s*-\s*\d+\)|\$\w+|NR|NF|-?\d+(?:\.\d+)?|\S+/g) ?? [];
    if (pieces.length === 0) throw new FilterError(`awk: ${REFUSED}`);
    const values = pieces.map(operand);
    return (line: Line) => values.map((value) => value(line)).join("");
  });
  return (line) => columns.map((value) => value(line)).join(" ");
}

export const awk: Filter = {
  name: "awk",
  run(args, input) {
    const { values, rest } = readOptions("awk", args, { flags: "", values: "F" });
    if (rest.length !== 1) throw new FilterError(`awk: ${REFUSED}`);
    const program = (rest[0] as string).trim();
    const match = /^(.*?)\{\s*print\b(.*?);?\s*\}$/s.exec(program);
    if (!match && program.includes("{")) throw new FilterError(`awk: ${REFUSED}`);
    const test = ((match ? match[1] : program) ?? "").trim();
    if (/^(BEGIN|END)\b/.test(test) || /[;{}]/.test(match?.[2] ?? "")) throw new FilterError(`awk: ${REFUSED}`);
    const when: Test = test === "" ? () => true : condition(test);
    const print = printList(match?.[2] ?? "");
    const separator = values.get("F")?.at(-1)?.replace("\\t", "\t");
    const fieldsOf: (text: string) => string[] =
      separator === undefined || separator === " "
        ? (text) => text.trim().split(/\s+/).filter(Boolean)
        : separator.length === 1
          ? (text) => text.split(separator)
          : splitAt(compilePattern("awk", toRegExp(separator, "extended")));
    const out: string[] = [];
    linesOf(input).forEach((text, i) => {
      const fields = fieldsOf(text);
      const line: Line = { text, fields, number: i + 1 };
      if (when(line)) out.push(String(print(line)));
    });
    return { stdout: textOf(out), code: 0 };
  },
};
