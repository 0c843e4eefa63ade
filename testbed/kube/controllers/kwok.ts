/**
 * Pods of fake nodes: what kwok's fast stages make of them. Ready soon after they are assigned, without a container
 * runtime, images or kubelet events; a job's pods complete; a deleted pod is gone at once.
 */
import { type KubeObject, timestamp } from "../objects.js";
import type { Kubelet } from "../runtime.js";
import { Addresses, hostAddress } from "./kubelet/addresses.js";
import { controllerOf } from "./owners.js";
import type { Plane } from "./plane.js";

const MANAGER = "kwok";
/** From assignment to ready: enough for a rollout to be seen step by step, pods one after another. */
const READY_MS = 60;
const READY_SPREAD_MS = 240;
const COMPLETE_MS = 1_000;

export interface FakeKubelets extends Kubelet {
  isSilent(node: string): boolean;
  onNode(listener: (node: string, down: boolean) => void): void;
}

export function startFakeKubelets(plane: Plane): FakeKubelets {
  const { api, random } = plane;
  const addresses = new Addresses();
  const silent = new Set<string>();
  const listeners: ((node: string, down: boolean) => void)[] = [];
  const ifStored = (pod: KubeObject, run: (stored: KubeObject) => void) => () => {
    const stored = api.get("pods", pod.metadata.namespace, pod.metadata.name);
    if (stored?.metadata.uid === pod.metadata.uid && stored && !silent.has(stored.spec?.nodeName)) run(stored);
  };
  const proceed = (pod: KubeObject) => {
    if (pod.metadata.deletionTimestamp !== undefined) {
      plane.after(
        0,
        ifStored(pod, (stored) => release(plane, stored)),
      );
    } else if ((pod.status?.phase ?? "Pending") === "Pending") {
      const delay = READY_MS + random.int(READY_SPREAD_MS);
      plane.after(
        delay,
        ifStored(pod, (stored) => makeReady(plane, addresses, stored)),
      );
    } else if (pod.status.phase === "Running" && controllerOf(pod)?.kind === "Job") {
      plane.after(
        COMPLETE_MS,
        ifStored(pod, (stored) => complete(plane, stored)),
      );
    }
  };
  plane.watch("pods", (event) => {
    const { object: pod, previous } = event;
    if (event.type === "DELETED" || !pod.spec?.nodeName || silent.has(pod.spec.nodeName)) return;
    if (api.get("nodes", undefined, pod.spec.nodeName) === undefined) return;
    const entered =
      previous === undefined ||
      previous.spec?.nodeName !== pod.spec.nodeName ||
      previous.status?.phase !== pod.status?.phase ||
      previous.metadata.deletionTimestamp !== pod.metadata.deletionTimestamp;
    if (entered) proceed(pod);
  });
  plane.watch("nodes", ({ type, object }) => {
    if (type !== "ADDED") return;
    // Pods may have been assigned to a node before it was there.
    for (const pod of api.list("pods")) if (pod.spec?.nodeName === object.metadata.name) proceed(pod);
  });
  return {
    crash: () => {
      // Fake nodes run nothing that could die.
    },
    nodeDown(node, down) {
      if (silent.has(node) === down) return;
      if (down) silent.add(node);
      else {
        silent.delete(node);
        for (const pod of api.list("pods")) if (pod.spec?.nodeName === node) proceed(pod);
      }
      for (const listener of listeners) listener(node, down);
    },
    isSilent: (node) => silent.has(node),
    onNode: (listener) => {
      listeners.push(listener);
    },
  };
}

function writeStatus(plane: Plane, pod: KubeObject, change: (status: any) => void): void {
  const apply = (draft: KubeObject) => {
    draft.status ??= {};
    change(draft.status);
  };
  plane.api.modify("pods", pod.metadata.namespace, pod.metadata.name, apply, {
    manager: MANAGER,
    subresource: "status",
  });
}

function makeReady(plane: Plane, addresses: Addresses, pod: KubeObject): void {
  if ((pod.status?.phase ?? "Pending") !== "Pending" || pod.metadata.deletionTimestamp !== undefined) return;
  const now = timestamp(plane.clock.now());
  const node = plane.api.get("nodes", undefined, pod.spec.nodeName);
  const podIP = addresses.allocate(pod, node);
  const hostIP = hostAddress(node);
  const condition = (type: string) => ({ lastProbeTime: null, lastTransitionTime: now, status: "True", type });
  const status = (container: any, state: any) => ({
    image: container.image,
    imageID: "",
    lastState: {},
    name: container.name,
    ready: true,
    restartCount: 0,
    state,
  });
  const completed = { terminated: { exitCode: 0, finishedAt: now, reason: "Completed", startedAt: now } };
  const running = { running: { startedAt: now } };
  writeStatus(plane, pod, (draft) => {
    draft.conditions = [
      condition("Initialized"),
      condition("Ready"),
      condition("ContainersReady"),
      ...(pod.spec.readinessGates ?? []).map((gate: any) => condition(gate.conditionType)),
      condition("PodScheduled"),
    ];
    draft.containerStatuses = pod.spec.containers.map((container: any) => status(container, running));
    if (pod.spec.initContainers?.length > 0) {
      draft.initContainerStatuses = pod.spec.initContainers.map((container: any) =>
        status(container, container.restartPolicy === "Always" ? running : completed),
      );
    }
    draft.phase = "Running";
    if (hostIP) draft.hostIP = hostIP;
    if (podIP) Object.assign(draft, { podIP, podIPs: [{ ip: podIP }] });
    draft.startTime = now;
  });
}

function complete(plane: Plane, pod: KubeObject): void {
  if (pod.status?.phase !== "Running" || pod.metadata.deletionTimestamp !== undefined) return;
  const now = timestamp(plane.clock.now());
  writeStatus(plane, pod, (draft) => {
    draft.phase = "Succeeded";
    for (const entry of draft.containerStatuses ?? []) {
      const startedAt = entry.state?.running?.startedAt ?? now;
      entry.ready = true;
      entry.state = { terminated: { exitCode: 0, finishedAt: now, reason: "Completed", startedAt } };
    }
  });
}

/** Ends a deleted pod, its finalizers included. */
function release(plane: Plane, pod: KubeObject): void {
  const { namespace, name, uid } = pod.metadata;
  if (pod.metadata.finalizers?.length) {
    const change = (draft: KubeObject) => {
      delete draft.metadata.finalizers;
    };
    plane.api.modify("pods", namespace, name, change, { manager: MANAGER });
  }
  plane.api.delete("pods", namespace, name, { gracePeriodSeconds: 0, ...(uid ? { uid } : {}) });
}
