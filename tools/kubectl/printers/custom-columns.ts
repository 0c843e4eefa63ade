/** `-o custom-columns=NAME:.metadata.name,...` */
import { KubectlError } from "../errors.js";
import { goPlain } from "./go-value.js";
import { JsonPath, JsonPathError, relaxed } from "./jsonpath.js";
import { printTabs } from "./table.js";

interface Column {
  header: string;
  path: JsonPath;
}

/** Splits at commas that stand outside of brackets and quotes. */
function columnSpecs(spec: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const c of spec) {
    if (c === "[" || c === "(") depth++;
    if (c === "]" || c === ")") depth--;
    if (c === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += c;
  }
  return parts;
}

/** @throws KubectlError for a malformed specification */
export function parseColumns(spec: string): Column[] {
  if (spec === "") throw new KubectlError("error: custom-columns format specified but no custom columns given");
  return columnSpecs(spec).map((part) => {
    const colon = part.indexOf(":");
    if (colon < 0)
      throw new KubectlError(`error: unexpected custom-columns spec: ${part}, expected <header>:<json-path-expr>`);
    try {
      return {
        header: part.slice(0, colon),
        path: new JsonPath(relaxed(part.slice(colon + 1)), { allowMissing: true }),
      };
    } catch (error) {
      throw new KubectlError(`error: ${(error as Error).message}`);
    }
  });
}

function cell(column: Column, object: any): string {
  let values: any[];
  try {
    values = column.path.values(object);
  } catch (error) {
    if (error instanceof JsonPathError) throw new KubectlError(`error: ${error.message}`);
    throw error;
  }
  if (values.length === 0) return "<none>";
  return values.map((value) => (value === null ? "<none>" : goPlain(value))).join(",");
}

export function printColumns(columns: Column[], objects: readonly any[], noHeaders: boolean): string {
  const lines = objects.map((object) =>
    columns.map((column) => cell(column, object).replace(/[\n\r\f]/g, " ")).join("\t"),
  );
  if (!noHeaders) lines.unshift(columns.map((column) => column.header).join("\t"));
  return printTabs(lines);
}
