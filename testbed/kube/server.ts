/**
 * The simulated API server: the store behind one set of rules, used in process by the testbed's parts (`KubeApi`) and
 * over HTTP by everyone else (`handle`).
 */
import type { VirtualClock } from "../clock.js";
import type { Random } from "../random.js";
import { limitAdmission } from "./admission/limits.js";
import { priorityAdmission } from "./admission/priority.js";
import type { DeleteOptions, EventDetail, KubeApi, WriteOptions } from "./api.js";
import { bootstrap } from "./bootstrap.js";
import { followDefinitions } from "./custom.js";
import { draftOf } from "./drafts.js";
import { EventRecorder } from "./events.js";
import { equal } from "./json.js";
import { CONVERSIONS, rulesOf } from "./kinds/index.js";
import type { GroupResource, KubeObject, WatchEvent } from "./objects.js";
import { Registry } from "./resources.js";
import { Access } from "./rest/access.js";
import type { ApiRequest, ApiResponse } from "./rest/http.js";
import { handleRequest } from "./rest/router.js";
import { registerUsage } from "./rest/usage.js";
import { schemaTable } from "./schema/table.js";
import { Store } from "./store.js";
import { type Admission, createObject, deleteObject, type Machine, storedInfo, updateObject } from "./writes.js";

/** Log lines of a container, oldest first; undefined when it has none. */
export type PodLogs = (ref: {
  pod: KubeObject;
  container: string;
  previous: boolean;
}) => { timeMs: number; line: string }[] | undefined;

/** What a container uses now; undefined before the first sample. */
export type PodUsage = (ref: {
  pod: KubeObject;
  container: string;
}) => { cpuCores: number; memoryBytes: number } | undefined;

export interface ApiServerOptions {
  clock: VirtualClock;
  random: Random;
  /** Without it, containers have no logs. */
  podLogs?: PodLogs;
  /** Without it, there is no metrics server. */
  usage?: PodUsage;
  /** What /version says, e.g. `v1.34.2`. */
  version?: string;
}

export class ApiServer implements KubeApi, Machine {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly version: string;
  readonly podLogs: PodLogs | undefined;
  readonly usage: PodUsage | undefined;
  readonly store = new Store();
  readonly registry = new Registry();
  /** Who may do what: tokens and their roles. */
  readonly access: Access;
  /** Called with every write before it is checked; add quotas, limits, policies here. */
  readonly admission: Admission[] = [priorityAdmission, limitAdmission];
  readonly #events: EventRecorder;

  constructor(options: ApiServerOptions) {
    this.clock = options.clock;
    this.random = options.random;
    this.podLogs = options.podLogs;
    this.usage = options.usage;
    this.version = options.version ?? "v1.34.2";
    registerBuiltIn(this.registry);
    if (this.usage) registerUsage(this);
    this.access = new Access(this);
    this.#events = new EventRecorder(this);
    followDefinitions(this);
    bootstrap(this);
  }

  get<T extends KubeObject = KubeObject>(
    resource: GroupResource,
    namespace: string | undefined,
    name: string,
  ): T | undefined {
    return this.store.get(resource, namespace, name) as T | undefined;
  }

  list<T extends KubeObject = KubeObject>(resource: GroupResource, namespace?: string): readonly T[] {
    return this.store.list(resource, namespace) as readonly T[];
  }

  watch(resource: GroupResource | "*", listener: (event: WatchEvent) => void): () => void {
    return this.store.watch(resource, listener);
  }

  create<T extends KubeObject = KubeObject>(resource: GroupResource, object: T, options: WriteOptions = {}): T {
    const info = storedInfo(this, resource);
    return createObject(this, info, object.metadata.namespace, object, {
      manager: options.manager ?? "kube-apiserver",
      internal: true,
    }) as T;
  }

  modify<T extends KubeObject = KubeObject>(
    resource: GroupResource,
    namespace: string | undefined,
    name: string,
    change: (draft: T) => void,
    options: WriteOptions = {},
  ): T | undefined {
    const info = storedInfo(this, resource);
    const old = this.store.get(resource, namespace, name);
    if (old === undefined) return undefined;
    const draft = draftOf(old, options.subresource === "status" && !info.definition) as T;
    change(draft);
    if (equal(draft, old)) return old as T;
    return updateObject(this, info, old, draft, {
      manager: options.manager ?? "kube-apiserver",
      internal: true,
      ...(options.subresource ? { subresource: options.subresource } : {}),
    }) as T;
  }

  delete(
    resource: GroupResource,
    namespace: string | undefined,
    name: string,
    options: DeleteOptions = {},
  ): KubeObject | undefined {
    const info = storedInfo(this, resource);
    const old = this.store.get(resource, namespace, name);
    return old === undefined ? undefined : deleteObject(this, info, old, options).object;
  }

  event(regarding: KubeObject, detail: EventDetail): void {
    this.#events.record(regarding, detail);
  }

  /** Answers one HTTP request. Never throws: what goes wrong is a Status in the answer. */
  handle(request: ApiRequest): Promise<ApiResponse> {
    return handleRequest(this, request);
  }
}

function registerBuiltIn(registry: Registry): void {
  const table = schemaTable();
  for (const r of table.resources) {
    const type = table.kind(r.group, r.version, r.kind);
    if (type === undefined) continue;
    const plain = r.group === "" ? r.resource : `${r.resource}.${r.group}`;
    const conversion = CONVERSIONS[`${r.group}/${r.version}/${r.resource}`];
    const key = conversion?.key ?? plain;
    registry.add(
      {
        group: r.group,
        version: r.version,
        resource: r.resource,
        kind: r.kind,
        singular: r.singular,
        namespaced: r.namespaced === true,
        verbs: r.verbs,
        shortNames: r.shortNames ?? [],
        categories: r.categories ?? [],
        subresources: new Map((r.subresources ?? []).map((s) => [s.name, s])),
        key,
        type,
        rules: rulesOf(key),
        ...(conversion ? { toStorage: conversion.toStorage, fromStorage: conversion.fromStorage } : {}),
      },
      conversion === undefined,
    );
  }
}
