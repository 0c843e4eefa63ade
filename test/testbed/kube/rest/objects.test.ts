import { beforeEach, describe, expect, it } from "vitest";
import {
  APPS,
  bareServer,
  CORE,
  configMap,
  deployment,
  JSON_PATCH,
  MERGE,
  pod,
  STRATEGIC,
  TABLE,
} from "../api-harness.js";

let server: ReturnType<typeof bareServer>;
beforeEach(() => {
  server = bareServer();
});

describe("create", () => {
  it("fills in what the schema and the kind say", async () => {
    const { status, body } = await server.ask("POST", `${APPS}/deployments`, deployment("web"));
    expect(status).toBe(201);
    expect(body.metadata).toMatchObject({
      name: "web",
      namespace: "default",
      generation: 1,
      creationTimestamp: "2026-12-01T12:00:00Z",
    });
    expect(body.spec).toMatchObject({
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
    });
    expect(body.spec.template.spec).toEqual({
      containers: [
        {
          name: "c",
          image: "i:1",
          imagePullPolicy: "IfNotPresent",
          resources: {},
          terminationMessagePath: "/dev/termination-log",
          terminationMessagePolicy: "File",
        },
      ],
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 30,
      dnsPolicy: "ClusterFirst",
      securityContext: {},
      schedulerName: "default-scheduler",
    });
    expect(body.status).toEqual({});
  });

  it.each([
    ["i:latest", "Always"],
    ["i", "Always"],
    ["reg:5000/a/i", "Always"],
    ["reg:5000/a/i:2", "IfNotPresent"],
    ["i@sha256:abc", "IfNotPresent"],
  ])("image %s is pulled %s", async (image, policy) => {
    const { body } = await server.ask("POST", `${CORE}/pods`, pod("p", { containers: [{ name: "c", image }] }));
    expect(body.spec.containers[0].imagePullPolicy).toBe(policy);
  });

  it("keeps zeros that mean something and drops those that do not", async () => {
    const { body } = await server.ask(
      "POST",
      `${APPS}/deployments`,
      deployment("web", { replicas: 0, minReadySeconds: 0, paused: false }),
    );
    expect(body.spec.replicas).toBe(0);
    expect(body.spec).not.toHaveProperty("minReadySeconds");
    expect(body.spec).not.toHaveProperty("paused");
  });

  it("makes names, and refuses a second object of the same name", async () => {
    const made = await server.ask("POST", `${CORE}/configmaps`, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { generateName: "gen-" },
    });
    expect(made.body.metadata.name).toMatch(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    await server.ask("POST", `${CORE}/configmaps`, configMap("a"));
    const again = await server.ask("POST", `${CORE}/configmaps`, configMap("a"));
    expect(again).toMatchObject({
      status: 409,
      body: {
        reason: "AlreadyExists",
        message: 'configmaps "a" already exists',
        details: { name: "a", kind: "configmaps" },
      },
    });
  });

  it("stores nothing on a dry run", async () => {
    const { status } = await server.ask("POST", `${CORE}/configmaps?dryRun=All`, configMap("a"));
    expect(status).toBe(201);
    expect((await server.ask("GET", `${CORE}/configmaps/a`)).status).toBe(404);
  });

  it.each([
    [
      "in a namespace that is not there",
      "/api/v1/namespaces/nope/configmaps",
      configMap("a"),
      404,
      'namespaces "nope" not found',
    ],
    [
      "for another namespace than the path's",
      `${CORE}/configmaps`,
      configMap("a", {}, { namespace: "x" }),
      400,
      "the namespace of the provided object does not match the namespace sent on the request",
    ],
    [
      "of another kind",
      `${CORE}/configmaps`,
      { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } },
      400,
      /cannot be handled as a ConfigMap/,
    ],
    [
      "with a resource version",
      `${CORE}/configmaps`,
      configMap("a", {}, { resourceVersion: "1" }),
      500,
      "resourceVersion should not be set on objects to be created",
    ],
    ["of broken JSON", `${CORE}/configmaps`, "{", 400, /unexpected end of JSON input/],
  ])("refuses an object %s", async (_, path, body, status, message) => {
    const answer = await server.ask("POST", path, body);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
  });

  it("refuses, warns of or ignores unknown and repeated fields", async () => {
    const text = JSON.stringify(deployment("web")).replace(
      '"spec":{',
      '"spec":{"replica":2,"replicas":1,"replicas":2,',
    );
    const strict = await server.ask("POST", `${APPS}/deployments?fieldValidation=Strict`, text);
    expect(strict.status).toBe(400);
    expect(strict.body.message).toMatch(/strict decoding error: .*duplicate field "spec.replicas"/);
    const unknown = JSON.stringify(deployment("web")).replace('"spec":{', '"spec":{"replica":2,');
    expect((await server.ask("POST", `${APPS}/deployments?fieldValidation=Strict`, unknown)).body.message).toBe(
      'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.replica"',
    );
    const warned = await server.ask("POST", `${APPS}/deployments`, text);
    expect(warned.status).toBe(201);
    expect(warned.warnings).toEqual(expect.arrayContaining(['unknown field "spec.replica"']));
    expect(warned.body.spec).not.toHaveProperty("replica");
    const ignored = await server.ask(
      "POST",
      `${APPS}/deployments?fieldValidation=Ignore`,
      text.replace(/"web"/g, '"web2"'),
    );
    expect(ignored.warnings).toEqual([]);
  });
});

