/** One request at a time to the API server; errors become `ApiError`, writes go past the wall first. */
import http from "node:http";
import https from "node:https";
import { ApiError, KubectlError, type Status } from "../errors.js";
import { type Connection, connect } from "./connection.js";

export interface ApiRequest {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  query?: Record<string, string | undefined>;
  accept?: string;
  body?: unknown;
  contentType?: string;
  /** Bytes after which the answer is cut, and the rest never read; without it an answer beyond the bound is an error. */
  cutAfter?: number;
  /** What several requests may read together, such as the pages of a list. */
  budget?: ReadBudget;
}

/** Bytes that may still be read. */
export interface ReadBudget {
  left: number;
}

/** An answer, and whether more of it was sent than was read. */
export interface CutText {
  text: string;
  cut: boolean;
}

export interface RestOptions {
  kubeconfig: string;
  signal?: AbortSignal;
  /** Seconds before a request is given up. */
  timeout?: number;
  /** Throws when a request that changes something is not allowed. */
  wall?: (method: string, path: string) => void;
  /** Gets the text of the server's `Warning` headers, each once. */
  warn?: (text: string) => void;
}

/** What is read of one answer, or of one list; an observation is far smaller, but a filter may make little of much. */
export const MAX_READ_BYTES = 32 * 1024 * 1024;
/** What an answer costs of a budget beside its length, so that pages of nothing come to an end too. */
const ANSWER_BYTES = 4096;
/** What is read of an answer that is an error: a Status is small. */
const MAX_ERROR_BYTES = 64 * 1024;

export const JSON_TYPE = "application/json";
export const MERGE_PATCH = "application/merge-patch+json";
export const STRATEGIC_PATCH = "application/strategic-merge-patch+json";
export const JSON_PATCH = "application/json-patch+json";
export const APPLY_PATCH = "application/apply-patch+yaml";

function networkError(error: NodeJS.ErrnoException, server: string): Error {
  if (error instanceof KubectlError) return error;
  const { host } = new URL(server);
  if (error.name === "AbortError") return error;
  if (error.code === "ECONNREFUSED")
    return new KubectlError(
      `The connection to the server ${host} was refused - did you specify the right host or port?`,
    );
  return new KubectlError(`Unable to connect to the server: ${error.message}`);
}

export class RestClient {
  private connection: Promise<Connection> | undefined;
  private readonly warned = new Set<string>();
  readonly options: RestOptions;

  constructor(options: RestOptions) {
    this.options = options;
  }

  /** The same connection for one command, with its own wall, warnings and abort signal. */
  with(options: Partial<RestOptions>): RestClient {
    const client = new RestClient({ ...this.options, ...options });
    client.connection = this.open();
    return client;
  }

  private open(): Promise<Connection> {
    this.connection ??= connect(this.options.kubeconfig);
    return this.connection;
  }

  /** The namespace of the kubeconfig's context. */
  async namespace(): Promise<string> {
    return (await this.open()).namespace;
  }

  async server(): Promise<string> {
    return (await this.open()).server;
  }

  async close(): Promise<void> {
    (await this.connection?.catch(() => undefined))?.close();
    this.connection = undefined;
  }

  /**
   * Sends a request and gives the body as text.
   *
   * @throws ApiError for an answer of 400 and more, KubectlError when there is no answer or too much of it
   */
  async text(request: ApiRequest): Promise<string> {
    return (await this.send(request)).text;
  }

