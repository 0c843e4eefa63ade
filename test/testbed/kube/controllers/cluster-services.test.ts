/** Endpoints, namespaces, garbage, nodes, quotas, volumes, budgets, autoscalers: what the cluster does around workloads. */
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../../../testbed/clock.js";
import { WorkQueue } from "../../../../testbed/kube/controllers/queue.js";
import { type Cluster, cluster, deployment, pod, runtime, START } from "./cluster.js";

const SECOND = 1000;
const MINUTE = 60_000;
const SLICES = "endpointslices.discovery.k8s.io";
const kwok = (more: any = {}) => cluster({ profile: "kwok", ...more });
const meta = (name: string) => ({ name, namespace: "default" });

describe("a service's endpoints", () => {
  const service = (spec: any = {}, name = "web") => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: meta(name),
    spec: { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: "http" }], ...spec },
  });
  const ports = [{ name: "http", containerPort: 8080 }];
  const web = (replicas = 2, more: any = {}) => deployment("web", { replicas }, { ports, ...more });
  const slices = (c: Cluster) =>
    c.api.list(SLICES, "default").filter((each) => each.metadata.labels?.["kubernetes.io/service-name"] === "web");

  it("are the ready pods, in both kinds", () => {
    const c = kwok();
    c.api.create("services", service());
    c.clock.settle();
    expect(c.get("endpoints", "web").subsets).toBeUndefined();
    expect(slices(c)[0]?.endpoints).toBeNull();
    expect(slices(c)[0]?.ports ?? null).toBeNull();
    c.api.create("deployments.apps", web());
    c.clock.advance(SECOND);
    const ips = c
      .pods()
      .map((each) => each.status?.podIP)
      .sort();
    const [subset] = c.get("endpoints", "web").subsets;
    expect(subset.addresses.map((each: any) => each.ip)).toEqual(ips);
    expect(subset.ports).toEqual([{ name: "http", port: 8080, protocol: "TCP" }]);
    expect(slices(c)).toHaveLength(1);
    expect(slices(c)[0]?.metadata.name).toMatch(/^web-\w{5}$/);
    expect(
      slices(c)[0]
        ?.endpoints.map((each: any) => each.addresses[0])
        .sort(),
    ).toEqual(ips);
    expect(slices(c)[0]?.endpoints[0].conditions).toEqual({ ready: true, serving: true, terminating: false });
  });

  const empty: [string, (c: Cluster) => void][] = [
    [
      "another selector",
      (c) =>
        void c.api.modify("services", "default", "web", (draft) => {
          draft.spec.selector = { app: "x" };
        }),
    ],
    [
      "no replicas",
      (c) =>
        void c.api.modify("deployments.apps", "default", "web", (draft) => {
          draft.spec.replicas = 0;
        }),
    ],
    [
      "an unknown port name",
      (c) =>
        void c.api.modify("services", "default", "web", (draft) => {
          draft.spec.ports[0].targetPort = "nope";
        }),
    ],
  ];
  it.each(empty)("are none with %s", (_what, change) => {
    const c = kwok();
    c.api.create("services", service());
    c.api.create("deployments.apps", web());
    c.clock.advance(SECOND);
    change(c);
    c.clock.advance(SECOND);
    expect(c.get("endpoints", "web").subsets).toBeUndefined();
  });

  it("follow a changed target port", () => {
    const c = kwok();
    c.api.create("services", service());
    c.api.create("deployments.apps", web());
    c.clock.advance(SECOND);
    c.api.modify("services", "default", "web", (draft) => {
      draft.spec.ports[0].targetPort = 9999;
    });
    c.clock.settle();
    expect(c.get("endpoints", "web").subsets[0].ports[0].port).toBe(9999);
    expect(slices(c).map((each) => each.ports[0].port)).toEqual([9999]);
  });

  it.each([
    [false, undefined, 2, false],
    [true, 2, undefined, true],
  ])("with publishNotReadyAddresses %s", (publishNotReadyAddresses, addresses, notReady, ready) => {
    const c = cluster({ runtime: runtime({ probe: () => ({ ok: false }) }) });
    c.api.create("services", service({ publishNotReadyAddresses }));
    c.api.create("deployments.apps", web(2, { readinessProbe: { tcpSocket: { port: 1 } } }));
    c.clock.advance(20 * SECOND);
    const [subset] = c.get("endpoints", "web").subsets;
    expect(subset.addresses?.length).toBe(addresses);
    expect(subset.notReadyAddresses?.length).toBe(notReady);
    expect(slices(c)[0]?.endpoints[0].conditions.ready).toBe(ready);
  });

  it("keep a terminating pod in the slice, not ready but serving", () => {
    const c = cluster({ runtime: runtime({ terminationMs: () => 10 * SECOND }) });
    c.api.create("services", service());
    c.api.create("deployments.apps", web(1));
    c.clock.advance(10 * SECOND);
    c.api.modify("deployments.apps", "default", "web", (draft) => {
      draft.spec.replicas = 0;
    });
    c.clock.advance(SECOND);
    expect(slices(c)[0]?.endpoints[0].conditions).toEqual({ ready: false, serving: true, terminating: true });
    expect(c.get("endpoints", "web").subsets).toBeUndefined();
    c.clock.advance(20 * SECOND);
    expect(slices(c)[0]?.endpoints).toBeNull();
  });

  it("of a headless service name the pods of a stateful set", () => {
    const c = kwok();
    c.api.create("services", service({ clusterIP: "None", selector: { app: "db" }, ports: [{ port: 5432 }] }, "db"));
    c.api.create("statefulsets.apps", {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: meta("db"),
      spec: {
        serviceName: "db",
        selector: { matchLabels: { app: "db" } },
        template: { metadata: { labels: { app: "db" } }, spec: { containers: [{ name: "m", image: "i" }] } },
      },
    });
    c.clock.advance(SECOND);
    const endpoints = c.get("endpoints", "db");
    expect(endpoints.metadata.labels).toMatchObject({ "service.kubernetes.io/headless": "" });
    expect(endpoints.subsets[0].addresses[0]).toMatchObject({ hostname: "db-0" });
    expect(endpoints.subsets[0].ports).toEqual([{ port: 5432, protocol: "TCP" }]);
  });

  it("go with the service, come back with it, and are left alone without a selector", () => {
    const c = kwok();
    c.api.create("services", service());
    c.api.create("deployments.apps", web());
    c.clock.advance(SECOND);
    c.api.delete("services", "default", "web");
    c.clock.settle();
    expect([c.get("endpoints", "web"), slices(c)]).toEqual([undefined, []]);
    c.api.create("services", service());
    c.clock.settle();
    expect(c.get("endpoints", "web").subsets[0].addresses).toHaveLength(2);
    c.api.create("services", service({ selector: undefined }, "bare"));
    c.clock.settle();
    expect(c.get("endpoints", "bare")).toBeUndefined();
    c.api.delete("endpoints", "default", "web");
    c.clock.settle();
    expect(c.get("endpoints", "web").subsets[0].addresses).toHaveLength(2);
  });
});

