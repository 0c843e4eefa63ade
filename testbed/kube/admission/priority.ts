/** Gives a pod the value of its priority class. */
import { forbidden } from "../errors.js";
import type { Admission } from "../writes.js";

export const priorityAdmission: Admission = ({ operation, resource, object, old }, context) => {
  if (resource.key !== "pods") return;
  if (operation === "UPDATE") {
    // An update that leaves them out means no change.
    for (const key of ["priority", "preemptionPolicy"]) {
      if (object.spec[key] === undefined && old?.spec[key] !== undefined) object.spec[key] = old.spec[key];
    }
  }
  if (operation !== "CREATE") return;
  const spec = object.spec;
  let name: string | undefined = spec.priorityClassName;
  const classes = "priorityclasses.scheduling.k8s.io";
  if (name === undefined) {
    const fallback = context.list(classes).find((c) => c.globalDefault === true);
    if (fallback) {
      name = fallback.metadata.name;
      spec.priorityClassName = name;
    }
  }
  const found = name === undefined ? undefined : context.get(classes, undefined, name);
  if (name !== undefined && found === undefined) {
    throw forbidden(resource, object.metadata.name ?? "", `no PriorityClass with name ${name} was found`);
  }
  spec.priority = found?.value ?? 0;
  spec.preemptionPolicy ??= found?.preemptionPolicy ?? "PreemptLowerPriority";
};
