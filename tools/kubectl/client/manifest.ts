/** Manifests given on standard input: YAML documents or JSON, lists taken apart. */
import { parseAllDocuments } from "yaml";
import type { Context } from "../context.js";
import { KubectlError, usageError } from "../errors.js";
import { groupVersion, type Resource } from "./discovery.js";

export interface Manifest {
  resource: Resource;
  object: any;
  /** Of the object, else the command's; undefined for cluster-wide kinds. */
  namespace: string | undefined;
}

/** Documents of a manifest as plain objects. @throws KubectlError when it is neither YAML nor JSON */
export function parseManifest(text: string): any[] {
  // YAML 1.1, as kubectl reads it: `yes` is true, `0644` is octal.
  const documents = parseAllDocuments(text, { version: "1.1", merge: true, uniqueKeys: false });
  const objects: any[] = [];
  for (const document of documents) {
    const [problem] = (document as any).errors ?? [];
    if (problem)
      throw usageError(
        `error parsing STDIN: error converting YAML to JSON: yaml: ${String(problem.message).split("\n")[0]}`,
      );
    const value = (document as any).toJS({ maxAliasCount: 100 });
    if (value === null || value === undefined) continue;
    if (typeof value !== "object" || Array.isArray(value))
      throw usageError(
        "error validating STDIN: error validating data: invalid object to validate; if you choose to ignore these errors, turn validation off with --validate=false",
      );
    objects.push(JSON.parse(JSON.stringify(value)));
  }
  return objects.flatMap((object) =>
    String(object.kind ?? "").endsWith("List") && Array.isArray(object.items) ? object.items : [object],
  );
}

/**
 * Reads the manifests of `-f -`, finds each one's resource, and settles its namespace.
 *
 * @throws KubectlError for unknown kinds, a namespace that differs from `-n`, or no manifest at all
 */
export async function loadManifests(context: Context): Promise<Manifest[]> {
  if (context.stdin === undefined || context.stdin.trim() === "") throw usageError("no objects passed to apply");
  const manifests: Manifest[] = [];
  const problems: unknown[] = [];
  for (const object of parseManifest(context.stdin)) {
    const { apiVersion, kind } = object;
    const name = object.metadata?.name ?? "";
    if (!kind || !apiVersion) {
      const missing = [...(apiVersion ? [] : ["apiVersion not set"]), ...(kind ? [] : ["kind not set"])];
      problems.push(
        usageError(
          `error validating "STDIN": error validating data: ${missing.length > 1 ? `[${missing.join(", ")}]` : missing[0]}; if you choose to ignore these errors, turn validation off with --validate=false`,
        ),
      );
      continue;
    }
    const resource = await context.discovery.byKind(apiVersion, kind);
    if (!resource) {
      problems.push(
        new KubectlError(
          `error: resource mapping not found for name: "${name}" namespace: "${object.metadata?.namespace ?? ""}" from "STDIN": no matches for kind "${kind}" in version "${apiVersion}"\nensure CRDs are installed first`,
        ),
      );
      continue;
    }
    if (resource.namespaced) {
      const own = object.metadata?.namespace;
      if (own && context.namespaceGiven && own !== context.namespace)
        throw usageError(
          `the namespace from the provided object "${own}" does not match the namespace "${context.namespace}". You must pass '--namespace=${own}' to perform this operation.`,
        );
      object.metadata = { ...object.metadata, namespace: own ?? context.namespace };
    }
    manifests.push({ resource, object, namespace: resource.namespaced ? object.metadata.namespace : undefined });
  }
  if (problems.length > 0 && manifests.length === 0)
    throw problems.length === 1 ? problems[0] : new AggregateError(problems);
  for (const problem of problems) context.fail(problem);
  return manifests;
}

/** `apps/v1, Kind=Deployment`, as Go prints a GroupVersionKind. */
export function gvkText(resource: Resource): string {
  return `${resource.group ? groupVersion(resource) : `/${resource.version}`}, Kind=${resource.kind}`;
}
