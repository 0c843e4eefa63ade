/** NetworkPolicies: whether a pod may open a connection to another one. */
import type { KubeApi } from "../kube/api.js";
import type { KubeObject } from "../kube/objects.js";
import { selectorOf } from "../kube/selectors.js";

const RESOURCE = "networkpolicies.networking.k8s.io";

/**
 * True when the policies let `from` connect to `port` of `to`: each end is open until a policy of that direction selects
 * it; then one rule of one such policy must allow the connection. A pod always reaches itself. Names are resolved
 * whatever the policies say (a simplification: a pod that may reach nothing could not ask DNS either).
 */
export function allows(kube: KubeApi, from: KubeObject | undefined, to: KubeObject, port: number): boolean {
  if (from === to || (from !== undefined && from.metadata.uid === to.metadata.uid)) return true;
  const policies = kube.list(RESOURCE);
  if (policies.length === 0) return true;
  return (
    passes(kube, policies, "Ingress", to, from, to, port) &&
    (from === undefined || passes(kube, policies, "Egress", from, to, to, port))
  );
}

/** One direction: `subject` is the pod that policies select, `peer` the other end, `server` the one with the port. */
function passes(
  kube: KubeApi,
  policies: readonly KubeObject[],
  direction: "Ingress" | "Egress",
  subject: KubeObject,
  peer: KubeObject | undefined,
  server: KubeObject,
  port: number,
): boolean {
  const [rulesField, peersField] = direction === "Ingress" ? ["ingress", "from"] : ["egress", "to"];
  let isolated = false;
  for (const { metadata, spec } of policies) {
    if (metadata.namespace !== subject.metadata.namespace) continue;
    const types: string[] = spec?.policyTypes ?? (spec?.egress ? ["Ingress", "Egress"] : ["Ingress"]);
    if (!types.includes(direction) || !selectorOf(spec?.podSelector ?? {})(subject.metadata.labels ?? {})) continue;
    isolated = true;
    for (const rule of spec?.[rulesField] ?? []) {
      const peers: any[] = rule[peersField] ?? [];
      const ports: any[] = rule.ports ?? [];
      const peerFits = peers.length === 0 || peers.some((one) => isPeer(kube, one, metadata.namespace, peer));
      const portFits = ports.length === 0 || ports.some((one) => isPort(one, server, port));
      if (peerFits && portFits) return true;
    }
  }
  return !isolated;
}

function isPeer(kube: KubeApi, peer: any, namespace: string | undefined, pod: KubeObject | undefined): boolean {
  if (pod === undefined) return false;
  if (peer.ipBlock) {
    const ip: string = pod.status?.podIP ?? "";
    return inBlock(ip, peer.ipBlock.cidr) && !(peer.ipBlock.except ?? []).some((cidr: string) => inBlock(ip, cidr));
  }
  if (peer.namespaceSelector) {
    const home = kube.get("namespaces", undefined, pod.metadata.namespace ?? "");
    if (!selectorOf(peer.namespaceSelector)(home?.metadata.labels ?? {})) return false;
  } else if (pod.metadata.namespace !== namespace) return false;
  return peer.podSelector === undefined || selectorOf(peer.podSelector)(pod.metadata.labels ?? {});
}

function isPort(entry: any, server: KubeObject, port: number): boolean {
  if ((entry.protocol ?? "TCP") !== "TCP") return false;
  if (entry.port === undefined) return true;
  if (typeof entry.port === "string") {
    const containers: any[] = server.spec?.containers ?? [];
    return containers.some(({ ports }) =>
      (ports ?? []).some((one: any) => one.name === entry.port && one.containerPort === port),
    );
  }
  return entry.endPort === undefined ? entry.port === port : entry.port <= port && port <= entry.endPort;
}

/** True when an IPv4 address lies in a block such as `10.0.0.0/8`. */
function inBlock(ip: string, cidr: string): boolean {
  const [base, bits] = cidr.split("/");
  const shift = 32 - Number(bits ?? 32);
  const [address, network] = [ipNumber(ip), ipNumber(base ?? "")];
  if (address === undefined || network === undefined || !(shift >= 0 && shift <= 32)) return false;
  return shift === 32 || address >>> shift === network >>> shift;
}

function ipNumber(ip: string): number | undefined {
  const parts = ip.split(".").map(Number);
  if (parts.length !== 4 || parts.some((part) => !(part >= 0 && part <= 255))) return undefined;
  return ((parts[0]! << 24) | (parts[1]! << 16) | (parts[2]! << 8) | parts[3]!) >>> 0;
}
