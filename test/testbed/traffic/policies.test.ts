import { describe, expect, it } from "vitest";
import { allows } from "../../../testbed/traffic/policies.js";
import { fakeKube, podObject } from "./fake-kube.js";

const front = podObject("front", { ports: [] }, { labels: { app: "front" }, ip: "10.1.0.1" });
const cart = podObject(
  "cart",
  { ports: [{ name: "service", containerPort: 8080 }] },
  { labels: { app: "cart" }, ip: "10.1.0.2" },
);
const stranger = { ...podObject("stranger", {}, { labels: { app: "front" }, ip: "10.2.0.3" }) };
stranger.metadata = { ...stranger.metadata, namespace: "other" };

/** A policy of namespace `shop` for the cart. */
function policy(spec: Record<string, unknown>, namespace = "shop", name = "p"): any {
  return { metadata: { name, namespace }, spec: { podSelector: { matchLabels: { app: "cart" } }, ...spec } };
}

function world(...policies: any[]) {
  const kube = fakeKube();
  for (const one of policies) kube.put("networkpolicies.networking.k8s.io", one);
  kube.put("namespaces", { metadata: { name: "shop", labels: { team: "shop" } } });
  kube.put("namespaces", { metadata: { name: "other", labels: { team: "other" } } });
  return kube;
}

describe("a connection from front to cart:8080", () => {
  it.each<[string, any[], boolean]>([
    ["without policies", [], true],
    ["with none that selects the cart", [policy({ podSelector: { matchLabels: { app: "x" } }, ingress: [] })], true],
    ["with one of another namespace", [policy({ ingress: [] }, "other")], true],
    ["with one that allows nothing", [policy({ policyTypes: ["Ingress"] })], false],
    ["with an empty selector and no rule", [policy({ podSelector: {} })], false],
    ["with a rule for all", [policy({ ingress: [{}] })], true],
    [
      "with a rule for its label",
      [policy({ ingress: [{ from: [{ podSelector: { matchLabels: { app: "front" } } }] }] })],
      true,
    ],
    [
      "with a rule for another label",
      [policy({ ingress: [{ from: [{ podSelector: { matchLabels: { app: "x" } } }] }] })],
      false,
    ],
    ["with a rule for the port", [policy({ ingress: [{ ports: [{ port: 8080 }] }] })], true],
    ["with a rule for the port by name", [policy({ ingress: [{ ports: [{ port: "service" }] }] })], true],
    ["with a rule for another port", [policy({ ingress: [{ ports: [{ port: 1 }] }] })], false],
    ["with a rule for a range of ports", [policy({ ingress: [{ ports: [{ port: 8000, endPort: 9000 }] }] })], true],
    ["with a rule for UDP", [policy({ ingress: [{ ports: [{ port: 8080, protocol: "UDP" }] }] })], false],
    ["with a rule for its block", [policy({ ingress: [{ from: [{ ipBlock: { cidr: "10.1.0.0/16" } }] }] })], true],
    [
      "with a rule for its block but it",
      [policy({ ingress: [{ from: [{ ipBlock: { cidr: "10.1.0.0/16", except: ["10.1.0.1/32"] } }] }] })],
      false,
    ],
    ["with a rule for another block", [policy({ ingress: [{ from: [{ ipBlock: { cidr: "10.9.0.0/16" } }] }] })], false],
    [
      "with a rule for its namespace",
      [policy({ ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: "shop" } } }] }] })],
      true,
    ],
    ["with two, one of which allows it", [policy({}), policy({ ingress: [{}] }, "shop", "q")], true],
    ["with egress of the cart forbidden", [policy({ policyTypes: ["Egress"] })], true],
    [
      "with egress of front forbidden",
      [policy({ podSelector: { matchLabels: { app: "front" } }, policyTypes: ["Egress"] })],
      false,
    ],
    [
      "with egress of front to the cart allowed",
      [
        policy({
          podSelector: { matchLabels: { app: "front" } },
          egress: [{ to: [{ podSelector: { matchLabels: { app: "cart" } } }], ports: [{ port: 8080 }] }],
          policyTypes: ["Egress"],
        }),
      ],
      true,
    ],
  ])("%s: %#", (_, policies, wanted) => {
    expect(allows(world(...policies), front, cart, 8080)).toBe(wanted);
  });
});

it("a pod of another namespace is no peer of a pod selector alone, and needs a namespace selector", () => {
  const labels = { podSelector: { matchLabels: { app: "front" } } };
  const alone = world(policy({ ingress: [{ from: [labels] }] }));
  expect(allows(alone, stranger, cart, 8080)).toBe(false);
  const both = world(policy({ ingress: [{ from: [{ ...labels, namespaceSelector: {} }] }] }));
  expect(allows(both, stranger, cart, 8080)).toBe(true);
});

it("a pod reaches itself whatever the policies say", () => {
  expect(allows(world(policy({})), cart, cart, 8080)).toBe(true);
});
