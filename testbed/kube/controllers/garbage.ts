/** Garbage collection: dependents go after their owners, before them (foreground), or are let go (orphan). */
import type { KubeObject } from "../objects.js";
import type { Entry, Inventory } from "./inventory.js";
import { MANAGER } from "./owners.js";
import { apiError, type Plane } from "./plane.js";

const FOREGROUND = "foregroundDeletion";
const ORPHAN = "orphan";

export function startGarbageCollector(plane: Plane, inventory: Inventory): void {
  const queue = plane.queue((uid) => {
    const entry = inventory.entry(uid);
    const object = entry && plane.api.get(entry.resource, entry.namespace, entry.name);
    if (!entry || object?.metadata.uid !== uid) return;
    finishDeletion(plane, inventory, entry, object);
    collect(plane, inventory, entry, object);
  });
  plane.watch("*", (event) => {
    const { uid, ownerReferences, finalizers, deletionTimestamp } = event.object.metadata;
    if (uid === undefined) return;
    if (event.type === "DELETED") {
      for (const dependent of inventory.dependents(uid)) queue.add(dependent.uid);
      // An owner that waits for its dependents may be free to go now.
      for (const reference of ownerReferences ?? []) queue.add(reference.uid);
      return;
    }
    if (ownerReferences && event.type === "ADDED") queue.add(uid);
    if (deletionTimestamp !== undefined && finalizers?.some((f) => f === FOREGROUND || f === ORPHAN)) queue.add(uid);
    if (event.previous?.metadata.ownerReferences && !ownerReferences) {
      for (const reference of event.previous.metadata.ownerReferences) queue.add(reference.uid);
    }
  });
}

/** Deletes the object when all its owners are gone; drops references to owners that are, when others remain. */
function collect(plane: Plane, inventory: Inventory, entry: Entry, object: KubeObject): void {
  const references = object.metadata.ownerReferences ?? [];
  if (references.length === 0 || object.metadata.deletionTimestamp !== undefined) return;
  const present = references.filter((reference) => inventory.has(reference.uid));
  if (present.length === references.length) return;
  if (present.length > 0) {
    modify(plane, entry, (draft) => {
      draft.metadata.ownerReferences = draft.metadata.ownerReferences?.filter((r) => inventory.has(r.uid)) ?? [];
    });
    return;
  }
  const finalizers = object.metadata.finalizers ?? [];
  const propagationPolicy = finalizers.includes(ORPHAN)
    ? "Orphan"
    : finalizers.includes(FOREGROUND)
      ? "Foreground"
      : "Background";
  remove(plane, entry, propagationPolicy);
}

/** Works off the finalizers that the API set for the deletion's propagation policy. */
function finishDeletion(plane: Plane, inventory: Inventory, entry: Entry, object: KubeObject): void {
  if (object.metadata.deletionTimestamp === undefined) return;
  const finalizers = object.metadata.finalizers ?? [];
  if (finalizers.includes(ORPHAN)) {
    for (const dependent of inventory.dependents(entry.uid)) {
      modify(plane, dependent, (draft) => {
        const rest = draft.metadata.ownerReferences?.filter((reference) => reference.uid !== entry.uid) ?? [];
        if (rest.length > 0) draft.metadata.ownerReferences = rest;
        else delete draft.metadata.ownerReferences;
      });
    }
    dropFinalizer(plane, entry, ORPHAN);
  } else if (finalizers.includes(FOREGROUND)) {
    let blocked = false;
    for (const dependent of inventory.dependents(entry.uid)) {
      const found = plane.api.get(dependent.resource, dependent.namespace, dependent.name);
      if (found?.metadata.uid !== dependent.uid) continue;
      const reference = found.metadata.ownerReferences?.find((r) => r.uid === entry.uid);
      if (reference?.blockOwnerDeletion) blocked = true;
      if (found.metadata.deletionTimestamp === undefined) remove(plane, dependent, "Foreground");
    }
    if (!blocked) dropFinalizer(plane, entry, FOREGROUND);
    else if (!stillBlocked(plane, inventory, entry)) dropFinalizer(plane, entry, FOREGROUND);
  }
}

function stillBlocked(plane: Plane, inventory: Inventory, entry: Entry): boolean {
  return inventory.dependents(entry.uid).some((dependent) => {
    const found = plane.api.get(dependent.resource, dependent.namespace, dependent.name);
    return found?.metadata.ownerReferences?.some((r) => r.uid === entry.uid && r.blockOwnerDeletion) === true;
  });
}

function dropFinalizer(plane: Plane, entry: Entry, finalizer: string): void {
  modify(plane, entry, (draft) => {
    const rest = draft.metadata.finalizers?.filter((f) => f !== finalizer) ?? [];
    if (rest.length > 0) draft.metadata.finalizers = rest;
    else delete draft.metadata.finalizers;
  });
}

function modify(plane: Plane, entry: Entry, change: (draft: KubeObject) => void): void {
  plane.api.modify(entry.resource, entry.namespace, entry.name, change, { manager: MANAGER });
}

function remove(plane: Plane, entry: Entry, propagationPolicy: "Background" | "Foreground" | "Orphan"): void {
  try {
    plane.api.delete(entry.resource, entry.namespace, entry.name, { propagationPolicy, uid: entry.uid });
  } catch (error) {
    apiError(error);
  }
}
