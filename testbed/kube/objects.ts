/** Kubernetes objects as the testbed handles them: plain JSON, typed where the testbed looks inside. */

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  name: string;
  namespace?: string;
  generateName?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: unknown[];
}

/** Any object of the API. `spec`, `status` and the rest are open: the schema table, not the compiler, knows them. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: any;
}

/** A resource, as stored: plural and group, the core group empty: `pods`, `deployments.apps`. */
export type GroupResource = string;

export interface WatchEvent<T extends KubeObject = KubeObject> {
  type: "ADDED" | "MODIFIED" | "DELETED";
  resource: GroupResource;
  object: T;
  /** What the object was before, for MODIFIED and DELETED. */
  previous?: T;
  /** The store's revision after this event. */
  revision: number;
}

/** RFC 3339 with seconds, as the API server writes times. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
