import { describe, expect, it } from "vitest";
import { type Cluster, cluster, deployment, runtime } from "./cluster.js";

const SECOND = 1000;
const MINUTE = 60_000;
const DEPLOYMENTS = "deployments.apps";
const SETS = "replicasets.apps";

const kwok = (more: any = {}) => cluster({ profile: "kwok", ...more });
const condition = (c: Cluster, type: string, name = "web") =>
  c.get(DEPLOYMENTS, name).status.conditions.find((each: any) => each.type === type);
const sets = (c: Cluster) => c.api.list(SETS, "default");
const sizes = (c: Cluster) => sets(c).map((set) => set.spec?.replicas);
function change(c: Cluster, edit: (spec: any) => void, name = "web"): void {
  c.api.modify(DEPLOYMENTS, "default", name, (draft) => edit(draft.spec));
}
const image = (tag: string) => (spec: any) => {
  spec.template.spec.containers[0].image = `shop/main:${tag}`;
};

describe("a new deployment", () => {
  it("has its replica set and pods as soon as the clock settles, and completes", () => {
    const c = kwok();
    c.api.create(DEPLOYMENTS, deployment("web", { replicas: 3 }));
    c.clock.settle();
    expect(c.pods()).toHaveLength(3);
    expect(sets(c)[0]?.metadata.annotations).toEqual({
      "deployment.kubernetes.io/desired-replicas": "3",
      "deployment.kubernetes.io/max-replicas": "4",
      "deployment.kubernetes.io/revision": "1",
    });
    expect(condition(c, "Progressing")).toMatchObject({
      status: "True",
      reason: "ReplicaSetUpdated",
      message: `ReplicaSet "${sets(c)[0]?.metadata.name}" is progressing.`,
    });
    expect(condition(c, "Available")).toMatchObject({ status: "False", reason: "MinimumReplicasUnavailable" });
    c.clock.advance(SECOND);
    const { status } = c.get(DEPLOYMENTS, "web");
    expect(status).toMatchObject({ replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 });
    expect(status.unavailableReplicas).toBeUndefined();
    expect(condition(c, "Progressing")).toMatchObject({
      reason: "NewReplicaSetAvailable",
      message: `ReplicaSet "${sets(c)[0]?.metadata.name}" has successfully progressed.`,
    });
    const events = c.events();
    expect(events).toContain(`ScalingReplicaSet: Scaled up replica set ${sets(c)[0]?.metadata.name} from 0 to 3`);
    expect(events.filter((event) => event.startsWith("SuccessfulCreate: Created pod: web-"))).toHaveLength(3);
  });

  it("names its replica set by its template", () => {
    const names = ["a", "b"].map((seed) => {
      const c = kwok({ seed });
      c.api.create(DEPLOYMENTS, deployment("web"));
      c.clock.settle();
      return sets(c)[0]?.metadata.name;
    });
    expect(names[0]).toBe(names[1]);
    expect(names[0]).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5,10}$/);
  });

  it("takes over an orphan with its template", () => {
    const c = kwok();
    c.api.create(DEPLOYMENTS, deployment("web"));
    c.clock.advance(SECOND);
    const before = sets(c)[0];
    c.api.delete(DEPLOYMENTS, "default", "web", { propagationPolicy: "Orphan" });
    c.clock.settle();
    expect(c.get(DEPLOYMENTS, "web")).toBeUndefined();
    expect(sets(c)[0]?.metadata.ownerReferences).toBeUndefined();
    c.api.create(DEPLOYMENTS, deployment("web"));
    c.clock.settle();
    expect(sets(c)).toHaveLength(1);
    expect(sets(c)[0]?.metadata).toMatchObject({ uid: before?.metadata.uid, ownerReferences: [{ name: "web" }] });
  });
});

