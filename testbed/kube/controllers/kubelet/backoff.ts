/** Waiting times that double: restarts of crashed containers and image pulls, 10 seconds to 5 minutes. */

const FIRST_MS = 10_000;
const LONGEST_MS = 300_000;

export class Backoff {
  #delay = 0;
  #updated = Number.NEGATIVE_INFINITY;

  /** Milliseconds that a failure at `since` still has to wait at `now`; 0 when it may be tried. */
  left(since: number, now: number): number {
    if (this.#delay === 0 || this.#expired(since)) return 0;
    return Math.max(0, since + this.#delay - now);
  }

  /** Notes a new attempt after a failure at `since`: the next wait doubles, or starts anew after a long good time. */
  next(since: number, now: number): void {
    this.#delay = this.#delay === 0 || this.#expired(since) ? FIRST_MS : Math.min(LONGEST_MS, this.#delay * 2);
    this.#updated = now;
  }

  /** The current wait, milliseconds. */
  get delay(): number {
    return this.#delay;
  }

  #expired(since: number): boolean {
    return since - this.#updated > 2 * LONGEST_MS;
  }
}
