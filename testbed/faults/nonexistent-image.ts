import { z } from "zod";
import type { FaultMechanism } from "./mechanism.js";
import { changeTemplate, stands } from "./restart.js";
import { containerOf, find, missing, missingContainer, workloadTarget } from "./target.js";

const args = z.object({ kubernetesObject: workloadTarget, container: z.object({ name: z.string() }) });
type Args = z.output<typeof args>;

/** A tag that no registry has. */
const TAG = "v0.0.0-unpublished";

function imageOf(template: any, { container }: Args): string | undefined {
  return template?.spec?.containers?.find((candidate: any) => candidate.name === container.name)?.image;
}

/** The image's repository with a tag that does not exist. */
function wrongImage(image: string): string {
  const name = image.split("@")[0]!;
  const colon = name.indexOf(":", name.lastIndexOf("/") + 1);
  return `${colon < 0 ? name : name.slice(0, colon)}:${TAG}`;
}

/** Gives a container an image that cannot be pulled. */
export const nonexistentImage: FaultMechanism<Args> = {
  id: "nonexistent-kubernetes-workload-container-image",
  description: "A workload's container has an image that does not exist",
  args,
  refuse({ kube }, { kubernetesObject: target, container }) {
    return missing(kube, target) ?? missingContainer(find(kube, target)!, container.name);
  },
  inject: ({ kube }, { kubernetesObject: target, container }) =>
    changeTemplate(kube, target, (template) => {
      const found = containerOf({ spec: { template } } as any, container.name);
      found.image = wrongImage(found.image);
    }),
  holds: ({ kube }, given) =>
    stands(kube, given.kubernetesObject, (template) => imageOf(template, given)?.endsWith(`:${TAG}`) === true),
};
