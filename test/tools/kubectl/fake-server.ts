/** An API server of a few fixed answers that remembers what it was asked. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  authorization: string | undefined;
  body: string;
}

export interface FakeServer {
  folder: string;
  kubeconfig: string;
  asked: Asked[];
  /** Answers with a status of their own. */
  answers: Map<string, { status: number; body: unknown }>;
  close(): Promise<void>;
}

const resource = (name: string, kind: string, scope: "Namespaced" | "Cluster", shortNames: string[] = []) => ({
  resource: name,
  singularResource: kind.toLowerCase(),
  responseKind: { group: "", version: "", kind },
  scope,
  shortNames,
  categories: ["pods", "services", "deployments"].includes(name) ? ["all"] : [],
  verbs: ["get", "list", "create", "delete", "patch", "update"],
});

const discovery = (group: string, version: string, resources: unknown[]) => ({
  kind: "APIGroupDiscoveryList",
  apiVersion: "apidiscovery.k8s.io/v2",
  items: [{ metadata: { name: group }, versions: [{ version, resources }] }],
});

const CORE = discovery("", "v1", [
  resource("namespaces", "Namespace", "Cluster", ["ns"]),
  resource("nodes", "Node", "Cluster", ["no"]),
  resource("pods", "Pod", "Namespaced", ["po"]),
  resource("secrets", "Secret", "Namespaced"),
  resource("services", "Service", "Namespaced", ["svc"]),
  resource("configmaps", "ConfigMap", "Namespaced", ["cm"]),
]);
const APPS = discovery("apps", "v1", [resource("deployments", "Deployment", "Namespaced", ["deploy"])]);

/** Starts a server that answers discovery, and `objects` by path (`GET /api/v1/...`); everything else is not found. */
export async function fakeServer(objects: Record<string, unknown> = {}): Promise<FakeServer> {
  const asked: Asked[] = [];
  const answers = new Map<string, { status: number; body: unknown }>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://fake");
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const { method = "GET" } = request;
      asked.push({
        method,
        path: url.pathname,
        query: url.searchParams,
        authorization: request.headers.authorization,
        body,
      });
      const answer =
        url.pathname === "/api" ? CORE : url.pathname === "/apis" ? APPS : objects[`${method} ${url.pathname}`];
      response.setHeader("content-type", "application/json");
      const own = answers.get(`${method} ${url.pathname}`);
      if (own) {
        response.statusCode = own.status;
        response.end(JSON.stringify(own.body));
        return;
      }
      if (answer === undefined) response.statusCode = 404;
      response.end(
        JSON.stringify(
          answer ?? {
            kind: "Status",
            status: "Failure",
            reason: "NotFound",
            code: 404,
            message: `${url.pathname.split("/").at(-2)} "${url.pathname.split("/").at(-1)}" not found`,
          },
        ),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const folder = mkdtempSync(join(tmpdir(), "itbench-kubectl-"));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: "c", cluster: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } }],
      users: [{ name: "u", user: { token: "the-token" } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace: "shop" } }],
      "current-context": "x",
    }),
  );
  return {
    folder,
    kubeconfig,
    asked,
    answers,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Requests other than discovery. */
export function touched(server: FakeServer): string[] {
  return server.asked
    .filter(({ path }) => path !== "/api" && path !== "/apis")
    .map(({ method, path }) => `${method} ${path}`);
}
