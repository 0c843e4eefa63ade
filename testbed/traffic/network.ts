/**
 * The way of a connection, as in a cluster: name -> Service -> port -> ready endpoint -> a process that listens. The same
 * function serves requests, programs that connect when they start, and `nc` in an init container.
 */
import type { KubeApi } from "../kube/api.js";
import type { KubeObject } from "../kube/objects.js";
import type { Process, ProcessTable } from "./processes.js";

/** Where a connection comes from. */
export interface Origin {
  namespace: string;
  podUid: string;
  /** `ClusterFirst` unless the pod says otherwise. */
  dnsPolicy: string;
}

export type ConnectFailure = "dns" | "refused" | "timeout";

export interface Route {
  /** Address that the name resolved to; empty where it did not. */
  ip: string;
  failure?: ConnectFailure;
  /** One entry an endpoint: the process that listens there, or undefined where nothing does. */
  targets: readonly (Process | undefined)[];
  /** Port at the endpoints; of one route all endpoints have the same. */
  port: number;
  /** Whose turn it is. */
  next: number;
}

export interface Network {
  /** The route to `host:port`; kept until something on the way changes. */
  route(origin: Origin, host: string, port: number): Route;
  /** The process that a new connection reaches, or how it fails. */
  connect(
    origin: Origin,
    host: string,
    port: number,
  ): { process: Process; ip: string; port: number } | { failure: ConnectFailure; ip: string };
  /** Grows when objects change that routes depend on. */
  readonly changes: number;
  /** Cluster address of the DNS server, for messages. */
  readonly dnsServer: string;
  close(): void;
}

/** The cluster's DNS server, where no Service tells. */
const DNS_SERVER = "10.96.0.10";

/** Watches what routes depend on; `close` ends that. */
export function createNetwork(kube: KubeApi, processes: ProcessTable): Network {
  const routes = new Map<string, Route>();
  let version = processes.version;
  let podsByIp: Map<string, KubeObject> | undefined;
  let changes = 0;
  const forget = () => {
    changes++;
    routes.clear();
  };
  const unwatch = [
    kube.watch("services", forget),
    kube.watch("endpointslices.discovery.k8s.io", forget),
    kube.watch("pods", ({ type, object, previous }) => {
      if (type === "MODIFIED" && object.status?.podIP === previous?.status?.podIP) return;
      podsByIp = undefined;
      forget();
    }),
  ];

  function podByIp(ip: string): KubeObject | undefined {
    if (podsByIp === undefined) {
      podsByIp = new Map();
      for (const pod of kube.list("pods")) {
        const phase = pod.status?.phase;
        if (pod.status?.podIP && phase !== "Succeeded" && phase !== "Failed") podsByIp.set(pod.status.podIP, pod);
      }
    }
    return podsByIp.get(ip);
  }

  function listener(podUid: string | undefined, port: number): Process | undefined {
    if (podUid === undefined) return undefined;
    return processes.ofPod(podUid).find((process) => process.ports.has(port));
  }

  function toPod(ip: string, port: number): Route {
    const pod = podByIp(ip);
    if (pod === undefined) return failed(ip, "timeout");
    return reached(ip, port, [listener(pod.metadata.uid, port)]);
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
    const targets: (Process | undefined)[] = [];
    let first = "";
    let targetPort = port;
    for (const slice of kube.list("endpointslices.discovery.k8s.io", service.metadata.namespace)) {
      if (slice.metadata.labels?.["kubernetes.io/service-name"] !== service.metadata.name) continue;
      const number = headless
        ? port
        : (slice.ports ?? []).find((entry: any) => (entry.name ?? "") === (servicePort.name ?? ""))?.port;
      if (number === undefined) continue;
      for (const endpoint of slice.endpoints ?? []) {
        if (endpoint.conditions?.ready === false) continue;
        const address: string = endpoint.addresses?.[0] ?? "";
        first ||= address;
        targetPort = number;
        targets.push(listener(endpoint.targetRef?.uid ?? podByIp(address)?.metadata.uid, number));
      }
    }
    if (targets.length > 0) return reached(headless ? first : ip, targetPort, targets);
    // Without a ready endpoint kube-proxy rejects; a headless name resolves to nothing.
    return failed(ip, headless ? "dns" : "refused");
  }

  function find(origin: Origin, host: string, port: number, depth = 0): Route {
    if (host === "localhost" || host.startsWith("127.") || host === "::1") {
      return reached("127.0.0.1", port, [listener(origin.podUid, port)]);
    }
    if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) {
      const service = kube.list("services").find((candidate) => candidate.spec?.clusterIP === host);
      return service ? toService(service, port, depth, origin) : toPod(host, port);
    }
    const service = depth < 5 ? serviceByName(kube, origin, host) : undefined;
    return service ? toService(service, port, depth, origin) : failed("", "dns");
  }

  function route(origin: Origin, host: string, port: number): Route {
    if (version !== processes.version) {
      version = processes.version;
      routes.clear();
    }
    const local = host === "localhost" || host.startsWith("127.");
    const key = `${origin.namespace} ${origin.dnsPolicy} ${local ? origin.podUid : ""} ${host} ${port}`;
    let known = routes.get(key);
    if (known === undefined) {
      known = find(origin, host, port);
      routes.set(key, known);
    }
    return known;
  }

  return {
    route,
    connect(origin, host, port) {
      const to = route(origin, host, port);
      if (to.failure !== undefined) return { failure: to.failure, ip: to.ip };
      const process = to.targets[to.next++ % to.targets.length];
      return process === undefined ? { failure: "refused", ip: to.ip } : { process, ip: to.ip, port: to.port };
    },
    get changes() {
      return changes;
    },
    dnsServer: kube.get("services", "kube-system", "kube-dns")?.spec?.clusterIP ?? DNS_SERVER,
    close: () => {
      for (const stop of unwatch) stop();
    },
  };
}

function failed(ip: string, failure: ConnectFailure): Route {
  return { ip, failure, targets: [], port: 0, next: 0 };
}

function reached(ip: string, port: number, targets: (Process | undefined)[]): Route {
  return { ip, targets, port, next: 0 };
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
