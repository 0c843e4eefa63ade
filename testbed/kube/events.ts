/** Records events the way clients and server do together: equal ones are counted up, old ones expire after an hour. */
import type { EventDetail } from "./api.js";
import { EventCorrelator, type Observation } from "./event-correlator.js";
import { clone } from "./json.js";
import { type KubeObject, timestamp } from "./objects.js";
import type { Machine } from "./writes.js";

const TTL_MS = 3600_000;
/** Components whose events use the newer form: eventTime, action and series instead of first and last time and count. */
const NEW_STYLE: Record<string, string> = { "default-scheduler": "Binding" };
const MANAGERS: Record<string, string> = { kubelet: "kubelet", "default-scheduler": "kube-scheduler" };

export class EventRecorder {
  readonly #machine: Machine;
  readonly #correlator = new EventCorrelator();
  /** Name of the event that an equal one counts up. */
  readonly #known = new Map<string, { namespace: string; name: string }>();
  readonly #expiry: { at: number; namespace: string; name: string }[] = [];
  #expired = 0;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  record(regarding: KubeObject, detail: EventDetail): void {
    const { clock, store } = this.#machine;
    const now = clock.now();
    this.#expire(now);
    const meta = regarding.metadata;
    const namespace = meta.namespace ?? "default";
    const seen = this.#observe(regarding, detail, now);
    if (!seen.send) return;
    const known = this.#known.get(seen.key);
    const before = known && store.get("events", known.namespace, known.name);
    if (before) {
      const event = clone(before);
      event.message = seen.message;
      if (event.eventTime) {
        event.series = { count: (event.series?.count ?? 1) + 1, lastObservedTime: micro(now) };
      } else {
        event.count = seen.count;
        event.lastTimestamp = timestamp(now);
      }
      event.metadata.resourceVersion = String(store.nextRevision);
      store.put("events", event);
      this.#expiry.push({ at: now + TTL_MS, ...known });
      return;
    }
    if (!store.get("namespaces", undefined, namespace)) return;
    const name = `${meta.name}.${nanoHex(now, store.nextRevision)}`;
    const event = this.#make(regarding, { ...detail, message: seen.message }, namespace, name, now);
    if (seen.count > 1 && !event.eventTime) {
      event.count = seen.count;
      event.firstTimestamp = timestamp(seen.first);
    }
    store.put("events", event);
    this.#known.set(seen.key, { namespace, name });
    this.#expiry.push({ at: now + TTL_MS, namespace, name });
  }

  /** Events of the newer form are neither combined nor held back. */
  #observe(regarding: KubeObject, detail: EventDetail, now: number): Observation {
    if (NEW_STYLE[detail.component] === undefined) return this.#correlator.observe(regarding, detail, now);
    const { component, type, reason, message } = detail;
    const key = [component, regarding.metadata.uid, type, reason, message].join("\n");
    return { key, message, count: 1, first: now, send: true };
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
