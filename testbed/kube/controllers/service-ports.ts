/** What endpoints and endpoint slices share: which pods serve a service, on which ports, and since when. */
import type { KubeApi } from "../api.js";
import type { KubeObject } from "../objects.js";
import { same } from "./fields.js";
import { keyOf } from "./keys.js";
import { createdAt, type Plane } from "./plane.js";
import { condition, isFinished } from "./pods.js";
import type { WorkQueue } from "./queue.js";
import { hasLabels } from "./selectors.js";

export const TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time";

export interface ServicePort {
  name: string | undefined;
  port: number;
  protocol: string;
  appProtocol: string | undefined;
}

/** Enqueues services when they, or pods that they select now or selected before, change. */
export function followServices(plane: Plane, queue: WorkQueue): void {
  plane.follow("services", queue);
  plane.watch("pods", ({ type, object, previous }) => {
    if (type === "MODIFIED" && previous && !concerns(previous, object)) return;
    for (const service of plane.api.list("services", object.metadata.namespace)) {
      const selector = service.spec?.selector;
      if (!selector || Object.keys(selector).length === 0) continue;
      const now = hasLabels(object.metadata.labels, selector);
      if (now || (previous && hasLabels(previous.metadata.labels, selector))) queue.add(keyOf(service));
    }
  });
}

/** Whether the change of a pod can change what it contributes to a service. */
function concerns(before: KubeObject, after: KubeObject): boolean {
  return (
    !same(before.metadata.labels, after.metadata.labels) ||
    before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
    before.metadata.generation !== after.metadata.generation ||
    before.status?.podIP !== after.status?.podIP ||
    before.status?.phase !== after.status?.phase ||
    condition(before, "Ready")?.status !== condition(after, "Ready")?.status
  );
}

/** Pods behind the service that have an address; `terminating` includes those on their way out. */
export function servingPods(api: KubeApi, service: KubeObject, terminating: boolean): KubeObject[] {
  const { selector } = service.spec;
  return api.list("pods", service.metadata.namespace).filter((pod) => {
    if (!hasLabels(pod.metadata.labels, selector) || isFinished(pod) || !pod.status?.podIP) return false;
    return terminating || pod.metadata.deletionTimestamp === undefined;
  });
}

export function hasSelector(service: KubeObject): boolean {
  return service.spec?.selector !== undefined && Object.keys(service.spec.selector).length > 0;
}

/** The service's ports as this pod serves them; a named target port that the pod lacks is left out. */
export function portsOf(service: KubeObject, pod: KubeObject): ServicePort[] {
  const ports: ServicePort[] = [];
  for (const entry of service.spec.ports ?? []) {
    const protocol = entry.protocol ?? "TCP";
    const port = targetPort(pod, entry.targetPort ?? entry.port, protocol, entry.port);
    if (port !== undefined) ports.push({ name: entry.name, port, protocol, appProtocol: entry.appProtocol });
  }
  return ports;
}

function targetPort(pod: KubeObject, target: number | string, protocol: string, port: number): number | undefined {
  if (typeof target === "number") return target === 0 ? port : target;
  const sidecars = (pod.spec?.initContainers ?? []).filter((container: any) => container.restartPolicy === "Always");
  for (const container of [...(pod.spec?.containers ?? []), ...sidecars]) {
    for (const candidate of container.ports ?? []) {
      if (candidate.name === target && (candidate.protocol ?? "TCP") === protocol) return candidate.containerPort;
    }
  }
  return undefined;
}

/** Host name that a pod has within the service, for headless services of stateful sets. */
export function hostnameOf(service: KubeObject, pod: KubeObject): string | undefined {
  const { hostname, subdomain } = pod.spec ?? {};
  return hostname && subdomain === service.metadata.name ? hostname : undefined;
}

/** Remembers when pods became what they are, to tell what change an update answers to. */
export class TriggerTimes {
  readonly #seen = new Map<string, { service: number; pods: Map<string, number> }>();

  /** The earliest change since the last call for this service, ISO; undefined when there is none. */
  next(service: KubeObject, pods: readonly KubeObject[]): string | undefined {
    const key = keyOf(service);
    const before = this.#seen.get(key);
    const changed: number[] = [];
    const times = new Map<string, number>();
    for (const pod of pods) {
      const ready = condition(pod, "Ready");
      if (ready === undefined) continue;
      const time = Date.parse(ready.lastTransitionTime);
      times.set(pod.metadata.name, time);
      if (time > (before?.pods.get(pod.metadata.name) ?? 0)) changed.push(time);
    }
    const created = createdAt(service);
    if (before === undefined || created > before.service) changed.push(created);
    this.#seen.set(key, { service: created, pods: times });
    if (changed.length === 0) return undefined;
    return `${new Date(Math.min(...changed)).toISOString().slice(0, 19)}Z`;
  }

  forget(key: string): void {
    this.#seen.delete(key);
  }
}
