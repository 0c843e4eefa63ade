/**
 * The simulated environment: cluster, application, traffic and telemetry on one virtual clock, behind the same wire
 * protocols that a live one speaks. Everything in it is simulated, and nothing outside this process is touched.
 */
import { randomBytes } from "node:crypto";
import { type Application, applications, findApplication } from "../apps/index.js";
import { driveRealTime, VirtualClock } from "../clock.js";
import type {
  Alert,
  Disruption,
  Endpoints,
  Environment,
  EnvironmentClock,
  Injection,
  Role,
  Topology,
  WorkloadState,
} from "../environment.js";
import { EnvironmentError, InjectionError } from "../errors.js";
import { findMechanism, mechanisms } from "../faults/index.js";
import { Random } from "../random.js";
import { type Cluster, createCluster } from "./cluster.js";
import { type Faces, serveFaces } from "./faces.js";
import { type PrivateFolder, privateFolder, writeKubeconfig } from "./kubeconfig.js";
import { type CheckedRule, checkRules, type RuleFile } from "./rule-check.js";
import { buildTopology, workloadStates } from "./topology.js";

export interface SimulatedOptions {
  /** Applications to run; none makes an empty cluster. */
  applications: { id: string; args?: Record<string, unknown> }[];
  /** Worker nodes; default 3. */
  nodes?: number;
  /** Same seed, same bytes. */
  seed: string | number;
  /** First instant of virtual time, milliseconds since the epoch; the default is a fixed day. */
  startTime?: number;
  /** Virtual seconds that pass before the environment counts as started; default 600, 0 for an empty cluster. */
  warmupSeconds?: number;
  /** Virtual seconds a wall second once started; 0 (default) lets time stand still except for `clock.sleep`. */
  speed?: number;
  /** First of the consecutive TCP ports of the faces on 127.0.0.1; default: any free ones. */
  port?: number;
}

/** A Thursday morning; nothing depends on the day. */
const DEFAULT_START = Date.UTC(2026, 0, 15, 9, 0, 0);
const WARMUP_SECONDS = 600;
/** Longest stretch of virtual time in one go: between two, the event loop gets a turn. */
const SLICE_MS = 30_000;
/** How long a restarted workload may take to be ready before the injection goes on, virtual milliseconds. */
const RESTART_LIMIT_MS = 120_000;

/** Makes a simulated environment; nothing runs before `start()`. */
export function createSimulatedEnvironment(options: SimulatedOptions): SimulatedEnvironment {
  return new SimulatedEnvironment(options);
}

export class SimulatedEnvironment implements Environment {
  readonly kind = "simulated" as const;
  readonly #options: SimulatedOptions;
  readonly #clock: VirtualClock;
  #cluster: Cluster | undefined;
  #faces: Faces | undefined;
  #folders: PrivateFolder[] = [];
  #kubeconfigs: Record<string, string> = {};
  #stopDriving: (() => void) | undefined;
  #starting: Promise<void> | undefined;

  constructor(options: SimulatedOptions) {
    this.#options = options;
    // People who look at a running environment expect today's date on it.
    const start = options.speed ? Date.now() - warmupMs(options) : DEFAULT_START;
    this.#clock = new VirtualClock(options.startTime ?? start);
  }

  readonly clock: EnvironmentClock = {
    now: () => this.#clock.now(),
    sleep: (seconds, signal) => this.#sleep(seconds, signal),
  };