describe("a rolling update", () => {
  it.each([
    [1, "25%", "25%", 2, 1],
    [3, "25%", "25%", 4, 3],
    [4, 1, 1, 5, 3],
    [4, 0, 1, 4, 3],
    [4, 2, 0, 6, 4],
    [10, "25%", "25%", 13, 8],
  ])(
    "of %i replicas with surge %s and unavailable %s keeps within its fences",
    (replicas, maxSurge, maxUnavailable, most, least) => {
      const c = kwok();
      c.api.create(
        DEPLOYMENTS,
        deployment("web", { replicas, strategy: { rollingUpdate: { maxSurge, maxUnavailable } } }),
      );
      c.clock.advance(2 * SECOND);
      change(c, image("2"));
      for (let t = 0; t < 5 * SECOND; t += 10) {
        const pods = c.pods().filter((each) => each.metadata.deletionTimestamp === undefined);
        const ready = pods.filter((each) => each.status?.phase === "Running");
        expect(pods.length).toBeLessThanOrEqual(most);
        expect(ready.length).toBeGreaterThanOrEqual(least);
        c.clock.advance(10);
      }
      expect(c.pods().map((each) => each.spec.containers[0].image)).toEqual(Array(replicas).fill("shop/main:2"));
      expect(sizes(c).sort()).toEqual([0, replicas].sort());
      expect(condition(c, "Progressing").reason).toBe("NewReplicaSetAvailable");
    },
  );

  it("stops at a bad image, keeps the old pods, and says so after the deadline", () => {
    const c = cluster({
      runtime: runtime({
        pull: (name) =>
          name.endsWith("bad")
            ? { ok: false, reason: "ErrImagePull", message: "not found" }
            : { ok: true, durationMs: 100 },
      }),
    });
    c.api.create(DEPLOYMENTS, deployment("web", { replicas: 3, progressDeadlineSeconds: 60 }));
    c.clock.advance(10 * SECOND);
    change(c, image("bad"));
    c.clock.advance(30 * SECOND);
    expect(c.get(DEPLOYMENTS, "web").status).toMatchObject({
      replicas: 4,
      updatedReplicas: 1,
      availableReplicas: 3,
      unavailableReplicas: 1,
    });
    c.clock.advance(MINUTE);
    expect(condition(c, "Progressing")).toMatchObject({
      status: "False",
      reason: "ProgressDeadlineExceeded",
      message: expect.stringMatching(/^ReplicaSet "web-\w+" has timed out progressing\.$/),
    });
    expect(condition(c, "Available").status).toBe("True");
    change(c, image("good"));
    c.clock.advance(MINUTE);
    expect(condition(c, "Progressing")).toMatchObject({ status: "True", reason: "NewReplicaSetAvailable" });
    expect(c.pods()).toHaveLength(3);
  });

  it("waits for minReadySeconds before a pod counts as available", () => {
    const c = kwok();
    c.api.create(DEPLOYMENTS, deployment("web", { replicas: 2, minReadySeconds: 20 }));
    c.clock.advance(10 * SECOND);
    expect(c.get(DEPLOYMENTS, "web").status).toMatchObject({ readyReplicas: 2, unavailableReplicas: 2 });
    c.clock.advance(15 * SECOND);
    expect(c.get(DEPLOYMENTS, "web").status).toMatchObject({ availableReplicas: 2 });
  });
});

describe("revisions", () => {
  it("count up, and a template that is back takes the next number", () => {
    const c = kwok();
    c.api.create(DEPLOYMENTS, deployment("web"));
    c.clock.advance(SECOND);
    for (const tag of ["2", "3", "1"]) {
      change(c, image(tag));
      c.clock.advance(2 * SECOND);
    }
    const revisions = Object.fromEntries(
      sets(c).map((set) => [
        set.spec?.template.spec.containers[0].image,
        set.metadata.annotations?.["deployment.kubernetes.io/revision"],
      ]),
    );
    expect(revisions).toEqual({ "shop/main:1": "4", "shop/main:2": "2", "shop/main:3": "3" });
    const [back] = sets(c).filter((set) => set.spec?.replicas === 1);
    expect(back?.metadata.annotations?.["deployment.kubernetes.io/revision-history"]).toBe("1");
    expect(c.get(DEPLOYMENTS, "web").metadata.annotations["deployment.kubernetes.io/revision"]).toBe("4");
  });

  it("are kept up to the limit", () => {
    const c = kwok();
    c.api.create(DEPLOYMENTS, deployment("web", { revisionHistoryLimit: 2 }));
    for (let i = 1; i <= 6; i++) {
      change(c, image(String(i)));
      c.clock.advance(2 * SECOND);
    }
    expect(sets(c)).toHaveLength(3);
  });

  it("do not change the deployment's generation", () => {
    const c = kwok();
    c.api.create(DEPLOYMENTS, deployment("web"));
    c.clock.advance(SECOND);
    const { metadata, status } = c.get(DEPLOYMENTS, "web");
    expect([metadata.generation, status.observedGeneration]).toEqual([1, 1]);
  });
});

describe("Recreate", () => {
  it("has no pod of the new template before the last old one is gone", () => {
    const c = cluster({ runtime: runtime({ terminationMs: () => 5 * SECOND }) });
    c.api.create(DEPLOYMENTS, deployment("web", { replicas: 2, strategy: { type: "Recreate" } }));
    c.clock.advance(10 * SECOND);
    change(c, image("2"));
    c.clock.advance(3 * SECOND);
    expect(c.pods().map((each) => each.spec.containers[0].image)).toEqual(["shop/main:1", "shop/main:1"]);
    c.clock.advance(10 * SECOND);
    expect(c.pods().map((each) => each.spec.containers[0].image)).toEqual(["shop/main:2", "shop/main:2"]);
    expect(condition(c, "Progressing").reason).toBe("NewReplicaSetAvailable");
  });
});

