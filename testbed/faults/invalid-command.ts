import { z } from "zod";
import type { FaultMechanism } from "./mechanism.js";
import { changeTemplate, stands } from "./restart.js";
import { containerOf, find, missing, missingContainer, workloadTarget } from "./target.js";

const args = z.object({ kubernetesObject: workloadTarget, container: z.object({ name: z.string() }) });
type Args = z.output<typeof args>;

/** An executable that no image has. */
const COMMAND = "/usr/local/bin/run-service";

function commandOf(template: any, { container }: Args): string[] | undefined {
  return template?.spec?.containers?.find((candidate: any) => candidate.name === container.name)?.command;
}

/** Gives a container a command that its image does not have. */
export const invalidCommand: FaultMechanism<Args> = {
  id: "invalid-kubernetes-workload-container-command",
  description: "A workload's container is started with a command that does not exist",
  args,
  refuse({ kube }, { kubernetesObject: target, container }) {
    return missing(kube, target) ?? missingContainer(find(kube, target)!, container.name);
  },
  inject: ({ kube }, { kubernetesObject: target, container }) =>
    changeTemplate(kube, target, (template) => {
      containerOf({ spec: { template } } as any, container.name).command = [COMMAND];
    }),
  holds: ({ kube }, given) =>
    stands(kube, given.kubernetesObject, (template) => commandOf(template, given)?.[0] === COMMAND),
};
