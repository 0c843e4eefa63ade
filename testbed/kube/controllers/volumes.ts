/**
 * Persistent volumes: claims are bound to volumes that fit, or to new ones where the class has a provisioner. The
 * provisioner is simulated: it makes a volume object and nothing behind it.
 */
import { type KubeObject, timestamp } from "../objects.js";
import { compareQuantities } from "../quantity.js";
import { keyOf, splitKey } from "./keys.js";
import { MANAGER } from "./owners.js";
import { apiError, type Plane } from "./plane.js";
import { isFinished } from "./pods.js";
import type { WorkQueue } from "./queue.js";
import { selects } from "./selectors.js";
import { replaceStatus } from "./status.js";

const CLAIMS = "persistentvolumeclaims";
const VOLUMES = "persistentvolumes";
const CLASSES = "storageclasses.storage.k8s.io";
const DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class";
const SELECTED_NODE = "volume.kubernetes.io/selected-node";
const CLAIM_PROTECTION = "kubernetes.io/pvc-protection";
const VOLUME_PROTECTION = "kubernetes.io/pv-protection";
const CONTROLLER = "persistentvolume-controller";
/** How long a simulated provisioner takes. */
const PROVISION_MS = 2_000;
/** How often a claim that cannot be bound is looked at again, and complained about. */
const RESYNC_MS = 15_000;

export const LOCAL_PATH = "rancher.io/local-path";

export function startVolumes(plane: Plane): void {
  const { api } = plane;
  const claims: WorkQueue = plane.queue((key) => syncClaim(plane, claims, key));
  const volumes = plane.queue((key) => syncVolume(plane, key));
  const retryAll = () => {
    for (const claim of api.list(CLAIMS)) if (claim.status?.phase !== "Bound") claims.add(keyOf(claim));
  };
  plane.watch(CLAIMS, (event) => {
    claims.add(keyOf(event.object));
    const { volumeName } = event.object.spec ?? {};
    if (event.type === "DELETED" && volumeName) volumes.add(`/${volumeName}`);
  });
  plane.watch(VOLUMES, (event) => {
    volumes.add(keyOf(event.object));
    if (event.type === "ADDED") retryAll();
  });
  plane.watch(CLASSES, retryAll);
  plane.watch("pods", ({ type, object, previous }) => {
    // A claim under deletion goes when its last pod does.
    if (type !== "DELETED" && !(previous && !isFinished(previous) && isFinished(object))) return;
    for (const name of claimsOf(object)) claims.add(`${object.metadata.namespace}/${name}`);
  });
}

/** The storage class that small clusters come with: local directories, bound when a pod needs them. */
export function createDefaultStorageClass(plane: Plane): void {
  if (plane.api.list(CLASSES).length > 0) return;
  plane.api.create(
    CLASSES,
    {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "standard", annotations: { [DEFAULT_CLASS]: "true" } },
      provisioner: LOCAL_PATH,
      reclaimPolicy: "Delete",
      volumeBindingMode: "WaitForFirstConsumer",
    },
    { manager: "kubectl-client-side-apply" },
  );
}

function claimsOf(pod: KubeObject): string[] {
  return (pod.spec?.volumes ?? []).flatMap((volume: any) =>
    volume.persistentVolumeClaim ? [volume.persistentVolumeClaim.claimName] : [],
  );
}

