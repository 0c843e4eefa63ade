/** Checks that many kinds share: names, labels, selectors, ports. Messages are those of a real server. */
import { type FieldError, forbiddenField, invalidValue, notSupported, required, tooLong } from "../errors.js";
import { equal } from "../json.js";
import { parseSelector, selectorOf } from "../selectors.js";
import type { NameRule } from "./rules.js";

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED_TEXT =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

export function subdomainProblems(value: string): string[] {
  return [
    ...(value.length > 253 ? ["must be no more than 253 characters"] : []),
    ...(SUBDOMAIN.test(value) ? [] : [SUBDOMAIN_TEXT]),
  ];
}
export function labelProblems(value: string): string[] {
  return [
    ...(value.length > 63 ? ["must be no more than 63 characters"] : []),
    ...(LABEL.test(value) ? [] : [LABEL_TEXT]),
  ];
}
export function label1035Problems(value: string): string[] {
  return [
    ...(value.length > 63 ? ["must be no more than 63 characters"] : []),
    ...(LABEL_1035.test(value) ? [] : [LABEL_1035_TEXT]),
  ];
}
/** Keys of labels and annotations: an optional DNS prefix and a name. */
export function qualifiedNameProblems(value: string): string[] {
  const parts = value.split("/");
  const problems: string[] = [];
  let name = value;
  if (parts.length === 2) {
    const prefix = parts[0]!;
    name = parts[1]!;
    if (prefix === "") problems.push("prefix part must be non-empty");
    else problems.push(...subdomainProblems(prefix).map((p) => `prefix part ${p}`));
  } else if (parts.length > 2) {
    return [
      "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    ];
  }
  if (name === "") problems.push("name part must be non-empty");
  else if (name.length > 63) problems.push("name part must be no more than 63 characters");
  if (!QUALIFIED.test(name)) problems.push(QUALIFIED_TEXT);
  return problems;
}
export function labelValueProblems(value: string): string[] {
  return [
    ...(value.length > 63 ? ["must be no more than 63 characters"] : []),
    ...(LABEL_VALUE.test(value) ? [] : [LABEL_VALUE_TEXT]),
  ];
}
export function portNameProblems(value: string): string[] {
  const problems: string[] = [];
  if (value.length > 15) problems.push("must be no more than 15 characters");
  if (!/^[-a-z0-9]+$/.test(value))
    problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/.test(value)) problems.push("must contain at least one letter (a-z)");
  if (value.includes("--")) problems.push("must not contain consecutive hyphens");
  if (value.startsWith("-") || value.endsWith("-")) problems.push("must not begin or end with a hyphen");
  return problems;
}

export const NON_NEGATIVE = "must be greater than or equal to 0";
export const IMMUTABLE = "field is immutable";
export const PORT_RANGE = "must be between 1 and 65535, inclusive";

export function nonNegative(value: number | undefined, field: string): FieldError[] {
  return value !== undefined && value < 0 ? [invalidValue(field, value, NON_NEGATIVE)] : [];
}
export function immutable(value: unknown, old: unknown, field: string): FieldError[] {
  return equal(value, old) ? [] : [invalidValue(field, value, IMMUTABLE)];
}
export function portNumber(value: number, field: string): FieldError[] {
  return value < 1 || value > 65535 ? [invalidValue(field, value, PORT_RANGE)] : [];
}
export function portNumberOrName(value: number | string, field: string): FieldError[] {
  if (typeof value === "number") return portNumber(value, field);
  return portNameProblems(value).map((p) => invalidValue(field, value, p));
}
export function oneOf(value: unknown, allowed: readonly string[], field: string): FieldError[] {
  return allowed.includes(value as string) ? [] : [notSupported(field, value, allowed)];
}

export function validateLabels(labels: Record<string, string> | undefined, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels ?? {})) {
    for (const problem of qualifiedNameProblems(key)) errors.push(invalidValue(field, key, problem));
    for (const problem of labelValueProblems(value)) errors.push(invalidValue(field, value, problem));
  }
  return errors;
}

export function validateSelector(selector: any, field: string): FieldError[] {
  const errors = validateLabels(selector?.matchLabels, `${field}.matchLabels`);
  (selector?.matchExpressions ?? []).forEach((e: any, i: number) => {
    const here = `${field}.matchExpressions[${i}]`;
    const some = (e.values ?? []).length > 0;
    if (e.operator === "In" || e.operator === "NotIn") {
      if (!some) errors.push(required(`${here}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    } else if (e.operator === "Exists" || e.operator === "DoesNotExist") {
      if (some) {
        errors.push(
          forbiddenField(`${here}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        );
      }
    } else errors.push(invalidValue(`${here}.operator`, e.operator, "not a valid selector operator"));
    for (const problem of qualifiedNameProblems(e.key ?? "")) errors.push(invalidValue(`${here}.key`, e.key, problem));
  });
  return errors;
}

