import { describe, expect, it } from "vitest";
import { type Cluster, cluster, deployment, pod } from "./cluster.js";

const SECOND = 1000;
const kwok = (more: any = {}) => cluster({ profile: "kwok", ...more });
const requests = (cpu: string, memory = "1Mi") => ({
  containers: [{ name: "main", image: "i", resources: { requests: { cpu, memory } } }],
});
const nodeOf = (c: Cluster, name: string) => c.get("pods", name)?.spec.nodeName;
function node(c: Cluster, name: string, edit: (draft: any) => void): void {
  c.api.modify("nodes", undefined, name, edit);
}
const PREEMPT_HOPELESS =
  " no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.";

describe("a pod that fits nowhere", () => {
  const labels = (key: string, ...values: string[]) => ({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key, operator: "In", values }] }],
      },
    },
  });
  const cases: [string, (c: Cluster) => void, any, string][] = [
    ["asks for too much", () => {}, requests("9"), `0/3 nodes are available: 3 Insufficient cpu.${PREEMPT_HOPELESS}`],
    [
      "asks for too much of several things",
      () => {},
      requests("9", "64Gi"),
      `0/3 nodes are available: 3 Insufficient cpu, 3 Insufficient memory.${PREEMPT_HOPELESS}`,
    ],
    [
      "selects labels that no node has",
      () => {},
      { nodeSelector: { disk: "ssd" } },
      `0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.${PREEMPT_HOPELESS}`,
    ],
    [
      "is affine to no node",
      () => {},
      { affinity: labels("zone", "a", "b") },
      `0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.${PREEMPT_HOPELESS}`,
    ],
    [
      "meets a cordon, a taint and a full node",
      (c) => {
        node(c, "node-1", (draft) => {
          draft.spec.unschedulable = true;
        });
        node(c, "node-2", (draft) => {
          draft.spec.taints = [{ key: "dedicated", value: "db", effect: "NoSchedule" }];
        });
        c.api.create("pods", pod("hog", { nodeName: "node-3", ...requests("8") }));
      },
      requests("1"),
      "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {dedicated: db}, 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.",
    ],
    [
      "wants a port that is taken",
      (c) => {
        for (const n of [1, 2, 3]) {
          const ports = [{ containerPort: 80, hostPort: 80 }];
          c.api.create("pods", pod(`p${n}`, { nodeName: `node-${n}`, containers: [{ name: "m", image: "i", ports }] }));
        }
      },
      { containers: [{ name: "main", image: "i", ports: [{ containerPort: 80, hostPort: 80 }] }] },
      "0/3 nodes are available: 3 node(s) didn't have free ports for the requested pod ports. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.",
    ],
    [
      "may be on one node only",
      () => {},
      {
        ...requests("9"),
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["node-2"] }] }],
            },
          },
        },
      },
      `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity].${PREEMPT_HOPELESS}`,
    ],
    [
      "may not preempt others",
      () => {},
      { preemptionPolicy: "Never", ...requests("9") },
      "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.",
    ],
    [
      "names a claim that is not there",
      () => {},
      { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }] },
      '0/3 nodes are available: persistentvolumeclaim "data" not found. not found',
    ],
  ];
  it.each(cases)("%s", (_what, prepare, spec, message) => {
    const c = kwok();
    prepare(c);
    c.clock.settle();
    c.api.create("pods", pod("web", spec));
    c.clock.settle();
    expect(c.events("web")).toEqual([`FailedScheduling: ${message}`]);
    expect(c.get("pods", "web").status).toMatchObject({
      phase: "Pending",
      conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }],
    });
    const event = c.api.list("events", "default").find((each) => each.reason === "FailedScheduling");
    expect(event).toMatchObject({ type: "Warning", action: "Scheduling", reportingComponent: "default-scheduler" });
  });

  it("is placed as soon as something makes room", () => {
    const c = kwok({ count: 1 });
    c.api.create("pods", pod("hog", requests("6")));
    c.clock.advance(SECOND);
    c.api.create("pods", pod("web", requests("4")));
    c.clock.advance(30 * SECOND);
    expect(nodeOf(c, "web")).toBeUndefined();
    c.api.delete("pods", "default", "hog");
    c.clock.advance(SECOND);
    expect(nodeOf(c, "web")).toBe("node-1");
  });

  it("is placed at once when a node is opened again", () => {
    const c = kwok({ count: 1 });
    const cordon = (on: boolean) =>
      node(c, "node-1", (draft) => {
        if (on) draft.spec.unschedulable = true;
        else delete draft.spec.unschedulable;
      });
    cordon(true);
    c.clock.settle();
    c.api.create("pods", pod("web"));
    c.clock.advance(20 * SECOND);
    cordon(false);
    c.clock.settle();
    expect(nodeOf(c, "web")).toBe("node-1");
    expect(c.events("web").filter((each) => each.startsWith("FailedScheduling"))).toHaveLength(1);
  });

  it("has no node at all", () => {
    const c = kwok({ nodes: [] });
    c.api.create("pods", pod("web"));
    c.clock.settle();
    expect(c.events("web")).toEqual(["FailedScheduling: no nodes available to schedule pods"]);
  });

  it("waits for its gates without a complaint", () => {
    const c = kwok();
    c.api.create("pods", pod("web", { schedulingGates: [{ name: "x/y" }] }));
    c.clock.settle();
    expect(c.events("web")).toEqual([]);
    expect(c.get("pods", "web").status.conditions[0].reason).toBe("SchedulingGated");
  });
});

