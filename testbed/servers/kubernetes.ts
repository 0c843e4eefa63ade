/** The Kubernetes API over HTTPS: kubectl sends its bearer token over TLS only. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { stringify } from "yaml";
import type { ApiRequest, ApiResponse } from "../kube/rest/http.js";
import { PROTOBUF } from "../kube/rest/protobuf.js";
import { selfSigned } from "./certificate.js";

export interface KubernetesHandler {
  handle(request: ApiRequest): Promise<ApiResponse>;
}

export interface ServedKubernetes {
  /** Base URL without a trailing slash. */
  url: string;
  /** PEM of the certificate to trust; undefined for plain HTTP. */
  ca: string | undefined;
  /** Text of a kubeconfig for this server. */
  kubeconfig(user: { token: string; namespace?: string }): string;
  /** Ends watches and closes the socket. Safe to call twice. */
  close(): Promise<void>;
}

/** Larger bodies are refused, as a real server refuses them. */
const MAX_BODY = 3 * 1024 * 1024;

export interface ServeOptions {
  /** 0 or none: any free port. */
  port?: number;
  /** Loopback by default. */
  host?: string;
  /** Plain HTTP, for clients that send their token over it (kubectl does not). */
  plain?: boolean;
}

/** Serves `api` until it is closed. @throws the listen error, e.g. EADDRINUSE */
export async function serveKubernetes(api: KubernetesHandler, options: ServeOptions = {}): Promise<ServedKubernetes> {
  const { port = 0, host = "127.0.0.1", plain = false } = options;
  const streams = new Set<() => void>();
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    void respond(api, incoming, outgoing, streams);
  };
  const certificate = plain ? undefined : selfSigned([...new Set([host, "127.0.0.1", "localhost"])]);
  const server = certificate ? createTlsServer(certificate, listener) : createServer(listener);
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const { port: bound } = server.address() as AddressInfo;
  const url = `${plain ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${bound}`;
  const ca = certificate?.cert;
  let closing: Promise<void> | undefined;
  return {
    url,
    ca,
    kubeconfig: ({ token, namespace }) => kubeconfig(url, ca, token, namespace),
    close() {
      closing ??= new Promise<void>((resolve) => {
        for (const stop of [...streams]) stop();
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closing;
    },
  };
}

function kubeconfig(server: string, ca: string | undefined, token: string, namespace: string | undefined): string {
  const name = "itbench";
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name,
        cluster: { server, ...(ca ? { "certificate-authority-data": Buffer.from(ca).toString("base64") } : {}) },
      },
    ],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, ...(namespace ? { namespace } : {}) } }],
    "current-context": name,
  });
}

async function respond(
  api: KubernetesHandler,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  streams: Set<() => void>,
): Promise<void> {
  outgoing.on("error", () => outgoing.destroy());
  let body: Buffer | undefined;
  try {
    body = await read(incoming);
  } catch {
    outgoing.writeHead(413, { "content-type": "application/json" });
    outgoing.end(
      JSON.stringify({
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: `Request entity too large: limit is ${MAX_BODY}`,
        reason: "RequestEntityTooLarge",
        code: 413,
      }),
    );
    return;
  }
  const target = incoming.url ?? "/";
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  const headers: Record<string, string | undefined> = {};
  for (const name in incoming.headers) {
    const value = incoming.headers[name];
    headers[name] = Array.isArray(value) ? value.join(",") : value;
  }
  const response = await api.handle({
    method: incoming.method ?? "GET",
    path: decode(path),
    query: new URLSearchParams(mark < 0 ? "" : target.slice(mark + 1)),
    headers,
    ...(body !== undefined ? { body: headers["content-type"]?.startsWith(PROTOBUF) ? body : body.toString() } : {}),
  });
  for (const [name, value] of Object.entries(response.headers)) outgoing.setHeader(name, value);
  if (response.warnings)
    outgoing.setHeader(
      "warning",
      response.warnings.map((w) => `299 - ${JSON.stringify(w)}`),
    );
  if (response.stream === undefined) {
    const bytes = Buffer.from(response.body);
    outgoing.writeHead(response.status, { "content-length": bytes.length });
    outgoing.end(incoming.method === "HEAD" ? undefined : bytes);
    return;
  }
  outgoing.writeHead(response.status);
  outgoing.flushHeaders();
  const end = () => {
    finish();
    outgoing.end();
  };
  const stop = response.stream((chunk) => outgoing.write(chunk), end);
  function finish(): void {
    streams.delete(end);
    stop?.();
  }
  streams.add(end);
  outgoing.on("close", finish);
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function read(incoming: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BODY) reject(new Error("too large"));
      else chunks.push(chunk);
    });
    incoming.on("end", () => resolve(chunks.length === 0 ? undefined : Buffer.concat(chunks)));
    incoming.on("error", reject);
  });
}
