/**
 * `fetch` for backends: a time limit for each request, retries with back-off for what may pass, and a ModelError for what
 * does not. It sits below the backends' own clients, so that all of them retry alike and Retry-After is seen.
 */
import { kindOfStatus, ModelError } from "./errors.js";
import { sleep } from "./rate-limit.js";

export interface RetryOptions {
  /** Retries after the first request. */
  retries: number;
  /** Seconds for one request, its answer included; in a streamed answer, for each wait for its next piece. */
  timeoutSeconds: number;
  /** First pause; each further one is twice as long, up to 30 s, times a random factor in [0.75, 1.25]. */
  backoffSeconds: number;
  /** Told of each wait that the backend asked for, so that others wait too. */
  onRetryAfter?: (ms: number) => void;
  /** Waits; tests replace it. */
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Aborts what the backend's own client gives no way to abort. */
  signal?: AbortSignal;
}

export const DEFAULT_RETRY: RetryOptions = { retries: 4, timeoutSeconds: 120, backoffSeconds: 1 };

const MAX_BACKOFF_MS = 30_000;
/** A server that asks for more than this is not waited for. */
const MAX_RETRY_AFTER_MS = 120_000;
const RETRIED_STATUS = new Set([408, 409, 425, 429, 500, 502, 503, 504, 529]);

/** A `fetch` that retries and throws ModelError on every answer that is not ok. Aborting it rejects with an AbortError. */
export function retryingFetch(options: RetryOptions): typeof fetch {
  return async (input, init) => {
    const signals = [init?.signal, options.signal].filter((s): s is AbortSignal => s instanceof AbortSignal);
    const outer = signals.length === 0 ? undefined : AbortSignal.any(signals);
    return retrying(() => request(input, init, outer, options.timeoutSeconds), options, outer);
  };
}

/** An attempt that failed, and how long the backend asks to be left alone. */
export class Failure {
  readonly error: ModelError;
  readonly retryAfterMs: number | undefined;
  constructor(error: ModelError, retryAfterMs?: number) {
    this.error = error;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Makes attempts until one succeeds, with a pause after each that may pass.
 *
 * @throws ModelError with the number of attempts
 */
export async function retrying<T>(
  attempt: () => Promise<T | Failure>,
  options: RetryOptions,
  signal?: AbortSignal,
): Promise<T> {
  for (let n = 1; ; n++) {
    const result = await attempt();
    if (!(result instanceof Failure)) return result;
    const { error, retryAfterMs } = result;
    const retryable =
      ["unreachable", "timeout", "rate-limit"].includes(error.kind) || RETRIED_STATUS.has(error.status ?? 0);
    const hopeless = /insufficient[_ ]quota|billing/i.test(error.message) || (retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS;
    if (!retryable || hopeless || n > options.retries) {
      throw new ModelError(n > 1 ? `${error.message} (${n} attempts)` : error.message, {
        kind: error.kind,
        attempts: n,
        cause: error.cause,
        ...(error.status === undefined ? {} : { status: error.status }),
      });
    }
    const backoff = Math.min(options.backoffSeconds * 1000 * 2 ** (n - 1), MAX_BACKOFF_MS);
    if (retryAfterMs !== undefined) options.onRetryAfter?.(retryAfterMs);
    await (options.sleep ?? sleep)(retryAfterMs ?? backoff * (0.75 + Math.random() / 2), signal);
  }
}

/** One request: an ok response, or what went wrong. Rejects only when `outer` aborts. */
async function request(
  input: Parameters<typeof fetch>[0],
  init: RequestInit | undefined,
  outer: AbortSignal | undefined,
  timeoutSeconds: number,
): Promise<Response | Failure> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutSeconds * 1000);
  const where = place(input);
  try {
    const signal = outer === undefined ? timeout.signal : AbortSignal.any([outer, timeout.signal]);
    const response = await fetch(input, { ...init, signal });
    if (response.ok && isStream(response)) return watched(response, where, timeoutSeconds);
    const body = await response.arrayBuffer();
    if (response.ok) return new Response(body, { status: response.status, headers: plainHeaders(response.headers) });
    const message = `${where} answered ${response.status}: ${reason(Buffer.from(body).toString("utf8"), response)}`;
    const retryAfterMs = retryAfter(response.headers);
    const details = { kind: kindOfStatus(response.status, message), status: response.status };
    return new Failure(new ModelError(message, details), retryAfterMs);
  } catch (cause) {
    if (outer?.aborted) throw cause;
    if (timeout.signal.aborted) {
      const message = `${where} gave no answer within ${timeoutSeconds} s`;
      return new Failure(new ModelError(message, { kind: "timeout", cause }));
    }
    const message = `cannot reach ${where}: ${networkReason(cause)}`;
    return new Failure(new ModelError(message, { kind: "unreachable", cause }));
  } finally {
    clearTimeout(timer);
  }
}

/** A streamed response that fails when nothing comes for `seconds`. It is not tried again: part of it has been read. */
function watched(response: Response, where: string, seconds: number): Response {
  if (response.body === null) return response;
  let timer: NodeJS.Timeout | undefined;
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    start: (controller) => {
      const fail = () =>
        controller.error(new ModelError(`${where} went silent for ${seconds} s in its answer`, { kind: "timeout" }));
      timer = setTimeout(fail, seconds * 1000);
    },
    transform: (chunk, controller) => {
      timer?.refresh();
      controller.enqueue(chunk);
    },
    flush: () => clearTimeout(timer),
  });
  const body = response.body.pipeThrough(watch);
  // The reader may leave early; the timer must not outlive it.
  timer?.unref();
  return new Response(body, { status: response.status, headers: plainHeaders(response.headers) });
}