describe("the choice of a node", () => {
  it("spreads the replicas of a workload", () => {
    const c = kwok();
    c.api.create("deployments.apps", deployment("web", { replicas: 6 }));
    c.clock.settle();
    const counts = [1, 2, 3].map((n) => c.pods().filter((each) => each.spec.nodeName === `node-${n}`).length);
    expect(counts).toEqual([2, 2, 2]);
  });

  it("prefers the emptier node", () => {
    const c = kwok({ count: 2 });
    c.api.create("pods", pod("hog", { nodeName: "node-1", ...requests("4", "16Gi") }));
    c.api.create("pods", pod("web", requests("1")));
    c.clock.settle();
    expect(nodeOf(c, "web")).toBe("node-2");
  });

  it.each([
    ["tolerates", [{ key: "dedicated", operator: "Exists" }], true],
    ["tolerates by value", [{ key: "dedicated", operator: "Equal", value: "db", effect: "NoSchedule" }], true],
    ["does not tolerate another value of", [{ key: "dedicated", operator: "Equal", value: "web" }], false],
    ["tolerates everything, also", [{ operator: "Exists" }], true],
  ])("%s a taint", (_what, tolerations, fits) => {
    const c = kwok({ count: 1 });
    node(c, "node-1", (draft) => {
      draft.spec.taints = [{ key: "dedicated", value: "db", effect: "NoSchedule" }];
    });
    c.clock.settle();
    c.api.create("pods", pod("web", { tolerations }));
    c.clock.settle();
    expect(nodeOf(c, "web") !== undefined).toBe(fits);
  });

  it("honours affinity and anti-affinity between pods", () => {
    const c = kwok();
    const term = (app: string) => [{ labelSelector: { matchLabels: { app } }, topologyKey: "kubernetes.io/hostname" }];
    const required = "requiredDuringSchedulingIgnoredDuringExecution";
    c.api.create("pods", pod("db", {}, { labels: { app: "db" } }));
    c.clock.settle();
    c.api.create("pods", pod("near", { affinity: { podAffinity: { [required]: term("db") } } }));
    c.api.create("pods", pod("far", { affinity: { podAntiAffinity: { [required]: term("db") } } }));
    c.clock.settle();
    expect(nodeOf(c, "near")).toBe(nodeOf(c, "db"));
    expect(nodeOf(c, "far")).not.toBe(nodeOf(c, "db"));
  });

  it("allows one anti-affine replica a node", () => {
    const c = kwok();
    const term = { labelSelector: { matchLabels: { app: "web" } }, topologyKey: "kubernetes.io/hostname" };
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    c.api.create("deployments.apps", deployment("web", { replicas: 4, template: { affinity } }));
    c.clock.settle();
    const placed = c.pods().filter((each) => each.spec.nodeName);
    expect(new Set(placed.map((each) => each.spec.nodeName)).size).toBe(3);
    expect(placed).toHaveLength(3);
    expect(c.events().some((each) => each.includes("3 node(s) didn't match pod anti-affinity rules"))).toBe(true);
  });

  it("is left alone when another scheduler is named", () => {
    const c = kwok();
    c.api.create("pods", pod("web", { schedulerName: "mine" }));
    c.clock.advance(SECOND);
    expect(c.get("pods", "web").spec.nodeName).toBeUndefined();
    expect(c.events("web")).toEqual([]);
  });
});

describe("preemption", () => {
  it("evicts the least important pods, as few as needed", () => {
    const c = kwok({ count: 1 });
    for (const [name, value] of [
      ["low", 10],
      ["high", 1000],
    ] as const) {
      const object = { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name }, value };
      c.api.create("priorityclasses.scheduling.k8s.io", object);
    }
    c.api.create("pods", pod("small", { priorityClassName: "low", ...requests("2") }));
    c.api.create("pods", pod("large", { ...requests("5") }));
    c.clock.advance(SECOND);
    c.api.create("pods", pod("vip", { priorityClassName: "high", ...requests("4") }));
    c.clock.advance(15 * SECOND);
    expect(c.events("vip")[0]).toBe("FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu.");
    expect(nodeOf(c, "vip")).toBe("node-1");
    expect(c.get("pods", "large")).toBeUndefined();
    expect(nodeOf(c, "small")).toBe("node-1");
    expect(
      c.events("large").some((each) => /^Preempted: Preempted by pod [0-9a-f-]{36} on node node-1$/.test(each)),
    ).toBe(true);
  });
});
