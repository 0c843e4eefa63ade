/** A bare API server for tests, asked as over HTTP but without sockets. */
import { VirtualClock } from "../../../testbed/clock.js";
import { ApiServer, type ApiServerOptions } from "../../../testbed/kube/index.js";
import { Random } from "../../../testbed/random.js";

export const START = Date.parse("2026-12-01T12:00:00Z");

export interface Asked {
  status: number;
  body: any;
  warnings: string[];
  headers: Record<string, string>;
}
export interface AskOptions {
  type?: string;
  accept?: string;
  token?: string;
  as?: string;
  agent?: string;
}

export function bareServer(options: Partial<ApiServerOptions> = {}) {
  const clock = new VirtualClock(START);
  const api = new ApiServer({ clock, random: new Random("test"), ...options });
  api.access.addToken("admin", { role: "admin" });
  /** `target` is a path with its query. */
  async function ask(method: string, target: string, body?: unknown, o: AskOptions = {}): Promise<Asked> {
    const url = new URL(target, "http://x");
    const response = await api.handle({
      method,
      path: decodeURIComponent(url.pathname),
      query: url.searchParams,
      headers: {
        authorization: `Bearer ${o.token ?? "admin"}`,
        accept: o.accept ?? "application/json",
        "user-agent": o.agent ?? "test/1",
        ...(body === undefined ? {} : { "content-type": o.type ?? "application/json" }),
        ...(o.as ? { "impersonate-user": o.as } : {}),
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    let parsed: unknown = response.body;
    try {
      parsed = JSON.parse(response.body);
    } catch {
      // Text, such as a log.
    }
    return { status: response.status, body: parsed, warnings: response.warnings ?? [], headers: response.headers };
  }
  /** Opens a watch; events gather in the list until `stop`. */
  async function watch(target: string): Promise<{ events: any[]; stop(): void; ended(): boolean }> {
    const url = new URL(target, "http://x");
    const response = await api.handle({
      method: "GET",
      path: url.pathname,
      query: url.searchParams,
      headers: { authorization: "Bearer admin", accept: "application/json" },
    });
    if (response.stream === undefined) throw new Error(response.body);
    const events: any[] = [];
    let ended = false;
    const stop = response.stream(
      (chunk) => {
        for (const line of chunk.split("\n").filter(Boolean)) events.push(JSON.parse(line));
      },
      () => {
        ended = true;
      },
    );
    return { events, stop, ended: () => ended };
  }
  return { api, clock, ask, watch };
}

export const deployment = (name: string, extra: object = {}): any => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "c", image: "i:1" }] } },
    ...extra,
  },
});
export const configMap = (name: string, data: object = { k: "v" }, metadata: object = {}): any => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data,
});
export const pod = (name: string, spec: object = {}, metadata: object = {}): any => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...metadata },
  spec: { containers: [{ name: "c", image: "i:1" }], ...spec },
});

export const CORE = "/api/v1/namespaces/default";
export const APPS = "/apis/apps/v1/namespaces/default";
export const APPLY = "application/apply-patch+yaml";
export const MERGE = "application/merge-patch+json";
export const STRATEGIC = "application/strategic-merge-patch+json";
export const JSON_PATCH = "application/json-patch+json";
export const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