  /**
   * As `text`, and says whether the answer was cut. Whatever the server sends, no more is read than the bounds allow,
   * and for no longer than the timeout.
   */
  async send(request: ApiRequest): Promise<CutText> {
    const method = request.method ?? "GET";
    if (method !== "GET") this.options.wall?.(method, request.path);
    const connection = await this.open();
    const url = new URL(connection.server + request.path);
    for (const [name, value] of Object.entries(request.query ?? {}))
      if (value !== undefined && value !== "") url.searchParams.set(name, value);
    const body =
      request.body === undefined
        ? undefined
        : typeof request.body === "string"
          ? request.body
          : JSON.stringify(request.body);
    const base = await connection.options();
    const headers: http.OutgoingHttpHeaders = {
      ...(base.headers as http.OutgoingHttpHeaders),
      Accept: request.accept ?? JSON_TYPE,
      "User-Agent": "itbench-kubectl",
    };
    if (body !== undefined) {
      headers["Content-Type"] = request.contentType ?? JSON_TYPE;
      headers["Content-Length"] = Buffer.byteLength(body);
    }
    const open = url.protocol === "https:" ? https.request : http.request;
    const seconds = this.options.timeout ?? 60;
    return await new Promise<CutText>((resolve, reject) => {
      const fail = (error: Error) => {
        clearTimeout(deadline);
        reject(networkError(error as NodeJS.ErrnoException, connection.server));
      };
      const outgoing = open(url, { ...base, method, headers, signal: this.options.signal }, (response) => {
        const code = response.statusCode ?? 0;
        const failed = code >= 400;
        const room = Math.max(0, Math.min(MAX_READ_BYTES, request.budget?.left ?? MAX_READ_BYTES));
        const mayCut = request.cutAfter !== undefined && request.cutAfter <= room;
        const bound = failed ? MAX_ERROR_BYTES : mayCut ? (request.cutAfter as number) : room;
        const chunks: Buffer[] = [];
        let size = 0;
        const finish = (cut: boolean) => {
          clearTimeout(deadline);
          if (request.budget) request.budget.left -= ANSWER_BYTES;
          const text = Buffer.concat(chunks).toString("utf8");
          this.warnings(response.headersDistinct.warning ?? []);
          if (failed) reject(new ApiError(hideValues(request.path, statusOf(code, text))));
          else resolve({ text, cut });
        };
        response.on("data", (chunk: Buffer) => {
          const fits = size + chunk.length <= bound;
          const kept = fits ? chunk : chunk.subarray(0, wholeCharacters(chunk, bound - size));
          chunks.push(kept);
          size += kept.length;
          if (request.budget) request.budget.left -= kept.length;
          if (fits) return;
          response.removeAllListeners();
          response.on("error", () => undefined);
          // The connection ends here: nobody reads what the server has left to send.
          outgoing.destroy();
          if (failed || mayCut) finish(true);
          else fail(tooMuch(request.path));
        });
        response.on("error", fail);
        response.on("end", () => finish(false));
      });
      const deadline = setTimeout(
        () => outgoing.destroy(new Error("the server gave no answer in time")),
        seconds * 1000,
      );
      outgoing.on("error", fail);
      outgoing.end(body);
    });
  }

  async json<T = any>(request: ApiRequest): Promise<T> {
    const text = await this.text(request);
    try {
      return JSON.parse(text) as T;
    } catch {
      throw new KubectlError(`error: the server's answer to ${request.path} is not JSON: ${text.slice(0, 200)}`);
    }
  }

  private warnings(headers: string[]): void {
    for (const header of headers)
      for (const match of header.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)) {
        const text = (match[1] as string).replace(/\\(.)/g, "$1");
        if (this.warned.has(text)) continue;
        this.warned.add(text);
        this.options.warn?.(text);
      }
  }
}

/** The longest beginning of `chunk` of at most `max` bytes that does not end inside a character. */
function wholeCharacters(chunk: Buffer, max: number): number {
  let end = max;
  while (end > 0 && ((chunk[end] as number) & 0xc0) === 0x80) end--;
  return end;
}

function tooMuch(path: string): KubectlError {
  return new KubectlError(
    `error: the answer to ${path} is longer than ${MAX_READ_BYTES / 1024 / 1024} MiB: ask for less, by name, by namespace (-n) or by a selector (-l, --field-selector)`,
  );
}

/** A complaint about a Secret quotes the whole object: its values stay out of sight. */
function hideValues(path: string, status: Status): Status {
  if (!/\/secrets(\/|$)/.test(path)) return status;
  const hide = (text: string | undefined) =>
    text?.replace(/(Invalid value: )"(?=\{|map\[)(?:\\.|[^"\\])*"/gs, '$1"<masked>"');
  const causes = status.details?.causes?.map((cause) => ({ ...cause, message: hide(cause.message) ?? "" }));
  return {
    ...status,
    message: hide(status.message) ?? "",
    ...(causes ? { details: { ...status.details, causes } } : {}),
  };
}

function statusOf(code: number, text: string): Status {
  try {
    const parsed = JSON.parse(text) as Status;
    if (parsed.kind === "Status") return { ...parsed, code: parsed.code ?? code };
  } catch {
    // Not a Status: a proxy or a missing path answered in plain text.
  }
  if (code === 404) return { code, reason: "NotFound", message: "the server could not find the requested resource" };
  return { code, reason: "InternalError", message: text.trim() || `the server answered ${code}` };
}
