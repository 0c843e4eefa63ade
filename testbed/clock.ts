/**
 * The testbed's clock: discrete events on virtual time. Nothing in the testbed reads the wall clock, so that a trial is
 * a function of its seed; `driveRealTime` couples the clock to the wall for `itbench env up`.
 */

/** A scheduled event; `cancel` is safe to call twice, also after it ran. */
export interface Timer {
  cancel(): void;
}

interface Entry {
  at: number;
  order: number;
  run: (() => void) | undefined;
}

/** Virtual time in milliseconds since the epoch. Events due at the same instant run in the order they were scheduled. */
export class VirtualClock {
  #now: number;
  #order = 0;
  #heap: Entry[] = [];
  #running = false;

  /** @param start first instant, milliseconds since the epoch */
  constructor(start: number) {
    this.#now = start;
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return this.#now;
  }

  /** Runs `run` at `at` (milliseconds since the epoch; the past means as soon as due events run). */
  at(at: number, run: () => void): Timer {
    const entry: Entry = { at: Math.max(at, this.#now), order: this.#order++, run };
    push(this.#heap, entry);
    return {
      cancel: () => {
        entry.run = undefined;
      },
    };
  }

  /** Runs `run` once, `delay` milliseconds from now; 0 means in the current instant, after what is already due. */
  after(delay: number, run: () => void): Timer {
    return this.at(this.#now + delay, run);
  }

  /** Runs `run` each `period` milliseconds, first after one period. */
  every(period: number, run: () => void): Timer {
    let timer: Timer;
    let stopped = false;
    const tick = () => {
      run();
      if (!stopped) timer = this.after(period, tick);
    };
    timer = this.after(period, tick);
    return {
      cancel: () => {
        stopped = true;
        timer.cancel();
      },
    };
  }

  /** The instant of the next event, or undefined when none is scheduled. */
  next(): number | undefined {
    while (this.#heap.length > 0 && this.#heap[0]!.run === undefined) pop(this.#heap);
    return this.#heap[0]?.at;
  }

  /** Runs what is due in this instant, and what that makes due in it. */
  settle(): void {
    this.advanceTo(this.#now);
  }

  /** Moves time forward by `ms`, running each event at its own instant. */
  advance(ms: number): void {
    this.advanceTo(this.#now + ms);
  }

  /** Moves time forward to `target`; a nested call (from an event) does nothing, since the outer one is advancing. */
  advanceTo(target: number): void {
    if (this.#running) return;
    this.#running = true;
    try {
      for (let at = this.next(); at !== undefined && at <= target; at = this.next()) {
        const entry = pop(this.#heap)!;
        this.#now = entry.at;
        entry.run?.();
      }
      if (target > this.#now) this.#now = target;
    } finally {
      this.#running = false;
    }
  }
}

/**
 * Lets virtual time follow the wall clock, `speed` virtual seconds a real one, until the returned function is called.
 * Time that somebody else lets pass meanwhile comes on top. The timer does not keep the process alive.
 */
export function driveRealTime(clock: VirtualClock, speed = 1): () => void {
  let last = Date.now();
  const timer = setInterval(() => {
    const now = Date.now();
    const elapsed = now - last;
    last = now;
    if (elapsed > 0) clock.advance(elapsed * speed);
  }, 50);
  timer.unref();
  return () => clearInterval(timer);
}

function before(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Entry[], entry: Entry): void {
  let i = heap.length;
  heap.push(entry);
  while (i > 0) {
    const parent = (i - 1) >> 1;
    if (!before(entry, heap[parent]!)) break;
    heap[i] = heap[parent]!;
    i = parent;
  }
  heap[i] = entry;
}

function pop(heap: Entry[]): Entry | undefined {
  const top = heap[0];
  const last = heap.pop();
  if (top === undefined || last === undefined || heap.length === 0) return top;
  let i = 0;
  for (;;) {
    let child = 2 * i + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
    if (!before(heap[child]!, last)) break;
    heap[i] = heap[child]!;
    i = child;
  }
  heap[i] = last;
  return top;
}
