import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { packageFile } from "../../../paths.js";
import { demoWorld, deployment, flagMap, NAMESPACE, service, type World } from "./world.js";

interface Case {
  scenario: number;
  injections: { id: string; args: Record<string, unknown> }[];
  /** Workloads that the scenario restarts after the injection. */
  restarts?: string[];
  /** The fault's own alerts, and what the ground truth says follows. */
  alerts: string[];
  /** What must not be touched by the fault. */
  never?: string[];
  /** ITBench's own solution. */
  fix(world: World): void;
}

const CATALOG = { kubernetesObject: deployment("product-catalog"), container: { name: "product-catalog" } };

/** The flags' file with one flag set to another variant, as an operator would edit it. */
function setFlag(world: World, name: string, variant: string): void {
  world.cluster.kube.modify("configmaps", NAMESPACE, "flagd-config", (draft) => {
    const file = JSON.parse(draft.data["demo.flagd.json"]);
    file.flags[name].defaultVariant = variant;
    draft.data["demo.flagd.json"] = JSON.stringify(file);
  });
}

const CASES: Case[] = [
  {
    scenario: 2,
    injections: [
      {
        id: "opentelemetry-demo-feature-flag",
        args: { kubernetesObject: flagMap, flag: { name: "cartFailure", state: "on" } },
      },
    ],
    restarts: ["flagd", "cart"],
    alerts: [
      "HighRequestErrorRate/cart",
      "HighRequestErrorRate/checkout",
      "HighRequestErrorRate/frontend",
      "HighRequestErrorRate/frontend-proxy",
    ],
    never: ["NoRequestsReceived", "HighRequestErrorRate/product-catalog"],
    fix(world) {
      setFlag(world, "cartFailure", "off");
      world.restartAll();
    },
  },
  {
    scenario: 20,
    injections: [{ id: "nonexistent-kubernetes-workload-container-image", args: CATALOG }],
    alerts: [
      "KubePodNotReady",
      "HighRequestErrorRate/frontend",
      "HighRequestErrorRate/recommendation",
      "NoRequestsReceived/product-catalog",
      "NoRequestsReceived/payment",
      "NoRequestsReceived/accounting",
    ],
    never: ["KubePodCrashLooping", "NoRequestsReceived/ad"],
    fix: (world) => world.rolloutUndo("product-catalog"),
  },
  {
    scenario: 24,
    injections: [
      {
        id: "modified-kubernetes-workload-container-environment-variable",
        args: {
          kubernetesObject: deployment("checkout"),
          container: { name: "checkout", env: { name: "KAFKA_ADDR", value: "kafka:9999" } },
        },
      },
    ],
    alerts: [
      "KubePodCrashLooping",
      "NoRequestsReceived/checkout",
      "NoRequestsReceived/accounting",
      "NoRequestsReceived/fraud-detection",
      "HighRequestErrorRate/frontend",
      "HighRequestErrorRate/frontend-proxy",
    ],
    never: ["NoRequestsReceived/cart", "HighRequestErrorRate/product-catalog"],
    fix: (world) => world.rolloutUndo("checkout"),
  },
  {
    scenario: 30,
    injections: [
      { id: "modified-target-port-kubernetes-service", args: { kubernetesObject: service("ad"), targetPort: 8080 } },
    ],
    alerts: ["HighRequestErrorRate/frontend", "HighRequestErrorRate/frontend-proxy", "NoRequestsReceived/ad"],
    never: ["HighRequestErrorRate/checkout", "KubePodNotReady"],
    fix(world) {
      world.cluster.kube.modify("services", NAMESPACE, "ad", (draft) => {
        for (const port of draft.spec.ports) port.targetPort = port.name === "prometheus" ? 9465 : 9555;
      });
    },
  },
  {
    scenario: 58,
    injections: [{ id: "scaled-to-zero-kubernetes-workload", args: { kubernetesObject: deployment("accounting") } }],
    alerts: [
      "NoRequestsReceived/accounting",
      "HighRequestErrorRate/checkout",
      "NoDatabaseOperations",
      "KafkaConsumerGroupInactive/accounting",
    ],
    never: ["NoRequestsReceived/fraud-detection", "HighRequestErrorRate/frontend"],
    fix(world) {
      world.cluster.kube.modify("deployments.apps", NAMESPACE, "accounting", (draft) => {
        draft.spec.replicas = 1;
      });
    },
  },
  {
    scenario: 105,
    injections: [{ id: "invalid-kubernetes-workload-container-command", args: CATALOG }],
    alerts: ["KubePodCrashLooping", "HighRequestErrorRate/frontend", "NoRequestsReceived/product-catalog"],
    fix(world) {
      world.cluster.kube.modify("deployments.apps", NAMESPACE, "product-catalog", (draft) => {
        delete draft.spec.template.spec.containers[0].command;
      });
    },
  },
  {
    scenario: 114,
    injections: [{ id: "deleted-kubernetes-service", args: { kubernetesObject: service("product-catalog") } }],
    alerts: [
      "HighRequestErrorRate/frontend",
      "HighRequestErrorRate/frontend-proxy",
      "HighRequestErrorRate/checkout",
      "NoRequestsReceived/product-catalog",
    ],
    never: ["KubePodNotReady", "KubePodCrashLooping"],
    fix(world) {
      const { kube } = world.cluster;
      kube.create("services", {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "product-catalog", namespace: NAMESPACE },
        spec: {
          selector: { "opentelemetry.io/name": "product-catalog" },
          ports: [{ name: "tcp-service", port: 8080, targetPort: 8080 }],
        },
      });
    },
  },
];

