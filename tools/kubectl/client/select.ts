/** From a verb's arguments (`pods a b`, `deploy/web svc/db`, `-l app=x`, a manifest) to requests and objects. */
import type { Context } from "../context.js";
import { ApiError, KubectlError, usageError } from "../errors.js";
import { type Resource, resourcePath } from "./discovery.js";
import { MAX_READ_BYTES } from "./rest.js";

export interface Target {
  resource: Resource;
  /** One object when given, else a list. */
  name?: string;
}

export const NEED_RESOURCE = "you must specify the type of resource to act on";

/** Splits `type/name`; undefined when the word holds no slash. @throws as kubectl for malformed ones */
function splitTypeName(word: string): { type: string; name: string } | undefined {
  if (!word.includes("/")) return undefined;
  const parts = word.split("/");
  if (parts.length !== 2) throw usageError("arguments in resource/name form may not have more than one slash");
  const [type, name] = parts as [string, string];
  if (type === "" || name === "")
    throw usageError("arguments in resource/name form must have a single resource and name");
  return { type, name };
}

/** Resolves a verb's resource arguments. `all` and other categories become their kinds. */
export async function selectTargets(
  context: Context,
  args: readonly string[],
  options: { needName?: boolean } = {},
): Promise<Target[]> {
  if (args.length === 0) return [];
  const withSlash = args.filter((arg) => arg.includes("/"));
  if (withSlash.length > 0) {
    if (withSlash.length !== args.length)
      throw usageError(
        "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'",
      );
    const targets: Target[] = [];
    for (const arg of args) {
      const pair = splitTypeName(arg) as { type: string; name: string };
      const types = pair.type.split(",");
      if (types.length > 1) throw usageError("arguments in resource/name form must have a single resource and name");
      targets.push({ resource: await context.discovery.resolve(pair.type), name: pair.name });
    }
    return targets;
  }
  const [types = "", ...names] = args;
  const resources: Resource[] = [];
  for (const word of types.split(",")) {
    if (word === "") throw usageError(NEED_RESOURCE);
    const category = word === "all" ? await context.discovery.category("all") : [];
    if (category.length > 0) resources.push(...category);
    else {
      const found = await context.discovery.find(word);
      const members = found ? [found] : await context.discovery.category(word);
      if (members.length === 0) throw usageError(`the server doesn't have a resource type "${word}"`);
      resources.push(...members);
    }
  }
  const unique = resources.filter((r, i) => resources.findIndex((o) => o.name === r.name && o.group === r.group) === i);
  if (names.length === 0) {
    if (options.needName && !hasSelector(context))
      throw usageError("resource(s) were provided, but no name was specified");
    return unique.map((resource) => ({ resource }));
  }
  if (names.length > 0 && hasSelector(context))
    throw usageError("name cannot be provided when a selector is specified");
  return unique.flatMap((resource) => names.map((name) => ({ resource, name })));
}

export function hasSelector(context: Context): boolean {
  return (
    context.flags.string("selector") !== "" ||
    context.flags.string("field-selector") !== "" ||
    context.flags.bool("all")
  );
}

/** The namespace for a resource: none for cluster-wide kinds or with `-A`. */
export function scopeOf(context: Context, resource: Resource): string | undefined {
  return resource.namespaced && !context.allNamespaces ? context.namespace : undefined;
}

export function pathOf(context: Context, target: Target, subresource?: string): string {
  if (target.name !== undefined && target.resource.namespaced && context.allNamespaces)
    throw new KubectlError("error: a resource cannot be retrieved by name across all namespaces");
  return resourcePath(target.resource, scopeOf(context, target.resource), target.name, subresource);
}

/** What kubectl puts before a server's complaint about a list. */
export function listError(context: Context, resource: Resource, error: unknown): unknown {
  if (error instanceof ApiError && (error.reason === "BadRequest" || error.notFound)) {
    const what = `"${resource.group}/${resource.version}, Resource=${resource.name}"`;
    const [labels, fields] = [context.flags.string("selector"), context.flags.string("field-selector")];
    error.prefix =
      labels === "" && fields === ""
        ? `Unable to list ${what}: `
        : `Unable to find ${what} that match label selector "${labels}", field selector "${fields}": `;
  }
  return error;
}

/** kubectl looks whether the namespace is there before it says that an object in it is not. */
export async function missingNamespace(context: Context, resource: Resource, error: unknown): Promise<unknown> {
  if (!(error instanceof ApiError && error.notFound) || !resource.namespaced || context.namespace === "default")
    return error;
  return context.client.json({ path: `/api/v1/namespaces/${encodeURIComponent(context.namespace)}` }).then(
    () => error,
    (other) => (other instanceof ApiError && other.notFound ? other : error),
  );
}

export interface Found {
  resource: Resource;
  object: any;
}

/** Fetches what the targets name, one object a `Found`; errors are collected, in order. */
export async function fetchObjects(
  context: Context,
  targets: readonly Target[],
): Promise<{ found: Found[]; errors: unknown[] }> {
  const found: Found[] = [];
  const errors: unknown[] = [];
  for (const target of targets) {
    try {
      if (target.name !== undefined) {
        const object = await context.client.json({ path: pathOf(context, target) });
        found.push({ resource: target.resource, object });
      } else
        for (const object of await listObjects(context, target.resource))
          found.push({ resource: target.resource, object });
    } catch (error) {
      errors.push(
        target.name === undefined
          ? listError(context, target.resource, error)
          : await missingNamespace(context, target.resource, error),
      );
    }
  }
  return { found, errors };
}

/** Lists a resource with the verb's selectors; items get apiVersion and kind, which lists leave out. */
export async function listObjects(
  context: Context,
  resource: Resource,
  query: Record<string, string | undefined> = {},
  /** null: all namespaces. */
  namespace: string | null = scopeOf(context, resource) ?? null,
): Promise<any[]> {
  const items: any[] = [];
  const budget = { left: MAX_READ_BYTES };
  let next: string | undefined;
  do {
    const list: any = await context.client.json({
      path: resourcePath(resource, namespace ?? undefined),
      budget,
      query: {
        labelSelector: context.flags.string("selector"),
        fieldSelector: context.flags.string("field-selector"),
        limit: "500",
        ...(next ? { continue: next } : {}),
        ...query,
      },
    });
    const apiVersion = list.apiVersion;
    const kind = String(list.kind ?? "").replace(/List$/, "");
    for (const item of list.items ?? []) items.push({ apiVersion, kind, ...item });
    next = list.metadata?.continue || undefined;
  } while (next);
  return items;
}
