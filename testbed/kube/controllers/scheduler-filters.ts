/**
 * Where a pod may run: one filter a constraint, each with the words of the scheduler's own refusal, and the scores that
 * choose among the nodes left.
 */
import type { KubeApi } from "../api.js";
import type { KubeObject } from "../objects.js";
import { quantityValue } from "../quantity.js";

import { controllerOf } from "./owners.js";
import { fulfils, hasLabels, selects } from "./selectors.js";
import { tolerates } from "./taints.js";

/** A refusal; `hopeless` when no eviction could change it. */
export interface Refusal {
  reasons: string[];
  hopeless: boolean;
}

/** What a scheduling attempt sees of the cluster. */
export interface Snapshot {
  api: KubeApi;
  nodes: readonly KubeObject[];
  /** Pods that hold a node's resources, by node. */
  podsOn: Map<string, KubeObject[]>;
  demands: Demands;
}

/** What pods ask for, worked out once for each. */
export class Demands {
  readonly #known = new Map<string, { generation: number | undefined; demand: Demand }>();

  of(pod: KubeObject): Demand {
    const { uid = "", generation } = pod.metadata;
    const known = this.#known.get(uid);
    if (known !== undefined && known.generation === generation) return known.demand;
    const demand = demandOf(pod);
    this.#known.set(uid, { generation, demand });
    return demand;
  }

  forget(pod: KubeObject): void {
    this.#known.delete(pod.metadata.uid ?? "");
  }
}

export interface Demand {
  /** Thousandths of a core, bytes, and other resources by name. */
  [resource: string]: number;
}

const HOSTNAME = "kubernetes.io/hostname";

/** Cores in thousandths, everything else in base units. */
export function amount(resource: string, text: string | number | undefined): number {
  const value = quantityValue(text);
  return resource === "cpu" ? Math.ceil(value * 1000 - 1e-6) : value;
}

/** What the scheduler sets aside for a pod: its containers, or its largest init container where that is more. */
export function demandOf(pod: KubeObject): Demand {
  const sum: Demand = {};
  const peak: Demand = {};
  for (const container of pod.spec?.containers ?? []) add(sum, container);
  for (const container of pod.spec?.initContainers ?? []) {
    if (container.restartPolicy === "Always") add(sum, container);
    else raise(peak, container);
  }
  for (const resource in peak) sum[resource] = Math.max(sum[resource] ?? 0, peak[resource] ?? 0);
  for (const [resource, text] of Object.entries<string>(pod.spec?.overhead ?? {})) {
    sum[resource] = (sum[resource] ?? 0) + amount(resource, text);
  }
  return sum;
}

function add(sum: Demand, container: any): void {
  for (const [resource, text] of Object.entries<string>(container.resources?.requests ?? {})) {
    sum[resource] = (sum[resource] ?? 0) + amount(resource, text);
  }
}

function raise(peak: Demand, container: any): void {
  for (const [resource, text] of Object.entries<string>(container.resources?.requests ?? {})) {
    peak[resource] = Math.max(peak[resource] ?? 0, amount(resource, text));
  }
}

type Filter = (pod: KubeObject, node: KubeObject, snapshot: Snapshot) => Refusal | undefined;

const hopeless = (...reasons: string[]): Refusal => ({ reasons, hopeless: true });
const busy = (...reasons: string[]): Refusal => ({ reasons, hopeless: false });

const unschedulable: Filter = (pod, node) => {
  if (!node.spec?.unschedulable) return undefined;
  const taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };
  const tolerated = (pod.spec?.tolerations ?? []).some((toleration: any) => tolerates(toleration, taint));
  return tolerated ? undefined : hopeless("node(s) were unschedulable");
};

const taints: Filter = (pod, node) => {
  for (const taint of node.spec?.taints ?? []) {
    if (taint.effect !== "NoSchedule" && taint.effect !== "NoExecute") continue;
    if ((pod.spec?.tolerations ?? []).some((toleration: any) => tolerates(toleration, taint))) continue;
    return hopeless(`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`);
  }
  return undefined;
};

