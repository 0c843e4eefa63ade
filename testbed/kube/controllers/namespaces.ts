/** The end of a namespace: its content is deleted, then it is released. */
import { type KubeObject, timestamp } from "../objects.js";
import type { Inventory } from "./inventory.js";
import { MANAGER } from "./owners.js";
import { apiError, type Plane } from "./plane.js";

/** How soon a namespace with something left in it is looked at again. */
const RETRY_MS = 5_000;
/** How long a namespace is left alone after its deletion, so that what is still being written to it can land. */
const GRACE_MS = 5_000;

export function startNamespaces(plane: Plane, inventory: Inventory): void {
  const { api } = plane;
  const queue = plane.queue((key) => {
    const name = key.slice(1);
    const namespace = api.get("namespaces", undefined, name);
    if (namespace?.metadata.deletionTimestamp === undefined) return;
    const wait = Date.parse(namespace.metadata.deletionTimestamp) + GRACE_MS - plane.clock.now();
    if (wait > 0) return queue.addAfter(key, wait);
    const left = empty(plane, inventory, name);
    if (left.length === 0) return finalize(plane, name);
    noteRemaining(plane, name, left);
    queue.addAfter(key, RETRY_MS);
  });
  plane.watch("namespaces", (event) => {
    if (event.type !== "DELETED" && event.object.metadata.deletionTimestamp !== undefined) {
      queue.add(`/${event.object.metadata.name}`);
    }
  });
  plane.watch("*", (event) => {
    const { namespace } = event.object.metadata;
    if (event.type !== "DELETED" || namespace === undefined || event.resource === "events") return;
    if (api.get("namespaces", undefined, namespace)?.metadata.deletionTimestamp !== undefined)
      queue.add(`/${namespace}`);
  });
}

/** Deletes what is in the namespace; returns what is still there. */
function empty(plane: Plane, inventory: Inventory, namespace: string): string[] {
  const { api } = plane;
  for (const event of [...api.list("events", namespace)]) api.delete("events", namespace, event.metadata.name);
  for (const { resource, name } of inventory.inNamespace(namespace)) {
    const object = api.get(resource, namespace, name);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) continue;
    try {
      api.delete(resource, namespace, name, { propagationPolicy: "Background" });
    } catch (error) {
      apiError(error);
    }
  }
  return inventory.inNamespace(namespace).map((entry) => entry.resource);
}

function noteRemaining(plane: Plane, name: string, left: string[]): void {
  const counts = new Map<string, number>();
  for (const resource of left) counts.set(resource, (counts.get(resource) ?? 0) + 1);
  const list = [...counts].map(
    ([resource, count]) => `${resource.includes(".") ? resource : `${resource}.`} has ${count} resource instances`,
  );
  const now = timestamp(plane.clock.now());
  const conditions = [
    ["NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered", "All resources successfully discovered"],
    [
      "NamespaceDeletionGroupVersionParsingFailure",
      "False",
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ],
    [
      "NamespaceDeletionContentFailure",
      "False",
      "ContentDeleted",
      "All content successfully deleted, may be waiting on finalization",
    ],
    [
      "NamespaceContentRemaining",
      "True",
      "SomeResourcesRemain",
      `Some resources are remaining: ${list.sort().join(", ")}`,
    ],
    ["NamespaceFinalizersRemaining", "False", "ContentHasNoFinalizers", "All content-preserving finalizers finished"],
  ];
  const change = (draft: KubeObject) => {
    draft.status ??= {};
    const before: any[] = draft.status.conditions ?? [];
    draft.status.conditions = conditions.map(([type, status, reason, message]) => {
      const current = before.find((entry) => entry.type === type);
      const lastTransitionTime = current?.status === status ? current.lastTransitionTime : now;
      return { type, status, reason, message, lastTransitionTime };
    });
  };
  plane.api.modify("namespaces", undefined, name, change, { manager: MANAGER, subresource: "status" });
}

function finalize(plane: Plane, name: string): void {
  const change = (draft: KubeObject) => {
    if (draft.spec?.finalizers) draft.spec.finalizers = draft.spec.finalizers.filter((f: string) => f !== "kubernetes");
  };
  plane.api.modify("namespaces", undefined, name, change, { manager: MANAGER, subresource: "finalize" });
}
