/** Changes of state that no fault mechanism makes, and what follows from them. */
import { describe, expect, it } from "vitest";
import { demoWorld, deployment, flagMap, NAMESPACE, type World } from "../faults/world.js";

function setEnv(world: World, name: string, variables: Record<string, string | undefined>): void {
  world.cluster.kube.modify("deployments.apps", NAMESPACE, name, (draft) => {
    const container = draft.spec.template.spec.containers[0];
    container.env = container.env
      .filter((entry: any) => !(entry.name in variables) || variables[entry.name] !== undefined)
      .map((entry: any) => (entry.name in variables ? { name: entry.name, value: variables[entry.name] } : entry));
    draft.spec.strategy = { type: "Recreate" };
  });
}

function scale(world: World, name: string, replicas: number): void {
  world.cluster.kube.modify("deployments.apps", NAMESPACE, name, (draft) => {
    draft.spec.replicas = replicas;
  });
}

function template(world: World, name: string, change: (spec: any) => void): void {
  world.cluster.kube.modify("deployments.apps", NAMESPACE, name, (draft) => {
    change(draft.spec.template.spec);
    draft.spec.strategy = { type: "Recreate" };
  });
}

function flag(world: World, name: string, state: string, ...restart: string[]): void {
  world.inject("opentelemetry-demo-feature-flag", { kubernetesObject: flagMap, flag: { name, state } });
  for (const each of ["flagd", ...restart]) {
    world.minutes(0.5);
    world.inject("restart-kubernetes-workload", { kubernetesObject: deployment(each) });
  }
}

interface Case {
  what: string;
  change(world: World): void;
  alerts: string[];
  never?: string[];
  args?: Record<string, unknown>;
}

