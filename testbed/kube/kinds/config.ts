/** ConfigMaps, Secrets and ServiceAccounts. */
import { type FieldError, forbiddenField, invalidValue, required, tooLong } from "../errors.js";
import { equal, jsonProblem } from "../json.js";
import { age } from "./print.js";
import { AGE_COLUMN, type KindRules, NAME_COLUMN, text } from "./rules.js";
import { IMMUTABLE } from "./validation.js";

const MAX_SIZE = 1024 * 1024;
const KEY_TEXT =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

function validateData(data: Record<string, string> | undefined, field: string): FieldError[] {
  return Object.keys(data ?? {})
    .sort()
    .flatMap((key) => keyProblems(key).map((problem) => invalidValue(`${field}[${key}]`, key, problem)));
}

function keyProblems(key: string): string[] {
  return [
    ...(key.length > 253 ? ["must be no more than 253 characters"] : []),
    ...(/^[-._a-zA-Z0-9]+$/.test(key) ? [] : [KEY_TEXT]),
    ...(key === "." ? ["must not be '.'"] : []),
    ...(key === ".." ? ["must not be '..'"] : key.startsWith("..") ? ["must not start with '..'"] : []),
  ];
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
    const errors = validateData(object.data, "data");
    for (const key of Object.keys(object.data ?? {})) {
      if (object.binaryData?.[key] !== undefined) {
        errors.push(invalidValue(`data[${key}]`, key, "duplicate of key present in binaryData"));
      }
    }
    errors.push(...validateData(object.binaryData, "binaryData"));
    const size = Object.values((object.data ?? {}) as Record<string, string>).reduce((n, v) => n + v.length, 0);
    return size > MAX_SIZE ? [...errors, tooLong("", MAX_SIZE)] : errors;
  },
  validateUpdate: immutableData,
  columns: [NAME_COLUMN, text("Data"), AGE_COLUMN],
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
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
};
/** Keys whose values must be JSON. */
const DOCKER_CONFIGS: Record<string, string> = {
  "kubernetes.io/dockerconfigjson": ".dockerconfigjson",
  "kubernetes.io/dockercfg": ".dockercfg",
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
    const data: Record<string, string> = object.data ?? {};
    for (const key of NEEDS[object.type] ?? []) if (data[key] === undefined) errors.push(required(`data[${key}]`));
    if (object.type === "kubernetes.io/basic-auth" && data.username === undefined && data.password === undefined) {
      errors.push(required("data[username]"), required("data[password]"));
    }
    const account = "kubernetes.io/service-account.name";
    if (object.type === "kubernetes.io/service-account-token" && !object.metadata.annotations?.[account]) {
      errors.push(required(`metadata.annotations[${account}]`));
    }
    const config = DOCKER_CONFIGS[object.type];
    if (config && data[config] !== undefined) {
      const text = Buffer.from(data[config], "base64").toString();
      try {
        JSON.parse(text);
      } catch (error) {
        errors.push(invalidValue(`data[${config}]`, "<secret contents redacted>", jsonProblem(error, text)));
      }
    }
    return errors;
  },
  validateUpdate(object, old) {
    const errors = immutableData(object, old);
    if (object.type !== old.type) errors.push(invalidValue("type", object.type, IMMUTABLE));
    return errors;
  },
  columns: [NAME_COLUMN, text("Type"), text("Data"), AGE_COLUMN],
  row: (object, now) => [object.metadata.name, object.type, count(object), age(object, now)],
};

export const serviceAccount: KindRules = {
  returnsDeleted: true,
  columns: [NAME_COLUMN, text("Secrets"), AGE_COLUMN],
  row: (object, now) => [object.metadata.name, (object.secrets ?? []).length, age(object, now)],
};
