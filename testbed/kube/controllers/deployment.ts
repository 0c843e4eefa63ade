/**
 * Deployments: replica sets per template, rolled over within maxSurge and maxUnavailable, with history, pausing,
 * proportional scaling and the progress deadline.
 */
import { type KubeObject, timestamp } from "../objects.js";
import * as util from "./deployment-util.js";
import { same, setOrOmit } from "./fields.js";
import { keyOf, splitKey } from "./keys.js";
import { claim, controllerOf, controllerReference, isControlledBy, MANAGER } from "./owners.js";
import { apiError, createdAt, type Plane } from "./plane.js";
import { isFinished } from "./pods.js";
import type { WorkQueue } from "./queue.js";
import { isEmptySelector } from "./selectors.js";
import { templateHash } from "./template-hash.js";

const DEPLOYMENTS = "deployments.apps";
const REPLICA_SETS = "replicasets.apps";

export function startDeployments(plane: Plane): void {
  const queue = plane.queue((key) => sync(plane, queue, key));
  plane.follow(DEPLOYMENTS, queue);
  plane.followOwned(REPLICA_SETS, "Deployment", DEPLOYMENTS, queue);
  // A Recreate rollout waits for the last old pod to be gone.
  plane.watch("pods", (event) => {
    if (event.type !== "DELETED") return;
    const owner = controllerOf(event.object);
    if (owner?.kind !== "ReplicaSet") return;
    const set = plane.api.get(REPLICA_SETS, event.object.metadata.namespace, owner.name);
    const deployment = set && controllerOf(set);
    if (deployment) queue.add(`${event.object.metadata.namespace}/${deployment.name}`);
  });
}

/** One reconcile of one deployment. Replica sets are re-read after each write, so that each step sees the last one's. */
class Rollout {
  readonly plane: Plane;
  readonly queue: WorkQueue;
  deployment: KubeObject;
  oldSets: KubeObject[] = [];
  newSet: KubeObject | undefined;
  /** The deployment here has what the stored one has not: see `noteRevision`. */
  dirty = false;

  constructor(plane: Plane, queue: WorkQueue, deployment: KubeObject) {
    this.plane = plane;
    this.queue = queue;
    this.deployment = deployment;
  }

  get allSets(): KubeObject[] {
    return this.newSet ? [...this.oldSets, this.newSet] : this.oldSets;
  }
}

function sync(plane: Plane, queue: WorkQueue, key: string): void {
  const { namespace, name } = splitKey(key);
  const deployment = plane.api.get(DEPLOYMENTS, namespace, name);
  if (deployment === undefined) {
    queue.forget(key);
    return;
  }
  if (isEmptySelector(deployment.spec?.selector)) {
    plane.api.event(deployment, {
      type: "Warning",
      reason: "SelectingAll",
      message: "This deployment is selecting all pods. A non-empty selector is required.",
      component: "deployment-controller",
    });
    return;
  }
  const rollout = new Rollout(plane, queue, deployment);
  const sets = claim(plane.api, deployment, REPLICA_SETS, deployment.spec.selector);
  splitSets(rollout, sets);
  if (deployment.metadata.deletionTimestamp !== undefined) {
    writeStatus(rollout, calculateStatus(rollout));
    return;
  }
  checkPaused(rollout);
  if (rollout.deployment.spec.paused || isScalingEvent(rollout)) {
    syncRevision(rollout, false);
    scale(rollout);
    if (rollout.deployment.spec.paused) cleanUp(rollout);
    writeStatus(rollout, calculateStatus(rollout));
    return;
  }
  if (util.isRolling(rollout.deployment)) rollOver(rollout);
  else recreate(rollout);
}

function splitSets(rollout: Rollout, sets: KubeObject[]): void {
  rollout.newSet = util.findNew(rollout.deployment, sets);
  rollout.oldSets = sets.filter((set) => set.metadata.uid !== rollout.newSet?.metadata.uid);
}

// --- rolling update ------------------------------------------------------------------------------------------------

