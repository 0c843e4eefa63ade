/**
 * Custom resources against the structural schema of their definition. Values of the wrong type are findings like any
 * other here, not undecodable bodies. The words are those of a real server's OpenAPI validator.
 */
import { duplicate, type FieldError, invalidValue, notSupported, required as requiredField } from "./errors.js";
import { equal } from "./json.js";

/** Findings that leave rules across fields unchecked; a number out of its bounds does not. */
const BLOCKING = new Set<FieldError["type"]>([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);
const UNCHECKED: FieldError = invalidValue(
  "<nil>",
  null,
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
);

/** What a server refuses in a custom resource. `scale`: the definition's scale subresource. */
export function validateCustom(object: any, schema: any, scale?: { specReplicasPath?: string }): FieldError[] {
  const shape = checkSchema(object, schema, "");
  const errors = [...shape, ...checkReplicas(object, scale), ...checkLists(object, schema, "")];
  if (shape.some((e) => BLOCKING.has(e.type))) errors.push(UNCHECKED);
  return errors;
}

/** JSON's name of a value's type. */
function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

/** The type that `schema` asks for and `value` is not, or undefined. */
function wrongType(value: unknown, schema: any): string | undefined {
  const is = typeOf(value);
  if (schema["x-kubernetes-int-or-string"]) return is === "integer" || is === "string" ? undefined : "integer,string";
  if (schema.type === undefined || is === schema.type) return undefined;
  return schema.type === "number" && is === "integer" ? undefined : schema.type;
}

const FORMATS: Record<string, RegExp> = {
  date: /^\d{4}-\d\d-\d\d$/,
  "date-time": /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/,
  uuid: /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i,
  ipv4: /^(\d{1,3}\.){3}\d{1,3}$/,
  email: /^[^@\s]+@[^@\s]+$/,
};

function checkSchema(value: any, schema: any, path: string): FieldError[] {
  if (value === undefined) return [];
  if (value === null && schema.nullable) return [];
  const here = path || "<nil>";
  const expected = wrongType(value, schema);
  if (expected !== undefined) {
    const is = typeOf(value);
    const message = `Invalid value: "${is}": ${path} in body must be of type ${expected}: "${is}"`;
    return [{ type: "FieldValueTypeInvalid", field: here, message }];
  }
  const errors: FieldError[] = [];
  if (schema.enum && !schema.enum.some((e: unknown) => equal(e, value))) {
    errors.push(notSupported(here, value, schema.enum.map(String)));
  }
  if (typeof value === "number") errors.push(...checkNumber(value, schema, path));
  else if (typeof value === "string") errors.push(...checkString(value, schema, path));
  else if (Array.isArray(value)) errors.push(...checkArray(value, schema, path));
  else if (typeof value === "object" && value !== null) errors.push(...checkObject(value, schema, path));
  return errors;
}

function checkNumber(value: number, schema: any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    const bound = exclusiveMinimum ? "greater than" : "greater than or equal to";
    errors.push(invalidValue(path, value, `${path} in body should be ${bound} ${minimum}`));
  }
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    const bound = exclusiveMaximum ? "less than" : "less than or equal to";
    errors.push(invalidValue(path, value, `${path} in body should be ${bound} ${maximum}`));
  }
  if (multipleOf !== undefined && value % multipleOf !== 0) {
    errors.push(invalidValue(path, value, `${path} in body should be a multiple of ${multipleOf}`));
  }
  return errors;
}

function checkString(value: string, schema: any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const length = [...value].length;
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    const message = `Too long: may not be more than ${schema.maxLength} bytes`;
    errors.push({ type: "FieldValueTooLong", field: path, message });
  }
  if (schema.minLength !== undefined && length < schema.minLength) {
    errors.push(invalidValue(path, value, `${path} in body should be at least ${schema.minLength} chars long`));
  }
  if (schema.pattern && errors.length === 0 && !new RegExp(schema.pattern, "u").test(value)) {
    errors.push(invalidValue(path, value, `${path} in body should match '${schema.pattern}'`));
  }
  const format = FORMATS[schema.format];
  if (format && !format.test(value)) {
    const why = `${path} in body must be of type ${schema.format}: ${JSON.stringify(value)}`;
    errors.push(invalidValue(path, value, why));
  }
  return errors;
}

