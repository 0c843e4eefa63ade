import { describe, expect, it } from "vitest";
import { nextTime, parseCron } from "../../../../testbed/kube/controllers/cron-schedule.js";
import type { StartPlan } from "../../../../testbed/kube/runtime.js";
import { type Cluster, cluster, pod, runtime } from "./cluster.js";

const SECOND = 1000;
const MINUTE = 60_000;
const kwok = (more: any = {}) => cluster({ profile: "kwok", ...more });
const meta = (name: string) => ({ name, namespace: "default" });
const template = (app: string, spec: any = {}) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: "main", image: "i:1" }], ...spec },
});
const names = (c: Cluster) => c.pods().map((each) => each.metadata.name);

describe("a stateful set", () => {
  const SETS = "statefulsets.apps";
  const db = (spec: any = {}) => ({
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: meta("db"),
    spec: {
      replicas: 3,
      serviceName: "db",
      selector: { matchLabels: { app: "db" } },
      template: template("db"),
      ...spec,
    },
  });
  const edit = (c: Cluster, change: (spec: any) => void) =>
    c.api.modify(SETS, "default", "db", (draft) => change(draft.spec));

  it("creates its pods in order, each with its name, labels and host name", () => {
    const c = kwok();
    c.api.create(SETS, db());
    c.clock.settle();
    expect(names(c)).toEqual(["db-0"]);
    c.clock.advance(3 * SECOND);
    expect(names(c)).toEqual(["db-0", "db-1", "db-2"]);
    const first = c.get("pods", "db-1");
    expect(first.metadata.labels).toEqual({
      app: "db",
      "apps.kubernetes.io/pod-index": "1",
      "controller-revision-hash": c.get(SETS, "db").status.currentRevision,
      "statefulset.kubernetes.io/pod-name": "db-1",
    });
    expect(first.spec).toMatchObject({ hostname: "db-1", subdomain: "db" });
    expect(c.get(SETS, "db").status).toMatchObject({
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      collisionCount: 0,
    });
    expect(c.events("db")).toEqual(
      [0, 1, 2].map((n) => `SuccessfulCreate: create Pod db-${n} in StatefulSet db successful`),
    );
  });

  it("creates them all at once when told Parallel", () => {
    const c = kwok();
    c.api.create(SETS, db({ podManagementPolicy: "Parallel" }));
    c.clock.settle();
    expect(names(c)).toHaveLength(3);
  });

  it("stops at a pod that is not well", () => {
    const c = cluster({ runtime: runtime({ probe: () => ({ ok: false }) }) });
    const containers = [{ name: "main", image: "i", readinessProbe: { tcpSocket: { port: 1 } } }];
    c.api.create(SETS, db({ template: template("db", { containers }) }));
    c.clock.advance(MINUTE);
    expect(names(c)).toEqual(["db-0"]);
  });

  it("scales down from the last, and updates from the last down to the partition", () => {
    const c = kwok();
    c.api.create(SETS, db({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 1 } } }));
    c.clock.advance(3 * SECOND);
    edit(c, (spec) => {
      spec.template.spec.containers[0].image = "i:2";
    });
    c.clock.advance(5 * SECOND);
    const images = () => c.pods().map((each) => each.spec.containers[0].image);
    expect(images()).toEqual(["i:1", "i:2", "i:2"]);
    const { status } = c.get(SETS, "db");
    expect(status.currentRevision).not.toBe(status.updateRevision);
    expect(status).toMatchObject({ currentReplicas: 1, updatedReplicas: 2 });
    edit(c, (spec) => {
      spec.updateStrategy.rollingUpdate.partition = 0;
    });
    c.clock.advance(5 * SECOND);
    expect(images()).toEqual(["i:2", "i:2", "i:2"]);
    expect(c.get(SETS, "db").status.currentRevision).toBe(c.get(SETS, "db").status.updateRevision);
    edit(c, (spec) => {
      spec.replicas = 1;
    });
    c.clock.advance(3 * SECOND);
    expect(names(c)).toEqual(["db-0"]);
    expect(c.events("db")).toContain("SuccessfulDelete: delete Pod db-2 in StatefulSet db successful");
  });

  it("gives each pod its claim, which outlives it", () => {
    const c = cluster();
    const claim = {
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    };
    c.api.create(SETS, db({ replicas: 2, volumeClaimTemplates: [claim] }));
    c.clock.advance(MINUTE);
    const claims = c.api.list("persistentvolumeclaims", "default");
    expect(claims.map((each) => [each.metadata.name, each.status?.phase])).toEqual([
      ["data-db-0", "Bound"],
      ["data-db-1", "Bound"],
    ]);
    expect(c.pods().map((each) => each.status?.phase)).toEqual(["Running", "Running"]);
    c.api.delete(SETS, "default", "db");
    c.clock.advance(MINUTE);
    expect(names(c)).toEqual([]);
    expect(c.api.list("persistentvolumeclaims", "default")).toHaveLength(2);
  });
});

