/** Errors as kubectl prints them. `message` is the whole text for stderr, without the closing line break. */
export class KubectlError extends Error {
  readonly code: number;
  constructor(message: string, code = 1) {
    super(message);
    this.name = "KubectlError";
    this.code = code;
  }
}

/** An error of kubectl's own: printed as `error: ...`. */
export function usageError(message: string): KubectlError {
  return new KubectlError(`error: ${message}`);
}

/** The guard, or the wall behind it, refused: says what to do instead. */
export class RefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "RefusedError";
  }
}

/** The answer of an API server that is not a success. */
export interface Status {
  kind?: string;
  status?: string;
  message?: string;
  reason?: string;
  code?: number;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    causes?: { reason?: string; message?: string; field?: string }[];
  };
}

export class ApiError extends Error {
  readonly status: Status;
  /** Put before the message by verbs that read manifests: `error when creating "STDIN": `. */
  prefix = "";
  constructor(status: Status) {
    super(status.message ?? "unknown");
    this.name = "ApiError";
    this.status = status;
  }
  get reason(): string {
    return this.status.reason ?? "";
  }
  get notFound(): boolean {
    return this.status.reason === "NotFound" || this.status.code === 404;
  }
}

function causes(status: Status): string[] {
  const seen = new Set<string>();
  for (const cause of status.details?.causes ?? [])
    seen.add(cause.field ? `${cause.field}: ${cause.message ?? ""}` : (cause.message ?? ""));
  return [...seen];
}

/** The text that kubectl prints for any error, as its `checkErr` chooses it; several are printed one a line. */
export function errorText(error: unknown): string {
  if (error instanceof ApiError) {
    const { status } = error;
    if (status.reason === "Invalid") {
      const details = status.details;
      let head = "The request is invalid";
      if (!details) return `${head}: ${error.prefix}${error.message}`;
      if (details.kind || details.name) head = `The ${details.kind ?? ""} "${details.name ?? ""}" is invalid`;
      else if (error.message && !details.causes?.length) head = `${head}: ${error.message}`;
      const list = causes(status);
      if (list.length === 0) return head;
      if (list.length === 1) return `${head}: ${list[0]}`;
      return `${head}: \n${list.map((line) => `* ${line}`).join("\n")}`;
    }
    if (status.reason === "Unauthorized") return `error: You must be logged in to the server (${error.message})`;
    if (status.reason) return `Error from server (${status.reason}): ${error.prefix}${error.message}`;
    return `Error from server: ${error.prefix}${error.message}`;
  }
  if (error instanceof KubectlError) return error.message;
  if (error instanceof AggregateError) return error.errors.map(errorText).join("\n");
  return `error: ${error instanceof Error ? error.message : String(error)}`;
}

/** What an API error says, in one line, as Go's `err.Error()` gives it. */
export function plainMessage(error: unknown): string {
  if (error instanceof ApiError) return error.prefix + error.message;
  if (error instanceof KubectlError) return error.message.replace(/^error: /, "");
  return error instanceof Error ? error.message : String(error);
}
