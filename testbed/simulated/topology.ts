/** The environment's topology from the cluster's objects and the application's call graph. */
import type { Topology, TopologyEdge, TopologyNode, WorkloadState } from "../environment.js";
import type { KubeApi } from "../kube/api.js";
import { labelsMatch } from "../kube/index.js";
import type { KubeObject } from "../kube/objects.js";

/** What stands in the topology; events, leases and the like do not. */
const RESOURCES = [
  "nodes",
  "deployments.apps",
  "replicasets.apps",
  "statefulsets.apps",
  "daemonsets.apps",
  "jobs.batch",
  "cronjobs.batch",
  "pods",
  "services",
  "configmaps",
  "secrets",
  "persistentvolumeclaims",
  "horizontalpodautoscalers.autoscaling",
  "networkpolicies.networking.k8s.io",
];

/** `namespace/Kind/name`; the namespace is empty for cluster-scoped objects. */
export function entityId(object: KubeObject): string {
  return `${object.metadata.namespace ?? ""}/${object.kind}/${object.metadata.name}`;
}

/** A call between two services of an application, by Service or workload name. */
export interface Call {
  namespace: string;
  caller: string;
  callee: string;
}

/** Builds the topology; `calls` become CALLS edges between Services (between workloads where there is no Service). */
export function buildTopology(kube: KubeApi, calls: readonly Call[]): Topology {
  const nodes = new Map<string, TopologyNode>();
  const byUid = new Map<string, string>();
  const edges: TopologyEdge[] = [];
  const objects = RESOURCES.flatMap((resource) => [...kube.list(resource)]);
  for (const object of objects) {
    const id = entityId(object);
    nodes.set(id, { id, kind: object.kind, namespace: object.metadata.namespace ?? "", name: object.metadata.name });
    if (object.metadata.uid) byUid.set(object.metadata.uid, id);
  }
  const link = (source: string, target: string, type: TopologyEdge["type"]) => {
    if (nodes.has(source) && nodes.has(target)) edges.push({ source, target, type });
  };
  for (const object of objects) {
    const id = entityId(object);
    for (const owner of object.metadata.ownerReferences ?? []) {
      const ownerId = byUid.get(owner.uid);
      if (ownerId) link(ownerId, id, "OWNS");
    }
    if (object.kind === "Pod") linkPod(object, id, link);
    if (object.kind === "Service") {
      for (const pod of kube.list("pods", object.metadata.namespace)) {
        if (labelsMatch(object.spec?.selector, pod.metadata.labels)) link(id, entityId(pod), "SELECTS");
      }
    }
  }
  for (const call of calls) {
    const caller = endpointOf(nodes, call.namespace, call.caller);
    const callee = endpointOf(nodes, call.namespace, call.callee);
    if (caller && callee) edges.push({ source: caller, target: callee, type: "CALLS" });
  }
  return { nodes: [...nodes.values()], edges };
}

function linkPod(
  pod: KubeObject,
  id: string,
  link: (source: string, target: string, type: TopologyEdge["type"]) => void,
): void {
  if (pod.spec?.nodeName) link(`/Node/${pod.spec.nodeName}`, id, "SCHEDULES");
  const namespace = pod.metadata.namespace ?? "";
  for (const volume of pod.spec?.volumes ?? []) {
    if (volume.configMap) link(id, `${namespace}/ConfigMap/${volume.configMap.name}`, "MOUNTS");
    if (volume.secret) link(id, `${namespace}/Secret/${volume.secret.secretName}`, "MOUNTS");
    if (volume.persistentVolumeClaim) {
      link(id, `${namespace}/PersistentVolumeClaim/${volume.persistentVolumeClaim.claimName}`, "MOUNTS");
    }
  }
}

/** The Service of that name, or the workload that has none (a consumer of a queue, a load generator). */
function endpointOf(nodes: Map<string, TopologyNode>, namespace: string, name: string): string | undefined {
  return ["Service", "Deployment", "StatefulSet", "DaemonSet"]
    .map((kind) => `${namespace}/${kind}/${name}`)
    .find((id) => nodes.has(id));
}

/** Replicas asked for and ready of every Deployment, StatefulSet and DaemonSet. */
export function workloadStates(kube: KubeApi): WorkloadState[] {
  const states: WorkloadState[] = [];
  for (const resource of ["deployments.apps", "statefulsets.apps"]) {
    for (const object of kube.list(resource)) {
      states.push({
        entity: entityId(object),
        desired: object.spec?.replicas ?? 1,
        ready: object.status?.readyReplicas ?? 0,
      });
    }
  }
  for (const object of kube.list("daemonsets.apps")) {
    states.push({
      entity: entityId(object),
      desired: object.status?.desiredNumberScheduled ?? 0,
      ready: object.status?.numberReady ?? 0,
    });
  }
  return states;
}
