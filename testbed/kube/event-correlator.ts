/**
 * What client-go does between a component and the API server: many similar events become one, equal ones are counted,
 * and a component that talks too much about one object is held back (its counts go on, unseen until it may speak again).
 */
import type { EventDetail } from "./api.js";
import type { KubeObject } from "./objects.js";

/** Different messages of one reason after which further ones are combined. */
const SIMILAR = 10;
/** Silence after which similar events are no longer held together. */
const SIMILAR_MS = 600_000;
/** Events about one object that a component may send at once, and how long until it may send one more. */
const BURST = 25;
const REFILL_MS = 300_000;

export interface Observation {
  /** The message to write: the given one, or the sign that it stands for several. */
  message: string;
  count: number;
  /** Milliseconds of the first one. */
  first: number;
  /** What the observation is remembered by; equal for equal events. */
  key: string;
  /** False when the component has used up its share: nothing is written. */
  send: boolean;
}

interface Similar {
  messages: Set<string>;
  last: number;
}

export class EventCorrelator {
  readonly #similar = new Map<string, Similar>();
  readonly #seen = new Map<string, { count: number; first: number }>();
  readonly #shares = new Map<string, { left: number; at: number }>();

  observe(regarding: KubeObject, detail: EventDetail, now: number): Observation {
    const uid = regarding.metadata.uid ?? "";
    const about = [detail.component, detail.host, uid].join("\n");
    const group = [about, detail.type, detail.reason].join("\n");
    const combined = this.#combine(group, detail.message, now);
    const message = combined ? `(combined from similar events): ${detail.message}` : detail.message;
    const key = combined ? group : [group, detail.message, detail.fieldPath].join("\n");
    const before = this.#seen.get(key);
    const seen = { count: (before?.count ?? 0) + 1, first: before?.first ?? now };
    this.#seen.set(key, seen);
    return { message, key, ...seen, send: this.#take(about, now) };
  }

  #combine(group: string, message: string, now: number): boolean {
    let similar = this.#similar.get(group);
    if (similar === undefined || now - similar.last > SIMILAR_MS) {
      similar = { messages: new Set(), last: now };
      this.#similar.set(group, similar);
    }
    similar.messages.add(message);
    similar.last = now;
    if (similar.messages.size < SIMILAR) return false;
    similar.messages.delete(message);
    return true;
  }

  #take(about: string, now: number): boolean {
    const share = this.#shares.get(about) ?? { left: BURST, at: now };
    share.left = Math.min(BURST, share.left + (now - share.at) / REFILL_MS);
    share.at = now;
    this.#shares.set(about, share);
    if (share.left < 1) return false;
    share.left--;
    return true;
  }
}
