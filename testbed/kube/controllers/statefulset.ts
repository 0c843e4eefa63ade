/** Stateful sets: pods with fixed names and claims, created in order, updated from the last to the first. */
import type { KubeObject } from "../objects.js";
import { setOrOmit } from "./fields.js";
import { type History, syncHistory, templateAt, truncateHistory } from "./history.js";
import { splitKey } from "./keys.js";
import { claim, controllerReference, MANAGER } from "./owners.js";
import { apiError, type Plane } from "./plane.js";
import { isAvailable, isFinished, isReady, podFromTemplate } from "./pods.js";
import type { WorkQueue } from "./queue.js";
import { replaceStatus } from "./status.js";

const STATEFUL_SETS = "statefulsets.apps";
const REVISION_LABEL = "controller-revision-hash";

export function startStatefulSets(plane: Plane): void {
  const queue = plane.queue((key) => sync(plane, queue, key));
  plane.follow(STATEFUL_SETS, queue);
  plane.followOwned("pods", "StatefulSet", STATEFUL_SETS, queue);
}

/** One reconcile: the set, its history, its pods by ordinal. */
interface Sync {
  plane: Plane;
  queue: WorkQueue;
  key: string;
  set: KubeObject;
  history: History;
  current: KubeObject;
  pods: KubeObject[];
  start: number;
  replicas: number;
}

function sync(plane: Plane, queue: WorkQueue, key: string): void {
  const { namespace, name } = splitKey(key);
  const set = plane.api.get(STATEFUL_SETS, namespace, name);
  if (set === undefined) {
    queue.forget(key);
    return;
  }
  const pods = claim(plane.api, set, "pods", set.spec.selector, (pod) => ordinalOf(set, pod) !== undefined).filter(
    (pod) => ordinalOf(set, pod) !== undefined,
  );
  pods.sort((a, b) => (ordinalOf(set, a) ?? 0) - (ordinalOf(set, b) ?? 0));
  const history = syncHistory(plane.api, set, "controller.kubernetes.io/hash");
  const current = history.revisions.find((r) => r.metadata.name === set.status?.currentRevision) ?? history.update;
  const state: Sync = {
    plane,
    queue,
    key,
    set,
    history,
    current,
    pods,
    start: set.spec.ordinals?.start ?? 0,
    replicas: set.spec.replicas ?? 1,
  };
  if (set.metadata.deletionTimestamp === undefined) {
    try {
      step(state);
      queue.forget(key);
    } catch (error) {
      const { message } = apiError(error);
      if (!message.includes("because it is being terminated")) queue.retry(key);
    }
  }
  writeStatus(state);
  const inUse = new Set(pods.map((pod) => pod.metadata.labels?.[REVISION_LABEL] ?? ""));
  inUse.add(current.metadata.name);
  truncateHistory(plane.api, set, history, inUse);
}

function ordinalOf(set: KubeObject, pod: KubeObject): number | undefined {
  const prefix = `${set.metadata.name}-`;
  const rest = pod.metadata.name.startsWith(prefix) ? pod.metadata.name.slice(prefix.length) : "";
  return /^\d+$/.test(rest) ? Number(rest) : undefined;
}

/** Does what may be done now; with ordered management that is one pod, and only when all before it are well. */
function step(state: Sync): void {
  const { set, pods, start, replicas } = state;
  const ordered = set.spec.podManagementPolicy !== "Parallel";
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod) ?? -1, pod]));
  for (let ordinal = start; ordinal < start + replicas; ordinal++) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined) {
      createPod(state, ordinal);
      if (ordered) return;
      continue;
    }
    if (isFinished(pod) && pod.metadata.deletionTimestamp === undefined) {
      const { namespace, name } = pod.metadata;
      const why = `StatefulSet ${namespace}/${set.metadata.name} is recreating failed Pod ${name}`;
      event(state, "Warning", "RecreatingFailedPod", why);
      deletePod(state, pod);
      if (ordered) return;
      continue;
    }
    if (ordered && (pod.metadata.deletionTimestamp !== undefined || !available(state, pod))) return;
  }
  const condemned = pods.filter((pod) => !wanted(state, pod)).reverse();
  for (const pod of condemned) {
    if (pod.metadata.deletionTimestamp !== undefined) {
      if (ordered) return;
      continue;
    }
    deletePod(state, pod);
    if (ordered) return;
  }
  if (set.spec.updateStrategy?.type === "OnDelete") return;
  updateOne(state, byOrdinal);
}

function wanted(state: Sync, pod: KubeObject): boolean {
  const ordinal = ordinalOf(state.set, pod) ?? -1;
  return ordinal >= state.start && ordinal < state.start + state.replicas;
}

function available(state: Sync, pod: KubeObject): boolean {
  return isAvailable(pod, state.set.spec.minReadySeconds ?? 0, state.plane.clock.now());
}

/** Deletes the last pod that is not up to date, once those after it are well. */
function updateOne(state: Sync, byOrdinal: Map<number, KubeObject>): void {
  const { set, history, start, replicas } = state;
  const partition = set.spec.updateStrategy?.rollingUpdate?.partition ?? 0;
  for (let ordinal = start + replicas - 1; ordinal >= start + partition; ordinal--) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined) return;
    const upToDate = pod.metadata.labels?.[REVISION_LABEL] === history.update.metadata.name;
    if (!upToDate && pod.metadata.deletionTimestamp === undefined) {
      deletePod(state, pod);
      return;
    }
    if (pod.metadata.deletionTimestamp !== undefined || !isReady(pod)) return;
  }
}