describe("a namespace", () => {
  it("is given its service account and root certificate, again when they are deleted", () => {
    const c = cluster();
    c.api.create("namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    c.clock.settle();
    expect(c.api.get("serviceaccounts", "shop", "default")).toBeDefined();
    expect(c.api.get("configmaps", "shop", "kube-root-ca.crt")?.data["ca.crt"]).toContain("BEGIN CERTIFICATE");
    c.api.delete("serviceaccounts", "shop", "default");
    c.clock.settle();
    expect(c.api.get("serviceaccounts", "shop", "default")).toBeDefined();
  });

  it("goes when all that was in it is gone", () => {
    const c = cluster({ runtime: runtime({ terminationMs: () => 5 * SECOND }) });
    c.api.create("namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    const web = deployment("web", { replicas: 2 });
    c.api.create("deployments.apps", { ...web, metadata: { ...web.metadata, namespace: "shop" } });
    c.clock.advance(10 * SECOND);
    c.api.delete("namespaces", undefined, "shop");
    // For the first seconds, only the phase tells.
    c.clock.advance(4 * SECOND);
    expect(c.api.get("namespaces", undefined, "shop")?.status).toEqual({ phase: "Terminating" });
    expect(c.api.list("deployments.apps", "shop")).toHaveLength(1);
    c.clock.advance(2 * SECOND);
    const namespace: any = c.api.get("namespaces", undefined, "shop");
    expect(namespace.status.phase).toBe("Terminating");
    expect(namespace.status.conditions.find((each: any) => each.type === "NamespaceContentRemaining")).toMatchObject({
      status: "True",
      message: "Some resources are remaining: pods. has 2 resource instances",
    });
    c.clock.advance(15 * SECOND);
    expect(c.api.get("namespaces", undefined, "shop")).toBeUndefined();
    for (const resource of ["pods", "replicasets.apps", "events", "configmaps"])
      expect(c.api.list(resource, "shop")).toEqual([]);
  });
});

describe("garbage collection", () => {
  const owned = (name: string, owners: any[]) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { ...meta(name), ownerReferences: owners },
  });
  const reference = (object: any) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    name: object.metadata.name,
    uid: object.metadata.uid,
  });

  it("takes what has lost all its owners, and keeps what has one left", () => {
    const c = kwok();
    const [a, b] = ["a", "b"].map((name) =>
      c.api.create("configmaps", { apiVersion: "v1", kind: "ConfigMap", metadata: meta(name) }),
    );
    c.api.create("configmaps", owned("one", [reference(a)]));
    c.api.create("configmaps", owned("two", [reference(a), reference(b)]));
    c.clock.settle();
    c.api.delete("configmaps", "default", "a");
    c.clock.settle();
    expect(c.get("configmaps", "one")).toBeUndefined();
    expect(c.get("configmaps", "two").metadata.ownerReferences).toMatchObject([{ name: "b" }]);
  });

  it("takes what names an owner that never was", () => {
    const c = kwok();
    c.api.create("configmaps", owned("lost", [{ apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "nobody" }]));
    c.clock.settle();
    expect(c.get("configmaps", "lost")).toBeUndefined();
  });
});

