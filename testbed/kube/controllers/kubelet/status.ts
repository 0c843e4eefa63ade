/** A pod's status as the kubelet writes it, from the containers that it tracks. */
import type { KubeObject } from "../../objects.js";
import type { Container } from "./container.js";
import { fullImageName } from "./images.js";

export interface PodFacts {
  pod: KubeObject;
  init: Container[];
  main: Container[];
  /** ISO time without milliseconds. */
  now: string;
  startTime: string;
  hostIP: string | undefined;
  podIP: string | undefined;
  /** The pod failed as a whole (deadline, eviction). */
  failure?: { reason: string; message: string } | undefined;
}

export function podStatus(facts: PodFacts): any {
  const { pod, init, main, startTime, hostIP, podIP, failure } = facts;
  const phase = failure ? "Failed" : podPhase(facts);
  const before = pod.status ?? {};
  const status: any = {
    observedGeneration: pod.metadata.generation ?? 1,
    phase,
    conditions: conditions(facts, phase),
    ...(failure ?? {}),
    ...(hostIP ? { hostIP, hostIPs: [{ ip: hostIP }] } : {}),
    ...(podIP ? { podIP, podIPs: [{ ip: podIP }] } : {}),
    startTime,
    ...(init.length > 0 ? { initContainerStatuses: init.map((c) => containerStatus(pod, c)) } : {}),
    containerStatuses: [...main].sort((a, b) => (a.name < b.name ? -1 : 1)).map((c) => containerStatus(pod, c)),
  };
  for (const field of ["qosClass", "nominatedNodeName"]) if (before[field] !== undefined) status[field] = before[field];
  return status;
}

export function initialized({ init }: { init: Container[] }): boolean {
  return init.every((c) => (c.sidecar ? c.running && c.started : c.terminated?.exitCode === 0));
}

function podPhase({ pod, init, main }: PodFacts): string {
  const policy = pod.spec?.restartPolicy ?? "Always";
  if (!initialized({ init }) && !main.some((c) => c.hasRun)) {
    const failed = init.some((c) => !c.sidecar && c.terminated && c.terminated.exitCode !== 0);
    return failed && policy === "Never" ? "Failed" : "Pending";
  }
  let running = 0;
  let stopped = 0;
  let succeeded = 0;
  for (const container of main) {
    if (container.running) running++;
    else if (container.terminated) {
      stopped++;
      if (container.terminated.exitCode === 0) succeeded++;
    } else if (container.lastTermination) stopped++;
    else return "Pending";
  }
  if (running > 0 || policy === "Always") return "Running";
  if (stopped === succeeded) return "Succeeded";
  return policy === "Never" ? "Failed" : "Running";
}

function conditions(facts: PodFacts, phase: string): any[] {
  const { pod, init, main, podIP } = facts;
  const before: any[] = pod.status?.conditions ?? [];
  const entry = (type: string, ok: boolean, why: { reason?: string; message?: string } = {}) => {
    const status = ok ? "True" : "False";
    const current = before.find((condition) => condition.type === type);
    return {
      type,
      status,
      observedGeneration: pod.metadata.generation ?? 1,
      lastProbeTime: null,
      lastTransitionTime: current?.status === status ? current.lastTransitionTime : facts.now,
      ...(ok ? {} : why),
    };
  };
  const finished = phase === "Succeeded" || phase === "Failed";
  const unready = main.filter((c) => !c.ready).map((c) => c.name);
  const allReady = unready.length === 0 && !finished;
  const notReady = finished
    ? { reason: phase === "Succeeded" ? "PodCompleted" : "PodFailed" }
    : { reason: "ContainersNotReady", message: `containers with unready status: [${unready.join(" ")}]` };
  const incomplete = init.filter((c) => (c.sidecar ? !c.started : c.terminated?.exitCode !== 0)).map((c) => c.name);
  const isInitialized = incomplete.length === 0 || main.some((c) => c.hasRun);
  const gates = gateFailure(pod, allReady);
  const managed = [
    entry("PodReadyToStartContainers", podIP !== undefined && !finished),
    entry("Initialized", isInitialized, {
      reason: "ContainersNotInitialized",
      message: `containers with incomplete status: [${incomplete.join(" ")}]`,
    }),
    entry("Ready", allReady && gates === undefined, allReady ? gates : notReady),
    entry("ContainersReady", allReady, notReady),
    entry("PodScheduled", true),
  ];
  return [...managed, ...before.filter((condition) => !managed.some((own) => own.type === condition.type))];
}

function gateFailure(pod: KubeObject, containersReady: boolean): { reason: string; message: string } | undefined {
  if (!containersReady) return undefined;
  for (const gate of pod.spec?.readinessGates ?? []) {
    const found = pod.status?.conditions?.find((condition: any) => condition.type === gate.conditionType);
    if (found?.status === "True") continue;
    const message = found
      ? `the status of pod readiness gate "${gate.conditionType}" is not "True", but ${found.status}`
      : `corresponding condition of pod readiness gate "${gate.conditionType}" does not exist.`;
    return { reason: "ReadinessGatesNotReady", message };
  }
  return undefined;
}

function containerStatus(pod: KubeObject, container: Container): any {
  const { spec } = container;
  const pulled = container.imageId !== undefined;
  const resources = spec.resources ?? {};
  const requests = { ...resources.requests };
  const mounts = (spec.volumeMounts ?? []).map((mount: any) => ({
    name: mount.name,
    mountPath: mount.mountPath,
    ...(mount.readOnly ? { readOnly: true, recursiveReadOnly: "Disabled" } : {}),
  }));
  const status: any = {
    ...(Object.keys(requests).length > 0 && container.hasRun ? { allocatedResources: requests } : {}),
    ...(container.id ? { containerID: container.id } : {}),
    image: pulled ? fullImageName(spec.image) : spec.image,
    imageID: container.imageId ?? "",
    lastState: container.lastTermination ? { terminated: container.lastTermination } : {},
    name: container.name,
    ready: container.ready,
    ...(container.hasRun ? { resources } : {}),
    restartCount: container.restarts,
    started: container.running && container.started,
    state: container.state,
    ...(mounts.length > 0 && pod.spec ? { volumeMounts: mounts } : {}),
  };
  return status;
}