function syncClaim(plane: Plane, queue: WorkQueue, key: string): void {
  const { api } = plane;
  const { namespace, name } = splitKey(key);
  const claim = api.get(CLAIMS, namespace, name);
  if (claim === undefined) return;
  if (claim.metadata.deletionTimestamp !== undefined) {
    unprotect(plane, claim);
    return;
  }
  if (claim.spec.volumeName) {
    bindTo(plane, claim, api.get(VOLUMES, undefined, claim.spec.volumeName));
    return;
  }
  const className = claim.spec.storageClassName ?? adoptDefaultClass(plane, claim);
  const storageClass = className ? api.get(CLASSES, undefined, className) : undefined;
  const waits = storageClass?.volumeBindingMode === "WaitForFirstConsumer";
  const selected = claim.metadata.annotations?.[SELECTED_NODE];
  if (waits && selected === undefined) {
    complain(plane, claim, "Normal", "WaitForFirstConsumer", "waiting for first consumer to be created before binding");
    queue.addAfter(key, RESYNC_MS);
    return;
  }
  const volume = findVolume(plane, claim, className ?? "");
  if (volume) {
    bindTo(plane, claim, volume);
    return;
  }
  if (!className) {
    const message = "no persistent volumes available for this claim and no storage class is set";
    complain(plane, claim, "Normal", "FailedBinding", message);
  } else if (storageClass === undefined) {
    const message = `storageclass.storage.k8s.io "${className}" not found`;
    complain(plane, claim, "Warning", "ProvisioningFailed", message);
  } else if (storageClass.provisioner === "kubernetes.io/no-provisioner") {
    return;
  } else {
    const { provisioner } = storageClass;
    const message = `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
    complain(plane, claim, "Normal", "ExternalProvisioning", message);
    if (plane.profile === "containerd" && provisioner === LOCAL_PATH) provision(plane, claim, storageClass);
  }
  queue.addAfter(key, RESYNC_MS);
}

/** Gives the claim the default class, as the controller does for claims that came before there was one. */
function adoptDefaultClass(plane: Plane, claim: KubeObject): string | undefined {
  const standard = plane.api.list(CLASSES).find((c) => c.metadata.annotations?.[DEFAULT_CLASS] === "true");
  if (standard === undefined) return undefined;
  const change = (draft: KubeObject) => {
    draft.spec.storageClassName = standard.metadata.name;
  };
  plane.api.modify(CLAIMS, claim.metadata.namespace, claim.metadata.name, change, { manager: MANAGER });
  return standard.metadata.name;
}

/** The smallest free volume that fits. */
function findVolume(plane: Plane, claim: KubeObject, className: string): KubeObject | undefined {
  const wanted = claim.spec.resources?.requests?.storage ?? "0";
  const fitting = plane.api.list(VOLUMES).filter((volume) => {
    const { spec, metadata } = volume;
    const reference = spec.claimRef;
    const reserved =
      reference && reference.namespace === claim.metadata.namespace && reference.name === claim.metadata.name;
    if (reference && !reserved) return false;
    return (
      metadata.deletionTimestamp === undefined &&
      (spec.storageClassName ?? "") === className &&
      (spec.volumeMode ?? "Filesystem") === (claim.spec.volumeMode ?? "Filesystem") &&
      (claim.spec.accessModes ?? []).every((mode: string) => spec.accessModes?.includes(mode)) &&
      compareQuantities(spec.capacity?.storage ?? "0", wanted) >= 0 &&
      (claim.spec.selector === undefined || selects(claim.spec.selector, metadata.labels))
    );
  });
  const size = (volume: KubeObject) => volume.spec.capacity?.storage ?? "0";
  return fitting.sort((a, b) => compareQuantities(size(a), size(b)))[0];
}

function bindTo(plane: Plane, claim: KubeObject, volume: KubeObject | undefined): void {
  const { api } = plane;
  const { namespace, name, uid, resourceVersion } = claim.metadata;
  if (volume === undefined) {
    if (claim.status?.phase !== "Bound") return;
    complain(
      plane,
      claim,
      "Warning",
      "ClaimLost",
      "Bound claim has lost its PersistentVolume. Any data on the volume is lost!",
    );
    writeStatus(plane, CLAIMS, claim, (status) => {
      status.phase = "Lost";
    });
    return;
  }
  const reference = volume.spec.claimRef;
  if (reference?.uid && reference.uid !== uid) return;
  if (reference?.uid === undefined) {
    const claimRef = { apiVersion: "v1", kind: "PersistentVolumeClaim", name, namespace, resourceVersion, uid };
    const change = (draft: KubeObject) => {
      draft.spec.claimRef = claimRef;
      draft.metadata.annotations = { ...draft.metadata.annotations, "pv.kubernetes.io/bound-by-controller": "yes" };
    };
    api.modify(VOLUMES, undefined, volume.metadata.name, change, { manager: MANAGER });
  }
  const bind = (draft: KubeObject) => {
    if (draft.spec.volumeName) return;
    draft.spec.volumeName = volume.metadata.name;
    draft.metadata.annotations = {
      ...draft.metadata.annotations,
      "pv.kubernetes.io/bind-completed": "yes",
      "pv.kubernetes.io/bound-by-controller": "yes",
    };
  };
  api.modify(CLAIMS, namespace, name, bind, { manager: MANAGER });
  writeStatus(plane, CLAIMS, claim, (status) => {
    status.phase = "Bound";
    status.accessModes = volume.spec.accessModes;
    status.capacity = volume.spec.capacity;
  });
}

function provision(plane: Plane, claim: KubeObject, storageClass: KubeObject): void {
  const { api } = plane;
  const { namespace, name, uid } = claim.metadata;
  const volumeName = `pvc-${uid}`;
  const component = `${LOCAL_PATH}_local-path-provisioner`;
  const message = `External provisioner is provisioning volume for claim "${namespace}/${name}"`;
  api.event(claim, { type: "Normal", reason: "Provisioning", message, component });
  plane.after(PROVISION_MS, () => {
    const stored = api.get(CLAIMS, namespace, name);
    if (stored?.metadata.uid !== uid || stored?.spec.volumeName || api.get(VOLUMES, undefined, volumeName)) return;
    const node = stored?.metadata.annotations?.[SELECTED_NODE];
    const terms = [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [node] }] }];
    const path = `/var/local-path-provisioner/${volumeName}_${namespace}_${name}`;
    try {
      api.create(
        VOLUMES,
        {
          apiVersion: "v1",
          kind: "PersistentVolume",
          metadata: {
            name: volumeName,
            annotations: { "pv.kubernetes.io/provisioned-by": LOCAL_PATH },
          },
          spec: {
            accessModes: claim.spec.accessModes,
            capacity: { storage: claim.spec.resources?.requests?.storage ?? "1Gi" },
            claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", name, namespace, uid },
            hostPath: { path, type: "DirectoryOrCreate" },
            ...(node ? { nodeAffinity: { required: { nodeSelectorTerms: terms } } } : {}),
            persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? "Delete",
            storageClassName: storageClass.metadata.name,
            volumeMode: "Filesystem",
          },
        },
        { manager: "local-path-provisioner" },
      );
    } catch (error) {
      apiError(error);
      return;
    }
    const done = `Successfully provisioned volume ${volumeName}`;
    api.event(claim, { type: "Normal", reason: "ProvisioningSucceeded", message: done, component });
  });
}

/** A volume's phase follows its claim; a released one is reclaimed. */
function syncVolume(plane: Plane, key: string): void {
  const { api } = plane;
  const volume = api.get(VOLUMES, undefined, key.slice(1));
  if (volume === undefined) return;
  const reference = volume.spec.claimRef;
  const claim = reference && api.get(CLAIMS, reference.namespace, reference.name);
  const isBound = claim !== undefined && (reference.uid === undefined || claim.metadata.uid === reference.uid);
  if (volume.metadata.deletionTimestamp !== undefined) {
    if (!isBound) dropFinalizer(plane, VOLUMES, volume, VOLUME_PROTECTION);
    return;
  }
  const phase = isBound && reference.uid ? "Bound" : reference?.uid ? "Released" : "Available";
  if (volume.status?.phase !== phase) {
    writeStatus(plane, VOLUMES, volume, (status) => {
      status.phase = phase;
      status.lastPhaseTransitionTime = timestamp(plane.clock.now());
    });
  }
  if (phase === "Released" && volume.spec.persistentVolumeReclaimPolicy === "Delete") {
    api.delete(VOLUMES, undefined, volume.metadata.name);
  }
}

/** A deleted claim goes as soon as no pod uses it. */
function unprotect(plane: Plane, claim: KubeObject): void {
  const { namespace, name } = claim.metadata;
  const used = plane.api.list("pods", namespace).some((pod) => !isFinished(pod) && claimsOf(pod).includes(name));
  if (!used) dropFinalizer(plane, CLAIMS, claim, CLAIM_PROTECTION);
}

function dropFinalizer(plane: Plane, resource: string, object: KubeObject, finalizer: string): void {
  const change = (draft: KubeObject) => {
    const rest = draft.metadata.finalizers?.filter((f) => f !== finalizer) ?? [];
    if (rest.length > 0) draft.metadata.finalizers = rest;
    else delete draft.metadata.finalizers;
  };
  plane.api.modify(resource, object.metadata.namespace, object.metadata.name, change, { manager: MANAGER });
}

function writeStatus(plane: Plane, resource: string, object: KubeObject, change: (status: any) => void): void {
  const status = { ...object.status };
  change(status);
  replaceStatus(plane.api, resource, object, status);
}

function complain(plane: Plane, claim: KubeObject, type: "Normal" | "Warning", reason: string, message: string): void {
  plane.api.event(claim, { type, reason, message, component: CONTROLLER });
}