function createPod(state: Sync, ordinal: number): void {
  const { plane, set, history, current, start } = state;
  const partition = set.spec.updateStrategy?.rollingUpdate?.partition;
  const old = partition === undefined ? start + (set.status?.currentReplicas ?? 0) : start + partition;
  const revision = ordinal < old ? current : history.update;
  const name = `${set.metadata.name}-${ordinal}`;
  const pod = podFromTemplate(templateAt(revision), set, controllerReference(set));
  pod.metadata.name = name;
  delete pod.metadata.generateName;
  pod.metadata.labels = {
    ...pod.metadata.labels,
    "apps.kubernetes.io/pod-index": String(ordinal),
    [REVISION_LABEL]: revision.metadata.name,
    "statefulset.kubernetes.io/pod-name": name,
  };
  pod.spec.hostname = name;
  pod.spec.subdomain = set.spec.serviceName;
  const claims: any[] = set.spec.volumeClaimTemplates ?? [];
  if (claims.length > 0) {
    const own = claims.map((template) => ({
      name: template.metadata.name,
      persistentVolumeClaim: { claimName: `${template.metadata.name}-${name}` },
    }));
    const others = (pod.spec.volumes ?? []).filter((volume: any) => !own.some((each) => each.name === volume.name));
    pod.spec.volumes = [...own, ...others];
  }
  try {
    for (const template of claims) createClaim(state, template, name);
    plane.api.create("pods", pod, { manager: MANAGER });
    event(state, "Normal", "SuccessfulCreate", `create Pod ${name} in StatefulSet ${set.metadata.name} successful`);
  } catch (error) {
    const { message, reason } = apiError(error);
    if (reason !== "AlreadyExists") {
      const failed = `create Pod ${name} in StatefulSet ${set.metadata.name} failed error: ${message}`;
      event(state, "Warning", "FailedCreate", failed);
    }
    throw error;
  }
}

function createClaim(state: Sync, template: any, pod: string): void {
  const { api } = state.plane;
  const { namespace, name: setName } = state.set.metadata;
  const name = `${template.metadata.name}-${pod}`;
  if (api.get("persistentvolumeclaims", namespace, name) !== undefined) return;
  api.create(
    "persistentvolumeclaims",
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: {
        name,
        namespace: namespace ?? "",
        labels: { ...template.metadata.labels, ...state.set.spec.selector?.matchLabels },
        ...(template.metadata.annotations ? { annotations: { ...template.metadata.annotations } } : {}),
      },
      spec: structuredClone(template.spec),
    },
    { manager: MANAGER },
  );
  event(state, "Normal", "SuccessfulCreate", `create Claim ${name} Pod ${pod} in StatefulSet ${setName} success`);
}

function deletePod(state: Sync, pod: KubeObject): void {
  const { namespace, name } = pod.metadata;
  if (state.plane.api.delete("pods", namespace, name) === undefined) return;
  const message = `delete Pod ${name} in StatefulSet ${state.set.metadata.name} successful`;
  event(state, "Normal", "SuccessfulDelete", message);
}

function writeStatus(state: Sync): void {
  const { plane, set, history, current, pods, queue, key } = state;
  const count = (test: (pod: KubeObject) => boolean) => pods.filter(test).length;
  const revisionOf = (pod: KubeObject) => pod.metadata.labels?.[REVISION_LABEL];
  const living = (pod: KubeObject) => pod.metadata.deletionTimestamp === undefined;
  const at = (revision: KubeObject) => count((pod) => living(pod) && revisionOf(pod) === revision.metadata.name);
  const ready = pods.filter((pod) => pod.status?.phase === "Running" && isReady(pod));
  const status: any = {
    ...set.status,
    observedGeneration: set.metadata.generation ?? 1,
    replicas: pods.length,
    availableReplicas: ready.filter((pod) => available(state, pod)).length,
    collisionCount: set.status?.collisionCount ?? 0,
    updateRevision: history.update.metadata.name,
    currentRevision: current.metadata.name,
  };
  const updated = at(history.update);
  setOrOmit(status, "readyReplicas", ready.length);
  setOrOmit(status, "updatedReplicas", updated);
  setOrOmit(status, "currentReplicas", at(current));
  const done = updated === pods.length && ready.length === pods.length && updated === (set.spec.replicas ?? 1);
  if (done && set.spec.updateStrategy?.type !== "OnDelete") {
    status.currentRevision = status.updateRevision;
    setOrOmit(status, "currentReplicas", updated);
  }
  if (ready.length > status.availableReplicas) queue.addAfter(key, (set.spec.minReadySeconds ?? 0) * 1000);
  replaceStatus(plane.api, STATEFUL_SETS, set, status);
}

function event(state: Sync, type: "Normal" | "Warning", reason: string, message: string): void {
  state.plane.api.event(state.set, { type, reason, message, component: "statefulset-controller" });
}