/** Injects as the scenario does: the fault, then the restarts that it asks for. */
function injected(one: Case): World {
  const world = demoWorld(`scenario-${one.scenario}`);
  expect(world.firing(), "alerts in health").toEqual([]);
  for (const { id, args } of one.injections) world.inject(id, args);
  for (const name of one.restarts ?? []) {
    world.minutes(0.2);
    world.inject("restart-kubernetes-workload", { kubernetesObject: deployment(name) });
  }
  return world;
}

function fired(world: World, wanted: readonly string[]): boolean {
  const firing = world.firing();
  return wanted.every((alert) => firing.some((one) => one === alert || one.startsWith(`${alert}/`)));
}

describe.each(CASES)("scenario $scenario", (one) => {
  it("fires the fault's alerts, and the solution clears all of them for good", () => {
    const world = injected(one);
    const seen = new Set<string>();
    const minutes = world.until(() => {
      for (const alert of world.firing()) seen.add(alert);
      return fired(world, one.alerts);
    }, 15);
    expect(minutes, `${one.alerts.join(", ")} within 15 minutes; firing: ${world.firing().join(", ")}`).toBeDefined();
    for (const alert of one.never ?? []) {
      expect([...seen].filter((name) => name === alert || name.startsWith(`${alert}/`))).toEqual([]);
    }
    one.fix(world);
    expect(
      world.until(() => world.firing().length === 0, 15),
      `still firing: ${world.firing().join(", ")}`,
    ).toBeDefined();
    for (let minute = 0; minute < 20; minute++) {
      world.minutes(0.5);
      expect(world.firing()).toEqual([]);
    }
    world.cluster.stop();
  });

  it("is not mended by waiting, nor by restarting everything", () => {
    const world = injected(one);
    world.minutes(15);
    const before = one.alerts.filter((alert) => fired(world, [alert]));
    world.minutes(5);
    expect(one.alerts.filter((alert) => fired(world, [alert]))).toEqual(before);
    world.restartAll();
    for (let minute = 0; minute < 15; minute++) {
      world.minutes(1);
      expect(world.firing().length, `minute ${minute} after the restart`).toBeGreaterThan(0);
    }
    expect(one.alerts.filter((alert) => fired(world, [alert]))).toEqual(before);
    world.cluster.stop();
  });
});

const SCENARIOS = packageFile("..", "shared", "data", "itbench", "scenarios");

describe.skipIf(!existsSync(SCENARIOS))("ITBench's scenario files (skipped without ../shared)", () => {
  it.each(CASES)("$scenario injects what the table above does", (one) => {
    const file = JSON.parse(readFileSync(`${SCENARIOS}/${one.scenario}.json`, "utf8"));
    expect(file.disruptions.flatMap((disruption: any) => disruption.injections)).toEqual(one.injections);
    const actions = file.disruptions.flatMap((disruption: any) => disruption.waitFor?.postInjection ?? []);
    expect(actions.map((action: any) => action.args.kubernetesObject.metadata.name)).toEqual(one.restarts ?? []);
    for (const alert of file.alerts) expect(one.alerts.some((name) => name.split("/")[0] === alert)).toBe(true);
  });
});