function isStream(response: Response): boolean {
  return /event-stream|ndjson/.test(response.headers.get("content-type") ?? "");
}

/** The body is decoded by now: headers that speak of its coding would lie. */
function plainHeaders(headers: Headers): Headers {
  const copy = new Headers(headers);
  for (const name of ["content-encoding", "content-length", "transfer-encoding"]) copy.delete(name);
  return copy;
}

function place(input: Parameters<typeof fetch>[0]): string {
  const text = typeof input === "string" ? input : input instanceof URL ? input.href : input.url;
  try {
    const url = new URL(text);
    return `${url.protocol}//${url.host}`;
  } catch {
    return "the backend";
  }
}

/** Reason out of an error body: `{error: {message}}`, `{error: "..."}`, `{message}`, or the text itself. */
function reason(body: string, response: Response): string {
  let text = body;
  try {
    const json = JSON.parse(body) as { error?: unknown; message?: unknown; detail?: unknown };
    const error = json.error as { message?: unknown; code?: unknown } | string | undefined;
    const found = typeof error === "object" && error !== null ? error.message : (error ?? json.message ?? json.detail);
    if (typeof found === "string") text = found;
    if (typeof error === "object" && error !== null && typeof error.code === "string") text += ` (${error.code})`;
  } catch {
    // Not JSON: a proxy's page or plain text.
  }
  text = text.replace(/\s+/g, " ").trim();
  return text === "" ? response.statusText || "no reason given" : text.slice(0, 500);
}

function networkReason(error: unknown): string {
  const parts: string[] = [];
  for (let e: unknown = error, depth = 0; e instanceof Error && depth < 5; e = e.cause, depth++) {
    if (e instanceof AggregateError && e.errors[0] instanceof Error) parts.push(e.errors[0].message);
    else if (e.message !== "" && e.message !== "fetch failed") parts.push(e.message);
  }
  return parts[0] ?? "connection failed";
}

/** Milliseconds that Retry-After (seconds or a date) or `retry-after-ms` asks for. */
export function retryAfter(headers: Pick<Headers, "get">): number | undefined {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(ms)) return Math.max(0, ms);
  const text = headers.get("retry-after")?.trim();
  if (text === undefined || text === "") return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