describe("nodes", () => {
  it("are registered, with an event", () => {
    const c = kwok();
    const events = c.api.list("events", "default").filter((each) => each.reason === "RegisteredNode");
    expect(events.map((each) => each.message)).toEqual(
      expect.arrayContaining([1, 2, 3].map((n) => `Node node-${n} event: Registered Node node-${n} in Controller`)),
    );
  });

  it.each(["kwok", "containerd"] as const)(
    "that are not there run nothing, and their pods are given up (%s)",
    (profile) => {
      const c = cluster({ profile });
      c.api.create("pods", pod("web", { nodeName: "nowhere" }));
      c.clock.advance(30 * SECOND);
      expect(c.get("pods", "web").status.phase).toBe("Pending");
      c.clock.advance(30 * SECOND);
      expect(c.get("pods", "web")).toBeUndefined();
    },
  );

  it("that are deleted lose their pods, which come back elsewhere", () => {
    const c = kwok();
    c.api.create("deployments.apps", deployment("web", { replicas: 3 }));
    c.clock.advance(SECOND);
    c.api.delete("nodes", undefined, "node-1");
    c.clock.advance(MINUTE);
    expect(c.pods()).toHaveLength(3);
    expect(c.pods().every((each) => ["node-2", "node-3"].includes(each.spec.nodeName))).toBe(true);
  });

  it("evict what does not tolerate a NoExecute taint, after the time that it tolerates it", () => {
    const c = kwok({ count: 1 });
    const key = "maintenance";
    c.api.create("pods", pod("now"));
    c.api.create("pods", pod("later", { tolerations: [{ key, operator: "Exists", tolerationSeconds: 60 }] }));
    c.api.create("pods", pod("never", { tolerations: [{ key, operator: "Exists" }] }));
    c.clock.advance(SECOND);
    c.api.modify("nodes", undefined, "node-1", (draft) => {
      draft.spec.taints = [{ key, effect: "NoExecute" }];
    });
    const left = () => c.pods().map((each) => each.metadata.name);
    c.clock.advance(SECOND);
    expect(left()).toEqual(["later", "never"]);
    c.clock.advance(70 * SECOND);
    expect(left()).toEqual(["never"]);
  });
});

