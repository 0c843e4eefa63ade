import { beforeEach, describe, expect, it } from "vitest";
import { APPS, bareServer, CORE, deployment } from "../api-harness.js";

let server: ReturnType<typeof bareServer>;
beforeEach(async () => {
  server = bareServer();
  await server.ask("POST", `${APPS}/deployments`, deployment("web"));
});

function send(method: string, path: string, contentType: string, body: string) {
  return server.api.handle({
    method,
    path,
    query: new URLSearchParams(),
    headers: { authorization: "Bearer admin", "content-type": contentType },
    body,
  });
}

const WEB = `${APPS}/deployments/web`;
const nested = `${'{"a":'.repeat(60_000)}1${"}".repeat(60_000)}`;

describe("a hostile body", () => {
  it.each<[string, string, string, string, string]>([
    [
      "a path of a JSON patch",
      "PATCH",
      WEB,
      "application/json-patch+json",
      '[{"op":"add","path":"/__proto__/x","value":1}]',
    ],
    [
      "a path through a constructor",
      "PATCH",
      WEB,
      "application/json-patch+json",
      '[{"op":"add","path":"/constructor/prototype/x","value":1}]',
    ],
    ["a key of a merge patch", "PATCH", WEB, "application/merge-patch+json", '{"spec":{"__proto__":{"x":1}}}'],
    [
      "a key of a strategic patch",
      "PATCH",
      WEB,
      "application/strategic-merge-patch+json",
      '{"metadata":{"__proto__":{"x":1}}}',
    ],
    ["a key of an apply", "PATCH", `${WEB}?fieldManager=a`, "application/apply-patch+yaml", "__proto__: {x: 1}"],
    [
      "a key of a new object",
      "POST",
      `${CORE}/configmaps`,
      "application/json",
      '{"metadata":{"name":"a","labels":{"__proto__":{"x":1}}}}',
    ],
  ])("%s reaches nothing that objects inherit", async (_name, method, path, contentType, body) => {
    const response = await send(method, path, contentType, body);
    expect([400, 422]).toContain(response.status);
    expect(({} as any).x).toBeUndefined();
    expect((await server.ask("GET", WEB)).status).toBe(200);
  });

  it.each<[string, string, string, string]>([
    ["POST", `${CORE}/configmaps`, "application/json", nested],
    ["PATCH", WEB, "application/merge-patch+json", nested],
    ["POST", `${CORE}/configmaps`, "application/yaml", "a: [b: {c"],
  ])("%s %s as %s that cannot be read is the client's mistake", async (method, path, contentType, body) => {
    expect((await send(method, path, contentType, body)).status).toBe(400);
  });
});

describe("those who have not said who they are", () => {
  it.each([
    ["/version", 200],
    ["/healthz", 200],
    ["/livez", 200],
    ["/readyz", 200],
    ["/api", 403],
    ["/openapi/v2", 403],
  ])("get %s: %i", async (path, status) => {
    const request = { method: "GET", path, query: new URLSearchParams(), headers: {} };
    expect((await server.api.handle(request)).status).toBe(status);
  });
});
