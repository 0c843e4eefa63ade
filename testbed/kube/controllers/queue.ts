/** A controller's work queue on the virtual clock: keys are reconciled once each, in the order they were first added. */
import type { Timer, VirtualClock } from "../../clock.js";

/** First wait after a failed reconcile; doubles up to the longest, as client-go's rate limiter does. */
export interface RetryWaits {
  firstMs: number;
  longestMs: number;
}
const USUAL: RetryWaits = { firstMs: 5, longestMs: 1_000_000 };

export class WorkQueue {
  readonly #clock: VirtualClock;
  readonly #reconcile: (key: string) => void;
  readonly #retry: RetryWaits;
  readonly #due = new Set<string>();
  readonly #later = new Map<string, { at: number; timer: Timer }>();
  readonly #failures = new Map<string, number>();
  #scheduled: Timer | undefined;
  #stopped = false;

  /** @param reconcile brings the object named by the key nearer to what its spec asks for; must tolerate that it is gone */
  constructor(clock: VirtualClock, reconcile: (key: string) => void, retry: RetryWaits = USUAL) {
    this.#retry = retry;
    this.#clock = clock;
    this.#reconcile = reconcile;
  }

  /** Reconciles `key` in this instant, after what is already due. */
  add(key: string): void {
    if (this.#stopped || this.#due.has(key)) return;
    this.#due.add(key);
    this.#scheduled ??= this.#clock.after(0, () => this.#drain());
  }

  /** Reconciles `key` after `ms`; an earlier appointment of the same key stands. */
  addAfter(key: string, ms: number): void {
    if (this.#stopped) return;
    if (ms <= 0) {
      this.add(key);
      return;
    }
    const at = this.#clock.now() + ms;
    const appointment = this.#later.get(key);
    if (appointment !== undefined) {
      if (appointment.at <= at) return;
      appointment.timer.cancel();
    }
    const timer = this.#clock.at(at, () => {
      this.#later.delete(key);
      this.add(key);
    });
    this.#later.set(key, { at, timer });
  }

  /** Tries `key` again after a wait that grows with each failure in a row; `forget` ends the row. */
  retry(key: string): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.addAfter(key, Math.min(this.#retry.longestMs, this.#retry.firstMs * 2 ** failures));
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }

  stop(): void {
    this.#stopped = true;
    this.#scheduled?.cancel();
    for (const { timer } of this.#later.values()) timer.cancel();
    this.#later.clear();
    this.#due.clear();
  }

  #drain(): void {
    this.#scheduled = undefined;
    const keys = [...this.#due];
    this.#due.clear();
    for (const key of keys) {
      if (this.#stopped) return;
      this.#reconcile(key);
    }
  }
}
