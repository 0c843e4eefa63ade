/** Endpoints (the deprecated v1 kind, which kubectl and many exporters still read). */
import { createHash } from "node:crypto";
import type { KubeObject } from "../objects.js";
import { same } from "./fields.js";
import { splitKey } from "./keys.js";
import { MANAGER } from "./owners.js";
import { apiError, type Plane } from "./plane.js";
import { isReady } from "./pods.js";
import * as service from "./service-ports.js";

const MANAGED_BY = "endpoints.kubernetes.io/managed-by";
const HEADLESS = "service.kubernetes.io/headless";

export function startEndpoints(plane: Plane): void {
  const triggers = new service.TriggerTimes();
  const queue = plane.queue((key) => sync(plane, triggers, key));
  service.followServices(plane, queue);
  plane.watch("endpoints", (event) => {
    const { namespace, name } = event.object.metadata;
    if (event.type === "DELETED") queue.add(`${namespace}/${name}`);
  });
}

function sync(plane: Plane, triggers: service.TriggerTimes, key: string): void {
  const { api } = plane;
  const { namespace, name } = splitKey(key);
  const owner = api.get("services", namespace, name);
  const current = api.get("endpoints", namespace, name);
  if (owner === undefined || owner.metadata.deletionTimestamp !== undefined) {
    triggers.forget(key);
    if (current) api.delete("endpoints", namespace, name);
    return;
  }
  if (!service.hasSelector(owner)) return;
  const pods = service.servingPods(api, owner, owner.spec.publishNotReadyAddresses === true);
  const subsets = repack(owner, pods);
  const labels: Record<string, string> = { ...owner.metadata.labels, [MANAGED_BY]: "endpoint-controller" };
  if (owner.spec.clusterIP === "None") labels[HEADLESS] = "";
  const trigger = triggers.next(owner, pods);
  if (current && same(current.subsets ?? [], subsets) && same(current.metadata.labels, labels)) return;
  const annotate = (annotations: Record<string, string> | undefined) => {
    const { [service.TRIGGER_TIME]: _, ...rest } = annotations ?? {};
    return trigger ? { ...rest, [service.TRIGGER_TIME]: trigger } : rest;
  };
  try {
    if (current === undefined) {
      const annotations = annotate(undefined);
      api.create(
        "endpoints",
        {
          apiVersion: "v1",
          kind: "Endpoints",
          metadata: { name, namespace: namespace ?? "", labels, annotations },
          ...(subsets.length > 0 ? { subsets } : {}),
        },
        { manager: MANAGER },
      );
      return;
    }
    const change = (draft: KubeObject) => {
      draft.metadata.labels = labels;
      const annotations = annotate(draft.metadata.annotations);
      if (Object.keys(annotations).length > 0) draft.metadata.annotations = annotations;
      else delete draft.metadata.annotations;
      if (subsets.length > 0) draft.subsets = subsets;
      else delete draft.subsets;
    };
    api.modify("endpoints", namespace, name, change, { manager: MANAGER });
  } catch (error) {
    apiError(error);
  }
}

/** Groups ports that the same pods serve, as the real controller packs them. */
function repack(owner: KubeObject, pods: KubeObject[]): any[] {
  const byPort = new Map<string, { port: any; addresses: Map<KubeObject, boolean> }>();
  for (const pod of pods) {
    const ready = owner.spec.publishNotReadyAddresses === true || isReady(pod);
    const ports: (service.ServicePort | undefined)[] = service.portsOf(owner, pod);
    // A headless service may have no ports at all, and still names its pods.
    if (ports.length === 0 && (owner.spec.ports ?? []).length === 0) ports.push(undefined);
    for (const port of ports) {
      const entry = port && {
        ...(port.appProtocol ? { appProtocol: port.appProtocol } : {}),
        ...(port.name ? { name: port.name } : {}),
        port: port.port,
        protocol: port.protocol,
      };
      const id = JSON.stringify(entry ?? null);
      const group = byPort.get(id) ?? { port: entry, addresses: new Map() };
      group.addresses.set(pod, ready);
      byPort.set(id, group);
    }
  }
  const bySet = new Map<string, { ports: any[]; addresses: Map<KubeObject, boolean> }>();
  for (const { port, addresses } of byPort.values()) {
    const id = [...addresses].map(([pod, ready]) => `${pod.metadata.uid}${ready ? "+" : "-"}`).join();
    const group = bySet.get(id) ?? { ports: [], addresses };
    if (port) group.ports.push(port);
    bySet.set(id, group);
  }
  return [...bySet.values()].map(({ ports, addresses }) => {
    const pick = (wanted: boolean) =>
      [...addresses]
        .filter(([, ready]) => ready === wanted)
        .map(([pod]) => address(owner, pod))
        .sort((a, b) => (a.ip < b.ip ? -1 : a.ip > b.ip ? 1 : 0));
    const ready = pick(true);
    const notReady = pick(false);
    return {
      ...(ready.length > 0 ? { addresses: ready } : {}),
      ...(notReady.length > 0 ? { notReadyAddresses: notReady } : {}),
      ...(ports.length > 0 ? { ports: ports.sort((a, b) => (portHash(a) < portHash(b) ? -1 : 1)) } : {}),
    };
  });
}

function address(owner: KubeObject, pod: KubeObject): any {
  const hostname = service.hostnameOf(owner, pod);
  return {
    ...(hostname ? { hostname } : {}),
    ip: pod.status.podIP,
    nodeName: pod.spec.nodeName,
    targetRef: { kind: "Pod", name: pod.metadata.name, namespace: pod.metadata.namespace, uid: pod.metadata.uid },
  };
}

/** Ports are listed in the order of the MD5 of Go's dump of them; readers see that order. */
function portHash(port: any): string {
  const appProtocol = port.appProtocol ?? "<nil>";
  const dump = `(v1.EndpointPort){Name:(string)${port.name ?? ""} Port:(int32)${port.port} Protocol:(v1.Protocol)${port.protocol} AppProtocol:(*string)${appProtocol}}`;
  return createHash("md5").update(dump).digest("hex");
}
