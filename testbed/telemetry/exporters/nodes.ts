/** The cluster's nodes as scrape targets: names, addresses, whether they answer. */
import type { KubeApi } from "../../kube/api.js";
import type { KubeObject } from "../../kube/objects.js";
import { quantityValue } from "../../kube/quantity.js";

export interface NodeTarget {
  name: string;
  /** InternalIP, or the name where there is none. */
  address: string;
  /** False once the node's Ready condition is not True: then nothing of it can be scraped. */
  reachable: boolean;
  cpus: number;
  memoryBytes: number;
  object: KubeObject;
}

export interface NodeTracker {
  /** In order of name. */
  list(): readonly NodeTarget[];
  /** Grows with each change of a node that matters here. */
  readonly generation: number;
  stop(): void;
}

/** Follows the nodes. Their heartbeats change nothing here. */
export function createNodeTracker(kube: KubeApi): NodeTracker {
  let generation = 0;
  let targets: NodeTarget[] = [];
  let stale = true;
  let seen = "";
  const stop = kube.watch("nodes", () => {
    stale = true;
  });
  function refresh(): void {
    stale = false;
    targets = kube.list("nodes").map(targetOf);
    const key = targets
      .map((target) => `${target.name}|${target.address}|${target.reachable}|${target.cpus}`)
      .join(";");
    if (key !== seen) generation++;
    seen = key;
  }
  return {
    list() {
      if (stale) refresh();
      return targets;
    },
    get generation() {
      if (stale) refresh();
      return generation;
    },
    stop,
  };
}

function targetOf(object: KubeObject): NodeTarget {
  const { status = {} } = object;
  const address = status.addresses?.find((entry: any) => entry.type === "InternalIP")?.address ?? object.metadata.name;
  const ready = status.conditions?.find((condition: any) => condition.type === "Ready");
  return {
    name: object.metadata.name,
    address,
    reachable: ready?.status === "True",
    cpus: Math.max(1, Math.round(quantityValue(status.capacity?.cpu))),
    memoryBytes: quantityValue(status.capacity?.memory),
    object,
  };
}
