/** ConfigMaps, Secrets and ServiceAccounts. */
import { type FieldError, forbiddenField, invalidValue, required, tooLong } from "../errors.js";
import { equal } from "../json.js";
import { age } from "./print.js";
import { AGE_COLUMN, integer, type KindRules, NAME_COLUMN, text } from "./rules.js";
import { IMMUTABLE } from "./validation.js";

const MAX_SIZE = 1024 * 1024;
const KEY_TEXT =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

function validateData(data: Record<string, string> | undefined, field: string): FieldError[] {
  return Object.keys(data ?? {})
    .filter((key) => !/^[-._a-zA-Z0-9]+$/.test(key))
    .map((key) => invalidValue(`${field}[${key}]`, key, KEY_TEXT));
}

function immutableData(object: any, old: any): FieldError[] {
  const errors: FieldError[] = [];
  if (!old.immutable) return errors;
  for (const key of ["data", "binaryData"]) {
    if (!equal(object[key], old[key])) errors.push(forbiddenField(key, "field is immutable when `immutable` is set"));
  }
  if (!object.immutable) errors.push(forbiddenField("immutable", "field is immutable when `immutable` is set"));
  return errors;
}

const count = (object: any) => Object.keys(object.data ?? {}).length;

export const configMap: KindRules = {
  validate(object) {
    const errors = [...validateData(object.data, "data"), ...validateData(object.binaryData, "binaryData")];
    const size = Object.values((object.data ?? {}) as Record<string, string>).reduce((n, v) => n + v.length, 0);
    return size > MAX_SIZE ? [...errors, tooLong("", MAX_SIZE)] : errors;
  },
  validateUpdate: immutableData,
  columns: [NAME_COLUMN, integer("Data"), AGE_COLUMN],
  row: (object, now) => [
    object.metadata.name,
    count(object) + Object.keys(object.binaryData ?? {}).length,
    age(object, now),
  ],
};

/** Keys that a Secret of a type must have. */
const NEEDS: Record<string, string[]> = {
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
};

export const secret: KindRules = {
  fields: ["type"],
  fieldValue: (object) => object.type ?? "",
  defaults(object) {
    object.type ??= "Opaque";
    if (object.stringData) {
      object.data ??= {};
      for (const key in object.stringData) object.data[key] = Buffer.from(object.stringData[key]).toString("base64");
      delete object.stringData;
    }
  },
  validate(object) {
    const errors = validateData(object.data, "data");
    for (const key of NEEDS[object.type] ?? []) {
      if (object.data?.[key] === undefined) errors.push(required(`data[${key}]`));
    }
    return errors;
  },
  validateUpdate(object, old) {
    const errors = immutableData(object, old);
    if (object.type !== old.type) errors.push(invalidValue("type", object.type, IMMUTABLE));
    return errors;
  },
  columns: [NAME_COLUMN, text("Type"), integer("Data"), AGE_COLUMN],
  row: (object, now) => [object.metadata.name, object.type, count(object), age(object, now)],
};

export const serviceAccount: KindRules = {
  returnsDeleted: true,
  columns: [NAME_COLUMN, integer("Secrets"), AGE_COLUMN],
  row: (object, now) => [object.metadata.name, (object.secrets ?? []).length, age(object, now)],
};
