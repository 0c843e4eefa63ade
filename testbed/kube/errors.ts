/** Errors as the API answers them: Status objects with the reasons, codes and messages of a real server. */

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}
export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}
export interface Status {
  kind: "Status";
  apiVersion: "v1";
  metadata: Record<string, unknown>;
  status: "Success" | "Failure";
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code: number;
}

/** What every refusal of the API is thrown as, in process and over HTTP. */
export class StatusError extends Error {
  readonly code: number;
  readonly reason: string | undefined;
  readonly details: StatusDetails | undefined;

  constructor(code: number, reason: string | undefined, message: string, details?: StatusDetails) {
    super(message);
    this.name = "StatusError";
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  /** The body of the answer. */
  status(): Status {
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: this.message,
      ...(this.reason ? { reason: this.reason } : {}),
      ...(this.details ? { details: this.details } : {}),
      code: this.code,
    };
  }
}

/** `deployments.apps` of group and plural. */
export function groupResource(group: string, resource: string): string {
  return group === "" ? resource : `${resource}.${group}`;
}

interface Named {
  group: string;
  resource: string;
}

function details(of: Named, name: string, kind = of.resource): StatusDetails {
  return { ...(name ? { name } : {}), ...(of.group ? { group: of.group } : {}), kind };
}

export function notFound(of: Named, name: string): StatusError {
  return new StatusError(
    404,
    "NotFound",
    `${groupResource(of.group, of.resource)} "${name}" not found`,
    details(of, name),
  );
}
export function pathNotFound(): StatusError {
  return new StatusError(404, "NotFound", "the server could not find the requested resource", {});
}
export function alreadyExists(of: Named, name: string): StatusError {
  return new StatusError(
    409,
    "AlreadyExists",
    `${groupResource(of.group, of.resource)} "${name}" already exists`,
    details(of, name),
  );
}
export function conflict(of: Named, name: string, why: string): StatusError {
  return new StatusError(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${groupResource(of.group, of.resource)} "${name}": ${why}`,
    details(of, name),
  );
}
export const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

export function forbidden(of: Named, name: string, why: string): StatusError {
  const quoted = name === "" ? "" : ` "${name}"`;
  return new StatusError(
    403,
    "Forbidden",
    `${groupResource(of.group, of.resource)}${quoted} is forbidden: ${why}`,
    details(of, name),
  );
}
export function badRequest(message: string): StatusError {
  return new StatusError(400, "BadRequest", message);
}
export function methodNotAllowed(): StatusError {
  return new StatusError(
    405,
    "MethodNotAllowed",
    "the server does not allow this method on the requested resource",
    {},
  );
}
export function gone(message: string): StatusError {
  return new StatusError(410, "Expired", message);
}
export function internalError(message: string): StatusError {
  return new StatusError(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
}

/** One finding of validation. */
export interface FieldError {
  type:
    | "FieldValueRequired"
    | "FieldValueInvalid"
    | "FieldValueTypeInvalid"
    | "FieldValueDuplicate"
    | "FieldValueNotSupported"
    | "FieldValueForbidden"
    | "FieldValueTooLong"
    | "FieldValueTooMany"
    | "FieldValueNotFound"
    | "InternalError";
  field: string;
  /** Without the field's name: `Invalid value: "x": must be ...`. */
  message: string;
}

/** `Deployment.apps "web" is invalid: ...`, with a cause for each finding. */
export function invalid(group: string, kind: string, name: string, errors: FieldError[]): StatusError {
  const texts = [...new Set(errors.map((e) => `${e.field}: ${e.message}`))];
  const list = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  return new StatusError(422, "Invalid", `${groupResource(group, kind)} "${name}" is invalid: ${list}`, {
    ...(name ? { name } : {}),
    ...(group ? { group } : {}),
    ...(kind ? { kind } : {}),
    causes: errors.map((e) => ({ reason: e.type, message: e.message, field: e.field })),
  });
}

/** How Go prints a value in a validation message. */
export function printValue(value: unknown): string {
  if (value === undefined || value === null) return "null";
  if (typeof value === "object") return JSON.stringify(value);
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

export const required = (field: string, why = ""): FieldError => ({
  type: "FieldValueRequired",
  field,
  message: why ? `Required value: ${why}` : "Required value",
});
export const invalidValue = (field: string, value: unknown, why: string): FieldError => ({
  type: "FieldValueInvalid",
  field,
  message: `Invalid value: ${printValue(value)}: ${why}`,
});
export const duplicate = (field: string, value: unknown): FieldError => ({
  type: "FieldValueDuplicate",
  field,
  message: `Duplicate value: ${printValue(value)}`,
});
export const notSupported = (field: string, value: unknown, allowed: readonly string[]): FieldError => ({
  type: "FieldValueNotSupported",
  field,
  message: `Unsupported value: ${printValue(value)}: supported values: ${allowed.map((v) => JSON.stringify(v)).join(", ")}`,
});
export const forbiddenField = (field: string, why: string): FieldError => ({
  type: "FieldValueForbidden",
  field,
  message: `Forbidden: ${why}`,
});
export const tooLong = (field: string, limit: number): FieldError => ({
  type: "FieldValueTooLong",
  field,
  message: `Too long: may not be more than ${limit} bytes`,
});
export const fieldNotFound = (field: string, value: unknown): FieldError => ({
  type: "FieldValueNotFound",
  field,
  message: `Not found: ${printValue(value)}`,
});
