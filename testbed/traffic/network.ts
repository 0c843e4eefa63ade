/**
 * The way of a connection, as in a cluster: name -> Service -> port -> ready endpoint -> policies -> a process that listens. The same
 * function serves requests, programs that connect when they start, and `nc` in an init container.
 */
import type { KubeApi } from "../kube/api.js";
import type { KubeObject } from "../kube/objects.js";
import { allows } from "./policies.js";
import type { Process, ProcessTable } from "./processes.js";

/** Where a connection comes from. */
export interface Origin {
  namespace: string;
  podUid: string;
  /** `ClusterFirst` unless the pod says otherwise. */
  dnsPolicy: string;
}

export type ConnectFailure = "dns" | "refused" | "timeout";

/** What a connection comes to: a process that listens, at that port of its pod, or the way in which it fails. */
export type Outcome =
  | { process: Process; ip: string; port: number; failure?: undefined }
  | { failure: ConnectFailure; ip: string; process?: undefined };

export interface Route {
  /** One an endpoint, in turn; one alone where there is no endpoint. */
  outcomes: readonly Outcome[];
  /** Whose turn it is. */
  next: number;
}

/** Where a connection goes to. `memo` is the network's: keep a destination to one origin. */
export interface Destination {
  host: string;
  port: number;
  memo?: { stamp: number; route: Route };
}

export interface Network {
  /** The route to a destination; kept until something on the way changes. */
  route(origin: Origin, to: Destination): Route;
  /** What a new connection comes to. */
  connect(origin: Origin, to: Destination): Outcome;
  /** Grows with every change that routes depend on. */
  readonly stamp: number;
  /** Cluster address of the DNS server, for messages. */
  readonly dnsServer: string;
  close(): void;
}

/** The cluster's DNS server, where no Service tells. */
const DNS_SERVER = "10.96.0.10";

