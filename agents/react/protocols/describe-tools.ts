/** Describes tools in plain text, for protocols whose backend is told nothing of them. */
import type { StructuredToolInterface } from "@langchain/core/tools";
import { toJsonSchema } from "@langchain/core/utils/json_schema";

interface Schema {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
}

/** One paragraph a tool: name, purpose, then one line an argument. */
export function describeTools(tools: readonly StructuredToolInterface[]): string {
  return tools.map(describeTool).join("\n\n");
}

function describeTool(tool: StructuredToolInterface): string {
  const schema = toJsonSchema(tool.schema as Parameters<typeof toJsonSchema>[0]) as Schema;
  return [`${tool.name}: ${tool.description}`, ...fields(schema, "  ")].join("\n");
}

function fields(schema: Schema, indent: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const optional = schema.required?.includes(name) ? "" : ", optional";
    const about = field.description === undefined ? "" : `: ${field.description}`;
    const inner = field.type === "array" && field.items !== undefined ? field.items : field;
    return [`${indent}"${name}" (${typeName(field)}${optional})${about}`, ...fields(inner, `${indent}  `)];
  });
}

function typeName(schema: Schema): string {
  if (schema.enum !== undefined) return `one of ${schema.enum.map((one) => JSON.stringify(one)).join(", ")}`;
  if (schema.type === "array") return `list of ${schema.items === undefined ? "values" : typeName(schema.items)}`;
  return Array.isArray(schema.type) ? schema.type.join(" or ") : (schema.type ?? "value");
}
