import { afterEach, describe, expect, it } from "vitest";
import { createChanges } from "../../../tools/changes/index.js";
import { deployment, type FakeCluster, fakeCluster, meta, service } from "../../support/fake-cluster.js";
import { json, serve, type TestServer } from "../../support/http.js";
import { toolContext } from "../../support/tool-context.js";

let cluster: FakeCluster | undefined;
let prometheus: TestServer | undefined;
afterEach(async () => {
  await Promise.all([cluster?.close(), prometheus?.close()]);
  cluster = prometheus = undefined;
});

// The tests' now is 12:00, and all objects were made at 10:00.
const at = (time: string) => `2026-01-01T${time}Z`;
const seconds = (time: string) => Date.parse(at(time)) / 1000;
const entry = (manager: string, time: string, fieldsV1: object, more: object = {}) => ({
  manager,
  operation: "Update",
  time: at(time),
  fieldsV1,
  ...more,
});

async function changes(
  objects: readonly any[],
  input: Record<string, unknown> = {},
  options: { alert?: string; series?: unknown[]; metrics?: boolean } = {},
): Promise<string> {
  cluster = await fakeCluster(objects);
  prometheus = await serve(({ url }, response) => {
    if (url.pathname === "/api/v1/alerts") {
      const alerts = [
        { labels: { alertname: "Watchdog" }, state: "firing", activeAt: at("01:00:00") },
        { labels: { alertname: "Other", severity: "info" }, state: "firing", activeAt: at("02:00:00") },
        ...(options.alert ? [{ labels: { alertname: "Errors" }, state: "firing", activeAt: at(options.alert) }] : []),
      ];
      return json(response, { status: "success", data: { alerts } });
    }
    return json(response, { status: "success", data: { resultType: "matrix", result: options.series ?? [] } });
  });
  const context = toolContext(prometheus.url);
  context.endpoints.kubeconfig = cluster.kubeconfig;
  return createChanges(context, { metrics: options.metrics ?? true }).invoke(input as any) as Promise<string>;
}

const edited = (name: string, managedFields: object[], more: object = {}) => ({
  kind: "ConfigMap",
  metadata: meta(name, { managedFields }),
  data: { a: "1" },
  ...more,
});

function replicaSet(owner: string, revision: number, time: string, image: string, more: Record<string, string> = {}) {
  return {
    kind: "ReplicaSet",
    metadata: meta(`${owner}-${revision}`, {
      creationTimestamp: at(time),
      ownerReferences: [{ uid: `deployment-${owner}`, controller: true }],
      annotations: { "deployment.kubernetes.io/revision": String(revision), ...more },
    }),
    spec: {
      template: {
        metadata: { labels: { app: owner, "pod-template-hash": `h${revision}` } },
        spec: { containers: [{ name: owner, image }] },
      },
    },
  };
}

