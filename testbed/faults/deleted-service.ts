import { z } from "zod";
import type { FaultMechanism } from "./mechanism.js";
import { entityOf, find, missing, resourceOf, serviceTarget } from "./target.js";

const args = z.object({ kubernetesObject: serviceTarget });
type Args = z.output<typeof args>;

/** Deletes a Service: its name resolves no more. */
export const deletedService: FaultMechanism<Args> = {
  id: "deleted-kubernetes-service",
  description: "A Service is gone",
  args,
  refuse: ({ kube }, { kubernetesObject: target }) => missing(kube, target),
  inject({ kube }, { kubernetesObject: target }) {
    const { namespace, name } = target.metadata;
    const before = structuredClone(find(kube, target)!);
    kube.delete(resourceOf(target), namespace, name);
    return {
      entities: [entityOf(target)],
      undo() {
        const { labels, annotations } = before.metadata;
        const { clusterIP: _ip, clusterIPs: _ips, ...spec } = before.spec;
        kube.create(resourceOf(target), {
          apiVersion: before.apiVersion,
          kind: before.kind,
          metadata: { name, namespace, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) },
          spec,
        });
      },
    };
  },
  holds: ({ kube }, { kubernetesObject: target }) => find(kube, target) === undefined,
};
