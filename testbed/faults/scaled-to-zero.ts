import { z } from "zod";
import type { FaultMechanism } from "./mechanism.js";
import { entityOf, find, missing, scale, workloadTarget } from "./target.js";

const args = z.object({ kubernetesObject: workloadTarget });
type Args = z.output<typeof args>;

/**
 * Scales a workload to nothing. `kubectl rollout undo` does not help against it, here as in any cluster: the number of
 * replicas is no part of a revision.
 */
export const scaledToZero: FaultMechanism<Args> = {
  id: "scaled-to-zero-kubernetes-workload",
  description: "A workload is scaled to 0 replicas",
  args,
  refuse({ kube }, { kubernetesObject: target }) {
    const absent = missing(kube, target);
    if (absent !== undefined) return absent;
    const replicas = find(kube, target)!.spec.replicas ?? 1;
    return replicas === 0 ? `${target.kind} "${target.metadata.name}" has 0 replicas already` : undefined;
  },
  inject({ kube }, { kubernetesObject: target }) {
    return { entities: [entityOf(target)], undo: scale(kube, target, 0) };
  },
  holds: ({ kube }, { kubernetesObject: target }) => find(kube, target)?.spec.replicas === 0,
};