describe("changes", () => {
  it("lists edits with their fields, newest first, and how long before the alert", async () => {
    const text = await changes(
      [
        edited("old", [entry("kubectl-edit", "11:30:00", { "f:data": { "f:a": {} } })]),
        edited("new", [entry("helm", "11:40:00", { "f:data": { "f:a": {} } }, { operation: "Apply" })]),
      ],
      {},
      { alert: "11:41:30" },
    );
    expect(text.split("\n")).toEqual([
      "2 changes in shop, 2026-01-01 11:00:00Z to 12:00:00; first alert: Errors (firing) since 11:41:30",
      "11:40:00 (1m30s before the alert) shop/ConfigMap/new applied by helm, which last wrote:",
      '    data.a = "1"',
      "11:30:00 (11m30s before the alert) shop/ConfigMap/old edited by kubectl-edit, which last wrote:",
      '    data.a = "1"',
    ]);
  });

  it.each<[string, any]>([
    ["its creation", edited("x", [entry("helm", "10:00:00", { "f:data": {} })])],
    ["an edit long ago", edited("x", [entry("helm", "10:30:00", { "f:data": {} })])],
    ["its status", edited("x", [entry("kubectl", "11:30:00", { "f:status": {} }, { subresource: "status" })])],
    [
      "what a controller notes",
      edited("x", [entry("kube-controller-manager", "11:30:00", { "f:metadata": { "f:annotations": { "f:r": {} } } })]),
    ],
    [
      "a pod",
      { kind: "Pod", metadata: meta("x", { managedFields: [entry("kubelet", "11:30:00", { "f:spec": {} })] }) },
    ],
    [
      "a scaling that a creation brings",
      {
        kind: "Event",
        type: "Normal",
        reason: "ScalingReplicaSet",
        involvedObject: { kind: "Deployment", namespace: "shop", name: "d" },
        message: "Scaled up",
        lastTimestamp: at("10:00:05"),
        metadata: meta("e"),
      },
    ],
  ])("%s is no change", async (_name, object) => {
    expect(await changes([object])).toMatch(/^0 changes .*; no alert fires\nnothing was edited/);
  });

  it("tells a scaling by hand, a cordoned node, an eviction, and an object being deleted", async () => {
    const text = await changes([
      {
        ...deployment("d"),
        metadata: meta("d", {
          managedFields: [entry("kubectl", "11:30:00", { "f:spec": { "f:replicas": {} } }, { subresource: "scale" })],
        }),
      },
      {
        kind: "Node",
        metadata: {
          ...meta("n"),
          namespace: undefined,
          managedFields: [entry("kubectl-cordon", "11:31:00", { "f:spec": { "f:unschedulable": {} } })],
        },
        spec: { unschedulable: true },
      },
      {
        kind: "Event",
        type: "Warning",
        reason: "Evicted",
        involvedObject: { kind: "Pod", namespace: "shop", name: "p" },
        message: "low on memory",
        firstTimestamp: at("11:32:00"),
        lastTimestamp: at("11:32:00"),
        metadata: meta("e"),
      },
      edited("z", [], { metadata: meta("z", { deletionTimestamp: at("11:33:00"), finalizers: ["a/b"] }) }),
    ]);
    expect(text.split("\n").slice(1)).toEqual([
      "11:33:00 shop/ConfigMap/z is being deleted, waits for a/b",
      "11:32:00 shop/Pod/p Evicted: low on memory",
      "11:31:00 /Node/n edited by kubectl-cordon, which last wrote:",
      "    spec.unschedulable = true",
      "11:30:00 shop/Deployment/d its scale set by kubectl, which last wrote:",
      "    spec.replicas = 1",
    ]);
  });

  it("shows new pod templates with their difference", async () => {
    const text = await changes([
      deployment("d"),
      replicaSet("d", 1, "10:00:00", "d:1"),
      replicaSet("d", 2, "11:30:00", "d:2"),
    ]);
    expect(text).toContain(
      '11:30:00 shop/Deployment/d new pod template, revision 1 -> 2:\n    ~ spec.containers[d].image: "d:1" -> "d:2"',
    );
  });

  it("dates a template that came back by the deployment's edit", async () => {
    const back = deployment(
      "d",
      {},
      {
        metadata: {
          annotations: { "deployment.kubernetes.io/revision": "3" },
          managedFields: [entry("kubectl-rollout", "11:45:00", { "f:spec": { "f:template": {} } })],
        },
      },
    );
    const text = await changes([
      back,
      replicaSet("d", 2, "11:30:00", "d:2"),
      replicaSet("d", 3, "10:00:00", "d:1", { "deployment.kubernetes.io/revision-history": "1" }),
    ]);
    expect(text).toContain(
      '11:45:00 shop/Deployment/d new pod template, revision 2 -> 3:\n    ~ spec.containers[d].image: "d:2" -> "d:1"',
    );
  });

  it("reads revisions of stateful sets", async () => {
    const revision = (n: number, time: string, image: string) => ({
      kind: "ControllerRevision",
      metadata: meta(`s-${n}`, { creationTimestamp: at(time), ownerReferences: [{ uid: "s" }] }),
      revision: n,
      data: { spec: { template: { $patch: "replace", spec: { containers: [{ name: "s", image }] } } } },
    });
    const text = await changes([
      { kind: "StatefulSet", metadata: meta("s", { uid: "s" }), spec: {} },
      revision(2, "11:30:00", "s:2"),
      revision(1, "10:00:00", "s:1"),
    ]);
    expect(text).toContain('revision 1 -> 2:\n    ~ spec.containers[s].image: "s:1" -> "s:2"');
  });

  it("puts what was made together into one line", async () => {
    const made = (name: string) => service(name, 80);
    const fresh = ["a", "b", "c", "d", "e"].map((name) => ({
      ...made(name),
      metadata: meta(name, { creationTimestamp: at("11:30:00") }),
    }));
    const alone = edited("x", [entry("helm", "11:50:00", { "f:data": {} })], {
      metadata: meta("x", {
        creationTimestamp: at("11:50:00"),
        managedFields: [entry("helm", "11:50:00", { "f:data": {} })],
      }),
    });
    expect((await changes([...fresh, alone])).split("\n").slice(1)).toEqual([
      "11:50:00 shop/ConfigMap/x created by helm",
      "11:30:00 5 objects created: 5 Service",
    ]);
  });

  it("finds in the metrics what is gone", async () => {
    const series = (name: string, labels: object, last: string) => ({
      metric: { __name__: name, namespace: "shop", ...labels },
      values: [
        [seconds("11:00:00"), "1"],
        [seconds(last), "1"],
      ],
    });
    const options = {
      series: [
        series("kube_service_created", { service: "cart" }, "11:20:00"),
        series("kube_service_info", { service: "cart" }, "11:20:00"),
        series("kube_service_created", { service: "web", uid: "old" }, "11:20:00"),
        series("kube_deployment_created", { deployment: "db" }, "12:00:00"),
      ],
    };
    const text = await changes([service("web", 80)], {}, options);
    expect(text.split("\n").slice(1)).toEqual([
      "11:20:00 shop/Service/cart is gone: last seen by metrics at this time, and no longer there",
    ]);
    await Promise.all([cluster?.close(), prometheus?.close()]);
    expect(await changes([service("web", 80)], {}, { ...options, metrics: false })).toContain("nothing was edited");
  });

  it("lists warnings apart, pods of one workload together", async () => {
    const warning = (pod: string, count: number, first: string) => ({
      kind: "Event",
      type: "Warning",
      reason: "BackOff",
      message: "Back-off restarting\n failed container",
      count,
      involvedObject: { kind: "Pod", namespace: "shop", name: pod },
      firstTimestamp: at(first),
      lastTimestamp: at("11:59:00"),
      metadata: meta(pod),
    });
    const text = await changes([
      warning("cart-5b7467bf5d-hmn84", 3, "11:30:00"),
      warning("cart-5b7467bf5d-aaaaa", 4, "11:20:00"),
      warning("db-0", 1, "10:20:00"),
    ]);
    expect(text).toContain(
      "warnings that began in that time (symptoms rather than changes):\n11:20:00 shop/Pod/cart-5b7467bf5d-hmn84 BackOff x7 on 2 objects: Back-off restarting failed container",
    );
    expect(text).not.toContain("db-0");
  });

  it("never shows what a Secret holds", async () => {
    const secret = {
      kind: "Secret",
      metadata: meta("s", { managedFields: [entry("kubectl", "11:30:00", { "f:data": { "f:password": {} } })] }),
      data: { password: "aHVudGVyMg==" },
    };
    const text = await changes([secret]);
    expect(text).toContain("shop/Secret/s edited by kubectl, which last wrote:\n    data.password");
    expect(text).not.toContain("aHVudGVyMg");
  });

  it("filters, and says what there is where nothing fits", async () => {
    const objects = [edited("flags", [entry("kubectl", "11:30:00", { "f:data": { "f:a": {} } })])];
    expect(await changes(objects, { match: "FLAGS" })).toContain('1 change in shop that match "FLAGS"');
    await Promise.all([cluster?.close(), prometheus?.close()]);
    expect(await changes(objects, { match: "cart" })).toContain(
      "none match; without the filter there are 1, the latest: 11:30:00 shop/ConfigMap/flags edited by kubectl",
    );
  });

  it("stays short whatever the values are", async () => {
    const long = edited(
      "x",
      [
        entry("kubectl", "11:30:00", {
          "f:data": Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`f:k${i}`, {}])),
        }),
      ],
      {
        data: Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, "v".repeat(10_000)])),
      },
    );
    const text = await changes([long]);
    expect(text).toContain("which manages 500 fields of it, among them:");
    expect(text.length).toBeLessThan(2_000);
  });
});
