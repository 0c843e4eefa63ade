/**
 * What happens inside containers. The kubelet asks; an application answers. `testbed/kube` knows no application: without
 * one, every image exists and every container starts at once and runs for ever (as kwok's nodes do).
 */
import type { KubeObject } from "./objects.js";

export interface ContainerRef {
  pod: KubeObject;
  /** The container's entry of the pod's spec. */
  container: any;
  init: boolean;
  /** 0 for the first start of this container in this pod. */
  restarts: number;
}

export type PullResult =
  | { ok: true; durationMs: number; sizeBytes?: number }
  | { ok: false; reason: "ErrImagePull" | "InvalidImageName"; message: string };

/** How a container ends; `exit` undefined means that it runs until it is killed. */
export interface StartPlan {
  /** CreateContainerError / RunContainerError before anything runs, with the runtime's message. */
  startError?: { reason: string; message: string };
  exit?: { afterMs: number; code: number; reason?: "Completed" | "Error" | "OOMKilled"; message?: string };
}

export interface ContainerRuntime {
  pull(image: string, pod: KubeObject): PullResult;
  start(ref: ContainerRef): StartPlan;
  /** Probe result; `message` goes into the Unhealthy event. Called at the probe's own period. */
  probe(ref: ContainerRef, kind: "liveness" | "readiness" | "startup", probe: any): { ok: boolean; message?: string };
  /**
   * How long the container goes on after SIGTERM, milliseconds; at most the pod's grace period. Without it a container
   * ends within a second.
   */
  terminationMs?(ref: ContainerRef): number | undefined;
  /** Called once when the container has stopped (exit, crash, kill). */
  stopped?(ref: ContainerRef): void;
  /** Cores and bytes in use now, for metrics.k8s.io and cAdvisor; undefined before the first sample. */
  usage(ref: { pod: KubeObject; container: string }): { cpuCores: number; memoryBytes: number } | undefined;
  /** The container's log, oldest first; `previous` is the instance before the last restart. Undefined when there is none. */
  logs(ref: { pod: KubeObject; container: string; previous: boolean }): { timeMs: number; line: string }[] | undefined;
}

/** What the kubelet offers to an application: a container can die of what happened to it. */
export interface Kubelet {
  /** Ends a running container now (a panic, an OOM kill, an init container whose wait is over); the restart policy takes over. */
  crash(
    namespace: string,
    pod: string,
    container: string,
    exit: { code: number; reason?: "Completed" | "Error" | "OOMKilled"; message?: string },
  ): void;
  /**
   * The node falls silent (`down`), or comes back: its pods stop being served, and the cluster notices after the usual
   * grace period.
   */
  nodeDown(node: string, down: boolean): void;
}

/** Every image exists, init containers finish at once, all others run for ever, every probe passes, no logs. */
export const idleRuntime: ContainerRuntime = {
  pull: () => ({ ok: true, durationMs: 0 }),
  start: ({ init, container }) =>
    init && container.restartPolicy !== "Always" ? { exit: { afterMs: 0, code: 0, reason: "Completed" } } : {},
  probe: () => ({ ok: true }),
  usage: () => undefined,
  logs: () => undefined,
};
