/** Keys of objects in work queues and maps: `namespace/name`, or `/name` for cluster-scoped ones. */
import type { KubeObject } from "../objects.js";

export function keyOf(object: KubeObject): string {
  return `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
}

export function splitKey(key: string): { namespace: string | undefined; name: string } {
  const slash = key.indexOf("/");
  return { namespace: slash === 0 ? undefined : key.slice(0, slash), name: key.slice(slash + 1) };
}
