/** An environment made of plain data: a clock, alerts that fire while a fault holds, workloads. */
import type {
  Alert,
  Disruption,
  Endpoints,
  Environment,
  Role,
  Topology,
  WorkloadState,
} from "../../../testbed/environment.js";

export interface FakeOptions {
  /** Names of alerts that fire always. */
  baseline?: string[];
  /** Names of alerts that fire while the fault holds, and how long (seconds) they take to begin and to end. */
  alerts?: string[];
  onsetSeconds?: number;
  fadeSeconds?: number;
  workloads?: Record<string, number>;
  failStart?: () => Error | undefined;
}

export class FakeEnvironment implements Environment {
  readonly kind = "simulated" as const;
  started = 0;
  stopped = 0;
  roles: Role[] = [];
  #now = Date.UTC(2026, 0, 1);
  #faultSince: number | undefined;
  #repairedAt: number | undefined;
  #extra: { name: string; from: number; until: number }[] = [];
  readonly replicas: Record<string, number>;

  constructor(readonly options: FakeOptions = {}) {
    this.replicas = { ...(options.workloads ?? { "shop/Deployment/cart": 1, "shop/Deployment/web": 2 }) };
  }

  readonly clock = {
    now: () => this.#now,
    sleep: async (seconds: number, signal?: AbortSignal) => {
      signal?.throwIfAborted();
      this.#now += seconds * 1000;
      await new Promise(setImmediate);
      signal?.throwIfAborted();
    },
  };

  async start(): Promise<void> {
    const error = this.options.failStart?.();
    if (error) throw error;
    this.started++;
  }

  async inject(_disruptions: Disruption[]): Promise<void> {
    this.#faultSince = this.#now;
  }

  /** What a right mitigation does. */
  repair(): void {
    this.#repairedAt = this.#now;
  }

  /** An alert that fires from `after` seconds on for `seconds`. */
  raise(name: string, after = 0, seconds = Number.POSITIVE_INFINITY): void {
    const from = this.#now + after * 1000;
    this.#extra.push({ name, from, until: from + seconds * 1000 });
  }

  endpoints(role: Role): Endpoints {
    this.roles.push(role);
    const at = "http://127.0.0.1:1";
    return { kubeconfig: `/nowhere/${role}`, prometheus: at, alertmanager: at, loki: at, jaeger: at };
  }

  async alerts(): Promise<Alert[]> {
    const { onsetSeconds = 60, fadeSeconds = 30 } = this.options;
    const names = [...(this.options.baseline ?? [])];
    const since = this.#faultSince;
    const onset = since !== undefined && this.#now >= since + onsetSeconds * 1000;
    const faded = this.#repairedAt !== undefined && this.#now >= this.#repairedAt + fadeSeconds * 1000;
    if (onset && !faded) names.push(...(this.options.alerts ?? ["HighRequestErrorRate"]));
    names.push(...this.#extra.filter(({ from, until }) => this.#now >= from && this.#now < until).map((e) => e.name));
    return names.map((name) => ({
      name,
      state: "firing",
      labels: { alertname: name, namespace: "shop" },
      annotations: {},
      activeAt: this.#now,
      firedAt: (since ?? this.#now) + onsetSeconds * 1000,
    }));
  }

  async workloads(): Promise<WorkloadState[]> {
    return Object.entries(this.replicas).map(([entity, desired]) => ({ entity, desired, ready: desired }));
  }

  async topology(): Promise<Topology> {
    return { nodes: [], edges: [] };
  }

  async waitForAlerts(): Promise<Alert[] | undefined> {
    throw new Error("not used");
  }

  async stop(): Promise<void> {
    this.stopped++;
  }
}
