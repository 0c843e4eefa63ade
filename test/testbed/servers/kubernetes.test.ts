import { Agent, request } from "node:https";
import { createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type ServedKubernetes, serveKubernetes } from "../../../testbed/servers/kubernetes.js";
import { bareServer, configMap } from "../kube/api-harness.js";

const open: ServedKubernetes[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});
async function serve() {
  const bare = bareServer();
  const server = await serveKubernetes(bare.api);
  open.push(server);
  return { ...bare, server };
}

function get(
  server: ServedKubernetes,
  path: string,
  o: { ca?: string; onData?: (text: string) => void; body?: Buffer; type?: string } = {},
) {
  return new Promise<{ status: number; text: string; headers: any }>((resolve, reject) => {
    const outgoing = request(
      server.url + path,
      {
        method: o.body ? "POST" : "GET",
        agent: new Agent(),
        ca: "ca" in o ? o.ca : server.ca,
        headers: { authorization: "Bearer admin", ...(o.type ? { "content-type": o.type } : {}) },
      },
      (answer) => {
        let text = "";
        answer.on("data", (chunk) => {
          text += chunk;
          o.onData?.(String(chunk));
        });
        answer.on("end", () => resolve({ status: answer.statusCode!, text, headers: answer.headers }));
        answer.on("error", reject);
      },
    );
    outgoing.on("error", reject);
    outgoing.end(o.body);
  });
}

describe("the server", () => {
  it("speaks TLS with a certificate that its kubeconfig trusts", async () => {
    const { server } = await serve();
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const config = parse(server.kubeconfig({ token: "admin", namespace: "n" }));
    const ca = Buffer.from(config.clusters[0].cluster["certificate-authority-data"], "base64").toString();
    expect((await get(server, "/version", { ca })).status).toBe(200);
    await expect(get(server, "/version", { ca: undefined })).rejects.toThrow(/self.signed/i);
    expect(config.users[0].user.token).toBe("admin");
    expect(config.contexts[0].context.namespace).toBe("n");
  });

  it("sends warnings as headers", async () => {
    const { server } = await serve();
    const { headers } = await get(server, "/api/v1/endpoints");
    expect(headers.warning).toBe('299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"');
  });

  it("ends watches when it closes, and closes twice", async () => {
    const { server, ask } = await serve();
    let heard: (text: string) => void = () => {};
    const first = new Promise<string>((resolve) => {
      heard = resolve;
    });
    const watching = get(server, "/api/v1/namespaces/default/configmaps?watch=1", { onData: heard });
    await ask("POST", "/api/v1/namespaces/default/configmaps", configMap("a"));
    expect(JSON.parse(await first)).toMatchObject({ type: "ADDED", object: { metadata: { name: "a" } } });
    await Promise.all([server.close(), watching.catch(() => undefined)]);
    await server.close();
    await expect(get(server, "/version")).rejects.toThrow();
  });

  it("says when its port is taken", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as { port: number };
    await expect(serveKubernetes(bareServer().api, { port })).rejects.toThrow(/EADDRINUSE/);
    taken.close();
  });

  it("refuses a body without end", async () => {
    const { server } = await serve();
    const answer = await get(server, "/api/v1/namespaces/default/configmaps", {
      body: Buffer.alloc(4 * 1024 * 1024, 32),
    }).catch((e) => ({ status: e.code }));
    expect([413, "ECONNRESET", "EPIPE"]).toContain(answer.status);
    expect((await get(server, "/version")).status).toBe(200);
  });

  it("reads Kubernetes' protobuf", async () => {
    const { server, api } = await serve();
    const field = (n: number, value: Buffer | string) => {
      const bytes = Buffer.from(value as string);
      return Buffer.concat([Buffer.from([(n << 3) | 2, bytes.length]), bytes]);
    };
    const entry = Buffer.concat([field(1, "key"), field(2, "value")]);
    const object = Buffer.concat([field(1, field(1, "proto")), field(2, entry)]);
    const type = Buffer.concat([field(1, "v1"), field(2, "ConfigMap")]);
    const body = Buffer.concat([Buffer.from("k8s\0"), field(1, type), field(2, object)]);
    const answer = await get(server, "/api/v1/namespaces/default/configmaps", {
      body,
      type: "application/vnd.kubernetes.protobuf",
    });
    expect(answer.status, answer.text).toBe(201);
    expect(api.get("configmaps", "default", "proto")?.data).toEqual({ key: "value" });
    const broken = await get(server, "/api/v1/namespaces/default/configmaps", {
      body: Buffer.from("nonsense"),
      type: "application/vnd.kubernetes.protobuf",
    });
    expect(broken.status).toBe(400);
  });
});
