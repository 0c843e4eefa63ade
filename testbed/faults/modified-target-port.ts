import { z } from "zod";
import type { FaultMechanism } from "./mechanism.js";
import { entityOf, find, missing, resourceOf, serviceTarget } from "./target.js";

const args = z.object({ kubernetesObject: serviceTarget, targetPort: z.number().int().min(1).max(65535) });
type Args = z.output<typeof args>;

/** Sends every port of a Service to another port of its pods. */
export const modifiedTargetPort: FaultMechanism<Args> = {
  id: "modified-target-port-kubernetes-service",
  description: "A Service sends requests to a port on which nothing listens",
  args,
  refuse({ kube }, { kubernetesObject: target, targetPort }) {
    const absent = missing(kube, target);
    if (absent !== undefined) return absent;
    const ports: any[] = find(kube, target)!.spec.ports ?? [];
    if (ports.length === 0) return `Service "${target.metadata.name}" has no ports`;
    return ports.every((port) => port.targetPort === targetPort)
      ? `every port of Service "${target.metadata.name}" has target port ${targetPort} already`
      : undefined;
  },
  inject({ kube }, { kubernetesObject: target, targetPort }) {
    const { namespace, name } = target.metadata;
    const before = structuredClone(find(kube, target)!.spec.ports);
    const write = (ports: any[]) =>
      kube.modify(
        resourceOf(target),
        namespace,
        name,
        (draft) => {
          draft.spec.ports = ports;
        },
        { manager: "kubectl-edit" },
      );
    write(before.map((port: any) => ({ ...port, targetPort })));
    return { entities: [entityOf(target)], undo: () => void write(before) };
  },
  holds: ({ kube }, { kubernetesObject: target, targetPort }) =>
    find(kube, target)?.spec.ports?.every((port: any) => port.targetPort === targetPort) === true,
};
