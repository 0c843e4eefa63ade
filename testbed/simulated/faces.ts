/** The HTTP faces of a simulated cluster, each on a port of 127.0.0.1 of its own. */
import type { VirtualClock } from "../clock.js";
import { serveAlertmanager } from "../servers/alertmanager.js";
import { serveJaeger } from "../servers/jaeger.js";
import { serveKubernetes } from "../servers/kubernetes.js";
import { serveLoki } from "../servers/loki.js";
import { servePrometheus } from "../servers/prometheus.js";
import type { Cluster } from "./cluster.js";

/** In the order of their ports. */
const NAMES = ["kubernetes", "prometheus", "alertmanager", "loki", "jaeger"] as const;
type Name = (typeof NAMES)[number];

export interface FacesOptions {
  clock: VirtualClock;
  /** Bearer tokens of the Kubernetes face, by role. */
  tokens: { "read-only": string; "read-write": string; admin: string };
  /** The namespaces in which the read-write role may write. */
  namespaces: string[];
  /** First of consecutive ports; any free ones when left out or 0. */
  port?: number | undefined;
}

export interface Faces {
  /** Base URLs without a trailing slash. */
  urls: Record<Name, string>;
  /** PEM of the certificate that the Kubernetes face shows; undefined for plain HTTP. */
  ca: string | undefined;
  close(): Promise<void>;
}

/** Opens all faces, or none. @throws EnvironmentError when a port is in use */
export async function serveFaces(cluster: Cluster, options: FacesOptions): Promise<Faces> {
  const { clock, tokens, namespaces } = options;
  const { kube, metrics, logs, traces, rules } = cluster;
  kube.access.addToken(tokens["read-only"], { role: "read-only" });
  kube.access.addToken(tokens["read-write"], { role: "read-write", namespaces });
  kube.access.addToken(tokens.admin, { role: "admin" });
  const open = {
    kubernetes: (port: { port?: number }) => serveKubernetes(kube, port),
    prometheus: (port: { port?: number }) => servePrometheus({ store: metrics, clock, rules, ...port }),
    alertmanager: (port: { port?: number }) => serveAlertmanager({ rules, clock, ...port }),
    loki: (port: { port?: number }) => serveLoki({ logs, clock, ...port }),
    jaeger: (port: { port?: number }) => serveJaeger({ traces, clock, ...port }),
  };
  const faces: { url: string; ca?: string | undefined; close(): Promise<void> }[] = [];
  const close = async () => {
    await Promise.all(faces.map((face) => face.close()));
  };
  try {
    for (const [i, name] of NAMES.entries()) {
      faces.push(await open[name](options.port ? { port: options.port + i } : {}));
    }
  } catch (error) {
    await close();
    throw error;
  }
  const urls = Object.fromEntries(NAMES.map((name, i) => [name, faces[i]!.url])) as Record<Name, string>;
  return { urls, ca: faces[0]!.ca, close };
}
