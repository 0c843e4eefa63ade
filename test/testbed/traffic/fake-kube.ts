/** As much of KubeApi as the network and the runtime read: objects put there by a test, and watches. */
import { VirtualClock } from "../../../testbed/clock.js";
import type { KubeApi } from "../../../testbed/kube/api.js";
import type { KubeObject, WatchEvent } from "../../../testbed/kube/objects.js";
import { Random } from "../../../testbed/random.js";

export interface FakeKube extends KubeApi {
  put(resource: string, object: any): void;
  drop(resource: string, namespace: string, name: string): void;
}

export function fakeKube(clock = new VirtualClock(0)): FakeKube {
  const objects = new Map<string, KubeObject>();
  const listeners: { resource: string; listener: (event: WatchEvent) => void }[] = [];
  const key = (resource: string, namespace: string | undefined, name: string) =>
    `${resource} ${namespace ?? ""} ${name}`;
  const tell = (event: WatchEvent) => {
    for (const { resource, listener } of listeners) if (resource === event.resource) listener(event);
  };
  const none = () => {
    throw new Error("not in the fake");
  };
  return {
    clock,
    random: new Random(1),
    get: (resource, namespace, name) => objects.get(key(resource, namespace, name)) as any,
    list: (resource, namespace) =>
      [...objects.entries()]
        .filter(
          ([id, object]) =>
            id.startsWith(`${resource} `) && (namespace ?? object.metadata.namespace) === object.metadata.namespace,
        )
        .map(([, object]) => object) as any,
    watch(resource, listener) {
      listeners.push({ resource, listener });
      return () => {};
    },
    put(resource, object) {
      const id = key(resource, object.metadata.namespace, object.metadata.name);
      const previous = objects.get(id);
      objects.set(id, object);
      tell({ type: previous ? "MODIFIED" : "ADDED", resource, object, revision: 0, ...(previous ? { previous } : {}) });
    },
    drop(resource, namespace, name) {
      const object = objects.get(key(resource, namespace, name))!;
      objects.delete(key(resource, namespace, name));
      tell({ type: "DELETED", resource, object, previous: object, revision: 0 });
    },
    create: none,
    modify: none,
    delete: none,
    event: none,
  };
}

/** A pod with one container of that image, running at `ip`. */
export function podObject(name: string, container: Record<string, unknown>, more: Record<string, any> = {}): any {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "shop", uid: `uid-${name}`, labels: more.labels ?? {} },
    spec: { nodeName: "node-1", containers: [{ name, ...container }], ...(more.spec ?? {}) },
    status: { phase: "Running", podIP: more.ip ?? "10.1.0.1" },
  };
}

export function serviceObject(name: string, ports: any[], spec: Record<string, unknown> = {}): any {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "shop" },
    spec: { type: "ClusterIP", clusterIP: "10.96.0.50", ports, ...spec },
  };
}

export function sliceObject(service: string, ports: any[], endpoints: any[]): any {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: `${service}-abcde`, namespace: "shop", labels: { "kubernetes.io/service-name": service } },
    ports,
    endpoints,
  };
}
