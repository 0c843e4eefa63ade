/** A container of a pod as the kubelet tracks it. */
import type { Timer } from "../../../clock.js";
import { Backoff } from "./backoff.js";

export interface Terminated {
  exitCode: number;
  reason: string;
  message?: string;
  startedAt: string;
  finishedAt: string;
  containerID?: string;
}

export type State =
  | { waiting: { reason: string; message?: string } }
  | { running: { startedAt: string } }
  | { terminated: Terminated };

export class Container {
  /** The entry of the pod's spec; replaced when the pod is changed in place. */
  spec: any;
  readonly init: boolean;
  state: State = { waiting: { reason: "ContainerCreating" } };
  lastTermination: Terminated | undefined;
  restarts = 0;
  /** Started once before, so that the next start counts as a restart. */
  hasRun = false;
  id: string | undefined;
  imageId: string | undefined;
  /** The startup probe, if any, has passed. */
  started = false;
  ready = false;
  /** Being pulled, created, started, or stopped: the next step comes by itself. */
  busy = false;
  readonly restartBackoff = new Backoff();
  readonly pullBackoff = new Backoff();
  pullFailedAt: number | undefined;
  pullFailure = "";
  timers = new Set<Timer>();

  constructor(spec: any, init: boolean) {
    this.spec = spec;
    this.init = init;
  }

  get name(): string {
    return this.spec.name;
  }
  /** An init container that goes on running beside the others. */
  get sidecar(): boolean {
    return this.init && this.spec.restartPolicy === "Always";
  }
  get running(): boolean {
    return "running" in this.state;
  }
  get terminated(): Terminated | undefined {
    return "terminated" in this.state ? this.state.terminated : undefined;
  }
  get fieldPath(): string {
    return `spec.${this.init ? "initContainers" : "containers"}{${this.name}}`;
  }

  wait(reason: string, message?: string): void {
    this.state = { waiting: message === undefined ? { reason } : { reason, message } };
  }

  cancelTimers(): void {
    for (const timer of this.timers) timer.cancel();
    this.timers.clear();
  }
}
