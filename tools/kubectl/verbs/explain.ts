/** `kubectl explain`, from the server's OpenAPI v3. */
import { groupVersion, type Resource } from "../client/discovery.js";
import type { Context, Verb } from "../context.js";
import { KubectlError, usageError } from "../errors.js";

interface Schema {
  [key: string]: any;
}

class Document {
  readonly schemas: Record<string, Schema>;
  constructor(document: any) {
    this.schemas = document?.components?.schemas ?? {};
  }

  /** The schema of a kind. */
  kind(resource: Resource): Schema | undefined {
    return Object.values(this.schemas).find((schema) =>
      (schema["x-kubernetes-group-version-kind"] ?? []).some(
        (gvk: any) => gvk.group === resource.group && gvk.version === resource.version && gvk.kind === resource.kind,
      ),
    );
  }

  /** Follows references; a description beside the reference wins. */
  resolve(schema: Schema | undefined): Schema {
    if (!schema) return {};
    const ref = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0].$ref : undefined);
    if (!ref)
      return schema.allOf?.length === 1 ? { ...this.resolve(schema.allOf[0]), ...schema, allOf: undefined } : schema;
    const name = String(ref).split("/").at(-1) as string;
    return {
      ...this.schemas[name],
      ...(schema.description ? { description: schema.description } : {}),
      "x-name": name,
    };
  }

  type(schema: Schema): string {
    const full = this.resolve(schema);
    const name = full["x-name"] as string | undefined;
    if (full.type === "array") return `[]${this.type(full.items ?? {})}`;
    // A named type that is a plain string or number inside (a time) shows what it is inside.
    if (name && !(["string", "integer", "number", "boolean"].includes(full.type) && !full.oneOf))
      return name.split(".").at(-1) as string;
    if (full.additionalProperties && typeof full.additionalProperties === "object")
      return `map[string]${this.type(full.additionalProperties)}`;
    if (full["x-kubernetes-int-or-string"] || full.format === "int-or-string") return "IntOrString";
    if (full.type === "object") return "Object";
    return full.type ?? "Object";
  }

  /** What a path goes on into: items of arrays, values of maps. */
  inner(schema: Schema): Schema {
    let at = this.resolve(schema);
    for (let i = 0; i < 4; i++) {
      if (at.type === "array" && at.items) at = this.resolve(at.items);
      else if (!at.properties && at.additionalProperties && typeof at.additionalProperties === "object")
        at = this.resolve(at.additionalProperties);
      else break;
    }
    return at;
  }
}

function wrap(text: string, width: number): string[] {
  const out: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (const word of paragraph.split(/ +/).filter((w) => w !== "")) {
      if (line !== "" && line.length + 1 + word.length > width) {
        out.push(line);
        line = word;
      } else line = line === "" ? word : `${line} ${word}`;
    }
    out.push(line);
  }
  return out;
}

/** A description's lines; a text is followed by a line of blanks, as kubectl's template leaves it. */
function paragraphs(texts: readonly (string | undefined)[], indent: string, none: string): string[] {
  const lines = texts.filter((t): t is string => !!t).flatMap((text) => wrap(text.trim(), 80 - indent.length));
  return lines.length === 0 ? [indent + none] : [...lines, ""].map((line) => indent + line);
}

/** The values of an enumeration; a tree of fields shows four of them. */
function enumText(schema: Schema, most = Number.POSITIVE_INFINITY): string | undefined {
  if (!Array.isArray(schema.enum)) return undefined;
  const values = [...schema.enum].sort().map((v) => (typeof v === "string" && v !== "" ? v : JSON.stringify(v)));
  return values.length > most ? `${values.slice(0, most).join(", ")}, ....` : values.join(", ");
}

function fieldTree(document: Document, schema: Schema, indent: string, seen: string[]): string[] {
  const at = document.inner(schema);
  const name = at["x-name"] as string | undefined;
  const out: string[] = [];
  for (const key of Object.keys(at.properties ?? {}).sort()) {
    const property = at.properties[key];
    const required = (at.required ?? []).includes(key) ? " -required-" : "";
    out.push(`${indent}${key}\t<${document.type(property)}>${required}`);
    const values = enumText(document.resolve(property), 4);
    if (values) out.push(`${indent}enum: ${values}`);
    const inner = document.inner(property)["x-name"] as string | undefined;
    if (inner && seen.includes(inner)) continue;
    out.push(...fieldTree(document, property, `${indent}  `, name ? [...seen, name] : seen));
  }
  return out;
}