describe("a daemon set", () => {
  const SETS = "daemonsets.apps";
  const agent = (spec: any = {}) => ({
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: meta("agent"),
    spec: { selector: { matchLabels: { app: "agent" } }, template: template("agent"), ...spec },
  });
  const nodes = (c: Cluster) =>
    c
      .pods()
      .map((each) => each.spec.nodeName)
      .sort();

  it("has a pod on each node, cordoned ones too, and on nodes that come later", () => {
    const c = kwok();
    c.api.modify("nodes", undefined, "node-2", (draft) => {
      draft.spec.unschedulable = true;
    });
    c.api.create(SETS, agent());
    c.clock.advance(SECOND);
    expect(nodes(c)).toEqual(["node-1", "node-2", "node-3"]);
    expect(c.get(SETS, "agent").status).toEqual({
      currentNumberScheduled: 3,
      desiredNumberScheduled: 3,
      numberAvailable: 3,
      numberMisscheduled: 0,
      numberReady: 3,
      observedGeneration: 1,
      updatedNumberScheduled: 3,
    });
    const fourth: any = structuredClone(c.api.get("nodes", undefined, "node-1"));
    fourth.metadata = { name: "node-4", labels: { "kubernetes.io/hostname": "node-4" } };
    c.api.create("nodes", fourth);
    c.clock.advance(SECOND);
    expect(nodes(c)).toEqual(["node-1", "node-2", "node-3", "node-4"]);
  });

  it("keeps to its selector, and leaves a node that no longer fits", () => {
    const c = kwok();
    c.api.modify("nodes", undefined, "node-1", (draft) => {
      draft.metadata.labels = { ...draft.metadata.labels, disk: "ssd" };
    });
    c.api.create(SETS, agent({ template: template("agent", { nodeSelector: { disk: "ssd" } }) }));
    c.clock.advance(SECOND);
    expect(nodes(c)).toEqual(["node-1"]);
    c.api.modify("nodes", undefined, "node-1", (draft) => {
      delete draft.metadata.labels?.disk;
    });
    c.clock.advance(SECOND);
    expect(nodes(c)).toEqual([]);
  });

  it("updates node by node", () => {
    const c = kwok();
    c.api.create(SETS, agent());
    c.clock.advance(SECOND);
    c.api.modify(SETS, "default", "agent", (draft) => {
      draft.spec.template.spec.containers[0].image = "i:2";
    });
    for (let t = 0; t < 4 * SECOND; t += 20) {
      const ready = c.pods().filter((each) => each.status?.phase === "Running" && !each.metadata.deletionTimestamp);
      expect(ready.length).toBeGreaterThanOrEqual(2);
      c.clock.advance(20);
    }
    expect(c.pods().map((each) => each.spec.containers[0].image)).toEqual(["i:2", "i:2", "i:2"]);
    expect(c.pods()[0]?.metadata.labels?.["pod-template-generation"]).toBe("2");
    expect(c.api.list("controllerrevisions.apps", "default")).toHaveLength(2);
  });
});

