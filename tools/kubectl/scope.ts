/** Where a write would go: resolves the command's objects and checks each against the policy, before any is changed. */
import { parseManifest } from "./client/manifest.js";
import type { Context } from "./context.js";
import { usageError } from "./errors.js";
import type { Policy } from "./guard.js";

/** Cluster-wide kinds that may be changed although writes are bound to namespaces. */
const NODE_VERBS = ["cordon", "uncordon", "drain", "taint", "label", "annotate", "patch"];
/** Verbs whose first arguments are resources. */
const RESOURCE_VERBS = [
  "delete",
  "label",
  "annotate",
  "patch",
  "scale",
  "expose",
  "autoscale",
  "set",
  "rollout",
  "taint",
];

const RBAC = "rbac.authorization.k8s.io";
const RIGHTS = "rights are not yours to give or take";

/**
 * Why the write is refused, or undefined. Only asked when `policy.namespaces` is given.
 *
 * @throws KubectlError for a kind that the server does not have
 */
export async function checkScope(
  context: Context,
  verb: readonly string[],
  policy: Policy,
): Promise<string | undefined> {
  const { namespaces } = policy;
  if (!namespaces) return undefined;
  const only = `writes are allowed only in ${namespaces.join(", ")}`;
  const wide = (kind: string) => `${kind} belong to the whole cluster: ${only}`;
  if (context.flags.list("filename").length > 0) {
    for (const object of parseManifest(context.stdin ?? "")) {
      const resource = await context.discovery.byKind(object.apiVersion, object.kind);
      if (!resource) continue;
      if (resource.group === RBAC) return RIGHTS;
      const name = object.metadata?.name;
      if (!resource.namespaced) {
        if (resource.name === "namespaces" && namespaces.includes(name) && verb[0] !== "delete") continue;
        return wide(resource.name);
      }
      const namespace = object.metadata?.namespace ?? context.namespace;
      if (!namespaces.includes(namespace)) return `namespace ${namespace} (of ${resource.kind} ${name}): ${only}`;
    }
    return undefined;
  }
  const [first = ""] = verb;
  if (["cordon", "uncordon", "drain"].includes(first)) return undefined;
  if (!RESOURCE_VERBS.includes(first)) {
    const kind = first === "create" ? (verb[1] ?? "") : "";
    if (["role", "rolebinding"].includes(kind)) return RIGHTS;
    if (["namespace", "ns", "clusterrole", "clusterrolebinding", "priorityclass"].includes(kind))
      return wide(`${kind}s`);
    return namespaces.includes(context.namespace)
      ? undefined
      : `namespace ${context.namespace}: ${only}; name one with -n`;
  }
  const args = context.args;
  const slashed = args.filter((arg) => /^[A-Za-z][\w.]*\/[^=]+$/.test(arg));
  const types =
    slashed.length > 0
      ? slashed.map((arg) => arg.split("/"))
      : (args[0] ?? "").split(",").map((type) => [type, ...args.slice(1)]);
  for (const [type = "", ...names] of types) {
    const resource = await context.discovery.find(type);
    // What is not known cannot be judged; the native kubectl may know it in the meantime.
    if (!resource && (await context.discovery.category(type)).length === 0)
      throw usageError(`the server doesn't have a resource type "${type}"`);
    if (resource?.group === RBAC) return RIGHTS;
    if (!resource || resource.namespaced) {
      if (!namespaces.includes(context.namespace)) return `namespace ${context.namespace}: ${only}; name one with -n`;
      continue;
    }
    if (resource.name === "nodes" && NODE_VERBS.includes(first)) continue;
    const objects = names.filter((name) => !name.includes("=") && !name.endsWith("-"));
    if (
      resource.name === "namespaces" &&
      first !== "delete" &&
      objects.length > 0 &&
      objects.every((name) => namespaces.includes(name))
    )
      continue;
    return wide(resource.name);
  }
  return undefined;
}
