/**
 * The environment that a scenario runs in. Three kinds, one interface: `simulated` (in process), `snapshot` (a recorded
 * incident), `live` (a cluster). Agents see nothing of it but `Endpoints`.
 */

export interface Endpoints {
  /** Path of a kubeconfig for the role that the task allows. */
  kubeconfig: string;
  prometheus: string;
  alertmanager: string;
  loki: string;
  jaeger: string;
  opencost?: string;
  /** Bearer token for the HTTP faces, where they ask for one. */
  token?: string;
}

export type Role = "read-only" | "read-write";

export interface Alert {
  name: string;
  state: "pending" | "firing";
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** Milliseconds since the epoch (environment's clock). */
  activeAt: number;
  firedAt?: number;
}

/** A fault to inject: ITBench's `injections[]` entry. */
export interface Injection {
  id: string;
  args: Record<string, unknown>;
}

/** One disruption: faults injected together, and what must happen after (workloads to restart ...). */
export interface Disruption {
  /** Done before the injections (workloads to restart ...). */
  preInjection?: Injection[];
  injections: Injection[];
  postInjection?: Injection[];
}

export interface TopologyNode {
  /** `namespace/Kind/name`; cluster-scoped objects have an empty namespace: `/Node/node-1`. */
  id: string;
  kind: string;
  namespace: string;
  name: string;
}
export interface TopologyEdge {
  source: string;
  target: string;
  type: "OWNS" | "RUNS" | "SELECTS" | "MOUNTS" | "CALLS" | "SCHEDULES" | "CONTAINS";
}
export interface Topology {
  nodes: TopologyNode[];
  edges: TopologyEdge[];
}

export interface EnvironmentClock {
  /** Milliseconds since the epoch, environment time. */
  now(): number;
  /** Lets environment time pass: advances the virtual clock, or waits in a live environment. */
  sleep(seconds: number, signal?: AbortSignal): Promise<void>;
}

/** State of the workloads, for "nothing broken that was healthy". */
export interface WorkloadState {
  /** `namespace/Kind/name` */
  entity: string;
  /** Replicas asked for and ready. */
  desired: number;
  ready: number;
}

export interface Environment {
  readonly kind: "simulated" | "snapshot" | "live";
  readonly clock: EnvironmentClock;
  /** Brings everything up and lets it run until it is steady. Calling it again does nothing. */
  start(): Promise<void>;
  /** @throws InjectionError when a fault is unknown, its arguments name nothing, or it did not take hold. */
  inject(disruptions: Disruption[]): Promise<void>;
  /** Endpoints for a role; only after start(). */
  endpoints(role: Role): Endpoints;
  alerts(): Promise<Alert[]>;
  workloads(): Promise<WorkloadState[]>;
  topology(): Promise<Topology>;
  /** Lets time pass until an alert of each of `names` fires (any alert when empty). Returns the firing ones, or undefined after `timeoutSeconds`. */
  waitForAlerts(names: string[], timeoutSeconds: number, signal?: AbortSignal): Promise<Alert[] | undefined>;
  /** Takes it down: servers closed, files removed. Safe to call twice, and before start(). */
  stop(): Promise<void>;
}
