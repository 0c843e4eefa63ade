/** Records events the way clients and server do together: equal ones are counted up, old ones expire after an hour. */
import type { EventDetail } from "./api.js";
import { EventCorrelator } from "./event-correlator.js";
import { clone } from "./json.js";
import { type KubeObject, timestamp } from "./objects.js";
import type { Machine } from "./writes.js";

const TTL_MS = 3600_000;
/** Components whose events use the newer form: eventTime, action and series instead of first and last time and count. */
const NEW_STYLE: Record<string, string> = { "default-scheduler": "Binding" };
const MANAGERS: Record<string, string> = { kubelet: "kubelet", "default-scheduler": "kube-scheduler" };

/** More different messages than this for one reason within the interval, and they are combined into one event. */
const SIMILAR_LIMIT = 10;
const SIMILAR_INTERVAL_MS = 600_000;
/** An object's events from one source: this many at once, then one each five minutes. */
const BURST = 25;
const REFILL_MS = 300_000;

interface Similar {
  messages: Set<string>;
  last: number;
}

export class EventRecorder {
  readonly #machine: Machine;
  /** Name of the event that an equal one counts up. */
  readonly #known = new Map<string, { namespace: string; name: string }>();
  readonly #similar = new Map<string, Similar>();
  readonly #budgets = new Map<string, { tokens: number; at: number }>();
  readonly #expiry: { at: number; namespace: string; name: string }[] = [];
  #expired = 0;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  record(regarding: KubeObject, given: EventDetail): void {
    const { clock, store } = this.#machine;
    const now = clock.now();
    this.#expire(now);
    const meta = regarding.metadata;
    const namespace = meta.namespace ?? "default";
    const source = [given.component, given.host, regarding.kind, namespace, meta.name, meta.uid].join("\n");
    const oldStyle = NEW_STYLE[given.component] === undefined;
    const combined = oldStyle ? this.#combine(source, given, now) : undefined;
    const detail = combined === undefined ? given : { ...given, message: combined.message };
    const key = combined?.key ?? [source, detail.type, detail.reason, detail.message, detail.fieldPath].join("\n");
    if (oldStyle && !this.#spend(source, now)) return;
    const known = this.#known.get(key);
    const before = known && store.get("events", known.namespace, known.name);
    if (before) {
      const event = clone(before);
      event.message = detail.message;
      if (event.eventTime) {
        event.series = { count: (event.series?.count ?? 1) + 1, lastObservedTime: micro(now) };
      } else {
        event.count = (event.count ?? 1) + 1;
        event.lastTimestamp = timestamp(now);
      }
      event.metadata.resourceVersion = String(store.nextRevision);
      store.put("events", event);
      this.#expiry.push({ at: now + TTL_MS, ...known });
      return;
    }
    if (!store.get("namespaces", undefined, namespace)) return;
    const name = `${meta.name}.${nanoHex(now, store.nextRevision)}`;
    store.put("events", this.#make(regarding, detail, namespace, name, now));
    this.#known.set(key, { namespace, name });
    this.#expiry.push({ at: now + TTL_MS, namespace, name });
  }

  /** Message and key of the combined event, once there are too many similar ones. */
  #combine(source: string, detail: EventDetail, now: number): { key: string; message: string } | undefined {
    const key = [source, detail.type, detail.reason].join("\n");
    let similar = this.#similar.get(key);
    if (similar === undefined || now - similar.last > SIMILAR_INTERVAL_MS) {
      similar = { messages: new Set(), last: now };
      this.#similar.set(key, similar);
    }
    similar.messages.add(detail.message);
    similar.last = now;
    if (similar.messages.size < SIMILAR_LIMIT) return undefined;
    const [oldest] = similar.messages;
    similar.messages.delete(oldest!);
    return { key: `combined\n${key}`, message: `(combined from similar events): ${detail.message}` };
  }