  start(): Promise<void> {
    this.#starting ??= this.#start().catch(async (error) => {
      await this.stop();
      throw error;
    });
    return this.#starting;
  }

  async #start(): Promise<void> {
    const { seed, nodes = 3, speed = 0 } = this.#options;
    const found = this.#options.applications.map(({ id, args }) => ({ application: applicationOf(id), args }));
    this.#cluster = createCluster({ clock: this.#clock, random: new Random(seed), nodes, applications: found });
    await this.#pass(warmupMs(this.#options));
    this.#clock.settle();
    const namespaces = found.map(({ application }) => application.namespace);
    const tokens = { "read-only": token(), "read-write": token(), admin: token() };
    this.#faces = await serveFaces(this.#cluster, { clock: this.#clock, tokens, namespaces, port: this.#options.port });
    for (const [role, value] of Object.entries(tokens)) {
      // A folder each: whoever is handed the path of one role must not find the others beside it.
      const folder = privateFolder();
      this.#folders.push(folder);
      this.#kubeconfigs[role] = writeKubeconfig(folder.path, {
        server: this.#faces.urls.kubernetes,
        namespace: namespaces[0] ?? "default",
        token: value,
        ca: this.#faces.ca,
      });
    }
    if (speed > 0) this.#stopDriving = driveRealTime(this.#clock, speed);
  }

  async inject(disruptions: Disruption[]): Promise<void> {
    for (const { preInjection = [], injections, postInjection = [] } of disruptions) {
      for (const action of preInjection) await this.#act(action);
      for (const injection of injections) this.#injectOne(injection);
      for (const action of postInjection) await this.#act(action);
    }
    this.#clock.settle();
  }

  /** A step of the injection that takes time, such as a restart: the next one waits for it, as an operator would. */
  async #act(action: Injection): Promise<void> {
    const { kube } = this.#running();
    await this.#pass(1_000);
    this.#injectOne(action);
    const deadline = this.#clock.now() + RESTART_LIMIT_MS;
    while (this.#clock.now() < deadline && workloadStates(kube).some((one) => one.ready < one.desired)) {
      await this.#pass(1_000);
    }
  }

  #injectOne({ id, args }: Injection): void {
    const { kube } = this.#running();
    const mechanism = findMechanism(id);
    if (!mechanism) {
      throw new InjectionError(
        `unknown fault mechanism "${id}"; known: ${mechanisms.map((known) => known.id).join(", ")}`,
      );
    }
    const parsed = mechanism.args.safeParse(args);
    if (!parsed.success) {
      const issues = parsed.error.issues.map((issue) => `args.${issue.path.join(".")}: ${issue.message}`);
      throw new InjectionError(`fault ${id}: ${issues.join("; ")}`);
    }
    const refusal = mechanism.refuse({ kube }, parsed.data);
    if (refusal !== undefined) throw new InjectionError(`fault ${id}: ${refusal}`);
    mechanism.inject({ kube }, parsed.data);
    this.#clock.settle();
    if (!mechanism.holds({ kube }, parsed.data)) {
      throw new InjectionError(`fault ${id} did not take hold: the cluster's state does not show it`);
    }
  }

  endpoints(role: Role): Endpoints {
    const { urls } = this.#faces ?? fail("the environment is not started");
    return {
      kubeconfig: this.#kubeconfigs[role]!,
      prometheus: urls.prometheus,
      alertmanager: urls.alertmanager,
      loki: urls.loki,
      jaeger: urls.jaeger,
    };
  }

  /** Path of a kubeconfig that may do everything; for people at the command line, not for agents. */
  adminKubeconfig(): string {
    return this.#kubeconfigs.admin ?? fail("the environment is not started");
  }

  async alerts(): Promise<Alert[]> {
    return this.#running().rules.alerts();
  }

  /** What rule files find and lack here. @throws RuleError for a file that cannot be read as rules */
  checkRules(files: readonly RuleFile[]): CheckedRule[] {
    return checkRules(this.#running(), this.#clock, files);
  }

  async workloads(): Promise<WorkloadState[]> {
    return workloadStates(this.#running().kube);
  }

  async topology(): Promise<Topology> {
    const { kube, calls } = this.#running();
    return buildTopology(kube, calls());
  }

  async waitForAlerts(names: string[], timeoutSeconds: number, signal?: AbortSignal): Promise<Alert[] | undefined> {
    const deadline = this.#clock.now() + timeoutSeconds * 1000;
    for (;;) {
      const firing = (await this.alerts()).filter((alert) => alert.state === "firing");
      const fired = new Set(firing.map((alert) => alert.name));
      if (names.length > 0 ? names.every((name) => fired.has(name)) : firing.length > 0) return firing;
      if (this.#clock.now() >= deadline) return undefined;
      await this.#sleep(Math.min(30, (deadline - this.#clock.now()) / 1000), signal);
    }
  }

  async stop(): Promise<void> {
    this.#stopDriving?.();
    this.#stopDriving = undefined;
    const faces = this.#faces;
    this.#faces = undefined;
    await faces?.close();
    this.#cluster?.stop();
    this.#cluster = undefined;
    for (const folder of this.#folders.splice(0)) folder.remove();
    this.#kubeconfigs = {};
  }

  #running(): Cluster {
    return this.#cluster ?? fail("the environment is not started");
  }

  /** In real time it waits; otherwise it makes the time pass. */
  async #sleep(seconds: number, signal?: AbortSignal): Promise<void> {
    if (!this.#stopDriving) return this.#pass(seconds * 1000, signal);
    await wait((seconds * 1000) / (this.#options.speed ?? 1), signal);
  }

  async #pass(ms: number, signal?: AbortSignal): Promise<void> {
    const target = this.#clock.now() + ms;
    while (this.#clock.now() < target) {
      signal?.throwIfAborted();
      this.#clock.advanceTo(Math.min(target, this.#clock.now() + SLICE_MS));
      await new Promise(setImmediate);
    }
  }
}

function warmupMs(options: SimulatedOptions): number {
  return (options.warmupSeconds ?? (options.applications.length > 0 ? WARMUP_SECONDS : 0)) * 1000;
}

function applicationOf(id: string): Application {
  const names = applications.map((application) => application.id).join(", ");
  return findApplication(id) ?? fail(`the simulated testbed has no application "${id}"; it has: ${names}`);
}

function fail(message: string): never {
  throw new EnvironmentError(message);
}

function token(): string {
  return randomBytes(24).toString("base64url");
}

function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
