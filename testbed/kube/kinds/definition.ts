/** CustomResourceDefinitions. */
import { type FieldError, invalidValue, required } from "../errors.js";
import type { KindRules } from "./rules.js";

export const customResourceDefinition: KindRules = {
  generation: "spec",
  defaults({ spec }) {
    const names = spec?.names;
    if (!names) return;
    if (names.kind) {
      names.singular ??= names.kind.toLowerCase();
      names.listKind ??= `${names.kind}List`;
    }
    spec.conversion ??= { strategy: "None" };
  },
  prepareCreate(object) {
    object.status = { conditions: null, acceptedNames: { kind: "", plural: "" }, storedVersions: null };
  },
  validate(object) {
    const { spec, metadata } = object;
    const errors: FieldError[] = [];
    const { plural, kind } = spec?.names ?? {};
    if (!spec?.group) errors.push(required("spec.group"));
    if (!plural) errors.push(required("spec.names.plural"));
    if (!kind) errors.push(required("spec.names.kind"));
    const name = `${plural}.${spec?.group}`;
    if (metadata.name !== name) {
      errors.push(invalidValue("metadata.name", metadata.name, `must be spec.names.plural+"."+spec.group`));
    }
    const versions: any[] = spec?.versions ?? [];
    if (versions.filter((v) => v.storage).length !== 1) {
      errors.push(
        invalidValue(
          "spec.versions",
          versions.map((v) => v.name),
          "must have exactly one version marked as storage version",
        ),
      );
    }
    versions.forEach((v, i) => {
      if (v.schema?.openAPIV3Schema === undefined) {
        errors.push(required(`spec.versions[${i}].schema.openAPIV3Schema`));
      }
    });
    return errors;
  },
};
