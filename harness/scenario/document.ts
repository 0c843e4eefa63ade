/** Reads a YAML or JSON file, checks it against a schema, and says where in the file a problem stands. */
import { readFileSync } from "node:fs";
import { LineCounter, parseDocument } from "yaml";
import type { ZodError, ZodIssue, ZodTypeAny, z } from "zod";
import { ScenarioFileError, type ScenarioProblem } from "./errors.js";
import { suggest } from "./suggest.js";

export interface FileDocument {
  file: string;
  value: unknown;
  /** Line (1-based) of the value at `path`, or of the nearest one above it that exists. */
  lineOf(path: (string | number)[]): number | undefined;
}

/** @throws ScenarioFileError when the file cannot be read or is neither YAML nor JSON. */
export function readDocument(file: string): FileDocument {
  let source: string;
  try {
    source = readFileSync(file, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const problem =
      code === "ENOENT" ? "no such file" : code === "EISDIR" ? "is a folder" : `cannot be read (${code ?? error})`;
    throw new ScenarioFileError(file, [{ problem, fix: "give the path of a scenario's .yaml or .json file" }]);
  }
  return parseSource(file, source);
}

/** The same for text at hand; `file` is for messages. */
export function parseSource(file: string, source: string): FileDocument {
  if (/\.json$/i.test(file)) refuseBadJson(file, source);
  const lines = new LineCounter();
  // YAML is a superset of JSON, so that one parser gives values and lines for both.
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const syntax = document.errors[0];
  if (syntax) {
    throw new ScenarioFileError(file, [
      { line: lines.linePos(syntax.pos[0]).line, problem: `not valid YAML: ${syntaxText(syntax)}` },
    ]);
  }
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    throw new ScenarioFileError(file, [{ problem: firstLine(String((error as Error).message)) }]);
  }
  return {
    file,
    value,
    lineOf(path) {
      for (let length = path.length; length >= 0; length--) {
        const node: any = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
        const offset = node?.range?.[0];
        if (offset !== undefined) return lines.linePos(offset).line;
      }
      return undefined;
    },
  };
}

/** The parser's message, without its advice to programmers. */
function syntaxText({ code, message }: { code: string; message: string }): string {
  return code === "MULTIPLE_DOCS"
    ? "a second document begins here (`---`); put each scenario in a file of its own"
    : firstLine(message);
}

/** YAML takes more than JSON does: trailing commas, bare words. */
function refuseBadJson(file: string, source: string): void {
  try {
    JSON.parse(source);
  } catch (error) {
    const message = firstLine((error as Error).message);
    const position = /position (\d+)/.exec(message)?.[1];
    const before = position === undefined ? source : source.slice(0, Number(position));
    throw new ScenarioFileError(file, [{ line: before.split("\n").length, problem: `not valid JSON: ${message}` }]);
  }
}

/** @throws ScenarioFileError that lists every problem with its line and field. */
export function checkDocument<S extends ZodTypeAny>(document: FileDocument, schema: S, known: string[]): z.output<S> {
  const result = schema.safeParse(document.value);
  if (result.success) return result.data;
  throw new ScenarioFileError(document.file, problemsOf(document, result.error, known));
}

function problemsOf(document: FileDocument, error: ZodError, known: string[]): ScenarioProblem[] {
  return error.issues.slice(0, 20).flatMap((outer) => {
    const issue = mergeUnion(outer);
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => {
        const near = suggest(key, known);
        return {
          field: fieldName([...issue.path, key]),
          line: document.lineOf([...issue.path, key]),
          problem: "unknown field",
          fix: near.length > 0 ? `did you mean \`${near[0]}\`?` : "remove it",
        };
      });
    }
    return [
      {
        field: fieldName(issue.path) || undefined,
        line: document.lineOf(issue.path),
        problem: problemOf(issue),
        fix: fixOf(issue),
      },
    ];
  });
}

/** Alternatives that all failed for their type are one problem: `must be a number or a string`. */
function mergeUnion(issue: ZodIssue): ZodIssue {
  if (issue.code !== "invalid_union") return issue;
  const inner = issue.unionErrors.flatMap((error) => error.issues);
  const types = inner.filter((one) => one.code === "invalid_type" && one.path.length === issue.path.length);
  const first = types[0];
  if (first?.code !== "invalid_type" || types.length !== inner.length) return inner[0] ?? issue;
  const expected = [...new Set(types.map((one) => (one.code === "invalid_type" ? one.expected : "")))];
  return { ...first, expected: expected.join(" or a ") as typeof first.expected };
}

function problemOf(issue: ZodIssue): string {
  if (issue.code === "invalid_type" && issue.received === "undefined") return "is missing";
  if (issue.code === "invalid_type") return `is ${article(issue.received)}, must be ${article(issue.expected)}`;
  if (issue.code === "invalid_enum_value") return `"${issue.received}" is not one of ${issue.options.join(", ")}`;
  return issue.message;
}

function fixOf(issue: ZodIssue): string | undefined {
  if (issue.code === "invalid_type" && issue.received === "undefined") return `add ${article(issue.expected)}`;
  if (issue.code === "invalid_enum_value") {
    const near = suggest(String(issue.received), issue.options.map(String));
    return near[0] ? `did you mean \`${near[0]}\`?` : undefined;
  }
  return undefined;
}

function article(type: string): string {
  if (type === "null") return "empty";
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** `["a", 0, "b"]` -> `a[0].b` */
export function fieldName(path: (string | number)[]): string {
  return path.reduce<string>(
    (name, part) => (typeof part === "number" ? `${name}[${part}]` : name ? `${name}.${part}` : part),
    "",
  );
}

function firstLine(message: string): string {
  return message.split("\n")[0]!;
}