describe("pausing", () => {
  it("holds a new template back, lets the size change, and goes on when resumed", () => {
    const c = kwok();
    c.api.create(DEPLOYMENTS, deployment("web", { replicas: 2 }));
    c.clock.advance(SECOND);
    change(c, (spec) => {
      spec.paused = true;
    });
    c.clock.settle();
    expect(condition(c, "Progressing")).toMatchObject({ status: "Unknown", reason: "DeploymentPaused" });
    change(c, image("2"));
    change(c, (spec) => {
      spec.replicas = 4;
    });
    c.clock.advance(2 * SECOND);
    expect(sizes(c)).toEqual([4]);
    change(c, (spec) => {
      delete spec.paused;
    });
    c.clock.advance(3 * SECOND);
    expect(sizes(c).sort()).toEqual([0, 4]);
    expect(condition(c, "Progressing").reason).toBe("NewReplicaSetAvailable");
  });
});

describe("scaling", () => {
  it.each([
    [3, 5],
    [5, 2],
    [3, 0],
    [0, 3],
  ])("from %i to %i", (from, to) => {
    const c = kwok();
    c.api.create(DEPLOYMENTS, deployment("web", { replicas: from }));
    c.clock.advance(SECOND);
    change(c, (spec) => {
      spec.replicas = to;
    });
    c.clock.advance(SECOND);
    expect(c.pods()).toHaveLength(to);
    const direction = to > from ? "up" : "down";
    expect(c.events()).toContain(
      `ScalingReplicaSet: Scaled ${direction} replica set ${sets(c)[0]?.metadata.name} from ${from} to ${to}`,
    );
    const { status } = c.get(DEPLOYMENTS, "web");
    expect(status.replicas ?? 0).toBe(to);
    expect(condition(c, "Available").status).toBe("True");
  });

  it("in the middle of a stuck rollout shares the change out by size", () => {
    const c = cluster({
      runtime: runtime({
        pull: (name) =>
          name.endsWith("bad") ? { ok: false, reason: "ErrImagePull", message: "no" } : { ok: true, durationMs: 1 },
      }),
    });
    c.api.create(
      DEPLOYMENTS,
      deployment("web", { replicas: 10, strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } }),
    );
    c.clock.advance(10 * SECOND);
    change(c, image("bad"));
    c.clock.advance(10 * SECOND);
    expect(sizes(c).sort()).toEqual([5, 8]);
    change(c, (spec) => {
      spec.replicas = 15;
    });
    c.clock.advance(5 * SECOND);
    // The example of Kubernetes' documentation: 15 + 3 pods, 11 old and 7 new.
    expect(sizes(c).sort()).toEqual([11, 7]);
  });

  it("puts back what somebody takes from its replica set, and replaces deleted pods", () => {
    const c = kwok();
    c.api.create(DEPLOYMENTS, deployment("web", { replicas: 2 }));
    c.clock.advance(SECOND);
    c.api.modify(SETS, "default", sets(c)[0]?.metadata.name ?? "", (draft) => {
      draft.spec.replicas = 0;
    });
    c.clock.advance(SECOND);
    expect(c.pods()).toHaveLength(2);
    c.api.delete("pods", "default", c.pods()[0]?.metadata.name ?? "");
    c.clock.advance(SECOND);
    expect(c.pods()).toHaveLength(2);
    expect(c.pods().every((each) => each.status?.phase === "Running")).toBe(true);
  });
});

describe("a deployment that goes", () => {
  it.each(["Background", "Foreground"] as const)("%s takes its replica sets and pods with it", (propagationPolicy) => {
    const c = kwok();
    c.api.create(DEPLOYMENTS, deployment("web", { replicas: 2 }));
    c.clock.advance(SECOND);
    c.api.delete(DEPLOYMENTS, "default", "web", { propagationPolicy });
    c.clock.advance(SECOND);
    expect([c.get(DEPLOYMENTS, "web"), sets(c), c.pods()]).toEqual([undefined, [], []]);
  });
});

it("shows a quota's refusal as ReplicaFailure", () => {
  const c = kwok();
  c.api.create("resourcequotas", {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "few", namespace: "default" },
    spec: { hard: { pods: "2" } },
  });
  c.clock.settle();
  c.api.create(DEPLOYMENTS, deployment("web", { replicas: 3 }));
  c.clock.advance(SECOND);
  expect(c.pods()).toHaveLength(2);
  const why = "is forbidden: exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2";
  expect(condition(c, "ReplicaFailure")).toMatchObject({
    status: "True",
    reason: "FailedCreate",
    message: expect.stringContaining(why),
  });
  expect(
    c.events().some((event) => event.startsWith("FailedCreate: Error creating: pods") && event.includes(why)),
  ).toBe(true);
  expect(c.get("resourcequotas", "few").status).toEqual({ hard: { pods: "2" }, used: { pods: "2" } });
  c.api.delete("resourcequotas", "default", "few");
  c.clock.advance(5 * MINUTE);
  expect(c.pods()).toHaveLength(3);
  expect(condition(c, "ReplicaFailure")).toBeUndefined();
});