const nodeAffinity: Filter = (pod, node) => {
  if (choosesNode(pod, node)) return undefined;
  const names = namedNodes(pod);
  if (names && !names.has(node.metadata.name)) return hopeless("node(s) didn't satisfy plugin(s) [NodeAffinity]");
  return hopeless("node(s) didn't match Pod's node affinity/selector");
};

/** The only nodes that the pod's affinity could mean, where it names them, as daemon sets do; no others are looked at. */
function namedNodes(pod: KubeObject): Set<string> | undefined {
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (!Array.isArray(terms) || terms.length === 0) return undefined;
  const names = new Set<string>();
  for (const term of terms) {
    const field = term.matchFields?.find((each: any) => each.key === "metadata.name" && each.operator === "In");
    if (field === undefined) return undefined;
    for (const name of field.values) names.add(name);
  }
  return names;
}

function choosesNode(pod: KubeObject, node: KubeObject): boolean {
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const chosen = hasLabels(node.metadata.labels, pod.spec?.nodeSelector ?? {});
  return chosen && (terms === undefined || terms.some((term: any) => matchesNode(term, node)));
}

function matchesNode(term: any, node: KubeObject): boolean {
  const expressions = term.matchExpressions ?? [];
  const fields = term.matchFields ?? [];
  if (expressions.length + fields.length === 0) return false;
  return (
    expressions.every((requirement: any) => fulfils(requirement, node.metadata.labels)) &&
    fields.every((requirement: any) => fulfils(requirement, { "metadata.name": node.metadata.name }))
  );
}

const hostPorts: Filter = (pod, node, snapshot) => {
  const wanted = portsOf(pod);
  if (wanted.length === 0) return undefined;
  const taken = (snapshot.podsOn.get(node.metadata.name) ?? []).flatMap(portsOf);
  const clash = wanted.some((port) => taken.includes(port));
  return clash ? busy("node(s) didn't have free ports for the requested pod ports") : undefined;
};

function portsOf(pod: KubeObject): string[] {
  return (pod.spec?.containers ?? []).flatMap((container: any) =>
    (container.ports ?? [])
      .filter((port: any) => port.hostPort)
      .map((port: any) => `${port.hostPort}/${port.protocol ?? "TCP"}`),
  );
}

const resources: Filter = (pod, node, snapshot) => {
  const reasons: string[] = [];
  const others = snapshot.podsOn.get(node.metadata.name) ?? [];
  const allocatable = node.status?.allocatable ?? {};
  if (others.length + 1 > quantityValue(allocatable.pods)) reasons.push("Too many pods");
  const demand = snapshot.demands.of(pod);
  const held = heldOn(others, snapshot.demands);
  let never = false;
  for (const resource of Object.keys(demand).sort()) {
    const want = demand[resource] ?? 0;
    const capacity = amount(resource, allocatable[resource]);
    if (want === 0 || want <= capacity - (held[resource] ?? 0)) continue;
    reasons.push(`Insufficient ${resource}`);
    if (want > capacity) never = true;
  }
  return reasons.length === 0 ? undefined : { reasons, hopeless: never };
};

function heldOn(pods: KubeObject[], demands: Demands): Demand {
  const held: Demand = {};
  for (const pod of pods) {
    const demand = demands.of(pod);
    for (const resource in demand) held[resource] = (held[resource] ?? 0) + (demand[resource] ?? 0);
  }
  return held;
}

/** A bound volume may tie the pod to a node. */
const volumes: Filter = (pod, node, { api }) => {
  for (const volume of pod.spec?.volumes ?? []) {
    const name = volume.persistentVolumeClaim?.claimName;
    const claim = name && api.get("persistentvolumeclaims", pod.metadata.namespace, name);
    const bound = claim && api.get("persistentvolumes", undefined, claim.spec?.volumeName ?? "");
    const terms = bound?.spec?.nodeAffinity?.required?.nodeSelectorTerms;
    if (terms && !terms.some((term: any) => matchesNode(term, node))) {
      return hopeless("node(s) didn't match PersistentVolume's node affinity");
    }
  }
  return undefined;
};