export function isEmptySelector(selector: any): boolean {
  return Object.keys(selector?.matchLabels ?? {}).length === 0 && (selector?.matchExpressions ?? []).length === 0;
}

export function selectorMatches(selector: any, labels: Record<string, string> | undefined): boolean {
  return selectorOf(selector)(labels ?? {});
}

const STANDARD_FINALIZERS = new Set(["kubernetes", "orphan", "foregroundDeletion"]);
const MAX_ANNOTATIONS = 256 * 1024;

/** What holds for the metadata of every kind. */
export function validateMetadata(metadata: any, rule: NameRule, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const check = (value: string): string[] => {
    switch (rule) {
      case "label":
        return labelProblems(value);
      case "service":
        return label1035Problems(value);
      case "path":
        if (value === "." || value === "..") return [`may not be '${value}'`];
        return ["/", "%"].filter((c) => value.includes(c)).map((c) => `may not contain '${c}'`);
      default:
        return subdomainProblems(value);
    }
  };
  if (metadata.generateName !== undefined) {
    // What is appended later ends with a letter: a trailing hyphen is allowed.
    for (const p of check(metadata.generateName.replace(/-$/, "a"))) {
      errors.push(invalidValue("metadata.generateName", metadata.generateName, p));
    }
  }
  if (!metadata.name) errors.push(required("metadata.name", "name or generateName is required"));
  else for (const p of check(metadata.name)) errors.push(invalidValue("metadata.name", metadata.name, p));
  if (namespaced) {
    if (!metadata.namespace) errors.push(required("metadata.namespace"));
    else
      for (const p of labelProblems(metadata.namespace))
        errors.push(invalidValue("metadata.namespace", metadata.namespace, p));
  } else if (metadata.namespace) {
    errors.push(forbiddenField("metadata.namespace", "not allowed on this type"));
  }
  errors.push(...validateAnyMetadata(metadata));
  (metadata.finalizers ?? []).forEach((finalizer: string, i: number) => {
    for (const problem of qualifiedNameProblems(finalizer)) {
      errors.push(invalidValue("metadata.finalizers", finalizer, problem));
    }
    if (!finalizer.includes("/") && !STANDARD_FINALIZERS.has(finalizer)) {
      errors.push(
        invalidValue(
          `metadata.finalizers[${i}]`,
          finalizer,
          "name is neither a standard finalizer name nor is it fully qualified",
        ),
      );
    }
  });
  return errors;
}

/** Labels, annotations and owners, which are checked whatever the kind. */
export function validateAnyMetadata(metadata: any): FieldError[] {
  const errors: FieldError[] = [];
  errors.push(...validateLabels(metadata.labels, "metadata.labels"));
  let size = 0;
  for (const [key, value] of Object.entries((metadata.annotations ?? {}) as Record<string, string>)) {
    for (const problem of qualifiedNameProblems(key.toLowerCase())) {
      errors.push(invalidValue("metadata.annotations", key, problem));
    }
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (size > MAX_ANNOTATIONS) errors.push(tooLong("metadata.annotations", MAX_ANNOTATIONS));
  const controllers: any[] = (metadata.ownerReferences ?? []).filter((owner: any) => owner.controller);
  if (controllers.length > 1) {
    const [first, second] = controllers.map((owner) => `${owner.kind}/${owner.name}`);
    const why = `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${second}`;
    errors.push(invalidValue("metadata.ownerReferences", metadata.ownerReferences, why));
  }
  (metadata.ownerReferences ?? []).forEach((owner: any) => {
    const here = "metadata.ownerReferences";
    if (!owner.apiVersion)
      errors.push(invalidValue(`${here}.apiVersion`, owner.apiVersion ?? "", "version must not be empty"));
    if (!owner.kind) errors.push(invalidValue(`${here}.kind`, owner.kind ?? "", "must not be empty"));
    if (!owner.name) errors.push(invalidValue(`${here}.name`, owner.name ?? "", "must not be empty"));
    if (!owner.uid) errors.push(invalidValue(`${here}.uid`, owner.uid ?? "", "must not be empty"));
  });
  return errors;
}

/** What may not change in the metadata of any kind. */
export function validateMetadataUpdate(metadata: any, old: any): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ["name", "namespace", "uid", "creationTimestamp"]) {
    if (metadata[field] !== old[field]) errors.push(invalidValue(`metadata.${field}`, metadata[field], IMMUTABLE));
  }
  if (old.deletionTimestamp) {
    const before = new Set(old.finalizers ?? []);
    const fresh = (metadata.finalizers ?? []).filter((f: string) => !before.has(f));
    if (fresh.length > 0) {
      errors.push(
        forbiddenField(
          "metadata.finalizers",
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${fresh.map((f: string) => JSON.stringify(f)).join(", ")}}`,
        ),
      );
    }
  }
  return errors;
}

export { parseSelector };
