/** Resource quotas: what a namespace uses, and the refusal of what would go beyond. */
import type { KubeApi } from "../api.js";
import { forbidden } from "../errors.js";
import type { GroupResource, KubeObject } from "../objects.js";
import { formatQuantity, parseQuantity } from "../quantity.js";
import { splitKey } from "./keys.js";
import type { Plane } from "./plane.js";
import { isFinished } from "./pods.js";
import { replaceStatus } from "./status.js";

const QUOTAS = "resourcequotas";
const BILLION = 1_000_000_000n;

/** Names that quotas use for counts of objects. */
const COUNTED: Record<string, GroupResource> = {
  services: "services",
  secrets: "secrets",
  configmaps: "configmaps",
  persistentvolumeclaims: "persistentvolumeclaims",
  replicationcontrollers: "replicationcontrollers",
  resourcequotas: QUOTAS,
};

export function startQuotas(plane: Plane): void {
  const { api } = plane;
  const queue = plane.queue((key) => sync(plane, key));
  plane.follow(QUOTAS, queue);
  plane.watch("*", ({ type, object, previous, resource }) => {
    const { namespace } = object.metadata;
    if (namespace === undefined || resource === "events" || resource === QUOTAS) return;
    if (type === "MODIFIED" && !(resource === "pods" && previous && isFinished(previous) !== isFinished(object)))
      return;
    for (const quota of api.list(QUOTAS, namespace)) queue.add(`${namespace}/${quota.metadata.name}`);
  });
  if (api.admission === undefined) return;
  const admit: NonNullable<KubeApi["admission"]>[number] = ({ operation, resource, object }) => {
    if (operation !== "CREATE" || !resource.namespaced) return;
    const why = excess(api, resource.key, object);
    if (why !== undefined) throw forbidden(resource, object.metadata.name ?? "", why);
  };
  api.admission.push(admit);
  plane.onStop(() => {
    const index = api.admission?.indexOf(admit) ?? -1;
    if (index >= 0) api.admission?.splice(index, 1);
  });
}

function sync(plane: Plane, key: string): void {
  const { api } = plane;
  const { namespace, name } = splitKey(key);
  const quota = api.get(QUOTAS, namespace, name);
  if (quota === undefined || namespace === undefined) return;
  const hard: Record<string, string> = quota.spec?.hard ?? {};
  const used: Record<string, string> = {};
  for (const resource of Object.keys(hard)) {
    used[resource] = write(usedIn(api, namespace, resource, quota), hard[resource] ?? "0");
  }
  const status = { hard, used };
  replaceStatus(api, QUOTAS, quota, status);
}

function write(nano: bigint, like: string): string {
  const format = parseQuantity(like)?.format ?? "decimal";
  return formatQuantity({ nano, format });
}

/** What the namespace uses of a resource of the quota, in units of 10^-9. */
function usedIn(api: KubeApi, namespace: string, resource: string, quota: KubeObject): bigint {
  const counted = countedResource(resource);
  if (counted !== undefined) return BigInt(api.list(counted, namespace).length) * BILLION;
  let sum = 0n;
  if (resource === "requests.storage") {
    for (const claim of api.list("persistentvolumeclaims", namespace))
      sum += usageOf("persistentvolumeclaims", claim, resource);
    return sum;
  }
  if (resource.startsWith("services.")) {
    for (const service of api.list("services", namespace)) sum += usageOf("services", service, resource);
    return sum;
  }
  for (const pod of api.list("pods", namespace)) {
    if (!isFinished(pod) && inScope(quota, pod)) sum += usageOf("pods", pod, resource);
  }
  return sum;
}

function countedResource(resource: string): GroupResource | undefined {
  if (COUNTED[resource]) return COUNTED[resource];
  return resource.startsWith("count/") && resource !== "count/pods" ? resource.slice("count/".length) : undefined;
}