const topologySpread: Filter = (pod, node, snapshot) => {
  for (const constraint of pod.spec?.topologySpreadConstraints ?? []) {
    if (constraint.whenUnsatisfiable !== "DoNotSchedule") continue;
    const domain = node.metadata.labels?.[constraint.topologyKey];
    if (domain === undefined) {
      return hopeless("node(s) didn't match pod topology spread constraints (missing required label)");
    }
    const counts = spreadCounts(pod, constraint, snapshot);
    const self = selects(constraint.labelSelector, pod.metadata.labels) ? 1 : 0;
    const least = Math.min(...counts.values());
    if ((counts.get(domain) ?? 0) + self - least > constraint.maxSkew) {
      return busy("node(s) didn't match pod topology spread constraints");
    }
  }
  return undefined;
};

function spreadCounts(pod: KubeObject, constraint: any, snapshot: Snapshot): Map<string, number> {
  const counts = new Map<string, number>();
  for (const node of snapshot.nodes) {
    const domain = node.metadata.labels?.[constraint.topologyKey];
    if (domain === undefined || nodeAffinity(pod, node, snapshot) !== undefined) continue;
    const matching = (snapshot.podsOn.get(node.metadata.name) ?? []).filter(
      (other) =>
        other.metadata.namespace === pod.metadata.namespace && selects(constraint.labelSelector, other.metadata.labels),
    );
    counts.set(domain, (counts.get(domain) ?? 0) + matching.length);
  }
  return counts;
}

const podAffinity: Filter = (pod, node, snapshot) => {
  const affinity = pod.spec?.affinity;
  for (const term of affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
    const candidates = [...snapshot.podsOn.values()].flat().filter((other) => termSelects(term, pod, other));
    // The first of a group that is affine to itself may go anywhere.
    if (candidates.length === 0 && termSelects(term, pod, pod)) continue;
    if (!candidates.some((other) => sameDomain(snapshot, node, other, term.topologyKey))) {
      return hopeless("node(s) didn't match pod affinity rules");
    }
  }
  for (const term of affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
    const clash = [...snapshot.podsOn.values()]
      .flat()
      .some((other) => termSelects(term, pod, other) && sameDomain(snapshot, node, other, term.topologyKey));
    if (clash) return busy("node(s) didn't match pod anti-affinity rules");
  }
  for (const other of [...snapshot.podsOn.values()].flat()) {
    const terms = other.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    for (const term of terms) {
      if (!termSelects(term, other, pod)) continue;
      if (sameDomain(snapshot, node, other, term.topologyKey)) {
        return busy("node(s) didn't satisfy existing pods anti-affinity rules");
      }
    }
  }
  return undefined;
};

/** Whether a term of `owner` is about `other`. */
function termSelects(term: any, owner: KubeObject, other: KubeObject): boolean {
  const namespaces: string[] = term.namespaces ?? [];
  const everywhere = term.namespaceSelector !== undefined && term.namespaceSelector !== null;
  const inScope =
    everywhere ||
    (namespaces.length > 0
      ? namespaces.includes(other.metadata.namespace ?? "")
      : other.metadata.namespace === owner.metadata.namespace);
  return inScope && selects(term.labelSelector, other.metadata.labels);
}

function sameDomain(snapshot: Snapshot, node: KubeObject, other: KubeObject, topologyKey: string): boolean {
  const home = snapshot.nodes.find((candidate) => candidate.metadata.name === other.spec?.nodeName);
  const domain = node.metadata.labels?.[topologyKey];
  return domain !== undefined && home?.metadata.labels?.[topologyKey] === domain;
}

const FILTERS: Filter[] = [
  unschedulable,
  taints,
  nodeAffinity,
  hostPorts,
  resources,
  volumes,
  topologySpread,
  podAffinity,
];

/** The first filter's refusal, or undefined when the pod fits. */
export function refusal(pod: KubeObject, node: KubeObject, snapshot: Snapshot): Refusal | undefined {
  for (const filter of FILTERS) {
    const found = filter(pod, node, snapshot);
    if (found) return found;
  }
  return undefined;
}

/**
 * What a daemon set asks of a node: whether a pod should be there, and whether one that is there may stay (a NoSchedule
 * taint keeps new ones away only).
 */