  /** Takes one event from the source's budget; false when it is used up and the event is dropped. */
  #spend(source: string, now: number): boolean {
    const budget = this.#budgets.get(source) ?? { tokens: BURST, at: now };
    budget.tokens = Math.min(BURST, budget.tokens + (now - budget.at) / REFILL_MS);
    budget.at = now;
    this.#budgets.set(source, budget);
    if (budget.tokens < 1) return false;
    budget.tokens--;
    return true;
  }

  #make(regarding: KubeObject, detail: EventDetail, namespace: string, name: string, now: number): KubeObject {
    const { random, store } = this.#machine;
    const meta = regarding.metadata;
    const action = NEW_STYLE[detail.component];
    return {
      kind: "Event",
      apiVersion: "v1",
      metadata: {
        name,
        namespace,
        uid: random.uuid(),
        resourceVersion: String(store.nextRevision),
        creationTimestamp: timestamp(now),
        managedFields: [managedBy(MANAGERS[detail.component] ?? "kube-controller-manager", action !== undefined, now)],
      },
      involvedObject: {
        kind: regarding.kind,
        ...(meta.namespace ? { namespace: meta.namespace } : {}),
        name: meta.name,
        ...(meta.uid ? { uid: meta.uid } : {}),
        apiVersion: regarding.apiVersion,
        ...(meta.resourceVersion ? { resourceVersion: meta.resourceVersion } : {}),
        ...(detail.fieldPath ? { fieldPath: detail.fieldPath } : {}),
      },
      reason: detail.reason,
      message: detail.message,
      source: action ? {} : { component: detail.component, ...(detail.host ? { host: detail.host } : {}) },
      firstTimestamp: action ? null : timestamp(now),
      lastTimestamp: action ? null : timestamp(now),
      ...(action ? {} : { count: 1 }),
      type: detail.type,
      eventTime: action ? micro(now) : null,
      ...(action ? { action: detail.action ?? action } : {}),
      reportingComponent: detail.component,
      reportingInstance: action ? `${detail.component}-control-plane` : (detail.host ?? ""),
    } as KubeObject;
  }

  #expire(now: number): void {
    const { store } = this.#machine;
    while (this.#expired < this.#expiry.length && this.#expiry[this.#expired]!.at <= now) {
      const { namespace, name } = this.#expiry[this.#expired++]!;
      const event = store.get("events", namespace, name);
      if (event === undefined) continue;
      const last = event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime;
      if (Date.parse(last) + TTL_MS > now) continue;
      const gone = { ...event, metadata: { ...event.metadata, resourceVersion: String(store.nextRevision) } };
      store.remove("events", gone);
    }
    if (this.#expired > 1000) {
      this.#expiry.splice(0, this.#expired);
      this.#expired = 0;
    }
  }
}

function micro(now: number): string {
  return `${new Date(now).toISOString().slice(0, 23)}000Z`;
}

/** Real names end with the nanoseconds of the moment; the revision keeps those of one instant apart. */
function nanoHex(now: number, revision: number): string {
  return (BigInt(now) * 1_000_000n + BigInt(revision % 1_000_000)).toString(16);
}

const TARGET = Object.fromEntries(
  ["f:apiVersion", "f:kind", "f:name", "f:namespace", "f:resourceVersion", "f:uid"].map((k) => [k, {}]),
);
const OLD_FIELDS = {
  "f:count": {},
  "f:firstTimestamp": {},
  "f:involvedObject": TARGET,
  "f:lastTimestamp": {},
  "f:message": {},
  "f:reason": {},
  "f:reportingComponent": {},
  "f:source": { "f:component": {} },
  "f:type": {},
};
const NEW_FIELDS = {
  "f:action": {},
  "f:eventTime": {},
  "f:note": {},
  "f:reason": {},
  "f:regarding": TARGET,
  "f:reportingController": {},
  "f:reportingInstance": {},
  "f:type": {},
};

function managedBy(manager: string, newStyle: boolean, now: number): object {
  return {
    manager,
    operation: "Update",
    apiVersion: newStyle ? "events.k8s.io/v1" : "v1",
    time: timestamp(now),
    fieldsType: "FieldsV1",
    fieldsV1: newStyle ? NEW_FIELDS : OLD_FIELDS,
  };
}
