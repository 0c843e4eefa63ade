/** What can go wrong with a backend, as types that name the thing and the way out. */

export type ModelErrorKind =
  /** Nothing answers at the address. */
  | "unreachable"
  /** No answer in time. */
  | "timeout"
  | "rate-limit"
  /** Status 5xx, or an answer that breaks the protocol. */
  | "server"
  /** Key missing or refused. */
  | "auth"
  /** The backend does not have the model. */
  | "not-found"
  /** The conversation is longer than the model's context. */
  | "context-overflow"
  /** Refused as malformed. */
  | "bad-request";

/** A model call that failed for good, after the retries that its kind deserves. The trial is recorded as `model-error`. */
export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly kind: ModelErrorKind;
  readonly status?: number;
  /** Requests made in all. */
  readonly attempts: number;

  constructor(message: string, details: { kind: ModelErrorKind; status?: number; attempts?: number; cause?: unknown }) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = details.kind;
    if (details.status !== undefined) this.status = details.status;
    this.attempts = details.attempts ?? 1;
  }
}

/** A model name that leads nowhere. */
export class UnknownModelError extends Error {
  override readonly name = "UnknownModelError";
}

/** A backend that needs a key, or another setting, which is not set. */
export class MissingKeyError extends Error {
  override readonly name = "MissingKeyError";
  readonly variable: string;
  constructor(model: string, variable: string, what = "a key") {
    super(`model "${model}" needs ${what}: set the environment variable ${variable}`);
    this.variable = variable;
  }
}

/** A models file that cannot be read; the message names file, entry, field and fix. */
export class ModelsFileError extends Error {
  override readonly name = "ModelsFileError";
}

/** The model's package is not installed, with the command that installs it. */
export class MissingPackageError extends Error {
  override readonly name = "MissingPackageError";
}

const OVERFLOW =
  /context[_ ]length|context window|maximum context|too many tokens|prompt is too long|exceeds? the (available|model'?s?) context|input tokens exceed/i;

/** Kind of an error answer, by status and text. */
export function kindOfStatus(status: number, message: string): ModelErrorKind {
  if (status === 429) return "rate-limit";
  if (status === 401 || status === 403) return "auth";
  if (OVERFLOW.test(message)) return "context-overflow";
  if (status === 404) return "not-found";
  if (status === 408) return "timeout";
  return status >= 500 ? "server" : "bad-request";
}

/**
 * Makes a ModelError of whatever a backend threw. Backends wrap errors in their own; the ModelError that our fetch
 * threw is looked for along the chain of causes.
 */
export function toModelError(error: unknown): ModelError {
  for (let e: unknown = error, depth = 0; e instanceof Error && depth < 8; e = e.cause, depth++) {
    if (e instanceof ModelError) return e;
  }
  const message = error instanceof Error ? error.message : String(error);
  const status = statusOf(error);
  if (status !== undefined) {
    return new ModelError(firstLine(message), { kind: kindOfStatus(status, message), status, cause: error });
  }
  const name = error instanceof Error ? error.name : "";
  const kind: ModelErrorKind = OVERFLOW.test(message)
    ? "context-overflow"
    : /timeout/i.test(name) || /timed? ?out/i.test(message)
      ? "timeout"
      : /ECONNREFUSED|ENOTFOUND|ECONNRESET|fetch failed|connection error/i.test(message)
        ? "unreachable"
        : "server";
  return new ModelError(firstLine(message), { kind, cause: error });
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  for (const key of ["status", "statusCode", "status_code"]) {
    const value = (error as Record<string, unknown>)[key];
    if (typeof value === "number") return value;
  }
  return undefined;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]!.trim() || "the backend gave no reason";
}