async function explainResource(
  context: Context,
  resource: Resource,
  path: string[],
  recursive: boolean,
): Promise<string> {
  const root = resource.group ? `apis/${groupVersion(resource)}` : `api/${resource.version}`;
  const document = new Document(await context.client.json({ path: `/openapi/v3/${root}` }));
  const kind = document.kind(resource);
  if (!kind)
    throw usageError(`couldn't find resource for "${resource.group}/${resource.version}, Resource=${resource.name}"`);
  const out: string[] = [];
  if (resource.group) out.push(`GROUP:      ${resource.group}`);
  out.push(`KIND:       ${resource.kind}`, `VERSION:    ${resource.version}`, "");
  let schema: Schema = kind;
  let property: Schema = kind;
  for (const name of path) {
    const at = document.inner(schema);
    property = at.properties?.[name];
    if (!property) {
      context.out(`${out.join("\n")}\n`);
      throw usageError(`field "${name}" does not exist`);
    }
    schema = property;
  }
  const full = document.resolve(property);
  if (path.length > 0) {
    out.push(`FIELD: ${path.at(-1)} <${document.type(property)}>`);
    const values = enumText(full);
    if (values) out.push("ENUM:", ...[...full.enum].sort().map((v: string) => `    ${v}`));
    out.push("");
  }
  const holder = document.inner(schema);
  if (path.length > 0) out.push("");
  out.push(
    "DESCRIPTION:",
    ...paragraphs(
      full === holder
        ? [full.description]
        : [full.description, holder.description === full.description ? undefined : holder.description],
      "    ",
      "<empty>",
    ),
  );
  const names = Object.keys(holder.properties ?? {}).sort();
  if (names.length > 0) {
    out.push("FIELDS:");
    if (recursive) out.push(...fieldTree(document, schema, "  ", []));
    else
      for (const name of names) {
        const p = holder.properties[name];
        const required = (holder.required ?? []).includes(name) ? " -required-" : "";
        out.push(`  ${name}\t<${document.type(p)}>${required}`);
        const resolved = document.resolve(p);
        const values = enumText(resolved);
        if (values) out.push(`  enum: ${values}`);
        const lines = paragraphs([p.description ?? resolved.description], "    ", "<no description>");
        out.push(...(lines.at(-1) === "    " ? lines.slice(0, -1) : lines), "");
      }
  }
  return `${out.join("\n")}\n\n`;
}

export const explain: Verb = {
  name: ["explain"],
  access: "read",
  flags: { recursive: { type: "bool" }, "api-version": { type: "string" }, output: { type: "string", short: "o" } },
  async run(context) {
    const [word, ...more] = context.args;
    if (word === undefined)
      throw new KubectlError(
        'error: You must specify the type of resource to explain. Use "kubectl api-resources" for a complete list of supported resources.\n',
      );
    if (more.length > 0) throw usageError("We accept only this format: explain RESOURCE");
    const parts = word.split(".");
    let resource: Resource | undefined;
    let path: string[] = [];
    // The longest beginning that names a resource: deployments.apps.spec, deploy.spec.
    for (let n = parts.length; n > 0 && !resource; n--) {
      if (n > 1 && parts.slice(1, n).some((p) => /^(spec|status|metadata)$/.test(p))) continue;
      resource = await context.discovery.find(parts.slice(0, n).join("."));
      path = parts.slice(n);
    }
    if (!resource) throw new KubectlError(`the server doesn't have a resource type "${parts[0]}"`);
    const wanted = context.flags.string("api-version");
    if (wanted) {
      const other = (await context.discovery.resources()).find(
        (r) => r.name === resource?.name && groupVersion(r) === wanted,
      );
      if (!other) throw usageError(`couldn't find resource for "${wanted}, Kind=${resource.kind}"`);
      resource = other;
    }
    context.out(await explainResource(context, resource, path.filter(Boolean), context.flags.bool("recursive")));
  },
};
