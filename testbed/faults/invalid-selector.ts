import { z } from "zod";
import type { FaultMechanism } from "./mechanism.js";
import { entityOf, find, missing, resourceOf, serviceTarget } from "./target.js";

const args = z.object({ kubernetesObject: serviceTarget });
type Args = z.output<typeof args>;

/** Added to every value of the selector. */
const SUFFIX = "-v0";

/** Makes a Service select no pod. */
export const invalidSelector: FaultMechanism<Args> = {
  id: "invalid-kubernetes-service-selector",
  description: "A Service's selector matches no pod",
  args,
  refuse({ kube }, { kubernetesObject: target }) {
    const absent = missing(kube, target);
    if (absent !== undefined) return absent;
    return Object.keys(find(kube, target)!.spec.selector ?? {}).length === 0
      ? `Service "${target.metadata.name}" has no selector`
      : undefined;
  },
  inject({ kube }, { kubernetesObject: target }) {
    const { namespace, name } = target.metadata;
    const before = structuredClone(find(kube, target)!.spec.selector) as Record<string, string>;
    const write = (selector: Record<string, string>) =>
      kube.modify(
        resourceOf(target),
        namespace,
        name,
        (draft) => {
          draft.spec.selector = selector;
        },
        { manager: "kubectl-edit" },
      );
    write(Object.fromEntries(Object.entries(before).map(([key, value]) => [key, `${value}${SUFFIX}`])));
    return { entities: [entityOf(target)], undo: () => void write(before) };
  },
  holds({ kube }, { kubernetesObject: target }) {
    const service = find(kube, target);
    const wanted = Object.entries((service?.spec.selector ?? {}) as Record<string, string>);
    return (
      wanted.length > 0 &&
      !kube
        .list("pods", target.metadata.namespace)
        .some((pod) => wanted.every(([key, value]) => pod.metadata.labels?.[key] === value))
    );
  },
};
