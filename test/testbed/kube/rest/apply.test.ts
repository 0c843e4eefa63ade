import { beforeEach, describe, expect, it } from "vitest";
import { APPLY, APPS, bareServer, CORE, configMap, deployment, JSON_PATCH, MERGE } from "../api-harness.js";

let server: ReturnType<typeof bareServer>;
const apply = (path: string, manager: string, config: object, more = "") =>
  server.ask("PATCH", `${path}?fieldManager=${manager}${more}`, config, { type: APPLY });
const entry = (object: any, manager: string) => object.metadata.managedFields.find((e: any) => e.manager === manager);
const cm = (data: object, more: object = {}) => configMap("a", data, more);

beforeEach(() => {
  server = bareServer();
});

describe("server-side apply", () => {
  it("creates, owning what it names and not the defaults", async () => {
    const { status, body } = await apply(`${APPS}/deployments/web`, "alice", deployment("web"));
    expect(status).toBe(201);
    expect(body.metadata.managedFields).toEqual([
      {
        manager: "alice",
        operation: "Apply",
        apiVersion: "apps/v1",
        time: "2026-12-01T12:00:00Z",
        fieldsType: "FieldsV1",
        fieldsV1: {
          "f:spec": {
            "f:selector": {},
            "f:template": {
              "f:metadata": { "f:labels": { "f:app": {} } },
              "f:spec": { "f:containers": { 'k:{"name":"c"}': { ".": {}, "f:image": {}, "f:name": {} } } },
            },
          },
        },
      },
    ]);
    expect(body.spec.replicas).toBe(1);
  });

  it("conflicts over another's field, unless forced or agreed", async () => {
    await apply(`${CORE}/configmaps/a`, "alice", cm({ x: "1", y: "1" }));
    const clash = await apply(`${CORE}/configmaps/a`, "bob", cm({ x: "2", y: "2" }));
    expect(clash.status).toBe(409);
    expect(clash.body).toMatchObject({
      reason: "Conflict",
      message: 'Apply failed with 2 conflicts: conflicts with "alice":\n- .data.x\n- .data.y',
      details: { causes: [{ reason: "FieldManagerConflict", message: 'conflict with "alice"', field: ".data.x" }, {}] },
    });
    const shared = await apply(`${CORE}/configmaps/a`, "bob", cm({ x: "1" }));
    expect(shared.status).toBe(200);
    expect(entry(shared.body, "alice").fieldsV1["f:data"]).toHaveProperty("f:x");
    expect(entry(shared.body, "bob").fieldsV1["f:data"]).toHaveProperty("f:x");
    const forced = await apply(`${CORE}/configmaps/a`, "bob", cm({ x: "2" }), "&force=true");
    expect(forced.body.data).toEqual({ x: "2", y: "1" });
    expect(entry(forced.body, "alice").fieldsV1["f:data"]).not.toHaveProperty("f:x");
  });

  it("takes away what the applier no longer names, but not what others own", async () => {
    await apply(`${CORE}/configmaps/a`, "alice", cm({ x: "1", y: "1", z: "1" }));
    await apply(`${CORE}/configmaps/a`, "bob", cm({ z: "1" }));
    const { body } = await apply(`${CORE}/configmaps/a`, "alice", cm({ x: "1" }));
    expect(body.data).toEqual({ x: "1", z: "1" });
  });

  it("takes away list items of its own", async () => {
    const with2 = deployment("web");
    with2.spec.template.spec.containers.push({ name: "d", image: "i:2" });
    await apply(`${APPS}/deployments/web`, "alice", with2);
    const { body } = await apply(`${APPS}/deployments/web`, "alice", deployment("web"));
    expect(body.spec.template.spec.containers.map((c: any) => c.name)).toEqual(["c"]);
  });

  it("writes nothing when nothing changes", async () => {
    const first = await apply(`${CORE}/configmaps/a`, "alice", cm({ x: "1" }));
    server.clock.advance(5000);
    const second = await apply(`${CORE}/configmaps/a`, "alice", cm({ x: "1" }));
    expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
  });

  it("names the manager, its version and its door in a conflict with an update", async () => {
    await server.ask("POST", `${CORE}/configmaps?fieldManager=editor`, cm({ x: "1" }));
    const clash = await apply(`${CORE}/configmaps/a`, "alice", cm({ x: "2" }));
    expect(clash.body.message).toBe('Apply failed with 1 conflict: conflict with "editor" using v1: .data.x');
  });

  it("lets kubectl go on from its client-side apply", async () => {
    const config = cm({ x: "1" }, { namespace: "default" });
    const annotated = {
      ...config,
      metadata: {
        ...config.metadata,
        annotations: { "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(config) },
      },
    };
    await server.ask("POST", `${CORE}/configmaps?fieldManager=kubectl-client-side-apply`, annotated);
    const { status, body } = await apply(`${CORE}/configmaps/a`, "kubectl", cm({ x: "2" }));
    expect(status).toBe(200);
    expect(body.data).toEqual({ x: "2" });
    expect(JSON.parse(body.metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]).data).toEqual({
      x: "2",
    });
    // A value that someone else changed since is a conflict again.
    await server.ask(
      "PATCH",
      `${CORE}/configmaps/a?fieldManager=kubectl-edit`,
      { data: { x: "edited" } },
      { type: MERGE },
    );
    expect((await apply(`${CORE}/configmaps/a`, "kubectl", cm({ x: "3" }))).status).toBe(409);
  });

  it.each<[string, string, object, number, string | RegExp]>([
    [
      "without a manager",
      `${CORE}/configmaps/a`,
      cm({}),
      422,
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    ],
    [
      "with managed fields",
      `${CORE}/configmaps/a?fieldManager=m`,
      cm({}, { managedFields: [{ manager: "x" }] }),
      400,
      "metadata.managedFields must be nil",
    ],
    [
      "of another name",
      `${CORE}/configmaps/a?fieldManager=m`,
      configMap("b"),
      400,
      /does not match the name on the URL/,
    ],
    [
      "of an unknown field",
      `${APPS}/deployments/web?fieldManager=m`,
      deployment("web", { replicaz: 1 }),
      500,
      /\.spec\.replicaz: field not declared in schema/,
    ],
  ])("refuses an apply %s", async (_, path, config, status, message) => {
    const answer = await server.ask("PATCH", path, config, { type: APPLY });
    expect(answer.status).toBe(status);
    expect(answer.body.message).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
  });
});