function checkArray(value: any[], schema: any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    errors.push(invalidValue(path, value.length, `${path} in body should have at least ${schema.minItems} items`));
  }
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    const message = `Too many: ${value.length}: must have at most ${schema.maxItems} items`;
    errors.push({ type: "FieldValueTooMany", field: path, message });
  }
  for (const [i, item] of value.entries()) errors.push(...checkSchema(item, schema.items ?? {}, `${path}[${i}]`));
  return errors;
}

function checkObject(value: any, schema: any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const at = (name: string) => (path ? `${path}.${name}` : name);
  const { maxProperties, minProperties } = schema;
  const size = Object.keys(value).length;
  if (maxProperties !== undefined && size > maxProperties) {
    const message = `Too many: ${size}: must have at most ${maxProperties} items`;
    errors.push({ type: "FieldValueTooMany", field: path, message });
  }
  if (minProperties !== undefined && size < minProperties) {
    errors.push(invalidValue(path, size, `${path} in body should have at least ${minProperties} properties`));
  }
  for (const name of schema.required ?? []) if (value[name] === undefined) errors.push(requiredField(at(name)));
  for (const [name, s] of Object.entries((schema.properties ?? {}) as Record<string, any>)) {
    if (path !== "" || name !== "metadata") errors.push(...checkSchema(value[name], s, at(name)));
  }
  if (typeof schema.additionalProperties === "object") {
    for (const key of Object.keys(value)) {
      if (schema.properties?.[key] === undefined)
        errors.push(...checkSchema(value[key], schema.additionalProperties, at(key)));
    }
  }
  return errors;
}

/** The replicas that the scale subresource reads must be a number. */
function checkReplicas(object: any, scale: { specReplicasPath?: string } | undefined): FieldError[] {
  const path = scale?.specReplicasPath;
  if (!path) return [];
  let here = object;
  for (const key of path.split(".").filter(Boolean)) {
    if (here === undefined || here === null) return [];
    if (typeof here !== "object") return [accessor(path, here, "map[string]interface{}")];
    here = here[key];
  }
  if (here === undefined || typeof here === "number") return [];
  return [accessor(path, here, "int64")];
}

function accessor(path: string, value: unknown, expected: string): FieldError {
  const is = typeof value === "boolean" ? "bool" : typeof value;
  return invalidValue(path, 0, `${path} accessor error: ${value} is of the type ${is}, expected ${expected}`);
}

/** Items of sets, and keys of map-like lists, must be unique. */
function checkLists(value: any, schema: any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (typeof value !== "object" || value === null) return errors;
  if (Array.isArray(value)) {
    const type = schema["x-kubernetes-list-type"];
    const keys: string[] = schema["x-kubernetes-list-map-keys"] ?? [];
    const seen = new Set<string>();
    value.forEach((item, i) => {
      if (type === "set" || type === "map") {
        const shown = type === "set" ? item : Object.fromEntries(keys.map((key) => [key, item?.[key]]));
        const id = JSON.stringify(shown);
        if (seen.has(id)) errors.push(duplicate(`${path}[${i}]`, shown));
        seen.add(id);
      }
      errors.push(...checkLists(item, schema.items ?? {}, `${path}[${i}]`));
    });
    return errors;
  }
  for (const [key, item] of Object.entries(value)) {
    const child = schema.properties?.[key] ?? schema.additionalProperties;
    if (typeof child === "object") errors.push(...checkLists(item, child, path ? `${path}.${key}` : key));
  }
  return errors;
}
