/** StatefulSets. */
import { type FieldError, forbiddenField, invalidValue } from "../errors.js";
import { equal } from "../json.js";
import { internalForm } from "./internal-form.js";
import { age, containerCells } from "./print.js";
import { AGE_COLUMN, type KindRules, NAME_COLUMN, text } from "./rules.js";
import { defaultClaim } from "./storage.js";
import { labelProblems, nonNegative } from "./validation.js";
import { templateWarnings } from "./warnings.js";
import { alwaysRestarts, countOrPercent, defaultTemplate, validateSelectedTemplate } from "./workload.js";

const CHANGEABLE = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];

export const statefulSet: KindRules = {
  generation: "spec",
  warnings: templateWarnings,
  defaults({ spec }) {
    spec.podManagementPolicy ??= "OrderedReady";
    spec.updateStrategy.type ??= "RollingUpdate";
    if (spec.updateStrategy.type === "RollingUpdate") {
      spec.updateStrategy.rollingUpdate ??= {};
      spec.updateStrategy.rollingUpdate.partition ??= 0;
    }
    spec.persistentVolumeClaimRetentionPolicy ??= {};
    spec.persistentVolumeClaimRetentionPolicy.whenDeleted ??= "Retain";
    spec.persistentVolumeClaimRetentionPolicy.whenScaled ??= "Retain";
    spec.replicas ??= 1;
    spec.revisionHistoryLimit ??= 10;
    defaultTemplate(spec.template);
    for (const claim of spec.volumeClaimTemplates ?? []) {
      claim.apiVersion ??= "v1";
      claim.kind ??= "PersistentVolumeClaim";
      defaultClaim(claim);
    }
  },
  validate({ spec }) {
    const errors: FieldError[] = [
      ...(["OrderedReady", "Parallel"].includes(spec.podManagementPolicy)
        ? []
        : [invalidValue("spec.podManagementPolicy", spec.podManagementPolicy, "must be 'OrderedReady' or 'Parallel'")]),
      ...(["OnDelete", "RollingUpdate"].includes(spec.updateStrategy.type)
        ? []
        : [
            invalidValue(
              "spec.updateStrategy",
              internalForm(spec.updateStrategy, "statefulSetUpdateStrategy"),
              "must be 'RollingUpdate' or 'OnDelete'",
            ),
          ]),
    ];
    if (spec.serviceName) {
      for (const p of labelProblems(spec.serviceName))
        errors.push(invalidValue("spec.serviceName", spec.serviceName, p));
    }
    const rolling = spec.updateStrategy.rollingUpdate;
    errors.push(...nonNegative(rolling?.partition, "spec.updateStrategy.rollingUpdate.partition"));
    errors.push(...countOrPercent(rolling?.maxUnavailable, "spec.updateStrategy.rollingUpdate.maxUnavailable"));
    errors.push(
      ...nonNegative(spec.replicas, "spec.replicas"),
      ...nonNegative(spec.minReadySeconds, "spec.minReadySeconds"),
      ...validateSelectedTemplate(
        spec,
        "statefulset",
        (spec.volumeClaimTemplates ?? []).map((claim: any) => claim.metadata?.name),
      ),
      ...alwaysRestarts(spec.template, "StatefulSet"),
    );
    return errors;
  },
  validateUpdate(object, old) {
    const before = { ...old.spec };
    const after = { ...object.spec };
    for (const key of CHANGEABLE) {
      delete before[key];
      delete after[key];
    }
    if (equal(before, after)) return [];
    return [
      forbiddenField(
        "spec",
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
      ),
    ];
  },
  columns: [NAME_COLUMN, text("Ready"), AGE_COLUMN, text("Containers", 1), text("Images", 1)],
  row: (object, now) => [
    object.metadata.name,
    `${object.status?.readyReplicas ?? 0}/${object.spec.replicas ?? 0}`,
    age(object, now),
    ...containerCells(object.spec.template?.spec?.containers),
  ],
};
