import { beforeEach, describe, expect, it } from "vitest";
import { createNetwork, type Network } from "../../../testbed/traffic/network.js";
import type { Process } from "../../../testbed/traffic/processes.js";
import { createProcessTable, type ProcessTable } from "../../../testbed/traffic/processes.js";
import { type FakeKube, fakeKube, podObject, serviceObject, sliceObject } from "./fake-kube.js";

const origin = { namespace: "shop", podUid: "uid-client", dnsPolicy: "ClusterFirst" };
let kube: FakeKube;
let processes: ProcessTable;
let network: Network;

function running(pod: string, port: number): Process {
  return {
    id: `uid-${pod}/${pod}`,
    podUid: `uid-${pod}`,
    programName: pod,
    ports: new Map([[port, "grpc"]]),
    alive: true,
  } as any;
}

beforeEach(() => {
  kube = fakeKube();
  processes = createProcessTable();
  network = createNetwork(kube, processes);
  kube.put("pods", podObject("cart", {}, { ip: "10.1.0.7" }));
  kube.put("services", serviceObject("cart", [{ name: "tcp", port: 8080, targetPort: 9090 }]));
  kube.put(
    "endpointslices.discovery.k8s.io",
    sliceObject(
      "cart",
      [{ name: "tcp", port: 9090 }],
      [{ addresses: ["10.1.0.7"], conditions: { ready: true }, targetRef: { uid: "uid-cart" } }],
    ),
  );
  processes.add(running("cart", 9090));
});

/** What a connection comes to, in a word. */
function outcome(host: string, port: number, from = origin): string {
  const result = network.connect(from, { host, port });
  return result.process?.programName ?? result.failure!;
}

describe("a connection", () => {
  it.each([
    ["cart", 8080, "cart"],
    ["cart.shop", 8080, "cart"],
    ["cart.shop.svc", 8080, "cart"],
    ["cart.shop.svc.cluster.local", 8080, "cart"],
    ["CART", 8080, "cart"],
    ["cart.shop.svc.cluster.local.", 8080, "cart"],
    ["10.96.0.50", 8080, "cart"],
    ["10.1.0.7", 9090, "cart"],
    ["10.1.0.7", 8080, "refused"],
    ["10.9.9.9", 9090, "timeout"],
    ["cart", 9090, "timeout"],
    ["cart.other", 8080, "dns"],
    ["cart.shop.example.com", 8080, "dns"],
    ["nobody", 8080, "dns"],
    ["localhost", 9090, "refused"],
  ])("to %s:%i comes to %s", (host, port, wanted) => {
    expect(outcome(host, port)).toBe(wanted);
  });

  it("to localhost reaches the own pod", () => {
    expect(outcome("localhost", 9090, { ...origin, podUid: "uid-cart" })).toBe("cart");
  });

  it.each(["Default", "None"])("of a pod with DNS policy %s knows no Service by name, but by address", (dnsPolicy) => {
    expect(outcome("cart", 8080, { ...origin, dnsPolicy })).toBe("dns");
    expect(outcome("10.96.0.50", 8080, { ...origin, dnsPolicy })).toBe("cart");
  });

  it("takes the endpoints in turn, and is refused by those on which nothing listens", () => {
    const endpoints = ["cart", "idle"].map((name) => ({
      addresses: ["10.1.0.8"],
      conditions: { ready: true },
      targetRef: { uid: `uid-${name}` },
    }));
    kube.put("endpointslices.discovery.k8s.io", sliceObject("cart", [{ name: "tcp", port: 9090 }], endpoints));
    const to = { host: "cart", port: 8080 };
    const seen = Array.from({ length: 4 }, () => network.connect(origin, to).failure ?? "reached");
    expect(seen).toEqual(["reached", "refused", "reached", "refused"]);
  });

  it("to a headless Service goes to the pods at the port that was asked for", () => {
    kube.put("services", serviceObject("cart", [{ name: "tcp", port: 8080 }], { clusterIP: "None" }));
    expect(outcome("cart", 9090)).toBe("cart");
    expect(outcome("cart", 8080)).toBe("refused");
  });

  it("follows an external name", () => {
    kube.put(
      "services",
      serviceObject("basket", [], { type: "ExternalName", externalName: "cart.shop.svc.cluster.local" }),
    );
    expect(outcome("basket", 8080)).toBe("cart");
    kube.put("services", serviceObject("loop", [], { type: "ExternalName", externalName: "loop" }));
    expect(outcome("loop", 8080)).toBe("dns");
  });
});

describe("a route that is remembered", () => {
  const to = { host: "cart", port: 8080 };
  const now = () => network.connect(origin, to).failure ?? "reached";

  it.each<[string, () => void, string]>([
    ["the Service is deleted", () => kube.drop("services", "shop", "cart"), "dns"],
    [
      "the target port moves",
      () =>
        kube.put(
          "endpointslices.discovery.k8s.io",
          sliceObject(
            "cart",
            [{ name: "tcp", port: 1 }],
            [{ addresses: ["10.1.0.7"], targetRef: { uid: "uid-cart" } }],
          ),
        ),
      "refused",
    ],
    [
      "no endpoint is ready",
      () =>
        kube.put(
          "endpointslices.discovery.k8s.io",
          sliceObject(
            "cart",
            [{ name: "tcp", port: 9090 }],
            [{ addresses: ["10.1.0.7"], conditions: { ready: false }, targetRef: { uid: "uid-cart" } }],
          ),
        ),
      "refused",
    ],
    [
      "there is no endpoint",
      () => kube.put("endpointslices.discovery.k8s.io", sliceObject("cart", [{ name: "tcp", port: 9090 }], [])),
      "refused",
    ],
    ["the process dies", () => processes.kill(processes.get("uid-cart/cart")!), "refused"],
    ["the process listens elsewhere", () => processes.add(running("cart", 7)), "refused"],
  ])("changes at once when %s", (_, change, wanted) => {
    expect(now()).toBe("reached");
    change();
    expect(now()).toBe(wanted);
  });
});