describe("managed fields", () => {
  it("follow updates: who changes a field owns it, a removed one is nobody's", async () => {
    await server.ask("POST", `${CORE}/configmaps?fieldManager=one`, cm({ x: "1", y: "1" }));
    await server.ask("PATCH", `${CORE}/configmaps/a?fieldManager=two`, { data: { x: "2", y: null } }, { type: MERGE });
    const { body } = await server.ask("GET", `${CORE}/configmaps/a`);
    expect(entry(body, "one").fieldsV1).toEqual({ "f:data": {} });
    expect(entry(body, "two").fieldsV1).toEqual({ "f:data": { "f:x": {} } });
  });

  it("take the manager from the user agent when none is given", async () => {
    const { body } = await server.ask("POST", `${CORE}/configmaps`, cm({ x: "1" }), { agent: "mytool/v2 (linux)" });
    expect(body.metadata.managedFields[0].manager).toBe("mytool");
  });

  it("keep the status of a door apart", async () => {
    await server.ask("POST", `${APPS}/deployments?fieldManager=one`, deployment("web"));
    const { body } = await server.ask(
      "PATCH",
      `${APPS}/deployments/web/status?fieldManager=ctl`,
      { status: { replicas: 2 } },
      { type: MERGE },
    );
    expect(entry(body, "ctl")).toMatchObject({ subresource: "status", fieldsV1: { "f:status": { "f:replicas": {} } } });
    expect(entry(body, "one").fieldsV1).not.toHaveProperty("f:status");
  });

  it("can be written by a client, as kubectl does to migrate", async () => {
    await server.ask("POST", `${CORE}/configmaps?fieldManager=one`, cm({ x: "1" }));
    const fields = [
      {
        manager: "two",
        operation: "Apply",
        apiVersion: "v1",
        fieldsType: "FieldsV1",
        fieldsV1: { "f:data": { "f:x": {} } },
      },
    ];
    const { body } = await server.ask(
      "PATCH",
      `${CORE}/configmaps/a`,
      [{ op: "replace", path: "/metadata/managedFields", value: fields }],
      { type: JSON_PATCH },
    );
    expect(body.metadata.managedFields.map((e: any) => e.manager)).toEqual(["two"]);
  });

  it("fold old updaters when there are too many", async () => {
    await server.ask("POST", `${CORE}/configmaps?fieldManager=m0`, cm({ x: "1" }));
    for (let i = 1; i < 15; i++) {
      server.clock.advance(1000);
      await server.ask(
        "PATCH",
        `${CORE}/configmaps/a?fieldManager=m${i}`,
        { data: { [`k${i}`]: "v" } },
        { type: MERGE },
      );
    }
    const { body } = await server.ask("GET", `${CORE}/configmaps/a`);
    expect(body.metadata.managedFields).toHaveLength(10);
    expect(entry(body, "ancient-changes").fieldsV1["f:data"]).toHaveProperty("f:x");
  });
});
