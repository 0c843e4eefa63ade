import { z } from "zod";
import type { FaultMechanism } from "./mechanism.js";
import { changeTemplate, stands } from "./restart.js";
import { containerOf, find, missing, missingContainer, workloadTarget } from "./target.js";

const args = z.object({
  kubernetesObject: workloadTarget,
  container: z.object({ name: z.string(), env: z.object({ name: z.string(), value: z.string() }) }),
});
type Args = z.output<typeof args>;

function variable(template: any, { container }: Args): any {
  const found = template?.spec?.containers?.find((candidate: any) => candidate.name === container.name);
  return found?.env?.find((entry: any) => entry.name === container.env.name);
}

/** Overwrites a variable of a container with another value. */
export const modifiedEnvironmentVariable: FaultMechanism<Args> = {
  id: "modified-kubernetes-workload-container-environment-variable",
  description: "An environment variable of a workload's container has another value",
  args,
  refuse({ kube }, given) {
    const { kubernetesObject: target, container } = given;
    const absent = missing(kube, target);
    if (absent !== undefined) return absent;
    const workload = find(kube, target)!;
    const without = missingContainer(workload, container.name);
    if (without !== undefined) return without;
    const current = variable(workload.spec.template, given);
    if (current === undefined) {
      const names = (containerOf(workload, container.name).env ?? []).map((entry: any) => entry.name);
      return `container "${container.name}" has no variable "${container.env.name}"; it has: ${names.join(", ") || "none"}`;
    }
    if (current.value === container.env.value) return `variable "${container.env.name}" has that value already`;
    return undefined;
  },
  inject: ({ kube }, given) =>
    changeTemplate(kube, given.kubernetesObject, (template) => {
      const entry = variable(template, given);
      delete entry.valueFrom;
      entry.value = given.container.env.value;
    }),
  holds: ({ kube }, given) =>
    stands(kube, given.kubernetesObject, (template) => variable(template, given)?.value === given.container.env.value),
};