export function acceptsNode(pod: KubeObject, node: KubeObject): { run: boolean; stay: boolean } {
  if (!choosesNode(pod, node)) return { run: false, stay: false };
  const untolerated = (node.spec?.taints ?? []).filter(
    (taint: any) => !(pod.spec?.tolerations ?? []).some((toleration: any) => tolerates(toleration, taint)),
  );
  return {
    run: !untolerated.some((taint: any) => taint.effect === "NoSchedule" || taint.effect === "NoExecute"),
    stay: !untolerated.some((taint: any) => taint.effect === "NoExecute"),
  };
}

/** Requests that the scores assume for containers without any. */
const ASSUMED_CPU = 100;
const ASSUMED_MEMORY = 200 * 2 ** 20;

/**
 * Higher is better, on the default scheduler's scale: least allocated and balanced resources (weight 1), spreading of
 * replicas, preferred affinities (2), and avoidance of PreferNoSchedule taints (3).
 */
export function score(pod: KubeObject, node: KubeObject, snapshot: Snapshot): number {
  const pods = [...(snapshot.podsOn.get(node.metadata.name) ?? []), pod];
  const fraction = (resource: string, assumed: number) => {
    const used = pods.reduce((sum, each) => sum + (snapshot.demands.of(each)[resource] || assumed), 0);
    return Math.min(1, used / (amount(resource, node.status?.allocatable?.[resource]) || 1));
  };
  const cpu = fraction("cpu", ASSUMED_CPU);
  const memory = fraction("memory", ASSUMED_MEMORY);
  const leastAllocated = ((1 - cpu + (1 - memory)) / 2) * 100;
  const balanced = (1 - Math.abs(cpu - memory) / 2) * 100;
  return leastAllocated + balanced + 2 * spreadScore(pod, node, snapshot) + preferences(pod, node, snapshot);
}

function spreadScore(pod: KubeObject, node: KubeObject, snapshot: Snapshot): number {
  const soft = (pod.spec?.topologySpreadConstraints ?? []).filter((c: any) => c.whenUnsatisfiable === "ScheduleAnyway");
  if (soft.length > 0) {
    const scores = soft.map((constraint: any) => {
      const counts = spreadCounts(pod, constraint, snapshot);
      return inverse(counts.get(node.metadata.labels?.[constraint.topologyKey] ?? "") ?? 0, [...counts.values()]);
    });
    return scores.reduce((sum: number, each: number) => sum + each, 0) / scores.length;
  }
  const owner = controllerOf(pod)?.uid;
  if (owner === undefined) return 0;
  const counts = snapshot.nodes.map(
    (each) =>
      (snapshot.podsOn.get(each.metadata.name) ?? []).filter((other) => controllerOf(other)?.uid === owner).length,
  );
  return inverse(counts[snapshot.nodes.indexOf(node)] ?? 0, counts);
}

/** 100 for none, 0 for the most crowded. */
function inverse(count: number, all: number[]): number {
  const most = Math.max(0, ...all);
  return most === 0 ? 100 : (100 * (most - count)) / most;
}

function preferences(pod: KubeObject, node: KubeObject, snapshot: Snapshot): number {
  let total = 0;
  const affinity = pod.spec?.affinity;
  for (const term of affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
    if (matchesNode(term.preference, node)) total += 2 * term.weight;
  }
  const others = [...snapshot.podsOn.values()].flat();
  const near = (term: any) =>
    others.some(
      (other) => termSelects(term, pod, other) && sameDomain(snapshot, node, other, term.topologyKey ?? HOSTNAME),
    );
  for (const { weight, podAffinityTerm } of affinity?.podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ??
    []) {
    if (near(podAffinityTerm)) total += 2 * weight;
  }
  for (const entry of affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
    if (near(entry.podAffinityTerm)) total -= 2 * entry.weight;
  }
  for (const taint of node.spec?.taints ?? []) {
    if (taint.effect !== "PreferNoSchedule") continue;
    if (!(pod.spec?.tolerations ?? []).some((toleration: any) => tolerates(toleration, taint))) total -= 300;
  }
  return total;
}
