import { describe, expect, it } from "vitest";
import { bareServer, CORE, MERGE, pod, TABLE } from "../api-harness.js";

const server = bareServer();
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

describe("discovery", () => {
  it("comes aggregated or one by one, and both agree", async () => {
    for (const [path, prefix] of [
      ["/api", "/api"],
      ["/apis", "/apis"],
    ] as const) {
      const { body, headers } = await server.ask("GET", path, undefined, { accept: AGGREGATED });
      expect(body.kind).toBe("APIGroupDiscoveryList");
      expect(headers["content-type"]).toBe("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
      for (const group of body.items) {
        for (const version of group.versions) {
          const place = group.metadata.name
            ? `${prefix}/${group.metadata.name}/${version.version}`
            : `${prefix}/${version.version}`;
          const list = (await server.ask("GET", place)).body;
          expect(list.resources.filter((r: any) => !r.name.includes("/")).map((r: any) => r.name)).toEqual(
            version.resources.map((r: any) => r.resource),
          );
        }
      }
    }
    expect((await server.ask("GET", "/apis")).body.kind).toBe("APIGroupList");
    expect((await server.ask("GET", "/apis/apps")).body.preferredVersion).toEqual({
      groupVersion: "apps/v1",
      version: "v1",
    });
  });

  it.each(["/apis/nope", "/apis/apps/v9", "/nope", "/apis/nope/v1/deployments"])("has no %s", async (path) => {
    const answer = await server.ask("GET", path);
    expect(answer).toMatchObject({ status: 404, body: "404 page not found\n" });
  });
  it.each(["/api/v1/foos", "/api/v2", "/api/v2/pods", "/apis/apps/v9/deployments"])(
    "has no resource at %s",
    async (path) => {
      expect(await server.ask("GET", path)).toMatchObject({
        status: 404,
        body: { message: "the server could not find the requested resource" },
      });
    },
  );

  it("tells version and health", async () => {
    expect((await server.ask("GET", "/version")).body).toMatchObject({
      major: "1",
      minor: "34",
      gitVersion: "v1.34.2",
    });
    for (const path of ["/healthz", "/livez", "/readyz"]) expect((await server.ask("GET", path)).body).toBe("ok");
  });
});

describe("OpenAPI", () => {
  it("lists documents whose hash names their content, with resolvable references", async () => {
    const index = (await server.ask("GET", "/openapi/v3")).body.paths;
    expect(Object.keys(index)).toEqual(expect.arrayContaining(["api/v1", "apis/apps/v1", "apis/events.k8s.io/v1"]));
    for (const place of Object.keys(index)) {
      const { body } = await server.ask("GET", index[place].serverRelativeURL);
      const known = new Set(Object.keys(body.components.schemas).map((n) => `#/components/schemas/${n}`));
      const missing = [...JSON.stringify(body).matchAll(/"\$ref":"([^"]+)"/g)]
        .map((m) => m[1]!)
        .filter((r) => !known.has(r));
      expect(missing, place).toEqual([]);
      expect(JSON.stringify(body)).not.toMatch(/"description":"[A-Z]/);
    }
  });
  it("shows what clients look for", async () => {
    const { body } = await server.ask("GET", "/openapi/v3/apis/apps/v1");
    const patch = body.paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"].patch;
    expect(patch.parameters.map((p: any) => p.name)).toContain("fieldValidation");
    expect(body.components.schemas["io.k8s.api.core.v1.PodSpec"].properties.containers).toMatchObject({
      type: "array",
      "x-kubernetes-patch-merge-key": "name",
      "x-kubernetes-patch-strategy": "merge",
    });
    expect((await server.ask("GET", "/openapi/v3/apis/nope/v1")).status).toBe(404);
  });
});

describe("tables", () => {
  it("exist for every kind, with as many cells as columns", async () => {
    for (const info of server.api.registry.all()) {
      if (!info.verbs.includes("list")) continue;
      const base = info.group ? `/apis/${info.group}/${info.version}` : `/api/${info.version}`;
      const answer = await server.ask("GET", `${base}/${info.resource}`, undefined, { accept: TABLE });
      expect(answer.status, info.key).toBe(200);
      for (const row of answer.body.rows ?? []) expect(row.cells).toHaveLength(answer.body.columnDefinitions.length);
      const bare = { metadata: { name: "x", creationTimestamp: "2026-12-01T12:00:00Z" }, spec: {}, status: {} } as any;
      if (info.rules.row) expect(info.rules.row(bare, 0), info.key).toHaveLength(info.rules.columns!.length);
    }
  });

  const container = (state: object, more: object = {}) => ({
    name: "c",
    ready: false,
    restartCount: 0,
    state,
    lastState: {},
    ...more,
  });
  it.each<[string, any, string[]]>([
    ["Pending", { phase: "Pending" }, ["0/1", "Pending", "0"]],
    [
      "running",
      { phase: "Running", containerStatuses: [container({ running: {} }, { ready: true })] },
      ["1/1", "Running", "0"],
    ],
    [
      "crash loop",
      {
        phase: "Running",
        containerStatuses: [
          container(
            { waiting: { reason: "CrashLoopBackOff" } },
            { restartCount: 4, lastState: { terminated: { exitCode: 1, finishedAt: "2026-12-01T11:59:30Z" } } },
          ),
        ],
      },
      ["0/1", "CrashLoopBackOff", "4 (30s ago)"],
    ],
    [
      "pull error",
      { phase: "Pending", containerStatuses: [container({ waiting: { reason: "ErrImagePull" } })] },
      ["0/1", "ErrImagePull", "0"],
    ],
    [
      "failed",
      { phase: "Failed", containerStatuses: [container({ terminated: { exitCode: 3 } })] },
      ["0/1", "ExitCode:3", "0"],
    ],
    [
      "killed",
      { phase: "Failed", containerStatuses: [container({ terminated: { exitCode: 137, signal: 9 } })] },
      ["0/1", "Signal:9", "0"],
    ],
    [
      "OOM",
      { phase: "Running", containerStatuses: [container({ terminated: { exitCode: 137, reason: "OOMKilled" } })] },
      ["0/1", "OOMKilled", "0"],
    ],
    [
      "completed",
      { phase: "Succeeded", containerStatuses: [container({ terminated: { exitCode: 0, reason: "Completed" } })] },
      ["0/1", "Completed", "0"],
    ],
    ["evicted", { phase: "Failed", reason: "Evicted" }, ["0/1", "Evicted", "0"]],
    [
      "init waiting",
      { phase: "Pending", initContainerStatuses: [container({ running: {} })] },
      ["0/1", "Init:0/1", "0"],
    ],
    [
      "init failing",
      {
        phase: "Pending",
        initContainerStatuses: [container({ waiting: { reason: "CrashLoopBackOff" } }, { restartCount: 2 })],
      },
      ["0/1", "Init:CrashLoopBackOff", "2"],
    ],
    [
      "init error",
      { phase: "Pending", initContainerStatuses: [container({ terminated: { exitCode: 1, reason: "Error" } })] },
      ["0/1", "Init:Error", "0"],
    ],
  ])("a pod that is %s", async (what, status, cells) => {
    const name = what.toLowerCase().replace(/ /g, "-");
    const object = pod(name, what.startsWith("init") ? { initContainers: [{ name: "c2", image: "i" }] } : {});
    await server.ask("POST", `${CORE}/pods`, object);
    await server.ask("PATCH", `${CORE}/pods/${name}/status`, { status }, { type: MERGE });
    const table = (await server.ask("GET", `${CORE}/pods/${name}`, undefined, { accept: TABLE })).body;
    expect(table.rows[0].cells.slice(1, 4)).toEqual(cells);
  });
});

describe("content types", () => {
  it("writes YAML, and reads it", async () => {
    const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\ndata: {a: b}\n";
    expect((await server.ask("POST", `${CORE}/configmaps`, yaml, { type: "application/yaml" })).status).toBe(201);
    const { body } = await server.ask("GET", `${CORE}/configmaps/y`, undefined, { accept: "application/yaml" });
    expect(body).toContain("data:\n  a: b\n");
  });
  it("refuses what it cannot write or read", async () => {
    expect(
      (await server.ask("GET", `${CORE}/configmaps/y`, undefined, { accept: "application/vnd.kubernetes.protobuf" }))
        .status,
    ).toBe(406);
    expect((await server.ask("POST", `${CORE}/configmaps`, "x", { type: "text/plain" })).status).toBe(415);
  });
  it("shows metadata only", async () => {
    const { body } = await server.ask("GET", `${CORE}/configmaps/y`, undefined, {
      accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    });
    expect(body).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "y" } });
    expect(body).not.toHaveProperty("data");
  });
});