function rollOver(rollout: Rollout): void {
  if (!syncRevision(rollout, true)) return;
  if (resizeNew(rollout) || shrinkOld(rollout)) {
    syncRolloutStatus(rollout);
    return;
  }
  if (util.isComplete(rollout.deployment, rollout.deployment.status ?? {})) cleanUp(rollout);
  syncRolloutStatus(rollout);
}

function resizeNew(rollout: Rollout): boolean {
  const set = rollout.newSet;
  if (set === undefined) return false;
  const want = util.desired(rollout.deployment);
  const size = util.desired(set);
  if (size === want) return false;
  return resize(rollout, set, size > want ? want : util.newReplicas(rollout.deployment, rollout.allSets, size));
}

function shrinkOld(rollout: Rollout): boolean {
  if (util.sumDesired(rollout.oldSets) === 0) return false;
  const minAvailable = util.desired(rollout.deployment) - util.fences(rollout.deployment).maxUnavailable;
  const newUnavailable = rollout.newSet
    ? util.desired(rollout.newSet) - (rollout.newSet.status?.availableReplicas ?? 0)
    : 0;
  const most = util.sumDesired(rollout.allSets) - minAvailable - newUnavailable;
  if (most <= 0) return false;
  const unhealthy = shrink(rollout, most, (set) => util.desired(set) - (set.status?.availableReplicas ?? 0));
  const surplus = util.sumStatus(rollout.allSets, "availableReplicas") - minAvailable;
  const healthy = surplus > 0 ? shrink(rollout, surplus, (set) => util.desired(set)) : 0;
  return unhealthy + healthy > 0;
}

/** Takes up to `most` pods from the old replica sets, oldest first, from each at most what `spare` says. */
function shrink(rollout: Rollout, most: number, spare: (set: KubeObject) => number): number {
  let taken = 0;
  for (const set of util.byAge(rollout.oldSets)) {
    if (taken >= most) break;
    const count = Math.min(most - taken, util.desired(set), spare(set));
    if (count <= 0) continue;
    resize(rollout, set, util.desired(set) - count);
    taken += count;
  }
  return taken;
}

// --- recreate ------------------------------------------------------------------------------------------------------

function recreate(rollout: Rollout): void {
  syncRevision(rollout, false);
  let scaledDown = false;
  for (const set of util.active(rollout.oldSets)) scaledDown = resize(rollout, set, 0) || scaledDown;
  if (scaledDown || oldPodsLeft(rollout)) {
    syncRolloutStatus(rollout);
    return;
  }
  if (rollout.newSet === undefined && !syncRevision(rollout, true)) return;
  if (rollout.newSet) resize(rollout, rollout.newSet, util.desired(rollout.deployment));
  if (util.isComplete(rollout.deployment, rollout.deployment.status ?? {})) cleanUp(rollout);
  syncRolloutStatus(rollout);
}

function oldPodsLeft(rollout: Rollout): boolean {
  if (rollout.oldSets.length === 0) return false;
  return rollout.plane.api
    .list("pods", rollout.deployment.metadata.namespace)
    .some((pod) => !isFinished(pod) && rollout.oldSets.some((set) => isControlledBy(pod, set)));
}

// --- scaling -------------------------------------------------------------------------------------------------------

/** The deployment's size was changed: some active replica set was last sized for another number. */
function isScalingEvent(rollout: Rollout): boolean {
  const want = String(util.desired(rollout.deployment));
  return util.active(rollout.allSets).some((set) => {
    const noted = set.metadata.annotations?.[util.DESIRED];
    return noted !== undefined && noted !== want;
  });
}

function scale(rollout: Rollout): void {
  const { deployment } = rollout;
  const only = activeOrLatest(rollout);
  if (only !== undefined) {
    resize(rollout, only, util.desired(deployment));
    return;
  }
  if (isSaturated(rollout)) {
    for (const set of util.active(rollout.oldSets)) resize(rollout, set, 0);
    return;
  }
  if (!util.isRolling(deployment)) return;
  scaleInProportion(rollout);
}

/** The one replica set that a change of size is meant for; undefined when several are active. */
function activeOrLatest(rollout: Rollout): KubeObject | undefined {
  const activeSets = util.active(rollout.allSets);
  if (activeSets.length === 1) return activeSets[0];
  if (activeSets.length > 1) return undefined;
  return rollout.newSet ?? util.byAge(rollout.oldSets).at(-1);
}

