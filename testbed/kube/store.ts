/**
 * What etcd is to an API server: objects by resource, one revision counter, and the last changes, so that a watch can
 * start from an older revision. It knows no kinds and checks nothing.
 */
import type { GroupResource, KubeObject, WatchEvent } from "./objects.js";

export type Listener = (event: WatchEvent) => void;

/** How many changes are kept for watches; an older start is answered with 410 Gone. */
const HISTORY = 1024;
const NONE: readonly KubeObject[] = [];

interface Bucket {
  objects: Map<string, KubeObject>;
  /** Sorted views, rebuilt when an object came or went. */
  all: KubeObject[] | undefined;
  byNamespace: Map<string, KubeObject[]>;
}

export class Store {
  #buckets = new Map<GroupResource, Bucket>();
  #listeners = new Map<GroupResource, Set<Listener>>();
  #everything = new Set<Listener>();
  #history: (WatchEvent | undefined)[] = new Array(HISTORY);
  #written = 0;
  #revision: number;
  /** Oldest revision from which a watch can still start. */
  #oldest: number;

  constructor(firstRevision = 1) {
    this.#revision = firstRevision;
    this.#oldest = firstRevision;
  }

  get revision(): number {
    return this.#revision;
  }
  /** Revision that the next write will get. */
  get nextRevision(): number {
    return this.#revision + 1;
  }
  get oldestRevision(): number {
    return this.#oldest;
  }

  get(resource: GroupResource, namespace: string | undefined, name: string): KubeObject | undefined {
    return this.#buckets.get(resource)?.objects.get(key(namespace, name));
  }

  list(resource: GroupResource, namespace?: string): readonly KubeObject[] {
    const bucket = this.#buckets.get(resource);
    if (bucket === undefined) return NONE;
    if (bucket.all === undefined) {
      const keys = [...bucket.objects.keys()].sort();
      bucket.all = keys.map((k) => bucket.objects.get(k)!);
    }
    if (namespace === undefined || namespace === "") return bucket.all;
    let part = bucket.byNamespace.get(namespace);
    if (part === undefined) {
      part = bucket.all.filter((object) => object.metadata.namespace === namespace);
      bucket.byNamespace.set(namespace, part);
    }
    return part;
  }

  /** Resources that have or had objects. */
  resources(): GroupResource[] {
    return [...this.#buckets.keys()];
  }

  count(resource: GroupResource): number {
    return this.#buckets.get(resource)?.objects.size ?? 0;
  }

  /** Stores `object`, whose resourceVersion must be `nextRevision`. */
  put(resource: GroupResource, object: KubeObject): void {
    let bucket = this.#buckets.get(resource);
    if (bucket === undefined) {
      bucket = { objects: new Map(), all: undefined, byNamespace: new Map() };
      this.#buckets.set(resource, bucket);
    }
    const { namespace, name } = object.metadata;
    const id = key(namespace, name);
    const previous = bucket.objects.get(id);
    bucket.objects.set(id, object);
    // Views are handed out as they are: they are replaced, never changed.
    bucket.all = undefined;
    bucket.byNamespace.delete(namespace ?? "");
    this.#publish({
      type: previous ? "MODIFIED" : "ADDED",
      resource,
      object,
      ...(previous ? { previous } : {}),
      revision: ++this.#revision,
    });
  }

  /** Removes an object; `last` is its final state, whose resourceVersion must be `nextRevision`. */
  remove(resource: GroupResource, last: KubeObject): void {
    const bucket = this.#buckets.get(resource);
    const { namespace, name } = last.metadata;
    const id = key(namespace, name);
    const previous = bucket?.objects.get(id);
    if (bucket === undefined || previous === undefined) return;
    bucket.objects.delete(id);
    bucket.all = undefined;
    bucket.byNamespace.delete(namespace ?? "");
    this.#publish({ type: "DELETED", resource, object: last, previous, revision: ++this.#revision });
  }

  watch(resource: GroupResource | "*", listener: Listener): () => void {
    let set = this.#everything;
    if (resource !== "*") {
      set = this.#listeners.get(resource) ?? new Set();
      this.#listeners.set(resource, set);
    }
    set.add(listener);
    return () => set.delete(listener);
  }

  /** Changes of `resource` after `revision`, oldest first; undefined when that is no longer known. */
  since(resource: GroupResource, revision: number): WatchEvent[] | undefined {
    if (revision < this.#oldest) return undefined;
    const events: WatchEvent[] = [];
    const first = Math.max(0, this.#written - HISTORY);
    for (let i = first; i < this.#written; i++) {
      const event = this.#history[i % HISTORY]!;
      if (event.revision > revision && event.resource === resource) events.push(event);
    }
    return events;
  }

  #publish(event: WatchEvent): void {
    const slot = this.#written++ % HISTORY;
    const overwritten = this.#history[slot];
    if (overwritten) this.#oldest = overwritten.revision;
    this.#history[slot] = event;
    const listeners = this.#listeners.get(event.resource);
    if (listeners) for (const listener of [...listeners]) listener(event);
    if (this.#everything.size > 0) for (const listener of [...this.#everything]) listener(event);
  }
}

/** A space sorts before every character of a name, so that keys sort by namespace, then name. */
function key(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === "" ? name : `${namespace} ${name}`;
}
