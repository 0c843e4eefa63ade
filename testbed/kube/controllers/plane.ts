/** What every controller is started with, and how it subscribes; stopping the plane ends all of them. */
import type { Timer, VirtualClock } from "../../clock.js";
import type { Random } from "../../random.js";
import type { KubeApi } from "../api.js";
import { StatusError } from "../errors.js";
import type { GroupResource, KubeObject, WatchEvent } from "../objects.js";
import { keyOf } from "./keys.js";
import { controllerOf } from "./owners.js";
import { type RetryWaits, WorkQueue } from "./queue.js";
import { selects } from "./selectors.js";

export type Profile = "kwok" | "containerd";

export class Plane {
  readonly api: KubeApi;
  readonly clock: VirtualClock;
  /** Draws of the controllers: names, jitter. */
  readonly random: Random;
  readonly profile: Profile;
  readonly #onStop: (() => void)[] = [];
  readonly #timers = new Set<Timer>();

  constructor(api: KubeApi, profile: Profile) {
    this.api = api;
    this.clock = api.clock;
    this.random = api.random.fork("controllers");
    this.profile = profile;
  }

  queue(reconcile: (key: string) => void, retry?: RetryWaits): WorkQueue {
    const queue = new WorkQueue(this.clock, reconcile, retry);
    this.#onStop.push(() => queue.stop());
    return queue;
  }

  /** Calls `listener` for what exists (as ADDED) and for each change after. */
  watch(resource: GroupResource, listener: (event: WatchEvent) => void): void {
    for (const object of this.api.list(resource)) listener({ type: "ADDED", resource, object, revision: 0 });
    this.#onStop.push(this.api.watch(resource, listener));
  }

  /** Enqueues each object of `resource` when it is added, changed or gone. */
  follow(resource: GroupResource, queue: WorkQueue): void {
    this.watch(resource, (event) => queue.add(keyOf(event.object)));
  }

  /** Enqueues the owner of kind `kind` when something that it controls, or could adopt, changes. */
  followOwned(owned: GroupResource, kind: string, owners: GroupResource, queue: WorkQueue): void {
    this.watch(owned, (event) => {
      const { object, previous } = event;
      const controller = controllerOf(object);
      const before = previous && controllerOf(previous);
      if (before?.kind === kind && before.uid !== controller?.uid) {
        queue.add(`${object.metadata.namespace ?? ""}/${before.name}`);
      }
      if (controller !== undefined) {
        if (controller.kind === kind) queue.add(`${object.metadata.namespace ?? ""}/${controller.name}`);
        return;
      }
      for (const owner of this.api.list(owners, object.metadata.namespace)) {
        if (selects(owner.spec?.selector, object.metadata.labels)) queue.add(keyOf(owner));
      }
    });
  }

  /** Runs `run` once, `ms` from now, unless the plane has stopped by then. */
  after(ms: number, run: () => void): void {
    const timer = this.clock.after(ms, () => {
      this.#timers.delete(timer);
      run();
    });
    this.#timers.add(timer);
  }

  every(ms: number, run: () => void): void {
    const timer = this.clock.every(ms, run);
    this.#onStop.push(() => timer.cancel());
  }

  onStop(run: () => void): void {
    this.#onStop.push(run);
  }

  stop(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    for (const run of this.#onStop.splice(0).reverse()) run();
  }
}

/** What the API refused a request with; anything else is a fault of ours and goes up. */
export function apiError(error: unknown): { message: string; reason: string } {
  if (error instanceof StatusError) return { message: error.message, reason: error.reason ?? "" };
  throw error;
}

export function createdAt(object: KubeObject): number {
  return Date.parse(object.metadata.creationTimestamp ?? "1970-01-01T00:00:00Z");
}