function isSaturated(rollout: Rollout): boolean {
  const set = rollout.newSet;
  const want = util.desired(rollout.deployment);
  return (
    set !== undefined &&
    set.metadata.annotations?.[util.DESIRED] === String(want) &&
    util.desired(set) === want &&
    (set.status?.availableReplicas ?? 0) === want
  );
}

/** In the middle of a rollout the change is shared out by size, so that the risk stays as it was. */
function scaleInProportion(rollout: Rollout): void {
  const { deployment } = rollout;
  const sets = util.active(rollout.allSets);
  const total = util.sumDesired(sets);
  const want = util.desired(deployment);
  const allowed = want > 0 ? want + util.fences(deployment).maxSurge : 0;
  const toAdd = allowed - total;
  const growing = toAdd > 0;
  sets.sort(
    (a, b) =>
      util.desired(b) - util.desired(a) || (growing ? createdAt(b) - createdAt(a) : createdAt(a) - createdAt(b)),
  );
  const sizes = new Map<KubeObject, number>();
  let added = 0;
  for (const set of sets) {
    const share = toAdd === 0 ? 0 : proportion(set, deployment, toAdd, added);
    sizes.set(set, util.desired(set) + share);
    added += share;
  }
  sets.forEach((set, i) => {
    const leftover = i === 0 ? toAdd - added : 0;
    resize(rollout, set, Math.max(0, (sizes.get(set) ?? 0) + leftover));
  });
}

function proportion(set: KubeObject, deployment: KubeObject, toAdd: number, added: number): number {
  const size = util.desired(set);
  if (size === 0 || toAdd === added) return 0;
  let fraction = -size;
  if (util.desired(deployment) > 0) {
    const now = util.desired(deployment) + util.fences(deployment).maxSurge;
    const before = Number(set.metadata.annotations?.[util.MAX_REPLICAS]) || deployment.status?.replicas || 1;
    fraction = roundHalfAway((size * now) / before) - size;
  }
  const allowed = toAdd - added;
  return toAdd > 0 ? Math.min(fraction, allowed) : Math.max(fraction, allowed);
}

function roundHalfAway(value: number): number {
  return value < 0 ? -Math.round(-value) : Math.round(value);
}

/** Writes a replica set's size and the size annotations; true when the size changed. */
function resize(rollout: Rollout, set: KubeObject, size: number): boolean {
  const { api } = rollout.plane;
  const before = util.desired(set);
  const annotations = { ...set.metadata.annotations, ...util.sizeAnnotations(rollout.deployment) };
  if (size === before && same(annotations, set.metadata.annotations)) return false;
  const written = api.modify(
    REPLICA_SETS,
    set.metadata.namespace,
    set.metadata.name,
    (draft) => {
      draft.spec.replicas = size;
      draft.metadata.annotations = annotations;
    },
    { manager: MANAGER },
  );
  if (written === undefined) return false;
  if (rollout.newSet?.metadata.uid === set.metadata.uid) rollout.newSet = written;
  rollout.oldSets = rollout.oldSets.map((old) => (old.metadata.uid === set.metadata.uid ? written : old));
  if (size === before) return false;
  const direction = size > before ? "up" : "down";
  event(
    rollout,
    "Normal",
    "ScalingReplicaSet",
    `Scaled ${direction} replica set ${set.metadata.name} from ${before} to ${size}`,
  );
  return true;
}

// --- revisions -----------------------------------------------------------------------------------------------------

/**
 * Brings the new replica set's annotations and the deployment's revision up to date; creates it when asked to.
 * False when it could not be created.
 */
function syncRevision(rollout: Rollout, create: boolean): boolean {
  const { deployment } = rollout;
  const revision = Math.max(0, ...rollout.oldSets.map(util.revisionOf)) + 1;
  if (rollout.newSet !== undefined) {
    rollout.newSet = updateNew(rollout, rollout.newSet, revision);
    const name = rollout.newSet?.metadata.name;
    const found = needsProgressCondition(deployment)
      ? { reason: "FoundNewReplicaSet", message: `Found new replica set "${name}"` }
      : undefined;
    noteRevision(rollout, rollout.newSet?.metadata.annotations?.[util.REVISION] ?? String(revision), found);
    return true;
  }
  return create ? createNew(rollout, revision) : true;
}

