/** Roles, bindings. */
import { type FieldError, invalidValue, notSupported, required } from "../errors.js";
import { equal } from "../json.js";
import { internalForm } from "./internal-form.js";
import { age } from "./print.js";
import { AGE_COLUMN, type KindRules, NAME_COLUMN, text } from "./rules.js";

function validateRules(object: any, cluster: boolean): FieldError[] {
  const errors: FieldError[] = [];
  (object.rules ?? []).forEach((rule: any, i: number) => {
    const here = `rules[${i}]`;
    if ((rule.verbs ?? []).length === 0)
      errors.push(required(`${here}.verbs`, "verbs must contain at least one value"));
    if ((rule.nonResourceURLs ?? []).length > 0) {
      if (!cluster)
        errors.push(
          invalidValue(
            `${here}.nonResourceURLs`,
            rule.nonResourceURLs,
            "namespaced rules cannot apply to non-resource URLs",
          ),
        );
      return;
    }
    if ((rule.apiGroups ?? []).length === 0)
      errors.push(required(`${here}.apiGroups`, "resource rules must supply at least one api group"));
    if ((rule.resources ?? []).length === 0)
      errors.push(required(`${here}.resources`, "resource rules must supply at least one resource"));
  });
  return errors;
}

/** Names of roles and bindings may hold colons: they are path segments, not DNS names. */
export const role: KindRules = {
  name: "path",
  createOnUpdate: true,
  validate: (object) => validateRules(object, false),
};
export const clusterRole: KindRules = {
  name: "path",
  createOnUpdate: true,
  validate: (object) => validateRules(object, true),
};

export const binding: KindRules = {
  name: "path",
  createOnUpdate: true,
  defaults(object) {
    if (object.roleRef && !object.roleRef.apiGroup) object.roleRef.apiGroup = "rbac.authorization.k8s.io";
    for (const subject of object.subjects ?? []) {
      if (subject.kind === "User" || subject.kind === "Group") subject.apiGroup ??= "rbac.authorization.k8s.io";
    }
  },
  validate(object) {
    const errors: FieldError[] = [];
    const kinds = object.kind === "RoleBinding" ? ["Role", "ClusterRole"] : ["ClusterRole"];
    if (!kinds.includes(object.roleRef?.kind))
      errors.push(notSupported("roleRef.kind", object.roleRef?.kind ?? "", kinds));
    if (!object.roleRef?.name) errors.push(required("roleRef.name"));
    (object.subjects ?? []).forEach((subject: any, i: number) => {
      const here = `subjects[${i}]`;
      if (!subject.name) errors.push(required(`${here}.name`));
      if (!["ServiceAccount", "User", "Group"].includes(subject.kind)) {
        errors.push(notSupported(`${here}.kind`, subject.kind, ["ServiceAccount", "User", "Group"]));
      }
      if (subject.kind === "ServiceAccount" && !subject.namespace && object.kind === "ClusterRoleBinding")
        errors.push(required(`${here}.namespace`));
    });
    return errors;
  },
  validateUpdate: (object, old) =>
    equal(object.roleRef, old.roleRef)
      ? []
      : [invalidValue("roleRef", internalForm(object.roleRef, "roleRef"), "cannot change roleRef")],
  columns: [NAME_COLUMN, text("Role"), AGE_COLUMN, text("Users", 1), text("Groups", 1), text("ServiceAccounts", 1)],
  row(object, now) {
    const of = (kind: string, show: (s: any) => string) =>
      (object.subjects ?? [])
        .filter((s: any) => s.kind === kind)
        .map(show)
        .join(", ");
    return [
      object.metadata.name,
      `${object.roleRef?.kind}/${object.roleRef?.name}`,
      age(object, now),
      of("User", (s) => s.name),
      of("Group", (s) => s.name),
      of("ServiceAccount", (s) => `${s.namespace}/${s.name}`),
    ];
  },
};
