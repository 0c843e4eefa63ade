/** Keeps what all trials of a process send to one backend under its rate limit. */

/** Of any minute. An absent limit is no limit. */
export interface RateLimit {
  requests_per_minute?: number;
  tokens_per_minute?: number;
}

export interface RateLimiterClock {
  /** Milliseconds; only differences matter. */
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

interface Taken {
  at: number;
  tokens: number;
}

const MINUTE = 60_000;

/** First come, first served: who asks first goes first, also when a later request would be smaller. */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #clock: RateLimiterClock;
  #taken: Taken[] = [];
  #tail: Promise<unknown> = Promise.resolve();
  #pausedUntil = 0;

  constructor(limit: RateLimit, clock: RateLimiterClock = wallClock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /**
   * Waits until a request of about `tokens` fits.
   *
   * @returns to be called with the true number of tokens, once it is known
   * @throws the signal's reason when it aborts the wait
   */
  take(tokens: number, signal?: AbortSignal): Promise<(used: number) => void> {
    const turn = this.#tail.then(() => this.#wait(tokens, signal));
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  /** Lets no request go for `ms`: the backend has asked for it. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + ms);
  }

  async #wait(tokens: number, signal?: AbortSignal): Promise<(used: number) => void> {
    for (;;) {
      signal?.throwIfAborted();
      const ms = this.#due(tokens) - this.#clock.now();
      if (ms <= 0) break;
      await this.#clock.sleep(ms, signal);
    }
    const taken = { at: this.#clock.now(), tokens };
    this.#taken.push(taken);
    return (used) => {
      taken.tokens = used;
    };
  }

  /** When a request of `tokens` may go. */
  #due(tokens: number): number {
    const now = this.#clock.now();
    this.#taken = this.#taken.filter((one) => one.at > now - MINUTE);
    const { requests_per_minute = Number.POSITIVE_INFINITY, tokens_per_minute = Number.POSITIVE_INFINITY } =
      this.#limit;
    let due = this.#pausedUntil;
    let sum = this.#taken.reduce((total, one) => total + one.tokens, 0);
    for (const [i, one] of this.#taken.entries()) {
      const fits = this.#taken.length - i < requests_per_minute && sum + tokens <= tokens_per_minute;
      if (fits) break;
      due = Math.max(due, one.at + MINUTE);
      sum -= one.tokens;
    }
    return due;
  }
}

const limiters = new Map<string, RateLimiter>();

/** The limiter of a backend, one a process: trials that run side by side share it. The first caller's limit holds. */
export function sharedLimiter(backend: string, limit: RateLimit): RateLimiter {
  const key = `${backend} ${limit.requests_per_minute ?? ""}/${limit.tokens_per_minute ?? ""}`;
  let limiter = limiters.get(key);
  if (limiter === undefined) {
    limiter = new RateLimiter(limit);
    limiters.set(key, limiter);
  }
  return limiter;
}

/** Waits, and rejects at once when `signal` aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason ?? new DOMException("aborted", "AbortError"));
    };
    if (signal?.aborted) return stop();
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

const wallClock: RateLimiterClock = { now: () => performance.now(), sleep };
