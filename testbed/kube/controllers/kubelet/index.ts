/** The kubelets of all nodes: a worker for each pod that has been assigned, driven by the container runtime. */
import type { KubeObject } from "../../objects.js";
import type { ContainerRuntime, Kubelet } from "../../runtime.js";
import type { Plane } from "../plane.js";
import { isFinished } from "../pods.js";
import { Addresses, hostAddress } from "./addresses.js";
import { type NodeServices, PodWorker } from "./worker.js";

export interface Kubelets extends Kubelet {
  isSilent(node: string): boolean;
  /** Tells who should know that a node fell silent or came back. */
  onNode(listener: (node: string, down: boolean) => void): void;
}

export function startKubelets(plane: Plane, runtime: ContainerRuntime): Kubelets {
  const { api } = plane;
  const workers = new Map<string, PodWorker>();
  const silent = new Set<string>();
  const listeners: ((node: string, down: boolean) => void)[] = [];
  const images = new Map<string, Set<string>>();
  const addresses = new Addresses();
  const nodeOf = (pod: KubeObject) => api.get("nodes", undefined, pod.spec?.nodeName ?? "");
  const services: NodeServices = {
    plane,
    runtime,
    allocateIp: (pod) => addresses.allocate(pod, nodeOf(pod)),
    hostIp: (pod) => hostAddress(nodeOf(pod)),
    images: (node) => {
      let held = images.get(node);
      if (held === undefined) {
        held = new Set();
        images.set(node, held);
      }
      return held;
    },
  };
  const begin = (pod: KubeObject, restarts = 0) => {
    const uid = pod.metadata.uid ?? "";
    const worker = new PodWorker(services, pod, restarts);
    workers.set(uid, worker);
    plane.after(0, () => {
      if (workers.get(uid) !== worker) return;
      const stored = api.get("pods", pod.metadata.namespace, pod.metadata.name);
      if (stored?.metadata.uid !== uid) return;
      if (stored.metadata.deletionTimestamp !== undefined) worker.update(stored);
      else worker.start();
    });
  };
  plane.watch("pods", (event) => {
    const pod = event.object;
    const uid = pod.metadata.uid ?? "";
    const worker = workers.get(uid);
    if (event.type === "DELETED") {
      worker?.abandon();
      workers.delete(uid);
      return;
    }
    if (!pod.spec?.nodeName || silent.has(pod.spec.nodeName) || nodeOf(pod) === undefined) return;
    if (worker === undefined) {
      if (!isFinished(pod) || pod.metadata.deletionTimestamp !== undefined) begin(pod);
    } else if (relevant(event.previous, pod)) {
      // Not inside the write that told us: listeners must not write.
      plane.after(0, () => {
        const stored = api.get("pods", pod.metadata.namespace, pod.metadata.name);
        if (stored?.metadata.uid === uid && workers.get(uid) === worker) worker.update(stored);
      });
    }
  });
  plane.watch("nodes", ({ type, object }) => {
    const { name } = object.metadata;
    if (type === "DELETED") images.delete(name);
    if (type !== "ADDED") return;
    // Pods may have been assigned to a node before it was there.
    for (const pod of api.list("pods")) {
      if (pod.spec?.nodeName === name && !workers.has(pod.metadata.uid ?? "") && !isFinished(pod)) begin(pod);
    }
  });
  plane.onStop(() => {
    for (const worker of workers.values()) worker.abandon();
    workers.clear();
  });
  return {
    crash(namespace, name, container, exit) {
      const pod = api.get("pods", namespace, name);
      workers.get(pod?.metadata.uid ?? "")?.crash(container, exit);
    },
    nodeDown(node, down) {
      if (silent.has(node) === down) return;
      if (down) silent.add(node);
      else silent.delete(node);
      for (const pod of api.list("pods")) {
        if (pod.spec?.nodeName !== node) continue;
        const uid = pod.metadata.uid ?? "";
        workers.get(uid)?.abandon();
        workers.delete(uid);
        // After the outage its containers start anew, as after a reboot.
        const restarts = Math.max(0, ...(pod.status?.containerStatuses ?? []).map((s: any) => s.restartCount ?? 0));
        if (!down && !isFinished(pod)) begin(pod, restarts + 1);
      }
      for (const listener of listeners) listener(node, down);
    },
    isSilent: (node) => silent.has(node),
    onNode: (listener) => {
      listeners.push(listener);
    },
  };
}

/** Changes that the kubelet did not make itself. */
function relevant(previous: KubeObject | undefined, pod: KubeObject): boolean {
  return (
    previous === undefined ||
    previous.metadata.deletionTimestamp !== pod.metadata.deletionTimestamp ||
    previous.metadata.generation !== pod.metadata.generation ||
    previous.metadata.deletionGracePeriodSeconds !== pod.metadata.deletionGracePeriodSeconds
  );
}