const CASES: Case[] = [
  {
    what: "a server that listens on another port than its Service expects",
    change: (world) => setEnv(world, "currency", { CURRENCY_PORT: "9999" }),
    alerts: ["HighRequestErrorRate/frontend", "HighRequestErrorRate/checkout", "NoRequestsReceived/currency"],
  },
  {
    what: "an address with a port of 0000",
    change: (world) => setEnv(world, "shipping", { QUOTE_ADDR: "quote:0000" }),
    alerts: ["HighRequestErrorRate/shipping", "HighRequestErrorRate/checkout", "NoRequestsReceived/quote"],
    never: ["KubePodCrashLooping"],
  },
  {
    what: "an address of another program",
    change: (world) => setEnv(world, "recommendation", { PRODUCT_CATALOG_ADDR: "currency:8080" }),
    alerts: ["HighRequestErrorRate/recommendation", "HighRequestErrorRate/frontend"],
    never: ["HighRequestErrorRate/currency"],
  },
  {
    what: "a variable without which the program does not start",
    change: (world) => setEnv(world, "shipping", { QUOTE_ADDR: undefined }),
    alerts: ["KubePodCrashLooping/shipping", "HighRequestErrorRate/checkout"],
  },
  {
    what: "a wrong password of the database, at start",
    change: (world) =>
      setEnv(world, "product-catalog", {
        DB_CONNECTION_STRING: "postgres://astronomy_user:wrong@astronomy-db/astronomy_db",
      }),
    alerts: ["KubePodCrashLooping/product-catalog", "HighRequestErrorRate/frontend"],
  },
  {
    what: "a wrong password of the database, in use",
    change: (world) =>
      setEnv(world, "accounting", {
        DB_CONNECTION_STRING: "Host=astronomy-db;Username=astronomy_user;Password=no;Database=astronomy_db",
      }),
    alerts: ["HighRequestErrorRate/accounting"],
    never: ["KubePodCrashLooping", "HighRequestErrorRate/checkout"],
  },
  {
    what: "a DNS policy that knows no Service",
    change: (world) =>
      template(world, "frontend", (spec) => {
        spec.dnsPolicy = "Default";
      }),
    alerts: ["HighRequestErrorRate/frontend", "NoRequestsReceived/product-catalog", "NoRequestsReceived/checkout"],
    never: ["NoRequestsReceived/image-provider"],
  },
  {
    what: "too little memory",
    change: (world) =>
      template(world, "ad", (spec) => {
        spec.containers[0].resources = { limits: { memory: "64Mi" } };
      }),
    alerts: ["KubePodCrashLooping/ad", "HighRequestErrorRate/frontend"],
  },
  {
    what: "an init container that waits for what never comes",
    change(world) {
      scale(world, "valkey-cart", 0);
      world.minutes(0.5);
      world.restartAll();
      template(world, "cart", () => {});
      world.cluster.kube.delete(
        "pods",
        NAMESPACE,
        world.cluster.kube.list("pods", NAMESPACE).find((pod) => pod.metadata.name.startsWith("cart-"))!.metadata.name,
      );
    },
    alerts: ["HighRequestErrorRate/frontend", "KubePodNotReady/cart"],
  },
  {
    what: "no broker",
    change: (world) => scale(world, "kafka", 0),
    alerts: [
      "HighRequestErrorRate/checkout",
      "NoRequestsReceived/accounting",
      "NoRequestsReceived/fraud-detection",
      "HighKafkaConnectionClosureRate",
    ],
    never: ["HighRequestErrorRate/frontend", "KubePodCrashLooping/checkout"],
  },
  {
    what: "a network policy that lets nobody in",
    change(world) {
      world.cluster.kube.create("networkpolicies.networking.k8s.io", {
        apiVersion: "networking.k8s.io/v1",
        kind: "NetworkPolicy",
        metadata: { name: "payment-ingress", namespace: NAMESPACE },
        spec: { podSelector: { matchLabels: { "opentelemetry.io/name": "payment" } }, policyTypes: ["Ingress"] },
      });
    },
    alerts: ["HighRequestErrorRate/checkout", "HighRequestLatency/checkout", "NoRequestsReceived/payment"],
    never: ["KubePodNotReady", "HighRequestErrorRate/payment"],
  },
  {
    what: "no e-mail: the order goes on",
    change: (world) => scale(world, "email", 0),
    alerts: ["HighRequestErrorRate/checkout", "NoRequestsReceived/email"],
    never: ["HighRequestErrorRate/frontend", "NoRequestsReceived/accounting"],
  },
  {
    what: "no proxy: nobody is served",
    change: (world) => scale(world, "frontend-proxy", 0),
    alerts: ["NoRequestsReceived/frontend-proxy", "NoRequestsReceived/frontend", "NoRequestsReceived/cart"],
    never: ["HighRequestErrorRate"],
  },
  {
    what: "the flags' file is no JSON",
    change(world) {
      world.cluster.kube.modify("configmaps", NAMESPACE, "flagd-config", (draft) => {
        draft.data["demo.flagd.json"] += "}";
      });
      template(world, "flagd", (spec) => {
        spec.terminationGracePeriodSeconds = 5;
      });
    },
    alerts: ["KubePodCrashLooping/flagd"],
    never: ["HighRequestErrorRate", "NoRequestsReceived"],
  },
  { what: "flag adFailure", change: (world) => flag(world, "adFailure", "on"), alerts: ["HighRequestErrorRate/ad"] },
  { what: "flag adHighCpu", change: (world) => flag(world, "adHighCpu", "on"), alerts: ["HighRequestLatency/ad"] },
  { what: "flag adManualGc", change: (world) => flag(world, "adManualGc", "on"), alerts: ["HighRequestLatency/ad"] },
  {
    what: "flag productCatalogFailure",
    change: (world) => flag(world, "productCatalogFailure", "on"),
    alerts: ["HighRequestErrorRate/product-catalog", "HighRequestErrorRate/frontend", "HighRequestErrorRate/checkout"],
    never: ["NoRequestsReceived"],
  },
  {
    what: "flag paymentFailure",
    change: (world) => flag(world, "paymentFailure", "100%"),
    alerts: [
      "HighRequestErrorRate/payment",
      "HighRequestErrorRate/checkout",
      "HighRequestErrorRate/frontend-proxy",
      "NoRequestsReceived/accounting",
      "NoRequestsReceived/email",
      "NoDatabaseOperations",
    ],
  },
  {
    what: "flag paymentUnreachable",
    change: (world) => flag(world, "paymentUnreachable", "on"),
    alerts: ["HighRequestErrorRate/checkout", "HighRequestErrorRate/frontend", "NoRequestsReceived/payment"],
    never: ["HighRequestErrorRate/payment"],
  },
  {
    what: "flag kafkaQueueProblems",
    change: (world) => flag(world, "kafkaQueueProblems", "on"),
    alerts: ["HighKafkaConsumerLag/fraud-detection", "HighRequestErrorRate/accounting"],
  },
  {
    what: "flag loadGeneratorFloodHomepage",
    change: (world) => flag(world, "loadGeneratorFloodHomepage", "on"),
    alerts: ["HighRequestLatency/frontend", "HighRequestErrorRate/frontend-proxy"],
  },
  {
    what: "flag imageSlowLoad, with browsers",
    change: (world) => flag(world, "imageSlowLoad", "10sec"),
    alerts: ["HighRequestLatency/frontend-proxy"],
    args: { loadGeneration: { browserTraffic: true } },
  },
  {
    what: "flag loadGeneratorTraffic off",
    change: (world) => flag(world, "loadGeneratorTraffic", "off"),
    alerts: ["NoRequestsReceived/frontend-proxy", "NoRequestsReceived/accounting"],
    never: ["HighRequestErrorRate"],
  },
];

describe.each(CASES)("$what", (one) => {
  it(`fires ${one.alerts.join(", ")}`, () => {
    const world = demoWorld(one.what, 4, one.args);
    expect(world.firing()).toEqual([]);
    one.change(world);
    world.clock.settle();
    const seen = new Set<string>();
    const matches = (alert: string) => [...seen].filter((name) => name === alert || name.startsWith(alert));
    const minutes = world.until(() => {
      for (const alert of world.firing()) seen.add(alert);
      return one.alerts.every((alert) => matches(alert).length > 0);
    }, 20);
    expect(minutes, `${one.alerts.join(", ")} within 20 minutes; seen: ${[...seen].join(", ")}`).toBeDefined();
    for (const alert of one.never ?? []) expect(matches(alert)).toEqual([]);
    world.cluster.stop();
  });
});