/** The new replica set with the annotations and minReadySeconds that it should have; written only when they differ. */
function updateNew(rollout: Rollout, set: KubeObject, revision: number): KubeObject | undefined {
  const { plane, deployment } = rollout;
  const annotations = util.replicaSetAnnotations(deployment, set.metadata.annotations, revision);
  const minReady = deployment.spec.minReadySeconds ?? 0;
  if (same(annotations, set.metadata.annotations) && minReady === (set.spec.minReadySeconds ?? 0)) return set;
  const change = (draft: KubeObject) => {
    draft.metadata.annotations = annotations;
    setOrOmit(draft.spec, "minReadySeconds", minReady);
  };
  return plane.api.modify(REPLICA_SETS, set.metadata.namespace, set.metadata.name, change, { manager: MANAGER });
}

function createNew(rollout: Rollout, revision: number): boolean {
  const { plane, deployment } = rollout;
  const hash = templateHash(deployment.spec.template, deployment.status?.collisionCount ?? 0);
  const template = structuredClone(deployment.spec.template);
  template.metadata = { ...template.metadata, labels: { ...template.metadata?.labels, [util.TEMPLATE_HASH]: hash } };
  const size = util.newReplicas(deployment, rollout.oldSets, 0);
  const set: KubeObject = {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${deployment.metadata.name}-${hash}`,
      namespace: deployment.metadata.namespace ?? "",
      labels: { ...template.metadata.labels },
      annotations: {
        ...util.replicaSetAnnotations(deployment, undefined, revision),
        ...util.sizeAnnotations(deployment),
      },
      ownerReferences: [controllerReference(deployment)],
    },
    spec: {
      replicas: size,
      selector: {
        ...structuredClone(deployment.spec.selector),
        matchLabels: { ...deployment.spec.selector.matchLabels, [util.TEMPLATE_HASH]: hash },
      },
      template,
      ...(deployment.spec.minReadySeconds ? { minReadySeconds: deployment.spec.minReadySeconds } : {}),
    },
  };
  let created: KubeObject;
  try {
    created = plane.api.create(REPLICA_SETS, set, { manager: MANAGER });
  } catch (error) {
    return creationFailed(rollout, set, apiError(error));
  }
  rollout.newSet = created;
  if (size > 0)
    event(rollout, "Normal", "ScalingReplicaSet", `Scaled up replica set ${created.metadata.name} from 0 to ${size}`);
  const noted = util.hasDeadline(deployment)
    ? { reason: "NewReplicaSetCreated", message: `Created new replica set "${created.metadata.name}"` }
    : undefined;
  noteRevision(rollout, String(revision), noted);
  return true;
}

function creationFailed(rollout: Rollout, set: KubeObject, error: { message: string; reason: string }): boolean {
  const { deployment, plane, queue } = rollout;
  if (error.reason === "AlreadyExists") {
    // Two templates with one hash: count the collision up, which changes the next hash.
    update(rollout, (draft) => {
      draft.status = { ...draft.status, collisionCount: (draft.status?.collisionCount ?? 0) + 1 };
    });
    queue.add(keyOf(deployment));
    return false;
  }
  const message = `Failed to create new replica set "${set.metadata.name}": ${error.message}`;
  if (util.hasDeadline(deployment)) {
    update(rollout, (draft) => {
      draft.status ??= {};
      draft.status.conditions = util.setCondition(draft.status.conditions ?? [], {
        type: "Progressing",
        status: "False",
        reason: "ReplicaSetCreateError",
        message,
        lastUpdateTime: timestamp(plane.clock.now()),
      });
    });
  }
  event(rollout, "Warning", "FailedCreate", message);
  queue.retry(keyOf(deployment));
  return false;
}

function needsProgressCondition(deployment: KubeObject): boolean {
  return util.hasDeadline(deployment) && !deployment.status?.conditions?.some((c: any) => c.type === "Progressing");
}

/** Revision and progress of the deployment; written together with the status that each reconcile ends with. */
function noteRevision(rollout: Rollout, revision: string, progress?: { reason: string; message: string }): void {
  const { deployment, plane } = rollout;
  const { metadata, status } = deployment;
  if (progress === undefined && metadata.annotations?.[util.REVISION] === revision) return;
  const lastUpdateTime = timestamp(plane.clock.now());
  const conditions: util.Condition[] = status?.conditions ?? [];
  const noted = progress ? { type: "Progressing", status: "True", ...progress, lastUpdateTime } : undefined;
  rollout.dirty = true;
  rollout.deployment = {
    ...deployment,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [util.REVISION]: revision } },
    status: { ...status, conditions: noted ? util.setCondition(conditions, noted) : conditions },
  };
}

/** Deletes replica sets beyond the history limit: empty, settled ones, oldest first. */
function cleanUp(rollout: Rollout): void {
  const limit = rollout.deployment.spec.revisionHistoryLimit ?? 10;
  const kept = rollout.oldSets.filter((set) => set.metadata.deletionTimestamp === undefined);
  const surplus = kept.length - limit;
  if (surplus <= 0) return;
  const oldest = kept.sort((a, b) => util.revisionOf(a) - util.revisionOf(b)).slice(0, surplus);
  for (const set of oldest) {
    const settled = (set.status?.observedGeneration ?? 0) >= (set.metadata.generation ?? 0);
    if ((set.status?.replicas ?? 0) > 0 || util.desired(set) > 0 || !settled) continue;
    rollout.plane.api.delete(REPLICA_SETS, set.metadata.namespace, set.metadata.name);
  }
}

// --- status --------------------------------------------------------------------------------------------------------

function checkPaused(rollout: Rollout): void {
  const { deployment } = rollout;
  if (!util.hasDeadline(deployment)) return;
  const current = deployment.status?.conditions?.find((c: any) => c.type === "Progressing");
  if (current?.reason === "ProgressDeadlineExceeded") return;
  const noted = current?.reason === "DeploymentPaused";
  const paused = deployment.spec.paused === true;
  if (paused === noted) return;
  update(rollout, (draft) => {
    draft.status ??= {};
    draft.status.conditions = util.setCondition(draft.status.conditions ?? [], {
      type: "Progressing",
      status: "Unknown",
      reason: paused ? "DeploymentPaused" : "DeploymentResumed",
      message: paused ? "Deployment is paused" : "Deployment is resumed",
      lastUpdateTime: timestamp(rollout.plane.clock.now()),
    });
  });
}

function calculateStatus(rollout: Rollout): any {
  const { deployment, allSets, newSet, plane } = rollout;
  const available = util.sumStatus(allSets, "availableReplicas");
  const status: any = { ...deployment.status, observedGeneration: deployment.metadata.generation ?? 1 };
  setOrOmit(status, "replicas", util.sumStatus(allSets, "replicas"));
  setOrOmit(status, "updatedReplicas", newSet?.status?.replicas ?? 0);
  setOrOmit(status, "readyReplicas", util.sumStatus(allSets, "readyReplicas"));
  setOrOmit(status, "availableReplicas", available);
  setOrOmit(status, "unavailableReplicas", Math.max(0, util.sumDesired(allSets) - available));
  const enough = available >= util.desired(deployment) - util.fences(deployment).maxUnavailable;
  status.conditions = util.setCondition(deployment.status?.conditions ?? [], {
    type: "Available",
    status: enough ? "True" : "False",
    reason: enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
    message: enough ? "Deployment has minimum availability." : "Deployment does not have minimum availability.",
    lastUpdateTime: timestamp(plane.clock.now()),
  });
  return status;
}

function syncRolloutStatus(rollout: Rollout): void {
  const { deployment, newSet, plane } = rollout;
  const status = calculateStatus(rollout);
  if (util.hasDeadline(deployment)) status.conditions = progressCondition(rollout, status);
  else status.conditions = util.dropCondition(status.conditions, "Progressing");
  const failure = [newSet, ...rollout.oldSets]
    .flatMap((set) => set?.status?.conditions ?? [])
    .find((condition: any) => condition.type === "ReplicaFailure" && condition.status === "True");
  status.conditions = failure
    ? util.setCondition(status.conditions, {
        type: "ReplicaFailure",
        status: "True",
        reason: failure.reason,
        message: failure.message,
        lastUpdateTime: timestamp(plane.clock.now()),
      })
    : util.dropCondition(status.conditions, "ReplicaFailure");
  writeStatus(rollout, status);
  requeueForDeadline(rollout);
}

function progressCondition(rollout: Rollout, status: any): util.Condition[] {
  const { deployment, newSet, plane } = rollout;
  const conditions: util.Condition[] = status.conditions;
  const current = deployment.status?.conditions?.find((c: any) => c.type === "Progressing");
  const settled = (status.replicas ?? 0) === (status.updatedReplicas ?? 0);
  if (settled && current?.reason === "NewReplicaSetAvailable") return conditions;
  const what = newSet ? `ReplicaSet "${newSet.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  const now = timestamp(plane.clock.now());
  const next = (state: string, reason: string, does: string) => ({
    type: "Progressing",
    status: state,
    reason,
    message: `${what} ${does}.`,
    lastUpdateTime: now,
  });
  if (util.isComplete(deployment, status)) {
    return util.setCondition(conditions, next("True", "NewReplicaSetAvailable", "has successfully progressed"));
  }
  if (util.isProgressing(deployment.status, status)) {
    // Written anew even when nothing but the time changes: the deadline counts from the last progress.
    const lastTransitionTime = current?.status === "True" ? current.lastTransitionTime : now;
    const entry = { ...next("True", "ReplicaSetUpdated", "is progressing"), lastTransitionTime };
    return [...util.dropCondition(conditions, "Progressing"), entry];
  }
  if (deadlineLeft(rollout, current) <= 0) {
    return util.setCondition(conditions, next("False", "ProgressDeadlineExceeded", "has timed out progressing"));
  }
  return conditions;
}

/** Milliseconds until the rollout counts as stuck; infinite when it does not count. */
function deadlineLeft(rollout: Rollout, progress: any): number {
  if (progress === undefined || progress.reason === "NewReplicaSetAvailable") return Number.POSITIVE_INFINITY;
  if (progress.reason === "ProgressDeadlineExceeded") return 0;
  const deadline = (rollout.deployment.spec.progressDeadlineSeconds ?? 600) * 1000;
  return Date.parse(progress.lastUpdateTime) + deadline - rollout.plane.clock.now();
}

function requeueForDeadline(rollout: Rollout): void {
  const { deployment, queue } = rollout;
  if (!util.hasDeadline(deployment)) return;
  const current = deployment.status?.conditions?.find((c: any) => c.type === "Progressing");
  if (current?.reason === "ProgressDeadlineExceeded" || util.isComplete(deployment, deployment.status ?? {})) return;
  const left = deadlineLeft(rollout, current);
  if (Number.isFinite(left)) queue.addAfter(keyOf(deployment), Math.max(0, left) + 1000);
}

function writeStatus(rollout: Rollout, status: any): void {
  const { annotations } = rollout.deployment.metadata;
  if (!rollout.dirty && same(rollout.deployment.status, status)) return;
  update(rollout, (draft) => {
    draft.status = status;
    const revision = annotations?.[util.REVISION];
    if (revision !== undefined)
      draft.metadata.annotations = { ...draft.metadata.annotations, [util.REVISION]: revision };
  });
  rollout.dirty = false;
}

function update(rollout: Rollout, change: (draft: KubeObject) => void): void {
  const { namespace, name } = rollout.deployment.metadata;
  const options = { manager: MANAGER, subresource: "status" };
  rollout.deployment = rollout.plane.api.modify(DEPLOYMENTS, namespace, name, change, options) ?? rollout.deployment;
}

function event(rollout: Rollout, type: "Normal" | "Warning", reason: string, message: string): void {
  rollout.plane.api.event(rollout.deployment, { type, reason, message, component: "deployment-controller" });
}