describe("update", () => {
  it("asks for the version that it has seen", async () => {
    const first = (await server.ask("POST", `${CORE}/configmaps`, configMap("a"))).body;
    const next = { ...first, data: { k: "2" } };
    const done = await server.ask("PUT", `${CORE}/configmaps/a`, next);
    expect(done.status).toBe(200);
    const stale = await server.ask("PUT", `${CORE}/configmaps/a`, { ...next, data: { k: "3" } });
    expect(stale.status).toBe(409);
    expect(stale.body.message).toMatch(/the object has been modified; please apply your changes to the latest version/);
    expect((await server.ask("PUT", `${CORE}/configmaps/a`, configMap("a", { k: "4" }))).status).toBe(200);
  });

  it("writes nothing when nothing changes", async () => {
    const first = (await server.ask("POST", `${APPS}/deployments`, deployment("web"))).body;
    const same = (await server.ask("PUT", `${APPS}/deployments/web`, deployment("web"))).body;
    expect(same.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  it("bumps the generation with the spec only, and leaves the status to its own door", async () => {
    await server.ask("POST", `${APPS}/deployments`, deployment("web"));
    const labelled = await server.ask(
      "PATCH",
      `${APPS}/deployments/web`,
      { metadata: { labels: { a: "b" } }, status: { replicas: 7 } },
      { type: MERGE },
    );
    expect(labelled.body.metadata.generation).toBe(1);
    expect(labelled.body.status).toEqual({});
    const scaled = await server.ask("PATCH", `${APPS}/deployments/web`, { spec: { replicas: 3 } }, { type: MERGE });
    expect(scaled.body.metadata.generation).toBe(2);
    const status = await server.ask(
      "PATCH",
      `${APPS}/deployments/web/status`,
      { spec: { replicas: 9 }, status: { replicas: 3 } },
      { type: MERGE },
    );
    expect(status.body).toMatchObject({ spec: { replicas: 3 }, status: { replicas: 3 }, metadata: { generation: 2 } });
  });

  it.each([
    [
      "a deployment's selector",
      "deployments",
      deployment("web"),
      { spec: { selector: { matchLabels: { app: "z" } }, template: { metadata: { labels: { app: "z" } } } } },
      'spec.selector: Invalid value: {"matchLabels":{"app":"z"}}: field is immutable',
    ],
    [
      "a stateful set's service",
      "statefulsets",
      { ...deployment("web"), kind: "StatefulSet" },
      { spec: { serviceName: "x" } },
      /updates to statefulset spec for fields other than/,
    ],
  ])("refuses to change %s", async (_, plural, object, patch, message) => {
    await server.ask("POST", `${APPS}/${plural}`, object);
    const answer = await server.ask("PATCH", `${APPS}/${plural}/web`, patch, { type: MERGE });
    expect(answer.status).toBe(422);
    expect(answer.body.message).toEqual(
      typeof message === "string" ? expect.stringContaining(message) : expect.stringMatching(message),
    );
  });

  it("refuses to change a pod but for images and a few others", async () => {
    await server.ask("POST", `${CORE}/pods`, pod("p"));
    const image = await server.ask(
      "PATCH",
      `${CORE}/pods/p`,
      { spec: { containers: [{ name: "c", image: "i:2" }] } },
      { type: STRATEGIC },
    );
    expect(image.status).toBe(200);
    expect(image.body.metadata.generation).toBe(2);
    // What the server once added need not be sent again.
    expect((await server.ask("PUT", `${CORE}/pods/p`, pod("p"))).status).toBe(200);
    const policy = await server.ask("PATCH", `${CORE}/pods/p`, { spec: { hostNetwork: true } }, { type: STRATEGIC });
    expect(policy.body.message).toMatch(/pod updates may not change fields other than/);
  });
});

describe("patch", () => {
  beforeEach(() => server.ask("POST", `${APPS}/deployments`, deployment("web")));
  it.each([
    [MERGE, '{"spec":', 400, "error decoding patch: unexpected end of JSON input"],
    [STRATEGIC, '"text"', 400, "json: cannot unmarshal string into Go value of type map[string]interface {}"],
    ["application/foo", "{}", 415, "415: Unsupported Media Type"],
    [
      JSON_PATCH,
      '[{"op":"test","path":"/spec/replicas","value":9}]',
      422,
      "the server rejected our request due to an error in our request",
    ],
    [
      MERGE,
      '{"spec":{"replicas":-1}}',
      422,
      'Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    ],
    [
      MERGE,
      '{"spec":{"replicas":"x"}}',
      422,
      /^ "" is invalid: patch: .*json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32$/,
    ],
    [MERGE, '{"metadata":{"name":"x"}}', 400, "the name of the object (x) does not match the name on the URL (web)"],
    [MERGE, '{"metadata":{"uid":"x"}}', 422, /metadata.uid: Invalid value: "x": field is immutable/],
    [MERGE, '{"kind":"Pod"}', 422, /^ "" is invalid: patch: Invalid value: .*no kind "Pod" is registered/],
    [MERGE, '{"metadata":{"resourceVersion":"1"}}', 409, /the object has been modified/],
  ])("%s %s", async (type, text, status, message) => {
    const answer = await server.ask("PATCH", `${APPS}/deployments/web`, text, { type });
    expect(answer.status).toBe(status);
    expect(answer.body.message).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
  });

  it("may replace the whole without saying of which kind it is", async () => {
    await server.ask("POST", `${CORE}/configmaps`, configMap("whole", { a: "1" }));
    const text = '{"$patch":"replace","metadata":{"name":"whole"},"data":{"b":"2"}}';
    const type = "application/strategic-merge-patch+json";
    const answer = await server.ask("PATCH", `${CORE}/configmaps/whole`, text, { type });
    expect(answer).toMatchObject({ status: 200, body: { kind: "ConfigMap", data: { b: "2" } } });
  });
});

describe("list", () => {
  beforeEach(async () => {
    for (const n of ["a", "b", "c", "d"])
      await server.ask("POST", `${CORE}/configmaps`, configMap(n, {}, { labels: { half: n < "c" ? "1" : "2" } }));
  });
  const names = (body: any) => body.items.map((i: any) => i.metadata.name);

  it("filters by labels and fields", async () => {
    expect(names((await server.ask("GET", `${CORE}/configmaps?labelSelector=half%3D1`)).body)).toEqual(["a", "b"]);
    expect(names((await server.ask("GET", `${CORE}/configmaps?fieldSelector=metadata.name%3Dc`)).body)).toEqual(["c"]);
    expect(names((await server.ask("GET", `${CORE}/configmaps?fieldSelector=metadata.name!%3Dc`)).body)).toEqual([
      "a",
      "b",
      "d",
    ]);
    const refused = await server.ask("GET", `${CORE}/configmaps?fieldSelector=data.k%3Dc`);
    expect(refused).toMatchObject({
      status: 400,
      body: { message: '"data.k" is not a known field selector: only "metadata.name", "metadata.namespace"' },
    });
  });

  it("goes on where it left off, at the revision of the first page", async () => {
    const first = (await server.ask("GET", `${CORE}/configmaps?limit=3`)).body;
    expect(names(first)).toEqual(["a", "b", "c"]);
    expect(first.metadata.remainingItemCount).toBe(1);
    await server.ask("POST", `${CORE}/secrets`, { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } });
    const second = (await server.ask("GET", `${CORE}/configmaps?limit=3&continue=${first.metadata.continue}`)).body;
    expect(names(second)).toEqual(["d"]);
    expect(second.metadata).toEqual({ resourceVersion: first.metadata.resourceVersion });
    expect((await server.ask("GET", `${CORE}/configmaps?continue=rubbish`)).status).toBe(400);
  });

  it("leaves kind and version to the list, and prints tables", async () => {
    const list = (await server.ask("GET", `${CORE}/configmaps`)).body;
    expect(list.kind).toBe("ConfigMapList");
    expect(list.items[0]).not.toHaveProperty("kind");
    server.clock.advance(65_000);
    const table = (await server.ask("GET", `${CORE}/configmaps`, undefined, { accept: TABLE })).body;
    expect(table.kind).toBe("Table");
    expect(table.columnDefinitions.map((c: any) => c.name)).toEqual(["Name", "Data", "Age"]);
    expect(table.rows[0]).toMatchObject({
      cells: ["a", 0, "65s"],
      object: { kind: "PartialObjectMetadata", metadata: { name: "a" } },
    });
  });
});

describe("delete", () => {
  it("answers with a status and forgets the object", async () => {
    const { uid } = (await server.ask("POST", `${APPS}/deployments`, deployment("web"))).body.metadata;
    expect((await server.ask("DELETE", `${APPS}/deployments/web`)).body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name: "web", group: "apps", kind: "deployments", uid },
    });
    expect((await server.ask("DELETE", `${APPS}/deployments/web`)).body.message).toBe(
      'deployments.apps "web" not found',
    );
  });

  it("gives a running pod its grace period, a waiting one none", async () => {
    await server.ask("POST", `${CORE}/pods`, pod("waiting"));
    await server.ask("DELETE", `${CORE}/pods/waiting`);
    expect((await server.ask("GET", `${CORE}/pods/waiting`)).status).toBe(404);
    await server.ask("POST", `${CORE}/pods`, pod("p", { nodeName: "n" }));
    const first = (await server.ask("DELETE", `${CORE}/pods/p`)).body;
    expect(first.metadata).toMatchObject({ deletionTimestamp: "2026-12-01T12:00:30Z", deletionGracePeriodSeconds: 30 });
    await server.ask("DELETE", `${CORE}/pods/p`, { gracePeriodSeconds: 5 });
    expect((await server.ask("GET", `${CORE}/pods/p`)).body.metadata.deletionGracePeriodSeconds).toBe(5);
    await server.ask("DELETE", `${CORE}/pods/p`, { gracePeriodSeconds: 0 });
    expect((await server.ask("GET", `${CORE}/pods/p`)).status).toBe(404);
  });

  it("waits for finalizers", async () => {
    await server.ask("POST", `${CORE}/configmaps`, configMap("a", {}, { finalizers: ["example.com/wait"] }));
    const { body } = await server.ask("DELETE", `${CORE}/configmaps/a`);
    expect(body.metadata.deletionTimestamp).toBe("2026-12-01T12:00:00Z");
    const more = await server.ask(
      "PATCH",
      `${CORE}/configmaps/a`,
      { metadata: { finalizers: ["example.com/wait", "example.com/more"] } },
      { type: MERGE },
    );
    expect(more.body.message).toMatch(/no new finalizers can be added if the object is being deleted/);
    await server.ask("PATCH", `${CORE}/configmaps/a`, { metadata: { finalizers: null } }, { type: MERGE });
    expect((await server.ask("GET", `${CORE}/configmaps/a`)).status).toBe(404);
  });

  it("checks preconditions, leaves dry runs without effect, and deletes collections by selector", async () => {
    await server.ask("POST", `${CORE}/configmaps`, configMap("a", {}, { labels: { x: "1" } }));
    await server.ask("POST", `${CORE}/configmaps`, configMap("b"));
    expect((await server.ask("DELETE", `${CORE}/configmaps/a`, { preconditions: { uid: "other" } })).status).toBe(409);
    expect((await server.ask("DELETE", `${CORE}/configmaps/a?dryRun=All`)).status).toBe(200);
    expect((await server.ask("DELETE", `${CORE}/configmaps?labelSelector=x`)).body.items).toHaveLength(1);
    expect((await server.ask("GET", `${CORE}/configmaps`)).body.items.map((i: any) => i.metadata.name)).toEqual(["b"]);
  });

  it("keeps the namespaces that the server needs, and closes those that are going", async () => {
    expect((await server.ask("DELETE", "/api/v1/namespaces/default")).body.message).toBe(
      'namespaces "default" is forbidden: this namespace may not be deleted',
    );
    await server.ask("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "t" } });
    expect((await server.ask("DELETE", "/api/v1/namespaces/t")).body.status.phase).toBe("Terminating");
    const late = await server.ask("POST", "/api/v1/namespaces/t/configmaps", configMap("a"));
    expect(late.body).toMatchObject({
      reason: "Forbidden",
      message:
        'configmaps "a" is forbidden: unable to create new content in namespace t because it is being terminated',
    });
  });
});

describe("methods", () => {
  it.each([
    ["POST", "/api/v1/pods"],
    ["POST", `${CORE}/pods/p`],
    ["PUT", `${CORE}/pods`],
    ["PATCH", `${CORE}/pods`],
    ["DELETE", "/api/v1/pods"],
    ["DELETE", "/api/v1/componentstatuses/x"],
  ])("%s %s is not allowed", async (method, path) => {
    const answer = await server.ask(method, path, method === "POST" ? pod("p") : {});
    expect(answer).toMatchObject({
      status: 405,
      body: { reason: "MethodNotAllowed", message: "the server does not allow this method on the requested resource" },
    });
  });
});

describe("subresources", () => {
  it("scales", async () => {
    await server.ask("POST", `${APPS}/deployments`, deployment("web"));
    const before = (await server.ask("GET", `${APPS}/deployments/web/scale`)).body;
    expect(before).toMatchObject({
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      spec: { replicas: 1 },
      status: { replicas: 0, selector: "app=web" },
    });
    const after = (await server.ask("PUT", `${APPS}/deployments/web/scale`, { ...before, spec: { replicas: 4 } })).body;
    expect(after.spec.replicas).toBe(4);
    expect(
      (await server.ask("PUT", `${APPS}/deployments/web/scale`, { ...before, spec: { replicas: 5 } })).status,
    ).toBe(409);
    expect(
      (await server.ask("PATCH", `${APPS}/deployments/web/scale`, { spec: { replicas: -1 } }, { type: MERGE })).status,
    ).toBe(422);
  });

  it.each(["exec", "attach", "portforward", "proxy"])("refuses %s with a reason", async (door) => {
    await server.ask("POST", `${CORE}/pods`, pod("p"));
    const answer = await server.ask("GET", `${CORE}/pods/p/${door}`);
    expect(answer.status).toBe(405);
    expect(answer.body.message).toMatch(/simulated/);
    expect((await server.ask("GET", `${CORE}/pods/nope/${door}`)).status).toBe(404);
  });

  it("binds a pod once", async () => {
    await server.ask("POST", `${CORE}/pods`, pod("p"));
    const binding = { apiVersion: "v1", kind: "Binding", metadata: { name: "p" }, target: { kind: "Node", name: "n" } };
    expect((await server.ask("POST", `${CORE}/pods/p/binding`, binding)).status).toBe(201);
    expect((await server.ask("GET", `${CORE}/pods/p`)).body.spec.nodeName).toBe("n");
    expect((await server.ask("POST", `${CORE}/pods/p/binding`, binding)).status).toBe(409);
  });

  it("evicts unless a disruption budget objects", async () => {
    await server.ask("POST", `${CORE}/pods`, pod("p", { nodeName: "n" }, { labels: { app: "x" } }));
    server.api.modify(
      "pods",
      "default",
      "p",
      (p) => {
        p.status.phase = "Running";
      },
      { subresource: "status" },
    );
    const budget = {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "b" },
      spec: { minAvailable: 1, selector: { matchLabels: { app: "x" } } },
    };
    await server.ask("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget);
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } };
    const refused = await server.ask("POST", `${CORE}/pods/p/eviction`, eviction);
    expect(refused).toMatchObject({
      status: 429,
      body: { message: "Cannot evict pod as it would violate the pod's disruption budget." },
    });
    await server.ask("DELETE", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b");
    expect((await server.ask("POST", `${CORE}/pods/p/eviction`, eviction)).status).toBe(201);
    expect((await server.ask("GET", `${CORE}/pods/p`)).body.metadata.deletionTimestamp).toBeDefined();
  });
});

describe("versions", () => {
  it("serves an autoscaler in both", async () => {
    const v1 = {
      apiVersion: "autoscaling/v1",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "h" },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        maxReplicas: 3,
        targetCPUUtilizationPercentage: 70,
      },
    };
    const made = await server.ask("POST", "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers", v1);
    expect(made.body.spec.targetCPUUtilizationPercentage).toBe(70);
    const v2 = (await server.ask("GET", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/h")).body;
    expect(v2).toMatchObject({
      apiVersion: "autoscaling/v2",
      spec: { minReplicas: 1, metrics: [{ resource: { name: "cpu", target: { averageUtilization: 70 } } }] },
    });
  });

  it("serves events in both, and counts equal ones", async () => {
    await server.ask("POST", `${CORE}/pods`, pod("p"));
    const object = server.api.get("pods", "default", "p")!;
    for (let i = 0; i < 3; i++) {
      server.api.event(object, {
        type: "Warning",
        reason: "BackOff",
        message: "again",
        component: "kubelet",
        host: "n",
      });
      server.clock.advance(10_000);
    }
    const core = (await server.ask("GET", `${CORE}/events?fieldSelector=involvedObject.name%3Dp`)).body.items;
    expect(core).toHaveLength(1);
    expect(core[0]).toMatchObject({
      count: 3,
      firstTimestamp: "2026-12-01T12:00:00Z",
      lastTimestamp: "2026-12-01T12:00:20Z",
    });
    const group = (await server.ask("GET", "/apis/events.k8s.io/v1/namespaces/default/events")).body.items;
    expect(group[0]).toMatchObject({ note: "again", regarding: { name: "p" }, deprecatedCount: 3 });
    server.clock.advance(3_700_000);
    server.api.event(object, { type: "Normal", reason: "Other", message: "x", component: "kubelet" });
    expect(server.api.list("events").map((e) => e.reason)).toEqual(["Other"]);
  });

  it("warns of Endpoints", async () => {
    const { warnings } = await server.ask("GET", `${CORE}/endpoints`);
    expect(warnings).toEqual(["v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"]);
  });
});
