/**
 * The API as the testbed's own parts use it, in process: controllers, the kubelet, faults, exporters, traffic. Requests
 * that come over HTTP end in the same functions, so both see the same defaulting, validation and admission.
 */
import type { VirtualClock } from "../clock.js";
import type { Random } from "../random.js";
import type { GroupResource, KubeObject, WatchEvent } from "./objects.js";
import type { Admission } from "./writes.js";

export interface WriteOptions {
  /** Field manager written to managedFields, e.g. `kube-controller-manager`. */
  manager?: string;
  /**
   * Writes only that part of the object: `status` (with metadata.annotations, as a real server lets controllers do),
   * `scale`, `binding` (a pod's spec.nodeName and conditions), `finalize` (a namespace's spec.finalizers).
   */
  subresource?: string;
}

export interface DeleteOptions {
  gracePeriodSeconds?: number;
  propagationPolicy?: "Background" | "Foreground" | "Orphan";
  /** Refuses with Conflict when the object has another uid. */
  uid?: string;
}

export interface EventDetail {
  type: "Normal" | "Warning";
  reason: string;
  message: string;
  /** Who saw it: `kubelet`, `default-scheduler`, `deployment-controller`, ... */
  component: string;
  /** Node name, for the kubelet's events. */
  host?: string;
  /** e.g. `spec.containers{nginx}`. */
  fieldPath?: string;
  /** Set by those who report through events.k8s.io (the scheduler: `Binding`, `Scheduling`): `eventTime`, no counts. */
  action?: string;
}

export interface KubeApi {
  readonly clock: VirtualClock;
  readonly random: Random;
  /** Called with every write before it is checked; controllers add quotas here. */
  readonly admission?: Admission[];

  /** The stored object, or undefined. Stored objects are shared and must never be changed: use `modify`. */
  get<T extends KubeObject = KubeObject>(
    resource: GroupResource,
    namespace: string | undefined,
    name: string,
  ): T | undefined;
  /** All objects (of a namespace), ordered by namespace and name. Shared, not to be changed. */
  list<T extends KubeObject = KubeObject>(resource: GroupResource, namespace?: string): readonly T[];
  /** Calls `listener` synchronously on each change, in order. Listeners must not write: they schedule work on the clock. */
  watch(resource: GroupResource | "*", listener: (event: WatchEvent) => void): () => void;

  /** Creates after defaulting, validation and admission. @throws StatusError (AlreadyExists, Invalid, Forbidden ...) */
  create<T extends KubeObject = KubeObject>(resource: GroupResource, object: T, options?: WriteOptions): T;
  /** Changes a copy of the object with `change` and stores it; no write when nothing changed. Undefined when it is gone. */
  modify<T extends KubeObject = KubeObject>(
    resource: GroupResource,
    namespace: string | undefined,
    name: string,
    change: (draft: T) => void,
    options?: WriteOptions,
  ): T | undefined;
  /** Deletes as the API does: grace period for pods, finalizers, propagation. Undefined when it was gone already. */
  delete(
    resource: GroupResource,
    namespace: string | undefined,
    name: string,
    options?: DeleteOptions,
  ): KubeObject | undefined;
  /** Records an event about `regarding`; equal ones are counted up, as client-go's correlator does. */
  event(regarding: KubeObject, detail: EventDetail): void;
}
