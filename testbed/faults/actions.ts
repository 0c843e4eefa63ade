/** What ITBench's scenarios have done before or after an injection (`waitFor`). They have a fault's shape but break nothing. */
import { z } from "zod";
import { timestamp } from "../kube/objects.js";
import type { FaultMechanism } from "./mechanism.js";
import { podsOf } from "./restart.js";
import { entityOf, find, missing, resourceOf, scale, workloadTarget } from "./target.js";

const workload = z.object({ kubernetesObject: workloadTarget });
const scaling = workload.extend({ replicas: z.number().int().min(0) });
const RESTARTED = "kubectl.kubernetes.io/restartedAt";

/** As `kubectl rollout restart`. */
export const restartWorkload: FaultMechanism<z.output<typeof workload>> = {
  id: "restart-kubernetes-workload",
  description: "A workload's pods are replaced, one by one",
  args: workload,
  refuse: ({ kube }, { kubernetesObject: target }) => missing(kube, target),
  inject({ kube }, { kubernetesObject: target }) {
    const { namespace, name } = target.metadata;
    kube.modify(
      resourceOf(target),
      namespace,
      name,
      (draft) => {
        const meta = draft.spec.template.metadata;
        meta.annotations = { ...meta.annotations, [RESTARTED]: timestamp(kube.clock.now()) };
      },
      { manager: "kubectl-rollout" },
    );
    return { entities: [entityOf(target)], undo() {} };
  },
  holds: ({ kube }, { kubernetesObject: target }) =>
    find(kube, target)?.spec.template.metadata?.annotations?.[RESTARTED] !== undefined,
};

export const scaleWorkload: FaultMechanism<z.output<typeof scaling>> = {
  id: "scale-kubernetes-workload",
  description: "A workload gets another number of replicas",
  args: scaling,
  refuse: ({ kube }, { kubernetesObject: target }) => missing(kube, target),
  inject({ kube }, { kubernetesObject: target, replicas }) {
    return { entities: [entityOf(target)], undo: scale(kube, target, replicas) };
  },
  holds: ({ kube }, { kubernetesObject: target, replicas }) => find(kube, target)?.spec.replicas === replicas,
};

export const deleteWorkloadPods: FaultMechanism<z.output<typeof workload>> = {
  id: "delete-workload-pods",
  description: "A workload's pods are deleted; its controller makes new ones",
  args: workload,
  refuse: ({ kube }, { kubernetesObject: target }) => missing(kube, target),
  inject({ kube }, { kubernetesObject: target }) {
    for (const pod of podsOf(kube, find(kube, target)!)) kube.delete("pods", pod.metadata.namespace, pod.metadata.name);
    return { entities: [entityOf(target)], undo() {} };
  },
  holds: ({ kube }, { kubernetesObject: target }) => find(kube, target) !== undefined,
};
