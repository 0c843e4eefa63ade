/** What Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs share. */
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "../errors.js";
import { defaultPodSpec, validatePodTemplate } from "./podspec.js";
import { containerCells, selectorText } from "./print.js";
import { type Column, text } from "./rules.js";
import { isEmptySelector, NON_NEGATIVE, selectorMatches, validateSelector } from "./validation.js";

export function defaultTemplate(template: any): void {
  if (template?.spec) defaultPodSpec(template.spec);
}

/** Selector, and a template whose labels it selects and whose pods may mount the volumes `claims` besides their own. */
export function validateSelectedTemplate(spec: any, kind: string, claims: string[] = []): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.selector === undefined || spec.selector === null) errors.push(required("spec.selector"));
  else {
    const findings = validateSelector(spec.selector, "spec.selector");
    errors.push(...findings);
    if (findings.some((e) => e.field.includes(".matchExpressions["))) {
      errors.push(invalidValue("spec.selector", spec.selector, "invalid label selector"));
      return errors;
    }
    if (isEmptySelector(spec.selector)) {
      errors.push(invalidValue("spec.selector", spec.selector, `empty selector is invalid for ${kind}`));
    }
  }
  const template = spec.template ?? {};
  const unselected = spec.selector === undefined || spec.selector === null;
  if (unselected || (!isEmptySelector(spec.selector) && !selectorMatches(spec.selector, template.metadata?.labels))) {
    errors.push(
      invalidValue(
        "spec.template.metadata.labels",
        template.metadata?.labels,
        "`selector` does not match template `labels`",
      ),
    );
  }
  errors.push(...validatePodTemplate(template, "spec.template", claims));
  return errors;
}

export function alwaysRestarts(template: any, kind: string): FieldError[] {
  const errors: FieldError[] = [];
  const policy = template?.spec?.restartPolicy;
  if (policy !== "Always") errors.push(notSupported("spec.template.spec.restartPolicy", policy, ["Always"]));
  if (template?.spec?.activeDeadlineSeconds !== undefined) {
    errors.push(
      forbiddenField("spec.template.spec.activeDeadlineSeconds", `activeDeadlineSeconds in ${kind} is not Supported`),
    );
  }
  return errors;
}

/** A count or a percentage. */
export function countOrPercent(value: unknown, field: string): FieldError[] {
  if (typeof value === "number") return value < 0 ? [invalidValue(field, value, NON_NEGATIVE)] : [];
  if (typeof value === "string" && !/^[0-9]+%$/.test(value)) {
    return [
      invalidValue(
        field,
        value,
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      ),
    ];
  }
  return [];
}

export const isZero = (value: unknown) => value === 0 || value === "0%";

/** The columns that their tables end with under `-o wide`. */
export const WIDE_COLUMNS: readonly Column[] = [text("Containers", 1), text("Images", 1), text("Selector", 1)];

/** The cells of `WIDE_COLUMNS`. */
export function wideCells(spec: any): string[] {
  return [...containerCells(spec?.template?.spec?.containers), selectorText(spec?.selector)];
}
