/**
 * All objects of the cluster by uid, with who depends on whom: what garbage collection and the end of a namespace ask
 * for. Fed by one watch on everything.
 */
import type { GroupResource, KubeObject } from "../objects.js";
import type { Plane } from "./plane.js";

export interface Entry {
  resource: GroupResource;
  namespace: string | undefined;
  name: string;
  uid: string;
}

/** Kinds that exist before the controllers start. */
const EARLY: GroupResource[] = [
  "namespaces",
  "nodes",
  "configmaps",
  "secrets",
  "serviceaccounts",
  "services",
  "endpoints",
  "endpointslices.discovery.k8s.io",
  "pods",
  "persistentvolumes",
  "persistentvolumeclaims",
  "deployments.apps",
  "replicasets.apps",
  "statefulsets.apps",
  "daemonsets.apps",
  "controllerrevisions.apps",
  "jobs.batch",
  "cronjobs.batch",
  "horizontalpodautoscalers.autoscaling",
];

export class Inventory {
  readonly #entries = new Map<string, Entry>();
  readonly #byNamespace = new Map<string, Set<string>>();
  readonly #dependents = new Map<string, Set<string>>();
  readonly #owners = new Map<string, string[]>();

  constructor(plane: Plane) {
    for (const resource of EARLY) for (const object of plane.api.list(resource)) this.#note(resource, object);
    plane.watch("*", (event) => {
      if (event.type === "DELETED") this.#forget(event.object);
      else this.#note(event.resource, event.object);
    });
  }

  has(uid: string): boolean {
    return this.#entries.has(uid);
  }

  entry(uid: string): Entry | undefined {
    return this.#entries.get(uid);
  }

  /** Objects with an owner reference to `uid`, in the order they came. */
  dependents(uid: string): Entry[] {
    return this.#resolve(this.#dependents.get(uid));
  }

  inNamespace(namespace: string): Entry[] {
    return this.#resolve(this.#byNamespace.get(namespace));
  }

  #resolve(uids: Set<string> | undefined): Entry[] {
    const entries: Entry[] = [];
    for (const uid of uids ?? []) {
      const entry = this.#entries.get(uid);
      if (entry) entries.push(entry);
    }
    return entries;
  }

  #note(resource: GroupResource, object: KubeObject): void {
    const { uid, namespace, name, ownerReferences } = object.metadata;
    // Events come and go by the thousand and own nothing; namespaces ask the API for them.
    if (uid === undefined || resource === "events" || resource === "events.events.k8s.io") return;
    if (!this.#entries.has(uid)) {
      this.#entries.set(uid, { resource, namespace, name, uid });
      if (namespace !== undefined) add(this.#byNamespace, namespace, uid);
    }
    const owners = ownerReferences?.map((reference) => reference.uid) ?? [];
    const before = this.#owners.get(uid);
    if (before === undefined && owners.length === 0) return;
    for (const owner of before ?? []) if (!owners.includes(owner)) this.#dependents.get(owner)?.delete(uid);
    for (const owner of owners) add(this.#dependents, owner, uid);
    this.#owners.set(uid, owners);
  }

  #forget(object: KubeObject): void {
    const { uid, namespace } = object.metadata;
    if (uid === undefined) return;
    this.#entries.delete(uid);
    if (namespace !== undefined) this.#byNamespace.get(namespace)?.delete(uid);
    for (const owner of this.#owners.get(uid) ?? []) this.#dependents.get(owner)?.delete(uid);
    this.#owners.delete(uid);
  }
}

function add(sets: Map<string, Set<string>>, key: string, uid: string): void {
  const set = sets.get(key);
  if (set) set.add(uid);
  else sets.set(key, new Set([uid]));
}