/** What one object counts for. */
function usageOf(kind: GroupResource, object: KubeObject, resource: string): bigint {
  if (countedResource(resource) === kind) return BILLION;
  if (kind === "persistentvolumeclaims" && resource === "requests.storage") {
    return parseQuantity(object.spec?.resources?.requests?.storage ?? "0")?.nano ?? 0n;
  }
  if (kind === "services" && resource === "services.nodeports") {
    return object.spec?.type === "NodePort" ? BigInt(object.spec.ports?.length ?? 0) * BILLION : 0n;
  }
  if (kind === "services" && resource === "services.loadbalancers") {
    return object.spec?.type === "LoadBalancer" ? BILLION : 0n;
  }
  if (kind !== "pods") return 0n;
  if (resource === "pods" || resource === "count/pods") return BILLION;
  const compute = computeResource(resource);
  return compute ? sumOf(object, compute.part, compute.name) : 0n;
}

function computeResource(resource: string): { part: "requests" | "limits"; name: string } | undefined {
  const match = /^(requests|limits)\.(.+)$/.exec(resource);
  if (match) return { part: match[1] as "requests" | "limits", name: match[2] ?? "" };
  return ["cpu", "memory", "ephemeral-storage"].includes(resource) ? { part: "requests", name: resource } : undefined;
}

function sumOf(pod: KubeObject, part: "requests" | "limits", name: string): bigint {
  const of = (container: any) => parseQuantity(container.resources?.[part]?.[name] ?? "0")?.nano ?? 0n;
  let sum = 0n;
  let peak = 0n;
  for (const container of pod.spec?.containers ?? []) sum += of(container);
  for (const container of pod.spec?.initContainers ?? []) {
    if (container.restartPolicy === "Always") sum += of(container);
    else if (of(container) > peak) peak = of(container);
  }
  return sum > peak ? sum : peak;
}

function inScope(quota: KubeObject, pod: KubeObject): boolean {
  return (quota.spec?.scopes ?? []).every((scope: string) => {
    const limited = pod.spec?.activeDeadlineSeconds !== undefined;
    const bestEffort = pod.status?.qosClass === "BestEffort";
    if (scope === "Terminating") return limited;
    if (scope === "NotTerminating") return !limited;
    if (scope === "BestEffort") return bestEffort;
    return scope === "NotBestEffort" ? !bestEffort : true;
  });
}

/** Why the object may not be created, in the words of the real admission plugin; undefined when it may. */
function excess(api: KubeApi, kind: GroupResource, object: KubeObject): string | undefined {
  const { namespace } = object.metadata;
  for (const quota of api.list(QUOTAS, namespace)) {
    if (kind === "pods" && !inScope(quota, object)) continue;
    const hard: Record<string, string> = quota.spec?.hard ?? {};
    if (kind === "pods") {
      const missing = unspecified(hard, object);
      if (missing.length > 0) return `failed quota: ${quota.metadata.name}: must specify ${missing.join("; ")}`;
    }
    const over = Object.keys(hard)
      .sort()
      .map((resource) => {
        const wants = usageOf(kind, object, resource);
        const used = usedIn(api, namespace ?? "", resource, quota);
        const limit = hard[resource] ?? "0";
        const allowed = parseQuantity(limit)?.nano ?? 0n;
        return {
          resource,
          wants: write(wants, limit),
          used: write(used, limit),
          limit,
          over: wants > 0n && used + wants > allowed,
        };
      })
      .filter((each) => each.over);
    if (over.length === 0) continue;
    const part = (field: "wants" | "used" | "limit") => over.map((each) => `${each.resource}=${each[field]}`).join(",");
    return `exceeded quota: ${quota.metadata.name}, requested: ${part("wants")}, used: ${part("used")}, limited: ${part("limit")}`;
  }
  return undefined;
}

/** A quota on compute makes requests or limits of it obligatory: `limits.cpu for: a,b`. */
function unspecified(hard: Record<string, string>, pod: KubeObject): string[] {
  const findings: string[] = [];
  for (const resource of Object.keys(hard).sort()) {
    const compute = computeResource(resource);
    if (!compute) continue;
    const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
    const lacking = containers.filter(
      (container: any) => container.resources?.[compute.part]?.[compute.name] === undefined,
    );
    if (lacking.length > 0)
      findings.push(
        `${resource} for: ${lacking
          .map((c: any) => c.name)
          .sort()
          .join(",")}`,
      );
  }
  return findings;
}
