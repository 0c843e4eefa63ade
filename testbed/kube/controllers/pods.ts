/** What controllers ask about pods. */
import type { KubeObject } from "../objects.js";

export function isReady(pod: KubeObject): boolean {
  return condition(pod, "Ready")?.status === "True";
}

/** Counts towards its controller: neither finished nor being deleted. */
export function isActive(pod: KubeObject): boolean {
  return !isFinished(pod) && pod.metadata.deletionTimestamp === undefined;
}

export function isFinished(pod: KubeObject): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

/** Milliseconds since when the pod is ready; undefined while it is not. */
export function readySince(pod: KubeObject): number | undefined {
  const ready = condition(pod, "Ready");
  return ready?.status === "True" ? Date.parse(ready.lastTransitionTime) : undefined;
}

/** Ready for at least `minReadySeconds`. */
export function isAvailable(pod: KubeObject, minReadySeconds: number, now: number): boolean {
  const since = readySince(pod);
  return since !== undefined && since + minReadySeconds * 1000 <= now;
}

export function condition(object: KubeObject, type: string): any {
  return object.status?.conditions?.find((entry: any) => entry.type === type);
}

/** Sum of the restart counts of the pod's containers; the highest is what deletion ranking compares. */
export function maxRestarts(pod: KubeObject): number {
  return Math.max(0, ...(pod.status?.containerStatuses ?? []).map((status: any) => status.restartCount ?? 0));
}

/** A pod made from a workload's template, owned by the workload. */
export function podFromTemplate(template: any, owner: KubeObject, reference: any): KubeObject {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "",
      generateName: `${owner.metadata.name}-`,
      namespace: owner.metadata.namespace,
      ...(labels ? { labels: { ...labels } } : {}),
      ...(annotations ? { annotations: { ...annotations } } : {}),
      ...(finalizers ? { finalizers: [...finalizers] } : {}),
      ownerReferences: [reference],
    },
    spec: structuredClone(template.spec),
  };
}
