/** metrics.k8s.io/v1beta1, served when the testbed measures usage: what `kubectl top` reads. */
import { notFound } from "../errors.js";
import type { KubeObject } from "../objects.js";
import { timestamp } from "../objects.js";
import { formatQuantity } from "../quantity.js";
import type { ResourceInfo } from "../resources.js";
import type { ApiServer } from "../server.js";

const GROUP = "metrics.k8s.io";
const VERSION = "v1beta1";
const WINDOW = "20s";
/** What a node uses besides its pods: kubelet, runtime, system. Cores and bytes; a round figure, not a measurement. */
const NODE_OVERHEAD = { cpuCores: 0.1, memoryBytes: 512 * 1024 * 1024 };

export function registerUsage(server: ApiServer): void {
  const base = {
    group: GROUP,
    version: VERSION,
    verbs: ["get", "list"],
    shortNames: [],
    categories: [],
    subresources: new Map(),
    rules: {},
  };
  const info = (resource: string, kind: string, namespaced: boolean): ResourceInfo => ({
    ...base,
    resource,
    kind,
    singular: "",
    namespaced,
    key: `${resource}.${GROUP}`,
    type: { kind: "any" },
  });
  server.registry.add(info("nodes", "NodeMetrics", false), false);
  server.registry.add(info("pods", "PodMetrics", true), false);
}

export const isUsage = (info: ResourceInfo) => info.group === GROUP;

/** Metrics of the objects that `matches` passes, or of one by name. @throws StatusError */
export function usageOf(
  server: ApiServer,
  info: ResourceInfo,
  namespace: string | undefined,
  name: string | undefined,
  matches: (object: KubeObject) => boolean,
): any {
  const make = info.resource === "pods" ? podMetrics : nodeMetrics;
  const source = info.resource === "pods" ? "pods" : "nodes";
  if (name !== undefined) {
    const object = server.get(source, info.namespaced ? namespace : undefined, name);
    const metrics = object && make(server, object);
    if (!metrics)
      throw notFound({ group: GROUP, resource: info.resource }, info.namespaced ? `${namespace}/${name}` : name);
    return metrics;
  }
  const items = server
    .list(source, namespace)
    .filter(matches)
    .flatMap((object) => make(server, object) ?? []);
  return { kind: `${info.kind}List`, apiVersion: `${GROUP}/${VERSION}`, metadata: {}, items };
}

function podMetrics(server: ApiServer, pod: KubeObject): any {
  if (pod.status?.phase !== "Running") return undefined;
  const containers: any[] = [];
  for (const { name } of pod.spec.containers ?? []) {
    const used = server.usage?.({ pod, container: name });
    if (used) containers.push({ name, usage: quantities(used) });
  }
  if (containers.length === 0) return undefined;
  const { name, namespace, labels } = pod.metadata;
  return document("PodMetrics", server, { name, namespace, ...(labels ? { labels } : {}) }, { containers });
}

function nodeMetrics(server: ApiServer, node: KubeObject): any {
  const sum = { ...NODE_OVERHEAD };
  for (const pod of server.list("pods")) {
    if (pod.spec.nodeName !== node.metadata.name || pod.status?.phase !== "Running") continue;
    for (const { name } of pod.spec.containers ?? []) {
      const used = server.usage?.({ pod, container: name });
      if (!used) continue;
      sum.cpuCores += used.cpuCores;
      sum.memoryBytes += used.memoryBytes;
    }
  }
  const { name, labels } = node.metadata;
  return document("NodeMetrics", server, { name, ...(labels ? { labels } : {}) }, { usage: quantities(sum) });
}

function document(kind: string, server: ApiServer, metadata: object, rest: object): object {
  const now = timestamp(server.clock.now());
  return {
    kind,
    apiVersion: `${GROUP}/${VERSION}`,
    metadata: { ...metadata, creationTimestamp: now },
    timestamp: now,
    window: WINDOW,
    ...rest,
  };
}

function quantities({ cpuCores, memoryBytes }: { cpuCores: number; memoryBytes: number }): object {
  const nano = BigInt(Math.max(0, Math.round(cpuCores * 1e9)));
  const kibi = BigInt(Math.max(0, Math.round(memoryBytes / 1024))) * 1024n;
  return {
    cpu: formatQuantity({ nano, format: "decimal" }),
    memory: formatQuantity({ nano: kibi * 1_000_000_000n, format: "binary" }),
  };
}
