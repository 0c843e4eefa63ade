/** Pods whose node is gone: nobody else would ever end them. */
import { markDisrupted } from "./disruption-target.js";
import { keyOf, splitKey } from "./keys.js";
import type { Plane } from "./plane.js";
import { isFinished } from "./pods.js";

/** How long a node must have been missing before its pods are given up. */
const ORPHAN_MS = 40_000;

export function startPodGarbage(plane: Plane): void {
  const { api } = plane;
  const orphans = plane.queue((key) => collectOrphan(plane, key));
  plane.watch("nodes", ({ type, object }) => {
    if (type !== "DELETED") return;
    for (const pod of api.list("pods")) {
      if (pod.spec?.nodeName === object.metadata.name) orphans.addAfter(keyOf(pod), ORPHAN_MS);
    }
  });
  plane.watch("pods", ({ type, object }) => {
    const node = object.spec?.nodeName;
    if (type === "DELETED" || !node || api.get("nodes", undefined, node) !== undefined) return;
    orphans.addAfter(keyOf(object), ORPHAN_MS);
  });
}

/** A pod on a node that is not there is deleted for good after a while: no kubelet will confirm its end. */
function collectOrphan(plane: Plane, key: string): void {
  const { api } = plane;
  const { namespace, name } = splitKey(key);
  const pod = api.get("pods", namespace, name);
  if (!pod?.spec?.nodeName || api.get("nodes", undefined, pod.spec.nodeName) !== undefined) return;
  const why = { reason: "DeletionByPodGC", message: "PodGC: node no longer exists" };
  markDisrupted(plane, pod, isFinished(pod) ? why : { ...why, phase: "Failed" });
  api.delete("pods", namespace, name, { gracePeriodSeconds: 0 });
}
