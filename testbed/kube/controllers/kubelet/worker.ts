/**
 * One pod on its node: volumes, sandbox, init containers, containers, restarts, and the end. Each step does what is due
 * and leaves a timer for what comes next; nothing runs while nothing is due.
 */
import type { Timer } from "../../../clock.js";
import { type KubeObject, timestamp } from "../../objects.js";
import type { ContainerRef, ContainerRuntime } from "../../runtime.js";
import { goDuration, goMilliseconds, same } from "../fields.js";
import type { Plane } from "../plane.js";
import { Container, type Terminated } from "./container.js";
import { assumedSize, imageId } from "./images.js";
import { type ProbeHost, type ProbeKind, startProbes } from "./probes.js";
import { missingEnvironment, missingVolume } from "./references.js";
import { initialized, podStatus } from "./status.js";

const EPOCH = "1970-01-01T00:00:00Z";
const SANDBOX_MS = 600;
const CREATE_MS = 120;
const PULL_FAILURE_MS = 1_100;
/** Checking a registry for an image that the node holds already. */
const PULL_CHECK_MS = 450;
/** From a container's end to the kubelet's next look at the pod. */
const RELIST_MS = 1_000;
const STOP_MS = 700;
/** A pod in trouble is looked at again after this long, and up to half as long again. */
const RESYNC_MS = 10_000;
const FIRST_MOUNT_RETRY_MS = 500;
const LONGEST_MOUNT_RETRY_MS = 122_000;

/** What a worker needs of its node. */
export interface NodeServices {
  plane: Plane;
  runtime: ContainerRuntime;
  allocateIp(pod: KubeObject): string | undefined;
  hostIp(pod: KubeObject): string | undefined;
  /** Whether the node holds the image; `add` notes that it does now. */
  images(node: string): Set<string>;
}

export class PodWorker implements ProbeHost {
  readonly clock;
  readonly runtime: ContainerRuntime;
  readonly #services: NodeServices;
  readonly #uid: string;
  readonly #init: Container[];
  readonly #main: Container[];
  readonly #startTime: string;
  readonly #timers = new Set<Timer>();
  #pod: KubeObject;
  #podIp: string | undefined;
  #stage: "volumes" | "sandbox" | "containers" | "finished" | "ending" = "volumes";
  #mountRetry = FIRST_MOUNT_RETRY_MS;
  #resync: Timer | undefined;
  #failure: { reason: string; message: string } | undefined;