describe("quotas", () => {
  const quota = (hard: any) => ({ apiVersion: "v1", kind: "ResourceQuota", metadata: meta("q"), spec: { hard } });
  const sized = (name: string, cpu: string) =>
    pod(name, { containers: [{ name: "m", image: "i", resources: { requests: { cpu } } }] });

  it.each([
    [
      "requests.cpu",
      "1",
      sized("a", "600m"),
      sized("b", "600m"),
      "exceeded quota: q, requested: requests.cpu=600m, used: requests.cpu=600m, limited: requests.cpu=1",
    ],
    ["requests.cpu", "1", undefined, pod("b"), "failed quota: q: must specify requests.cpu for: main"],
    ["pods", "1", pod("a"), pod("b"), "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"],
    [
      "count/pods",
      "0",
      undefined,
      pod("b"),
      "exceeded quota: q, requested: count/pods=1, used: count/pods=0, limited: count/pods=0",
    ],
  ])("on %s=%s", (resource, limit, first, second, message) => {
    const c = kwok();
    c.api.create("resourcequotas", quota({ [resource]: limit }));
    c.clock.settle();
    if (first) c.api.create("pods", first);
    c.clock.settle();
    expect(() => c.api.create("pods", second)).toThrow(`pods "${second.metadata.name}" is forbidden: ${message}`);
    c.stop();
    expect(() => c.api.create("pods", second)).not.toThrow();
  });

  it("count other objects, and write down what is used", () => {
    const c = kwok();
    c.api.create("resourcequotas", quota({ configmaps: "2", "requests.memory": "1Gi" }));
    c.api.create("configmaps", { apiVersion: "v1", kind: "ConfigMap", metadata: meta("x") });
    c.clock.settle();
    expect(c.get("resourcequotas", "q").status.used).toEqual({ configmaps: "2", "requests.memory": "0" });
    expect(() => c.api.create("configmaps", { apiVersion: "v1", kind: "ConfigMap", metadata: meta("y") })).toThrow(
      "exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=2",
    );
  });
});

describe("volumes", () => {
  const CLAIMS = "persistentvolumeclaims";
  const claim = (spec: any = {}) => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: meta("data"),
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "5Gi" } }, ...spec },
  });
  const using = { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }] };

  it("are made for the first pod that needs them, and reclaimed with the claim", () => {
    const c = cluster();
    c.api.create(CLAIMS, claim());
    c.clock.advance(5 * SECOND);
    expect(c.get(CLAIMS, "data").status.phase).toBe("Pending");
    expect(c.events("data")).toContain("WaitForFirstConsumer: waiting for first consumer to be created before binding");
    c.api.create("pods", pod("web", using));
    c.clock.advance(30 * SECOND);
    const bound = c.get(CLAIMS, "data");
    expect(bound.status).toMatchObject({ phase: "Bound", capacity: { storage: "5Gi" } });
    expect(c.api.get("persistentvolumes", undefined, bound.spec.volumeName)?.status?.phase).toBe("Bound");
    expect(c.get("pods", "web").status.phase).toBe("Running");
    c.api.delete(CLAIMS, "default", "data");
    c.clock.advance(SECOND);
    expect(c.get(CLAIMS, "data").metadata.deletionTimestamp).toBeDefined();
    c.api.delete("pods", "default", "web");
    c.clock.advance(5 * SECOND);
    expect(c.get(CLAIMS, "data")).toBeUndefined();
    expect(c.api.list("persistentvolumes")).toEqual([]);
  });

  it("of the right size and class are bound, the smallest first", () => {
    const c = kwok();
    for (const [name, storage] of [
      ["small", "1Gi"],
      ["large", "50Gi"],
      ["fitting", "10Gi"],
    ] as const) {
      c.api.create("persistentvolumes", {
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: { name },
        spec: { capacity: { storage }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } },
      });
    }
    c.api.create(CLAIMS, claim({ storageClassName: "" }));
    c.clock.settle();
    expect(c.get(CLAIMS, "data").spec.volumeName).toBe("fitting");
    expect(c.api.get("persistentvolumes", undefined, "small")?.status?.phase).toBe("Available");
  });

  it.each([
    [undefined, "FailedBinding: no persistent volumes available for this claim and no storage class is set"],
    ["fast", 'ProvisioningFailed: storageclass.storage.k8s.io "fast" not found'],
  ])("of class %s cannot be had on fake nodes, and the pod waits", (storageClassName, event) => {
    const c = kwok();
    c.api.create(CLAIMS, claim({ storageClassName }));
    c.api.create("pods", pod("web", using));
    c.clock.advance(SECOND);
    expect(c.events("data")).toContain(event);
    expect(c.events("web")[0]).toContain("pod has unbound immediate PersistentVolumeClaims");
  });
});

it("a disruption budget counts what it may spare", () => {
  const c = kwok();
  c.api.create("deployments.apps", deployment("web", { replicas: 4 }));
  const BUDGETS = "poddisruptionbudgets.policy";
  c.api.create(BUDGETS, {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: meta("web"),
    spec: { maxUnavailable: "50%", selector: { matchLabels: { app: "web" } } },
  });
  c.clock.advance(SECOND);
  expect(c.get(BUDGETS, "web").status).toMatchObject({
    currentHealthy: 4,
    desiredHealthy: 2,
    disruptionsAllowed: 2,
    expectedPods: 4,
    conditions: [{ type: "DisruptionAllowed", status: "True", reason: "SufficientPods" }],
  });
});

