import { describe, expect, it } from "vitest";
import type { Evidence, Workload } from "../../../models/playbook/evidence.js";
import { hypotheses } from "../../../models/playbook/hypotheses.js";

/** A healthy namespace of three workloads: web calls shop, shop calls db. */
function healthy(): Evidence {
  const workload = (name: string, port: number, env: Record<string, string> = {}): Workload => ({
    kind: "Deployment",
    name,
    replicas: 1,
    ready: 1,
    selector: { app: name },
    ports: [{ containerPort: port, name: "service" }],
    env,
  });
  const service = (name: string, port: number) => ({
    name,
    selector: { app: name } as Record<string, string>,
    ports: [{ name: "tcp", port, targetPort: port as number | string }],
    endpoints: 1,
  });
  const pod = (name: string) => ({ name: `${name}-6b8f7d9c5d-x2v7k`, ready: "1/1", status: "Running", restarts: 0 });
  return {
    namespace: "shop",
    alerts: [{ name: "HighRequestErrorRate", labels: { service_name: "web", namespace: "shop" } }],
    workloads: [
      workload("web", 8080, { SHOP_ADDR: "shop:8081" }),
      workload("shop", 8081, { DB_HOST: "db", DB_PORT: "5432" }),
      workload("db", 5432),
    ],
    pods: [pod("web"), pod("shop"), pod("db")],
    services: [service("web", 8080), service("shop", 8081), service("db", 5432)],
    warnings: [],
    flags: [],
    failures: [],
  };
}

const find = (evidence: Evidence, name: string) => ({
  workload: evidence.workloads.find((one) => one.name === name)!,
  service: evidence.services.find((one) => one.name === name)!,
  pod: evidence.pods.find((one) => one.name.startsWith(`${name}-`))!,
});

/** Name of the case, how the namespace is broken, the root cause, the remedy. */
const CASES: [string, (evidence: Evidence) => void, string, string][] = [
  [
    "a workload without replicas",
    (evidence) => {
      find(evidence, "shop").workload.replicas = 0;
      evidence.pods = evidence.pods.filter((pod) => !pod.name.startsWith("shop-"));
      find(evidence, "shop").service.endpoints = 0;
    },
    "shop/Deployment/shop",
    "scale",
  ],
  [
    "an image that cannot be pulled",
    (evidence) => {
      Object.assign(find(evidence, "shop").pod, { status: "ImagePullBackOff", ready: "0/1" });
      find(evidence, "shop").service.endpoints = 0;
    },
    "shop/Deployment/shop",
    "undo",
  ],
  [
    "a crash loop that an address explains",
    (evidence) => {
      find(evidence, "shop").workload.env.DB_PORT = "9999";
      Object.assign(find(evidence, "shop").pod, { status: "CrashLoopBackOff", ready: "0/1", restarts: 7 });
    },
    "shop/Deployment/shop",
    "undo",
  ],
  [
    "an address of a host that nobody answers to",
    (evidence) => {
      find(evidence, "web").workload.env.SHOP_ADDR = "shopp:8081";
    },
    "shop/Deployment/web",
    "undo",
  ],
  [
    "a target port on which nothing listens",
    (evidence) => {
      find(evidence, "shop").service.ports[0]!.targetPort = 9;
    },
    "shop/Service/shop",
    "target-ports",
  ],
  [
    "a target port by a name that no container has",
    (evidence) => {
      find(evidence, "shop").service.ports[0]!.targetPort = "grpc";
    },
    "shop/Service/shop",
    "target-ports",
  ],
  [
    "a selector that matches no pod",
    (evidence) => {
      const { service } = find(evidence, "shop");
      Object.assign(service, { selector: { app: "shop", track: "invalid" }, endpoints: 0 });
    },
    "shop/Service/shop",
    "selector",
  ],
  [
    "a Service that is gone",
    (evidence) => {
      evidence.services = evidence.services.filter((service) => service.name !== "shop");
    },
    "shop/Service/shop",
    "create-service",
  ],
  [
    "a flag that says it does harm",
    (evidence) => {
      const flag = { name: "shopFailure", variant: "on", description: "Fail shop", variants: ["on", "off"] };
      evidence.flags = [{ configMap: "flags", key: "f.json", document: "{}", ...flag }];
    },
    "shop/ConfigMap/flags",
    "flags",
  ],
  [
    "pods that no node takes",
    (evidence) => {
      const { pod } = find(evidence, "shop");
      Object.assign(pod, { status: "Pending", ready: "0/1" });
      const message = "0/3 nodes are available: 3 Insufficient cpu.";
      evidence.warnings = [{ kind: "Pod", name: pod.name, reason: "FailedScheduling", message }];
    },
    "shop/Deployment/shop",
    "undo",
  ],
];

describe("hypotheses", () => {
  it("has none about a healthy namespace", () => {
    expect(hypotheses(healthy())).toEqual([]);
  });

  it.each(CASES)("finds %s", (_name, breakIt, entity, remedy) => {
    const evidence = healthy();
    breakIt(evidence);
    const [first] = hypotheses(evidence);
    expect([first?.entity, first?.remedy.kind]).toEqual([entity, remedy]);
    expect(first!.weight).toBeGreaterThanOrEqual(1);
  });

  it("names where failed traces end when nothing else says why, and prefers what they point to", () => {
    const evidence = healthy();
    evidence.failures = [{ path: ["web"], peer: "shop", message: "deadline exceeded" }];
    const [only] = hypotheses(evidence);
    expect([only?.entity, only!.weight < 1]).toEqual(["shop/Deployment/shop", true]);

    for (const name of ["web", "shop"]) find(evidence, name).workload.env.OTHER_ADDR = "nobody:1";
    expect(hypotheses(evidence).map((one) => one.entity)).toEqual(["shop/Deployment/shop", "shop/Deployment/web"]);
  });

  it("blames the dependency that is down, not the crash loop of what waits for it", () => {
    const evidence = healthy();
    Object.assign(find(evidence, "db").workload, { replicas: 0, ready: 0 });
    evidence.pods = evidence.pods.filter((pod) => !pod.name.startsWith("db-"));
    Object.assign(find(evidence, "shop").pod, { status: "CrashLoopBackOff", ready: "0/1", restarts: 5 });
    const certain = hypotheses(evidence).filter((one) => one.weight >= 1);
    expect(certain.map((one) => one.entity)).toEqual(["shop/Deployment/db"]);
  });

  it("takes the right ports back when all of a Service's target ports are wrong", () => {
    const evidence = healthy();
    const { workload, service } = find(evidence, "shop");
    workload.ports = [
      { containerPort: 9465, name: "prometheus" },
      { containerPort: 9555, name: "service" },
    ];
    service.ports = [
      { name: "prometheus", port: 9465, targetPort: 8080 },
      { name: "tcp", port: 8081, targetPort: 8080 },
    ];
    const remedy = hypotheses(evidence)[0]!.remedy;
    expect(remedy).toMatchObject({
      kind: "target-ports",
      ports: [
        { port: 9465, targetPort: 9465 },
        { port: 8081, targetPort: 9555 },
      ],
    });
  });
});
