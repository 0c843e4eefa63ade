/** What verbs that change objects share: dry runs, field managers, and how the outcome is printed. */
import { kindPrefix, type Resource, resourcePath } from "../client/discovery.js";
import { loadManifests } from "../client/manifest.js";
import { type Found, fetchObjects, NEED_RESOURCE, selectTargets } from "../client/select.js";
import type { Context } from "../context.js";
import { ApiError, KubectlError, usageError } from "../errors.js";
import { compactJson } from "../printers/json.js";
import { objectPrinter, outputFormat } from "../printers/output.js";

export type DryRun = "none" | "client" | "server";

/** @throws KubectlError for another value */
export function dryRun(context: Context): DryRun {
  const value = context.flags.string("dry-run") || "none";
  if (value === "none" || value === "client" || value === "server") return value;
  if (value === "unchanged") {
    context.err(
      "W1201 00:00:00.000000       1 helpers.go:731] --dry-run is deprecated and can be replaced with --dry-run=client.\n",
    );
    return "client";
  }
  if (value === "true" || value === "false") return value === "true" ? "client" : "none";
  throw usageError(`Invalid dry-run value (${value}). Must be "none", "server", or "client".`);
}

/** Query parameters of a write. */
export function writeQuery(
  context: Context,
  manager: string,
  options: { validate?: boolean } = {},
): Record<string, string | undefined> {
  const validate = context.flags.string("validate");
  const level = (
    { strict: "Strict", true: "Strict", warn: "Warn", ignore: "Ignore", false: "Ignore" } as Record<string, string>
  )[validate.toLowerCase()];
  return {
    fieldManager: context.flags.string("field-manager") || manager,
    dryRun: dryRun(context) === "server" ? "All" : undefined,
    fieldValidation: options.validate ? (level ?? "Strict") : undefined,
  };
}

/** `deployment.apps/web scaled`, or the object in the format of `-o`. */
export function printOutcome(context: Context, resource: Resource, object: any, operation: string): void {
  const { format } = outputFormat(context);
  if (format !== "") {
    context.out(objectPrinter(context, { columns: false })(object, resource.group));
    return;
  }
  const mode = dryRun(context);
  const suffix = mode === "client" ? " (dry run)" : mode === "server" ? " (server dry run)" : "";
  context.out(`${kindPrefix(resource)}/${object.metadata?.name} ${operation}${suffix}\n`);
}

/** Objects that a write names, by arguments or by manifest. Errors of single ones are thrown when nothing was found. */
export async function targetsOf(
  context: Context,
  args: readonly string[],
  options: { needName?: boolean; what?: string } = {},
): Promise<{ found: Found[]; errors: unknown[] }> {
  if (context.flags.list("filename").length > 0) {
    const manifests = await loadManifests(context);
    const found: Found[] = [];
    const errors: unknown[] = [];
    for (const { resource, namespace, object } of manifests) {
      try {
        found.push({
          resource,
          object: await context.client.json({ path: resourcePath(resource, namespace, object.metadata?.name) }),
        });
      } catch (error) {
        errors.push(error);
      }
    }
    return { found, errors };
  }
  if (args.length === 0) throw usageError(options.what ?? NEED_RESOURCE);
  return fetchObjects(context, await selectTargets(context, args, { needName: options.needName ?? true }));
}

export function objectPath(resource: Resource, object: any, subresource?: string): string {
  return resourcePath(resource, object.metadata?.namespace, object.metadata?.name, subresource);
}

export interface PatchRequest {
  body: unknown;
  contentType: string;
  manager: string;
  subresource?: string;
}

/** Sends a patch; for `--dry-run=client` gives the object back as it is. */
export async function patchObject(context: Context, found: Found, request: PatchRequest): Promise<any> {
  if (dryRun(context) === "client") return found.object;
  return context.client.json({
    method: "PATCH",
    path: objectPath(found.resource, found.object, request.subresource),
    contentType: request.contentType,
    body: request.body,
    query: writeQuery(context, request.manager),
  });
}

/** Splits `a=b` and `c-` behind resource arguments: keys to set and keys to remove. */
export function splitChanges(args: readonly string[]): {
  resources: string[];
  set: Map<string, string>;
  remove: string[];
  order: string[];
} {
  const resources: string[] = [];
  const set = new Map<string, string>();
  const remove: string[] = [];
  const order: string[] = [];
  let metChange = false;
  for (const arg of args) {
    const isChange = arg.includes("=") || (arg.endsWith("-") && arg.length > 1);
    if (!metChange && isChange) metChange = true;
    if (!metChange) resources.push(arg);
    else if (!isChange) throw usageError(`all resources must be specified before label changes: ${arg}`);
    else {
      const equals = arg.indexOf("=");
      if (equals >= 0) {
        set.set(arg.slice(0, equals), arg.slice(equals + 1));
        order.push(arg.slice(0, equals));
      } else remove.push(arg.slice(0, -1));
    }
  }
  return { resources, set, remove, order };
}

/** Runs `change` for each object; the errors of single ones are printed and the others go on. */
export async function eachObject(
  context: Context,
  found: readonly Found[],
  errors: readonly unknown[],
  change: (item: Found) => Promise<void>,
): Promise<void> {
  for (const item of found) {
    try {
      await change(item);
    } catch (error) {
      if (error instanceof ApiError || error instanceof KubectlError) context.fail(error);
      else throw error;
    }
  }
  for (const error of errors) context.fail(error);
}

export function sameObject(a: unknown, b: unknown): boolean {
  return compactJson(a) === compactJson(b);
}
