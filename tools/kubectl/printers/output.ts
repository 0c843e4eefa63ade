/** `-o`: from its value to a function that prints objects. Tables are not printed here but by `get`. */

import { kindPrefix } from "../client/discovery.js";
import type { Context } from "../context.js";
import { KubectlError } from "../errors.js";
import { maskSecrets } from "../secrets.js";
import { parseColumns, printColumns } from "./custom-columns.js";
import { printGoTemplate } from "./go-template.js";
import { goSyntax } from "./go-value.js";
import { printJson } from "./json.js";
import { JsonPath, JsonPathError } from "./jsonpath.js";
import { printYaml } from "./yaml.js";

/** Prints one object (or a list as one object). `group` is the API group that `-o name` shows. */
export type ObjectPrinter = (object: any, group: string) => string;

const OBJECT_FORMATS = ["json", "yaml", "name"];
const TEMPLATE_FORMATS = ["go-template", "jsonpath", "jsonpath-as-json", "template"];
const ALL_FORMATS =
  "custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,name,template,templatefile,wide,yaml";
/** Formats of verbs that print the object that they changed. */
const WRITE_FORMATS =
  "go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,name,template,templatefile,yaml";

export interface OutputFormat {
  format: string;
  argument: string;
}

/** Splits `jsonpath={.a}` into format and argument; `--template` gives the argument to a bare format. */
export function outputFormat(context: Context): OutputFormat {
  const value = context.flags.string("output");
  const template = context.flags.string("template");
  if (value === "") return template ? { format: "go-template", argument: template } : { format: "", argument: "" };
  const match = /^([a-z-]+)=(.*)$/s.exec(value);
  if (match) return { format: match[1] as string, argument: match[2] as string };
  return { format: value, argument: template };
}

function withoutManagedFields(object: any): any {
  if (Array.isArray(object?.items)) return { ...object, items: object.items.map(withoutManagedFields) };
  if (object?.metadata?.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function jsonPathError(template: string, data: any, error: unknown): KubectlError {
  return new KubectlError(
    `error: error executing jsonpath "${template}": Error executing template: ${(error as Error).message}. Printing more information for debugging the template:\n\ttemplate was:\n\t\t${template}\n\tobject given to jsonpath engine was:\n\t\t${goSyntax(data)}\n\n`,
  );
}

/** The printer for `-o json|yaml|name|jsonpath|go-template|custom-columns`. @throws KubectlError for an unknown format */
export function objectPrinter(context: Context, options: { columns?: boolean } = {}): ObjectPrinter {
  const { format, argument } = outputFormat(context);
  const keep = context.flags.bool("show-managed-fields");
  const prepare = (object: any) => (context.maskSecrets ? maskSecrets(object) : object);
  const plain = (object: any) => (keep ? prepare(object) : withoutManagedFields(prepare(object)));
  switch (format) {
    case "json":
      return (object) => printJson(plain(object));
    case "yaml":
      return (object) => printYaml(plain(object));
    case "name":
      return (object, group) => {
        const items = Array.isArray(object.items) ? object.items : [object];
        return items
          .map(
            (item: any) =>
              `${kindPrefix({ kind: item.kind ?? "", group: item.apiVersion?.includes("/") ? item.apiVersion.split("/")[0] : item.apiVersion ? "" : group })}/${item.metadata?.name}\n`,
          )
          .join("");
      };
    case "jsonpath":
    case "jsonpath-as-json": {
      if (argument === "") throw new KubectlError("error: template format specified but no template given");
      let path: JsonPath;
      try {
        path = new JsonPath(argument, {
          allowMissing: context.flags.string("allow-missing-template-keys") !== "false",
        });
      } catch (error) {
        if (error instanceof JsonPathError)
          throw new KubectlError(`error: error parsing jsonpath ${argument}, ${error.message}`);
        throw error;
      }
      return (object) => {
        const data = prepare(object);
        try {
          return format === "jsonpath" ? path.print(data) : printJson(path.values(data));
        } catch (error) {
          if (error instanceof JsonPathError) throw jsonPathError(argument, data, error);
          throw error;
        }
      };
    }
    case "go-template":
    case "template":
      if (argument === "") throw new KubectlError("error: template format specified but no template given");
      return (object) => {
        const data = prepare(object);
        try {
          return printGoTemplate(argument, data);
        } catch (error) {
          const message = error instanceof Error ? error.message : String(error);
          if (message.startsWith("error: ")) throw error;
          throw new KubectlError(`error: error executing template "${argument}": template: output:1: ${message}`);
        }
      };
    case "custom-columns": {
      const columns = parseColumns(argument);
      return (object) => {
        const data = prepare(object);
        return printColumns(columns, Array.isArray(data.items) ? data.items : [data], context.flags.bool("no-headers"));
      };
    }
    default: {
      if (OBJECT_FORMATS.includes(format) || TEMPLATE_FORMATS.includes(format)) break;
      const allowed = options.columns === false ? WRITE_FORMATS : ALL_FORMATS;
      throw new KubectlError(
        `error: unable to match a printer suitable for the output format "${format}", allowed formats are: ${allowed}`,
      );
    }
  }
  throw new KubectlError(`error: unable to match a printer suitable for the output format "${format}"`);
}

/** Several objects as kubectl's own List. */
export function listOf(objects: readonly any[]): any {
  return { apiVersion: "v1", items: objects, kind: "List", metadata: { resourceVersion: "" } };
}