  constructor(services: NodeServices, pod: KubeObject, restarts = 0) {
    this.#services = services;
    this.clock = services.plane.clock;
    this.runtime = services.runtime;
    this.#pod = pod;
    this.#uid = pod.metadata.uid ?? "";
    this.#init = (pod.spec.initContainers ?? []).map((spec: any) => new Container(spec, true));
    this.#main = pod.spec.containers.map((spec: any) => new Container(spec, false));
    for (const container of this.#all) {
      if (restarts > 0) container.restarts = restarts;
      if (this.#init.length > 0) container.wait("PodInitializing");
    }
    this.#startTime = pod.status?.startTime ?? timestamp(this.clock.now());
    const deadline = pod.spec.activeDeadlineSeconds;
    if (deadline !== undefined) {
      this.#after(Date.parse(this.#startTime) + deadline * 1000 - this.clock.now(), () => {
        this.#failPod("DeadlineExceeded", "Pod was active on the node longer than the specified deadline");
      });
    }
  }

  get #all(): Container[] {
    return [...this.#init, ...this.#main];
  }

  pod(): KubeObject {
    return this.#pod;
  }

  start(): void {
    this.#writeStatus();
    this.#mount();
  }

  /** Takes note of the stored pod: its end, or a change in place. */
  update(pod: KubeObject): void {
    this.#pod = pod;
    if (this.#stage === "ending") return;
    if (pod.metadata.deletionTimestamp !== undefined) {
      this.#end();
      return;
    }
    if (this.#stage === "finished") return;
    for (const container of this.#all) {
      const specs: any[] = container.init ? (pod.spec.initContainers ?? []) : pod.spec.containers;
      const spec = specs.find((candidate) => candidate.name === container.name);
      if (spec === undefined) continue;
      const changed = spec.image !== container.spec.image;
      container.spec = spec;
      if (!changed) continue;
      container.pullFailedAt = undefined;
      if (container.running && !container.busy) {
        this.#kill(container, `Container ${container.name} definition changed, will be restarted`);
      }
    }
  }

  /** Ends a container from inside: a panic, an OOM kill. */
  crash(name: string, exit: { code: number; reason?: string; message?: string }): void {
    const container = this.#all.find((candidate) => candidate.name === name);
    if (container?.running && this.#stage !== "ending") this.#exited(container, exit);
  }

  /** Stops everything without a word to the API: the node is lost, or the pod is gone. */
  abandon(): void {
    this.#stage = "ending";
    for (const timer of this.#timers) timer.cancel();
    this.#resync?.cancel();
    for (const container of this.#all) {
      container.cancelTimers();
      this.#markStopped(container, 255);
    }
  }

  // --- start -------------------------------------------------------------------------------------------------------

  #mount(): void {
    const missing = missingVolume(this.#services.plane.api, this.#pod);
    if (missing !== undefined) {
      this.#event("Warning", "FailedMount", missing);
      this.#after(this.#mountRetry, () => this.#mount());
      this.#mountRetry = Math.min(LONGEST_MOUNT_RETRY_MS, this.#mountRetry * 2);
      return;
    }
    this.#stage = "sandbox";
    this.#after(this.#vary(SANDBOX_MS), () => {
      this.#podIp = this.#services.allocateIp(this.#pod);
      this.#stage = "containers";
      this.#writeStatus();
      this.#sync();
    });
  }

  /** Starts what should run and does not: one container at a time, init containers first and in order. */
  #sync(): void {
    if (this.#stage !== "containers") return;
    for (const container of this.#init) {
      if (container.busy) return;
      if (container.sidecar) {
        if (!container.running) {
          this.#bringUp(container);
          return;
        }
        if (!container.started) return;
        continue;
      }
      if (container.running) return;
      if (container.terminated?.exitCode === 0) continue;
      if (this.#main.some((main) => main.hasRun)) continue;
      if (container.terminated && this.#policy === "Never") {
        this.#finish();
        return;
      }
      this.#bringUp(container);
      return;
    }
    if (!initialized({ init: this.#init }) && !this.#main.some((main) => main.hasRun)) return;
    if (this.#main.some((container) => container.busy)) return;
    for (const container of this.#main) {
      if (container.running || !this.#shouldRun(container)) continue;
      this.#bringUp(container);
      if (container.busy) return;
    }
    if (this.#main.every((container) => container.terminated && !this.#shouldRun(container))) this.#finish();
  }

  get #policy(): string {
    return this.#pod.spec.restartPolicy ?? "Always";
  }

  #shouldRun(container: Container): boolean {
    const ended = container.terminated;
    if (ended === undefined || container.sidecar || this.#policy === "Always") return true;
    return this.#policy === "OnFailure" && ended.exitCode !== 0;
  }

  /** Starts a container, unless a back-off holds it; then it waits for the next look at the pod. */
  #bringUp(container: Container): void {
    const last = container.terminated ?? container.lastTermination;
    if (last !== undefined && container.hasRun) {
      const since = Date.parse(last.finishedAt);
      const left = container.restartBackoff.left(since, this.clock.now());
      if (left > 0) {
        this.#backOff(container, last, left);
        return;
      }
      container.restartBackoff.next(since, this.clock.now());
    }
    this.#pull(container);
  }

  #backOff(container: Container, last: Terminated, left: number): void {
    const { name, namespace } = this.#pod.metadata;
    const where = `${container.name} in pod ${name}_${namespace}(${this.#uid})`;
    this.#event("Warning", "BackOff", `Back-off restarting failed container ${where}`, container);
    const delay = goDuration(container.restartBackoff.delay / 1000);
    const message = `back-off ${delay} restarting failed container=${container.name} pod=${name}_${namespace}(${this.#uid})`;
    container.lastTermination = last;
    container.wait("CrashLoopBackOff", message);
    this.#writeStatus();
    this.#syncLater(Math.min(left + this.#vary(300), this.#vary(RESYNC_MS)));
  }

  #pull(container: Container): void {
    const { image } = container.spec;
    const images = this.#services.images(this.#pod.spec.nodeName);
    const policy = container.spec.imagePullPolicy ?? "IfNotPresent";
    if (policy !== "Always" && images.has(image)) {
      this.#event("Normal", "Pulled", `Container image "${image}" already present on machine`, container);
      this.#create(container);
      return;
    }
    if (policy === "Never") {
      const message = `Container image "${image}" is not present with pull policy of Never`;
      this.#event("Warning", "ErrImageNeverPull", message, container);
      this.#failStart(container, "ErrImageNeverPull", message, "ErrImageNeverPull");
      return;
    }
    const now = this.clock.now();
    if (container.pullFailedAt !== undefined) {
      const left = container.pullBackoff.left(container.pullFailedAt, now);
      if (left > 0) {
        const message = `Back-off pulling image "${image}"`;
        this.#event("Normal", "BackOff", message, container);
        this.#failStart(container, "ImagePullBackOff", `${message}: ${container.pullFailure}`, "ImagePullBackOff");
        return;
      }
    }
    const result = this.runtime.pull(image, this.#pod);
    if (!result.ok && result.reason === "InvalidImageName") {
      this.#event("Warning", "InspectFailed", result.message, container);
      this.#failStart(container, "InvalidImageName", result.message, "InvalidImageName");
      return;
    }
    this.#event("Normal", "Pulling", `Pulling image "${image}"`, container);
    container.busy = true;
    const duration = result.ok
      ? Math.max(1, images.has(image) ? Math.min(PULL_CHECK_MS, result.durationMs) : result.durationMs)
      : this.#vary(PULL_FAILURE_MS);
    this.#containerAfter(container, duration, () => {
      container.busy = false;
      if (!result.ok) return this.#pullFailed(container, result.message);
      container.pullFailedAt = undefined;
      images.add(image);
      const took = goMilliseconds(duration);
      const size = result.sizeBytes ?? assumedSize(image);
      const message = `Successfully pulled image "${image}" in ${took} (${took} including waiting). Image size: ${size} bytes.`;
      this.#event("Normal", "Pulled", message, container);
      this.#create(container);
    });
  }

  #pullFailed(container: Container, why: string): void {
    const { image } = container.spec;
    this.#event("Warning", "Failed", `Failed to pull image "${image}": ${why}`, container);
    container.pullBackoff.next(container.pullFailedAt ?? this.clock.now(), this.clock.now());
    container.pullFailedAt = this.clock.now();
    container.pullFailure = `ErrImagePull: ${why}`;
    this.#failStart(container, "ErrImagePull", why, "ErrImagePull");
    // The others of the pod need not wait for this one.
    this.#startOthers(container);
  }

  /** The container cannot be started now; `error` is what the event says. */
  #failStart(container: Container, reason: string, message: string, error: string): void {
    this.#event("Warning", "Failed", `Error: ${error}`, container);
    if (container.terminated) container.lastTermination = container.terminated;
    container.wait(reason, message);
    this.#writeStatus();
    this.#syncLater(this.#vary(RESYNC_MS));
  }

  #startOthers(failed: Container): void {
    if (failed.init) return;
    for (const container of this.#main.slice(this.#main.indexOf(failed) + 1)) {
      if (container.running || container.busy || !this.#shouldRun(container)) continue;
      this.#bringUp(container);
      if (container.busy) return;
    }
  }

  #create(container: Container): void {
    const missing = missingEnvironment(this.#services.plane.api, this.#pod, container.spec);
    if (missing !== undefined) {
      this.#failStart(container, "CreateContainerConfigError", missing, missing);
      this.#startOthers(container);
      return;
    }
    if (container.hasRun) container.restarts++;
    const plan = this.runtime.start(this.#ref(container));
    const id = `containerd://${this.#services.plane.random.hex(64)}`;
    const error = plan.startError;
    if (error?.reason === "CreateContainerError") {
      if (container.hasRun) container.restarts--;
      this.#failStart(container, error.reason, error.message, error.message);
      this.#startOthers(container);
      return;
    }
    container.busy = true;
    this.#containerAfter(container, this.#vary(CREATE_MS), () => {
      container.busy = false;
      this.#event("Normal", "Created", `Created container: ${container.name}`, container);
      container.hasRun = true;
      container.id = id;
      container.imageId = imageId(container.spec.image);
      if (container.terminated) container.lastTermination = container.terminated;
      if (error) {
        this.#couldNotRun(container, error);
        return this.#startOthers(container);
      }
      this.#event("Normal", "Started", `Started container ${container.name}`, container);
      container.state = { running: { startedAt: timestamp(this.clock.now()) } };
      if (plan.exit) {
        const { afterMs, ...exit } = plan.exit;
        this.#containerAfter(container, afterMs, () => this.#exited(container, exit));
      }
      startProbes(this, container);
      this.#writeStatus();
      this.#sync();
    });
  }

  /** The runtime could not start the process: it counts as an exit with code 128. */
  #couldNotRun(container: Container, error: { reason: string; message: string }): void {
    this.#event("Warning", "Failed", `Error: ${error.message}`, container);
    container.lastTermination = {
      exitCode: 128,
      reason: "StartError",
      message: error.message,
      startedAt: EPOCH,
      finishedAt: timestamp(this.clock.now()),
      ...(container.id ? { containerID: container.id } : {}),
    };
    container.wait(error.reason, error.message);
    this.#writeStatus();
    this.#syncLater(this.#vary(RESYNC_MS));
  }

  // --- run ---------------------------------------------------------------------------------------------------------

  failed(container: Container, kind: ProbeKind, message: string): void {
    const name = kind.charAt(0).toUpperCase() + kind.slice(1);
    this.#event("Warning", "Unhealthy", `${name} probe failed: ${message}`, container);
  }

  unhealthy(container: Container, kind: "startup" | "liveness"): void {
    this.#kill(container, `Container ${container.name} failed ${kind} probe, will be restarted`);
  }

  changed(): void {
    this.#writeStatus();
    if (this.#stage === "containers") this.#sync();
  }

  #kill(container: Container, why: string): void {
    this.#event("Normal", "Killing", why, container);
    container.cancelTimers();
    container.busy = true;
    const { takes, killed } = this.#stopTime(container);
    this.#containerAfter(container, takes, () => {
      container.busy = false;
      this.#exited(container, { code: killed ? 137 : 143 });
    });
  }

  #exited(container: Container, exit: { code: number; reason?: string; message?: string }): void {
    container.cancelTimers();
    container.busy = false;
    this.#markStopped(container, exit.code, exit.reason, exit.message);
    container.started = false;
    // An init container that succeeded counts as ready.
    container.ready = container.init && !container.sidecar && exit.code === 0;
    this.#writeStatus();
    this.#syncLater(container.init && exit.code === 0 ? this.#vary(300) : this.#vary(RELIST_MS));
  }

  /** A running container has ended: the application is told, once. */
  #markStopped(container: Container, exitCode: number, reason?: string, message?: string): void {
    if (!("running" in container.state)) return;
    const { startedAt } = container.state.running;
    this.runtime.stopped?.(this.#ref(container));
    container.state = {
      terminated: {
        exitCode,
        reason: reason ?? (exitCode === 0 ? "Completed" : "Error"),
        ...(message ? { message } : {}),
        startedAt,
        finishedAt: timestamp(this.clock.now()),
        ...(container.id ? { containerID: container.id } : {}),
      },
    };
  }

  // --- end ---------------------------------------------------------------------------------------------------------

  #finish(): void {
    this.#stage = "finished";
    for (const container of this.#init) {
      if (!container.running) continue;
      container.cancelTimers();
      this.#exited(container, { code: 0 });
    }
    this.#resync?.cancel();
    this.#writeStatus();
  }

  #failPod(reason: string, message: string): void {
    if (this.#stage === "finished" || this.#stage === "ending") return;
    this.#failure = { reason, message };
    this.#event("Normal", reason, message);
    this.#stage = "finished";
    this.#resync?.cancel();
    for (const container of this.#all) {
      container.cancelTimers();
      container.ready = false;
      this.#markStopped(container, 143);
    }
    this.#writeStatus();
  }

  /** The pod is being deleted: stop what runs, then let it go. */
  #end(): void {
    this.#stage = "ending";
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#resync?.cancel();
    let longest = 100;
    for (const container of this.#all) {
      container.cancelTimers();
      if (!container.running) continue;
      this.#event("Normal", "Killing", `Stopping container ${container.name}`, container);
      longest = Math.max(longest, this.#stopTime(container).takes);
    }
    const { namespace, name } = this.#pod.metadata;
    this.#after(longest, () => {
      for (const container of this.#all) this.#markStopped(container, 143);
      this.#services.plane.api.delete("pods", namespace, name, { gracePeriodSeconds: 0, uid: this.#uid });
    });
  }

  /** How long the container takes to stop, and whether it must be killed at the end of its grace period. */
  #stopTime(container: Container): { takes: number; killed: boolean } {
    const { metadata, spec } = this.#pod;
    const grace = (metadata.deletionGracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? 30) * 1000;
    const preStop = (container.spec.lifecycle?.preStop?.sleep?.seconds ?? 0) * 1000;
    const wants = preStop + (this.runtime.terminationMs?.(this.#ref(container)) ?? this.#vary(STOP_MS));
    return { takes: Math.min(wants, grace), killed: wants > grace };
  }

  // --- helpers -----------------------------------------------------------------------------------------------------

  #ref(container: Container): ContainerRef {
    return { pod: this.#pod, container: container.spec, init: container.init, restarts: container.restarts };
  }

  #writeStatus(): void {
    const { api } = this.#services.plane;
    const { namespace, name } = this.#pod.metadata;
    const stored = api.get("pods", namespace, name);
    if (stored?.metadata.uid !== this.#uid) return;
    this.#pod = stored;
    const status = podStatus({
      pod: stored,
      init: this.#init,
      main: this.#main,
      now: timestamp(this.clock.now()),
      startTime: this.#startTime,
      hostIP: this.#services.hostIp(stored),
      podIP: this.#podIp,
      failure: this.#failure,
    });
    if (same(status, stored.status)) return;
    const change = (draft: KubeObject) => {
      draft.status = status;
    };
    this.#pod = api.modify("pods", namespace, name, change, { manager: "kubelet", subresource: "status" }) ?? this.#pod;
  }

  #event(type: "Normal" | "Warning", reason: string, message: string, container?: Container): void {
    this.#services.plane.api.event(this.#pod, {
      type,
      reason,
      message,
      component: "kubelet",
      host: this.#pod.spec.nodeName,
      ...(container ? { fieldPath: container.fieldPath } : {}),
    });
  }

  /** Half as long again at most, so that pods do not move in step. */
  #vary(ms: number): number {
    return Math.round(ms * (1 + 0.5 * this.#services.plane.random.next()));
  }

  /** Looks at the pod again after `ms`, or sooner if that was arranged before. */
  #syncLater(ms: number): void {
    const at = this.clock.now() + ms;
    if (this.#resync !== undefined && this.#resyncAt <= at) return;
    this.#resync?.cancel();
    this.#resyncAt = at;
    this.#resync = this.clock.at(at, () => {
      this.#resync = undefined;
      this.#sync();
    });
  }
  #resyncAt = 0;

  #after(ms: number, run: () => void): void {
    const timer = this.clock.after(Math.max(0, ms), () => {
      this.#timers.delete(timer);
      run();
    });
    this.#timers.add(timer);
  }

  #containerAfter(container: Container, ms: number, run: () => void): void {
    const timer = this.clock.after(ms, () => {
      container.timers.delete(timer);
      run();
    });
    container.timers.add(timer);
  }
}