describe("a job", () => {
  const JOBS = "jobs.batch";
  const job = (spec: any = {}) => ({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: meta("once"),
    spec: {
      template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "i" }] } },
      ...spec,
    },
  });
  const exits = (code: (n: number) => number) => {
    let n = 0;
    return cluster({ runtime: runtime({ start: (): StartPlan => ({ exit: { afterMs: 1000, code: code(n++) } }) }) });
  };
  const ended = (c: Cluster) =>
    c.get(JOBS, "once").status.conditions?.map((each: any) => `${each.type}: ${each.reason}`);

  it("completes", () => {
    const c = exits(() => 0);
    c.api.create(JOBS, job({ completions: 3, parallelism: 2 }));
    c.clock.settle();
    expect(c.get(JOBS, "once").status).toMatchObject({ active: 2 });
    c.clock.advance(MINUTE);
    expect(c.get(JOBS, "once").status).toMatchObject({ succeeded: 3, ready: 0, uncountedTerminatedPods: {} });
    expect(ended(c)).toEqual(["SuccessCriteriaMet: CompletionsReached", "Complete: CompletionsReached"]);
    expect(c.events("once")).toContain("Completed: Job completed");
    expect(c.pods().map((each) => each.status?.phase)).toEqual(Array(3).fill("Succeeded"));
  });

  it("tries again with growing waits, and gives up after its limit", () => {
    const c = exits(() => 1);
    c.api.create(JOBS, job({ backoffLimit: 2 }));
    c.clock.advance(5 * MINUTE);
    expect(c.get(JOBS, "once").status).toMatchObject({ failed: 3 });
    expect(ended(c)).toEqual(["FailureTarget: BackoffLimitExceeded", "Failed: BackoffLimitExceeded"]);
    expect(c.events("once")).toContain("BackoffLimitExceeded: Job has reached the specified backoff limit");
  });

  it("fails past its deadline", () => {
    const c = cluster();
    c.api.create(JOBS, job({ activeDeadlineSeconds: 30 }));
    c.clock.advance(MINUTE);
    expect(ended(c)).toEqual(["FailureTarget: DeadlineExceeded", "Failed: DeadlineExceeded"]);
    expect(c.pods()).toEqual([]);
  });

  it("numbers the pods of an indexed one", () => {
    const c = exits(() => 0);
    c.api.create(JOBS, job({ completions: 3, parallelism: 3, completionMode: "Indexed" }));
    c.clock.advance(MINUTE);
    expect(names(c).map((name) => name.replace(/-\w{5}$/, ""))).toEqual(["once-0", "once-1", "once-2"]);
    expect(c.get(JOBS, "once").status.completedIndexes).toBe("0-2");
  });

  it("stops while suspended, and is deleted after its time to live", () => {
    const c = exits(() => 0);
    c.api.create(JOBS, job({ suspend: true, ttlSecondsAfterFinished: 60 }));
    c.clock.advance(10 * SECOND);
    expect(c.pods()).toEqual([]);
    c.api.modify(JOBS, "default", "once", (draft) => {
      draft.spec.suspend = false;
    });
    c.clock.advance(30 * SECOND);
    expect(ended(c)).toContain("Complete: CompletionsReached");
    c.clock.advance(2 * MINUTE);
    expect([c.get(JOBS, "once"), c.pods()]).toEqual([undefined, []]);
  });

  it("completes on fake nodes, too", () => {
    const c = kwok();
    c.api.create(JOBS, job());
    c.clock.advance(5 * SECOND);
    expect(ended(c)).toContain("Complete: CompletionsReached");
  });
});

