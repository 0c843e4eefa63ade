import { beforeEach, describe, expect, it } from "vitest";
import { APPS, bareServer, CORE, configMap, deployment, MERGE } from "../api-harness.js";

let server: ReturnType<typeof bareServer>;
beforeEach(async () => {
  server = bareServer();
  server.api.access.addToken("reader", { role: "read-only", user: "rita" });
  server.api.access.addToken("writer", { role: "read-write", user: "walt", namespaces: ["default"] });
  server.api.access.addToken("writer-all", { role: "read-write" });
  await server.ask("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } });
  await server.ask("POST", `${APPS}/deployments`, deployment("web"));
});

describe("tokens", () => {
  it("must be known", async () => {
    expect(await server.ask("GET", `${CORE}/pods`, undefined, { token: "wrong" })).toMatchObject({
      status: 401,
      body: { reason: "Unauthorized", message: "Unauthorized" },
    });
  });

  it("make nobody of those who bring none", async () => {
    const response = await server.api.handle({
      method: "GET",
      path: "/api/v1/pods",
      query: new URLSearchParams(),
      headers: {},
    });
    expect(response.status).toBe(403);
    expect(JSON.parse(response.body).message).toBe(
      'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" at the cluster scope',
    );
  });

  const scale = { spec: { replicas: 2 } };
  it.each<[string, string, string, object | undefined, number]>([
    ["reader", "GET", `${APPS}/deployments`, undefined, 200],
    ["reader", "GET", "/api/v1/nodes", undefined, 200],
    ["reader", "GET", `${CORE}/secrets`, undefined, 403],
    ["reader", "POST", `${CORE}/configmaps`, configMap("a"), 403],
    ["reader", "PATCH", `${APPS}/deployments/web`, scale, 403],
    ["reader", "PATCH", `${APPS}/deployments/web/scale`, scale, 403],
    ["reader", "DELETE", `${APPS}/deployments/web`, undefined, 403],
    ["reader", "DELETE", `${APPS}/deployments`, undefined, 403],
    ["writer", "PATCH", `${APPS}/deployments/web`, scale, 200],
    ["writer", "PATCH", `${APPS}/deployments/web/scale`, scale, 200],
    ["writer", "POST", `${CORE}/configmaps`, configMap("a"), 201],
    ["writer", "GET", `${CORE}/secrets`, undefined, 200],
    ["writer", "GET", "/api/v1/secrets", undefined, 403],
    ["writer", "POST", "/api/v1/namespaces/other/configmaps", configMap("a"), 403],
    ["writer", "GET", "/api/v1/namespaces/other/configmaps", undefined, 200],
    ["writer", "PATCH", "/api/v1/nodes/n", { spec: { unschedulable: true } }, 403],
    ["writer", "DELETE", "/api/v1/namespaces/other", undefined, 403],
    ["writer", "DELETE", "/api/v1/namespaces/default", undefined, 403],
    ["writer", "PUT", "/api/v1/namespaces/default/finalize", {}, 403],
    ["writer", "GET", "/api/v1/namespaces/default", undefined, 200],
    ["writer", "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", { metadata: { name: "r" } }, 403],
    ["writer", "POST", `${CORE}/pods/p/exec`, undefined, 403],
    ["writer-all", "DELETE", "/api/v1/namespaces/other", undefined, 200],
    ["writer-all", "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", { metadata: { name: "r" } }, 403],
    ["admin", "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", { metadata: { name: "r" }, rules: [] }, 201],
  ])("%s: %s %s", async (token, method, path, body, status) => {
    const answer = await server.ask(method, path, body, {
      token,
      type: method === "PATCH" ? MERGE : "application/json",
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  });

  it("are refused with the words of RBAC", async () => {
    const named = await server.ask("DELETE", `${APPS}/deployments/web`, undefined, { token: "reader" });
    expect(named.body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message:
        'deployments.apps "web" is forbidden: User "rita" cannot delete resource "deployments" in API group "apps" in the namespace "default"',
      reason: "Forbidden",
      details: { name: "web", group: "apps", kind: "deployments" },
      code: 403,
    });
    const log = await server.ask("POST", `${CORE}/pods/p/exec`, undefined, { token: "writer" });
    expect(log.body.message).toContain('cannot create resource "pods/exec" in API group ""');
  });
});

describe("reviews", () => {
  const may = async (token: string, attributes: object, as?: string) => {
    const body = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: attributes },
    };
    const answer = await server.ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body, {
      token,
      ...(as ? { as } : {}),
    });
    return answer.body.status?.allowed;
  };
  it("say what a token may do", async () => {
    expect(await may("admin", { verb: "delete", resource: "pods", namespace: "default" })).toBe(true);
    expect(await may("reader", { verb: "list", resource: "pods" })).toBe(true);
    expect(await may("reader", { verb: "delete", resource: "pods", namespace: "default" })).toBe(false);
    expect(await may("writer", { verb: "delete", resource: "pods", namespace: "other" })).toBe(false);
    expect(await may("admin", { verb: "list", resource: "secrets" }, "system:serviceaccount:default:default")).toBe(
      false,
    );
  });
  it("follow the cluster's own roles", async () => {
    const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    await server.ask("POST", `${rbac}/roles`, {
      metadata: { name: "r" },
      rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["list"] }],
    });
    await server.ask("POST", `${rbac}/rolebindings`, {
      metadata: { name: "b" },
      roleRef: { kind: "Role", name: "r" },
      subjects: [{ kind: "ServiceAccount", name: "default", namespace: "default" }],
    });
    const user = "system:serviceaccount:default:default";
    expect(await may("admin", { verb: "list", resource: "secrets", namespace: "default" }, user)).toBe(true);
    expect(await may("admin", { verb: "list", resource: "secrets", namespace: "other" }, user)).toBe(false);
    expect((await server.ask("GET", `${CORE}/secrets`, undefined, { as: user })).status).toBe(200);
  });
  it("say who asks, and let only the powerful be others", async () => {
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    expect((await server.ask("POST", path, body, { token: "reader" })).body.status.userInfo).toEqual({
      username: "rita",
      groups: ["system:authenticated"],
    });
    expect((await server.ask("POST", path, body, { as: "eve" })).body.status.userInfo.username).toBe("eve");
    const refused = await server.ask("POST", path, body, { token: "reader", as: "eve" });
    expect(refused).toMatchObject({
      status: 403,
      body: {
        message:
          'users "eve" is forbidden: User "rita" cannot impersonate resource "users" in API group "" at the cluster scope',
      },
    });
  });
  it("list what a token may do, without what it may not", async () => {
    const body = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectRulesReview",
      spec: { namespace: "default" },
    };
    const rules = async (token: string) =>
      (await server.ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", body, { token })).body.status
        .resourceRules;
    const core = (await rules("reader")).find((r: any) => r.apiGroups.includes("") && r.verbs.includes("list"));
    expect(core.resources).toContain("pods/log");
    expect(core.resources).not.toContain("secrets");
    expect(core.resources).not.toContain("pods/exec");
    expect(await rules("admin")).toContainEqual({ verbs: ["*"], apiGroups: ["*"], resources: ["*"] });
  });
  it("hand out tokens of service accounts", async () => {
    await server.ask("POST", `${CORE}/serviceaccounts`, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "bot" },
    });
    const made = await server.ask("POST", `${CORE}/serviceaccounts/bot/token`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: {},
    });
    const answer = await server.ask("GET", `${CORE}/pods`, undefined, { token: made.body.status.token });
    expect(answer.body.message).toContain('User "system:serviceaccount:default:bot" cannot list');
  });
});
