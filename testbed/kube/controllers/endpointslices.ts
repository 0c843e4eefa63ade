/** Endpoint slices: one a set of ports, with the pods that serve it. */
import { createHash } from "node:crypto";
import type { KubeObject } from "../objects.js";
import { same } from "./fields.js";
import { splitKey } from "./keys.js";
import { controllerReference, MANAGER } from "./owners.js";
import { apiError, type Plane } from "./plane.js";
import { isReady } from "./pods.js";
import * as service from "./service-ports.js";

const SLICES = "endpointslices.discovery.k8s.io";
const SERVICE_NAME = "kubernetes.io/service-name";
const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
const CONTROLLER = "endpointslice-controller.k8s.io";
const HEADLESS = "service.kubernetes.io/headless";
/** Endpoints in a slice at most. */
const CAPACITY = 100;

interface Wanted {
  endpoints: any[] | null;
  ports: any[] | null;
}

export function startEndpointSlices(plane: Plane): void {
  const triggers = new service.TriggerTimes();
  const queue = plane.queue((key) => sync(plane, triggers, key));
  service.followServices(plane, queue);
  plane.watch(SLICES, (event) => {
    const { namespace, labels } = event.object.metadata;
    if (event.type === "DELETED" && labels?.[MANAGED_BY] === CONTROLLER)
      queue.add(`${namespace}/${labels[SERVICE_NAME]}`);
  });
}

function sync(plane: Plane, triggers: service.TriggerTimes, key: string): void {
  const { api } = plane;
  const { namespace, name } = splitKey(key);
  const owner = api.get("services", namespace, name);
  if (owner === undefined || owner.metadata.deletionTimestamp !== undefined) {
    triggers.forget(key);
    return;
  }
  if (!service.hasSelector(owner) || owner.spec.type === "ExternalName") return;
  const pods = service.servingPods(api, owner, true);
  const trigger = triggers.next(owner, pods);
  const labels: Record<string, string> = {
    ...owner.metadata.labels,
    [SERVICE_NAME]: name,
    [MANAGED_BY]: CONTROLLER,
  };
  if (owner.spec.clusterIP === "None") labels[HEADLESS] = "";
  const existing = api.list(SLICES, namespace).filter((slice) => {
    const { labels: own } = slice.metadata;
    return own?.[SERVICE_NAME] === name && own[MANAGED_BY] === CONTROLLER && !slice.metadata.deletionTimestamp;
  });
  const write = (slice: KubeObject | undefined, wanted: Wanted) => {
    if (slice && same(slice.endpoints ?? null, wanted.endpoints) && same(slice.ports ?? null, wanted.ports)) {
      if (same(slice.metadata.labels, labels)) return;
    }
    store(plane, owner, slice, wanted, labels, trigger);
  };
  try {
    // Slices keep their ports where they can; one that is over takes on a set of ports that is new.
    const wanted = slicesFor(plane, owner, pods);
    const free = new Set(existing);
    const unplaced: Wanted[] = [];
    for (const each of wanted) {
      const slice = existing.find((candidate) => free.has(candidate) && same(candidate.ports ?? null, each.ports));
      if (slice) free.delete(slice);
      if (slice) write(slice, each);
      else unplaced.push(each);
    }
    for (const each of unplaced) {
      const [slice] = free;
      if (slice) free.delete(slice);
      write(slice, each);
    }
    for (const slice of free) api.delete(SLICES, namespace, slice.metadata.name);
  } catch (error) {
    apiError(error);
  }
}

function slicesFor(plane: Plane, owner: KubeObject, pods: KubeObject[]): Wanted[] {
  const groups = new Map<string, { ports: any[]; endpoints: any[] }>();
  for (const pod of pods) {
    const ports = service.portsOf(owner, pod).map(({ name, port, protocol, appProtocol }) => ({
      ...(appProtocol ? { appProtocol } : {}),
      name: name ?? "",
      port,
      protocol,
    }));
    ports.sort((a, b) => (portHash(a) < portHash(b) ? -1 : 1));
    const id = JSON.stringify(ports);
    const group = groups.get(id) ?? { ports, endpoints: [] };
    group.endpoints.push(endpoint(plane, owner, pod));
    groups.set(id, group);
  }
  if (groups.size === 0) return [{ endpoints: null, ports: null }];
  return [...groups.values()].flatMap(({ ports, endpoints }) => {
    const slices: Wanted[] = [];
    for (let i = 0; i < endpoints.length; i += CAPACITY) {
      slices.push({ endpoints: endpoints.slice(i, i + CAPACITY), ports: ports.length > 0 ? ports : null });
    }
    return slices;
  });
}

/** Ports are listed in the order of the MD5 of Go's dump of them; readers see that order. */
function portHash(port: { name: string; port: number; protocol: string; appProtocol?: string }): string {
  const appProtocol = port.appProtocol ?? "<nil>";
  const dump = `(v1.EndpointPort){Name:(*string)${port.name} Protocol:(*v1.Protocol)${port.protocol} Port:(*int32)${port.port} AppProtocol:(*string)${appProtocol}}`;
  return createHash("md5").update(dump).digest("hex");
}

function endpoint(plane: Plane, owner: KubeObject, pod: KubeObject): any {
  const serving = isReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const ready = owner.spec.publishNotReadyAddresses === true || (serving && !terminating);
  const hostname = service.hostnameOf(owner, pod);
  const node = plane.api.get("nodes", undefined, pod.spec.nodeName ?? "");
  const zone = node?.metadata.labels?.["topology.kubernetes.io/zone"];
  return {
    addresses: [pod.status.podIP],
    conditions: { ready, serving, terminating },
    ...(hostname ? { hostname } : {}),
    nodeName: pod.spec.nodeName,
    targetRef: { kind: "Pod", name: pod.metadata.name, namespace: pod.metadata.namespace, uid: pod.metadata.uid },
    ...(zone ? { zone } : {}),
  };
}

function store(
  plane: Plane,
  owner: KubeObject,
  slice: KubeObject | undefined,
  wanted: Wanted,
  labels: Record<string, string>,
  trigger: string | undefined,
): void {
  const { api } = plane;
  const { namespace, name } = owner.metadata;
  if (slice === undefined) {
    api.create(
      SLICES,
      {
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: {
          name: "",
          generateName: `${name}-`,
          namespace: namespace ?? "",
          labels,
          ...(trigger ? { annotations: { [service.TRIGGER_TIME]: trigger } } : {}),
          ownerReferences: [controllerReference(owner)],
        },
        addressType: "IPv4",
        endpoints: wanted.endpoints,
        ports: wanted.ports,
      },
      { manager: MANAGER },
    );
    return;
  }
  const change = (draft: KubeObject) => {
    draft.metadata.labels = labels;
    const { [service.TRIGGER_TIME]: _, ...rest } = draft.metadata.annotations ?? {};
    const annotations = trigger ? { ...rest, [service.TRIGGER_TIME]: trigger } : rest;
    if (Object.keys(annotations).length > 0) draft.metadata.annotations = annotations;
    else delete draft.metadata.annotations;
    draft.endpoints = wanted.endpoints;
    draft.ports = wanted.ports;
  };
  api.modify(SLICES, namespace, slice.metadata.name, change, { manager: MANAGER });
}