describe("a cron job", () => {
  const CRON = "cronjobs.batch";
  const cron = (schedule: string, spec: any = {}) => ({
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: meta("tick"),
    spec: {
      schedule,
      jobTemplate: {
        spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "m", image: "i" }] } } },
      },
      ...spec,
    },
  });
  it("starts a job at each of its times and keeps the last few", () => {
    const c = kwok();
    c.api.create(CRON, cron("*/5 * * * *", { successfulJobsHistoryLimit: 2 }));
    c.clock.advance(31 * MINUTE);
    const jobs = c.api.list("jobs.batch", "default");
    expect(jobs).toHaveLength(2);
    expect(c.get(CRON, "tick").status).toMatchObject({ lastScheduleTime: "2026-12-01T12:30:00Z" });
    expect(jobs.at(-1)?.metadata.name).toBe(`tick-${Date.parse("2026-12-01T12:30:00Z") / MINUTE}`);
    expect(c.events("tick").filter((each) => each.startsWith("SuccessfulCreate: Created job tick-"))).toHaveLength(6);
    expect(c.events("tick").some((each) => /^SawCompletedJob: .*condition: Complete$/.test(each))).toBe(true);
  });

  it.each([
    ["Forbid", 1],
    ["Replace", 1],
    ["Allow", 3],
  ])("with %s has %i running jobs when they do not end", (concurrencyPolicy, running) => {
    const c = cluster();
    c.api.create(CRON, cron("*/5 * * * *", { concurrencyPolicy }));
    c.clock.advance(16 * MINUTE);
    expect(c.api.list("jobs.batch", "default")).toHaveLength(running);
    expect(c.get(CRON, "tick").status.active).toHaveLength(running);
  });

  it.each([
    ["*/15 * * * *", "2026-12-01T12:00:00Z", "2026-12-01T12:15:00Z"],
    ["0 3 * * *", "2026-12-01T12:00:00Z", "2026-12-02T03:00:00Z"],
    ["30 4 1,15 * 5", "2026-12-01T12:00:00Z", "2026-12-04T04:30:00Z"],
    ["0 0 29 2 *", "2026-12-01T12:00:00Z", "2028-02-29T00:00:00Z"],
    ["0 9-17/4 * jan-mar mon", "2026-12-01T12:00:00Z", "2027-01-04T09:00:00Z"],
    ["@hourly", "2026-12-01T12:00:30Z", "2026-12-01T13:00:00Z"],
    ["0 0 30 2 *", "2026-12-01T12:00:00Z", undefined],
  ])("%s after %s is %s", (text, after, next) => {
    const schedule = parseCron(text);
    const time = schedule && nextTime(schedule, Date.parse(after));
    expect(time === undefined ? undefined : new Date(time).toISOString().replace(".000", "")).toBe(next);
  });

  it.each(["", "* * * *", "60 * * * *", "* 24 * * *", "a * * * *", "*/0 * * * *", "5-1 * * * *"])(
    "%j is no schedule",
    (text) => {
      expect(parseCron(text)).toBeUndefined();
    },
  );
});

describe("a replica set", () => {
  const SETS = "replicasets.apps";
  const set = (replicas: number) => ({
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: meta("web"),
    spec: { replicas, selector: { matchLabels: { app: "web" } }, template: template("web") },
  });

  it("adopts what it selects, and lets go of what it no longer does", () => {
    const c = kwok();
    c.api.create("pods", pod("stray", {}, { labels: { app: "web" } }));
    c.clock.advance(SECOND);
    c.api.create(SETS, set(2));
    c.clock.advance(SECOND);
    expect(names(c)).toHaveLength(2);
    expect(c.get("pods", "stray").metadata.ownerReferences).toMatchObject([{ kind: "ReplicaSet", name: "web" }]);
    c.api.modify("pods", "default", "stray", (draft) => {
      draft.metadata.labels = { app: "quarantine" };
    });
    c.clock.advance(SECOND);
    expect(c.get("pods", "stray").metadata.ownerReferences).toBeUndefined();
    expect(names(c)).toHaveLength(3);
  });

  it("deletes first what is not ready, then by deletion cost, then the younger", () => {
    const c = kwok();
    c.api.create(SETS, set(3));
    c.clock.advance(60 * SECOND);
    const [a = "", b = "", d = ""] = names(c);
    c.api.modify("pods", "default", b, (draft) => {
      draft.metadata.annotations = { "controller.kubernetes.io/pod-deletion-cost": "-5" };
    });
    c.api.modify(
      "pods",
      "default",
      d,
      (draft) => {
        draft.status.conditions.find((each: any) => each.type === "Ready").status = "False";
      },
      { subresource: "status" },
    );
    const scale = (replicas: number) => {
      c.api.modify(SETS, "default", "web", (draft) => {
        draft.spec.replicas = replicas;
      });
      c.clock.settle();
      return names(c);
    };
    expect(scale(2)).toEqual([a, b]);
    expect(scale(1)).toEqual([a]);
    expect(c.events("web").at(-1)).toBe(`SuccessfulDelete: Deleted pod: ${b}`);
    expect(c.get(SETS, "web").status).toMatchObject({ replicas: 1, fullyLabeledReplicas: 1 });
    scale(0);
    expect(c.get(SETS, "web").status).toEqual({ replicas: 0, observedGeneration: 4 });
  });
});