describe("an autoscaler", () => {
  const HPAS = "horizontalpodautoscalers.autoscaling";
  const hpa = {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: meta("web"),
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 5,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
      ],
    },
  };
  const conditions = (c: Cluster) =>
    Object.fromEntries(c.get(HPAS, "web").status.conditions.map((each: any) => [each.type, each.reason]));
  const requests = { resources: { requests: { cpu: "100m" } } };

  it("follows the usage of its pods up, and down after five minutes", () => {
    let cores = 0.2;
    const c = cluster({ runtime: runtime({ usage: () => ({ cpuCores: cores, memoryBytes: 1 }) }) });
    c.api.create("deployments.apps", deployment("web", {}, requests));
    c.api.create(HPAS, hpa);
    c.clock.advance(20 * SECOND);
    expect(c.get("deployments.apps", "web").spec.replicas).toBe(4);
    expect(c.events("web")).toContain(
      "SuccessfulRescale: New size: 4; reason: cpu resource utilization (percentage of request) above target",
    );
    c.clock.advance(40 * SECOND);
    expect(c.get("deployments.apps", "web").spec.replicas).toBe(5);
    expect(conditions(c).ScalingLimited).toBe("TooManyReplicas");
    cores = 0.01;
    c.clock.advance(2 * MINUTE);
    expect(c.get("deployments.apps", "web").spec.replicas).toBe(5);
    expect(conditions(c).AbleToScale).toBe("ScaleDownStabilized");
    c.clock.advance(5 * MINUTE);
    expect(c.get("deployments.apps", "web").spec.replicas).toBe(1);
    expect(c.events("web")).toContain("SuccessfulRescale: New size: 1; reason: All metrics below target");
  });

  it("says what is missing", () => {
    const c = kwok();
    c.api.create("deployments.apps", deployment("web", {}, requests));
    c.api.create(HPAS, hpa);
    c.clock.advance(10 * SECOND);
    expect(c.get(HPAS, "web").status.conditions).toBeUndefined();
    c.clock.advance(10 * SECOND);
    const why =
      "failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)";
    expect(c.events("web")).toEqual(expect.arrayContaining([`FailedGetResourceMetric: ${why}`]));
    expect(conditions(c)).toEqual({ AbleToScale: "SucceededGetScale", ScalingActive: "FailedGetResourceMetric" });
    c.api.modify("deployments.apps", "default", "web", (draft) => {
      draft.spec.replicas = 0;
    });
    c.clock.advance(20 * SECOND);
    expect(conditions(c).ScalingActive).toBe("ScalingDisabled");
    c.api.delete("deployments.apps", "default", "web");
    c.clock.advance(20 * SECOND);
    expect(conditions(c).AbleToScale).toBe("FailedGetScale");
    expect(c.events("web")).toContain('FailedGetScale: deployments.apps "web" not found');
  });
});

describe("the work queue", () => {
  it("reconciles a key once however often it is added, in order, within the instant", () => {
    const clock = new VirtualClock(START);
    const seen: string[] = [];
    const queue = new WorkQueue(clock, (key) => seen.push(key));
    for (const key of ["b", "a", "b"]) queue.add(key);
    clock.settle();
    expect(seen).toEqual(["b", "a"]);
  });

  it("keeps the earliest appointment, waits longer after each failure, and stops", () => {
    const clock = new VirtualClock(START);
    const seen: number[] = [];
    const queue = new WorkQueue(clock, () => seen.push(clock.now() - START));
    queue.addAfter("a", 100);
    queue.addAfter("a", 50);
    queue.addAfter("a", 200);
    clock.advance(1000);
    expect(seen).toEqual([50]);
    seen.length = 0;
    for (let i = 0; i < 4; i++) {
      queue.retry("b");
      clock.advance(1000);
    }
    expect(seen.map((at) => at % 1000)).toEqual([5, 10, 20, 40]);
    queue.addAfter("c", 10);
    queue.stop();
    expect(clock.next()).toBeUndefined();
  });
});

it("the same seed gives the same cluster", () => {
  const run = () => {
    const c = cluster({ seed: "same" });
    c.api.create("deployments.apps", deployment("web", { replicas: 3 }));
    c.clock.advance(MINUTE);
    return JSON.stringify([c.pods(), c.events()]);
  };
  expect(run()).toBe(run());
});