/** Watches what routes depend on; `close` ends that. */
export function createNetwork(kube: KubeApi, processes: ProcessTable): Network {
  let version = processes.version;
  let stamp = 0;
  /** Pods that have not ended, by address and by uid. */
  let pods: Map<string, KubeObject> | undefined;
  const forget = () => {
    stamp++;
  };
  const unwatch = [
    kube.watch("services", forget),
    kube.watch("endpointslices.discovery.k8s.io", forget),
    kube.watch("networkpolicies.networking.k8s.io", forget),
    kube.watch("namespaces", forget),
    kube.watch("pods", ({ type, object, previous }) => {
      // Conditions come and go; only address, labels and the end of a pod bear on routes.
      const same =
        object.status?.podIP === previous?.status?.podIP &&
        object.status?.phase === previous?.status?.phase &&
        object.metadata.labels === previous?.metadata.labels;
      if (type === "MODIFIED" && same) return;
      pods = undefined;
      forget();
    }),
  ];

  function findPod(key: string | undefined): KubeObject | undefined {
    if (pods === undefined) {
      pods = new Map();
      for (const pod of kube.list("pods")) {
        const phase = pod.status?.phase;
        if (phase === "Succeeded" || phase === "Failed") continue;
        pods.set(pod.metadata.uid!, pod);
        if (pod.status?.podIP) pods.set(pod.status.podIP, pod);
      }
    }
    return key === undefined ? undefined : pods.get(key);
  }

  /** What comes of a connection to a pod: dropped by a policy, refused, or taken by the process that listens. */
  function arrive(origin: Origin, pod: KubeObject | undefined, ip: string, port: number): Outcome {
    if (pod === undefined) return { failure: "refused", ip };
    if (!allows(kube, findPod(origin.podUid), pod, port)) return { failure: "timeout", ip };
    const process = processes.ofPod(pod.metadata.uid!).find(({ ports }) => ports.has(port));
    return process === undefined ? { failure: "refused", ip } : { process, ip, port };
  }

  function toPod(origin: Origin, ip: string, port: number): Route {
    const pod = findPod(ip);
    if (pod === undefined) return failed(ip, "timeout");
    return { outcomes: [arrive(origin, pod, ip, port)], next: 0 };
  }

  /** Endpoints of a Service's port; a headless Service is dialled at the port itself. */
  function toService(service: KubeObject, port: number, depth: number, origin: Origin): Route {
    const spec = service.spec ?? {};
    if (spec.type === "ExternalName") return find(origin, spec.externalName, port, depth + 1);
    const headless = spec.clusterIP === "None";
    const servicePort = (spec.ports ?? []).find(
      (entry: any) => entry.port === port && (entry.protocol ?? "TCP") === "TCP",
    );
    const ip: string = headless ? "" : (spec.clusterIP ?? "");
    // kube-proxy has no rule for a port that the Service does not have: the packets go nowhere.
    if (servicePort === undefined && !headless) return failed(ip, "timeout");
    const outcomes: Outcome[] = [];
    for (const slice of kube.list("endpointslices.discovery.k8s.io", service.metadata.namespace)) {
      if (slice.metadata.labels?.["kubernetes.io/service-name"] !== service.metadata.name) continue;
      const number = headless
        ? port
        : (slice.ports ?? []).find((entry: any) => (entry.name ?? "") === (servicePort.name ?? ""))?.port;
      if (number === undefined) continue;
      for (const endpoint of slice.endpoints ?? []) {
        if (endpoint.conditions?.ready === false) continue;
        const address: string = endpoint.addresses?.[0] ?? "";
        const pod = findPod(endpoint.targetRef?.uid) ?? findPod(address);
        outcomes.push(arrive(origin, pod, headless ? address : ip, number));
      }
    }
    if (outcomes.length > 0) return { outcomes, next: 0 };
    // Without a ready endpoint kube-proxy rejects; a headless name resolves to nothing.
    return failed(ip, headless ? "dns" : "refused");
  }

  function find(origin: Origin, host: string, port: number, depth = 0): Route {
    if (host === "localhost" || host.startsWith("127.") || host === "::1") {
      const process = processes.ofPod(origin.podUid).find(({ ports }) => ports.has(port));
      const ip = "127.0.0.1";
      return { outcomes: [process === undefined ? { failure: "refused", ip } : { process, ip, port }], next: 0 };
    }
    if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) {
      const service = kube.list("services").find((candidate) => candidate.spec?.clusterIP === host);
      return service ? toService(service, port, depth, origin) : toPod(origin, host, port);
    }
    const service = depth < 5 ? serviceByName(kube, origin, host) : undefined;
    return service ? toService(service, port, depth, origin) : failed("", "dns");
  }

  function current(): number {
    if (version !== processes.version) {
      version = processes.version;
      stamp++;
    }
    return stamp;
  }

  function route(origin: Origin, to: Destination): Route {
    const now = current();
    if (to.memo === undefined || to.memo.stamp !== now) {
      to.memo = { stamp: now, route: find(origin, to.host, to.port) };
    }
    return to.memo.route;
  }

  return {
    route,
    connect(origin, to) {
      const way = route(origin, to);
      return way.outcomes[way.next++ % way.outcomes.length]!;
    },
    get stamp() {
      return current();
    },
    dnsServer: kube.get("services", "kube-system", "kube-dns")?.spec?.clusterIP ?? DNS_SERVER,
    close: () => {
      for (const stop of unwatch) stop();
    },
  };
}

function failed(ip: string, failure: ConnectFailure): Route {
  return { outcomes: [{ failure, ip }], next: 0 };
}

/**
 * The Service that a name means to a pod: `name`, `name.namespace`, `name.namespace.svc[.cluster.local]`. A pod whose DNS
 * policy is not the cluster's (`Default`, `None`) asks another server, which knows none of them.
 */
function serviceByName(kube: KubeApi, origin: Origin, host: string): KubeObject | undefined {
  if (origin.dnsPolicy === "Default" || origin.dnsPolicy === "None") return undefined;
  const labels = host.toLowerCase().replace(/\.$/, "").split(".");
  const [name, namespace, ...rest] = labels as [string, string?, ...string[]];
  const suffix = rest.join(".");
  if (suffix !== "" && suffix !== "svc" && suffix !== "svc.cluster" && suffix !== "svc.cluster.local") return undefined;
  return kube.get("services", namespace ?? origin.namespace, name);
}
