/** The container runtime of applications: pulls images, starts programs, and says how they fare. */
import type { Application } from "../apps/application.js";
import type { VirtualClock } from "../clock.js";
import type { KubeApi } from "../kube/api.js";
import type { KubeObject } from "../kube/objects.js";
import type { ContainerRef, ContainerRuntime, Kubelet, StartPlan } from "../kube/runtime.js";
import type { Random } from "../random.js";
import type { LogEntry, LogStore } from "../telemetry/logs.js";
import { accountProblem, readAccounts } from "./accounts.js";
import type { Dependency, Program, Protocol } from "./behaviour.js";
import { commandMeaning } from "./commands.js";
import { attemptFailure } from "./failures.js";
import { parseFlags } from "./flags.js";
import { createImages } from "./images.js";
import { listening, numberOf } from "./listening.js";
import { execError, missingVariable } from "./messages.js";
import type { Network } from "./network.js";
import { createNetwork } from "./network.js";
import type { Process, ProcessTable } from "./processes.js";
import { createProcessTable, print, processAddress, streamLabels } from "./processes.js";
import { cpuLimit, memoryLimit, memoryOf } from "./resources.js";
import { fill } from "./text.js";
import { configFiles, containerFile, containerVariables, writablePlace } from "./variables.js";

export interface AppRuntimeOptions {
  applications: readonly Application[];
  kube: KubeApi;
  clock: VirtualClock;
  random: Random;
  /** Where container logs are shipped to, beside what `kubectl logs` shows. */
  logs?: LogStore;
}

export interface AppRuntime extends ContainerRuntime {
  readonly processes: ProcessTable;
  readonly network: Network;
  /** Tells the runtime of the kubelet that runs it: init containers that wait end through it. */
  connect(kubelet: Kubelet): void;
  /** Ends its watches. */
  close(): void;
}

/** What is remembered of a container between its starts. */
interface Instance {
  lines: LogEntry[];
  previous?: LogEntry[];
}

/** Cores that a program can use where nothing else is said. */
const DEFAULT_CORES = 4;
/** Cores of a program that nobody has described, when idle. */
const IDLE_CORES = 0.001;

/** A runtime that knows the programs of `applications`; containers of other images run and do nothing. */
export function createAppRuntime(options: AppRuntimeOptions): AppRuntime {
  const { applications, kube, clock, logs } = options;
  const processes = createProcessTable();
  const network = createNetwork(kube, processes);
  const images = createImages(applications);
  const instances = new Map<string, Instance>();
  /** Files that containers wrote to emptyDir volumes, by pod. */
  const written = new Map<string, Map<string, string>>();
  let kubelet: Kubelet | undefined;
  const unwatch = kube.watch("pods", ({ type, object }) => {
    if (type !== "DELETED") return;
    const uid = object.metadata.uid!;
    written.delete(uid);
    for (const container of [...(object.spec?.initContainers ?? []), ...(object.spec?.containers ?? [])]) {
      instances.delete(`${uid}/${container.name}`);
      processes.remove(`${uid}/${container.name}`);
    }
  });

  function start(ref: ContainerRef): StartPlan {
    const { pod, container } = ref;
    const known = images.program(container.image);
    const shell = known === undefined || known.program.shell === true;
    const meaning = commandMeaning(
      container.command,
      container.args ?? [],
      known?.program,
      images.commands(container.image),
      shell,
    );
    if (meaning.kind === "missing")
      return { startError: { reason: "RunContainerError", message: execError(meaning.executable) } };
    const log = open(pod, container.name);
    const say = (text: string, severity?: LogEntry["severity"]) => print(log, logs, clock.now(), text, severity);
    const origin = originOf(pod);
    switch (meaning.kind) {
      case "wait":
        return waitFor(ref, log, meaning.host, meaning.port, meaning.waiting, meaning.everyMs);
      case "copy": {
        const text = containerFile(kube, pod, container, meaning.from, written.get(pod.metadata.uid!));
        if (text === undefined) {
          say(`cp: can't stat '${meaning.from}': No such file or directory`);
          return { exit: { afterMs: 50, code: 1, reason: "Error" } };
        }
        const place = writablePlace(pod, container, meaning.to);
        if (place !== undefined) filesOf(pod).set(place, text);
        if (meaning.print) say(text.trimEnd());
        return { exit: { afterMs: 50, code: 0, reason: "Completed" } };
      }
      case "idle":
        if (meaning.output !== undefined) say(meaning.output);
        return meaning.afterMs === undefined
          ? run(ref, log, undefined, "", [], new Set())
          : {
              exit: { afterMs: meaning.afterMs, code: meaning.code ?? 0, reason: meaning.code ? "Error" : "Completed" },
            };
      case "program": {
        if (known === undefined) {
          if (images.endsAtOnce(container.image) && !container.args?.length) {
            return { exit: { afterMs: 20, code: 0, reason: "Completed" } };
          }
          return run(ref, log, undefined, "", [], new Set());
        }
        return startProgram(ref, log, known.name, known.program, meaning.args, origin);
      }
    }
  }

  function startProgram(
    ref: ContainerRef,
    log: Log,
    name: string,
    program: Program,
    args: readonly string[],
    origin: ReturnType<typeof originOf>,
  ): StartPlan {
    const variables = containerVariables(kube, ref.pod, ref.container);
    const say = (text: string, severity?: LogEntry["severity"]) =>
      print(
        log,
        logs,
        clock.now(),
        fill(text, (key) => variables.get(key) ?? (key === "time" ? iso(clock.now()) : undefined)),
        severity,
      );
    const absent = (program.mustHave ?? []).find((variable) => !variables.get(variable));
    if (absent !== undefined) {
      say(missingVariable(program, absent), "FATAL");
      return { exit: { afterMs: 200, code: program.language === "go" ? 2 : 1, reason: "Error" } };
    }
    const limit = memoryLimit(ref.container);
    if (limit < (program.needsBytes ?? 0)) {
      return { exit: { afterMs: 2500, code: 137, reason: "OOMKilled" } };
    }
    const missing = new Set<Protocol>();
    const probe: Process = { ...makeProcess(ref, log, name, program, args, variables, missing), alive: false };
    for (const dependency of program.dependencies ?? []) {
      const problem = unreachable(probe, program, dependency, origin);
      if (problem === undefined) continue;
      for (const line of dependency.log) {
        const text = fill(line, (key) => (key === "error" ? problem : undefined));
        say(text, line.includes('"level":"INFO"') ? "INFO" : "ERROR");
      }
      if (dependency.onFailure === "exit") {
        return { exit: { afterMs: dependency.afterMs, code: dependency.code ?? 1, reason: "Error" } };
      }
      missing.add(dependency.protocol);
    }
    if (program.role === "flags") {
      try {
        parseFlags(probe.flagFile ?? "");
      } catch (error) {
        const detail = error instanceof Error ? error.message : String(error);
        say(
          `{"level":"error","ts":"${iso(clock.now())}","msg":"sync error: invalid flag configuration: ${JSON.stringify(detail).slice(1, -1)}"}`,
          "ERROR",
        );
        return { exit: { afterMs: 500, code: 1, reason: "Error" } };
      }
    }
    return run(ref, log, program, name, args, missing, variables);
  }

  function run(
    ref: ContainerRef,
    log: Log,
    program: Program | undefined,
    name: string,
    args: readonly string[],
    missing: ReadonlySet<Protocol>,
    variables: ReadonlyMap<string, string> = new Map(),
  ): StartPlan {
    const process = makeProcess(ref, log, name, program, args, variables, missing);
    processes.add(process);
    const port = String(process.ports.keys().next().value ?? "");
    for (const line of program?.banner ?? []) {
      const text = fill(line, (key) =>
        key === "port"
          ? port
          : key === "time"
            ? iso(clock.now())
            : (variables.get(key) ?? (key === "users" ? (variables.get("LOAD_GENERATOR_VUS") ?? "") : undefined)),
      );
      print(process, logs, clock.now(), text, "INFO");
    }
    return {};
  }

  function makeProcess(
    { pod, container }: ContainerRef,
    log: Log,
    name: string,
    program: Program | undefined,
    args: readonly string[],
    variables: ReadonlyMap<string, string>,
    missing: ReadonlySet<Protocol>,
  ): Process {
    const uid = pod.metadata.uid!;
    const service = variables.get("OTEL_SERVICE_NAME") || name || container.name;
    const workload = workloadOf(pod);
    const database =
      program?.role === "database"
        ? readAccounts(configFiles(kube, pod, container, ".sql"), variables.get("POSTGRES_PASSWORD") ?? "")
        : {};
    const flagFile = program?.role === "flags" ? readFlagFile(pod, container, args) : undefined;
    return {
      id: `${uid}/${container.name}`,
      ...originOf(pod),
      podName: pod.metadata.name,
      container: container.name,
      nodeName: pod.spec?.nodeName ?? "",
      program,
      programName: name,
      service,
      variables,
      ports: listening(program, variables, args),
      startedAt: clock.now(),
      memoryLimit: memoryLimit(container),
      alive: true,
      missing,
      ...database,
      ...(flagFile === undefined ? {} : { flagFile }),
      labels: log.labels,
      resource: {
        "k8s.namespace.name": pod.metadata.namespace ?? "default",
        "k8s.pod.name": pod.metadata.name,
        "k8s.pod.uid": uid,
        "k8s.node.name": pod.spec?.nodeName ?? "",
        "k8s.deployment.name": workload,
        "k8s.container.name": container.name,
        ...(pod.metadata.labels?.["app.kubernetes.io/version"]
          ? { "service.version": pod.metadata.labels["app.kubernetes.io/version"] }
          : {}),
      },
      lines: log.lines,
      busyMs: 0,
      cpuCores: 0,
      queueMs: 0,
      cores: Math.min(program?.cores ?? DEFAULT_CORES, cpuLimit(container)),
      leakedBytes: 0,
      failedPolls: 0,
      addresses: new Map(),
    };
  }

  function unreachable(
    process: Process,
    program: Program,
    dependency: Dependency,
    origin: ReturnType<typeof originOf>,
  ): string | undefined {
    const address = processAddress(process, dependency.address);
    if ("problem" in address) return address.problem;
    const result = network.connect(origin, address);
    const attempt = {
      language: program.language,
      protocol: dependency.protocol,
      host: address.host,
      port: address.port,
      ip: result.ip,
      dnsServer: network.dnsServer,
      timeoutMs: 5000,
      ...(address.user === undefined ? {} : { user: address.user }),
    };
    if (result.failure !== undefined) {
      if (dependency.nameOnly && result.failure !== "dns") return undefined;
      return attemptFailure(result.failure, attempt).text;
    }
    if (dependency.nameOnly) return undefined;
    if (result.process.ports.get(result.port) !== dependency.protocol) {
      return attemptFailure("protocol", attempt).text;
    }
    const refusal = dependency.protocol === "postgres" ? accountProblem(result.process, address) : undefined;
    if (refusal === undefined) return undefined;
    const line = result.process.program?.refusalLog;
    if (line !== undefined) {
      const text = fill(line, (key) => (key === "error" ? refusal : key === "time" ? iso(clock.now()) : undefined));
      print(result.process, logs, clock.now(), text, "FATAL");
    }
    return attemptFailure("credentials", attempt, refusal).text;
  }

  function waitFor(
    ref: ContainerRef,
    log: Log,
    host: string,
    port: number,
    waiting: string,
    everyMs: number,
  ): StartPlan {
    const origin = originOf(ref.pod);
    const destination = { host, port };
    const reachable = (): boolean => {
      const result = network.connect(origin, destination);
      const at = `${host} (${result.ip || "?"}:${port})`;
      if (result.failure === undefined) print(log, logs, clock.now(), `${at} open`, undefined);
      else if (result.failure === "dns") print(log, logs, clock.now(), `nc: bad address '${host}'`, undefined);
      else
        print(
          log,
          logs,
          clock.now(),
          `nc: ${at}: Connection ${result.failure === "refused" ? "refused" : "timed out"}`,
          undefined,
        );
      if (result.failure !== undefined && waiting !== "") print(log, logs, clock.now(), waiting, undefined);
      return result.failure === undefined;
    };
    if (reachable()) return { exit: { afterMs: 50, code: 0, reason: "Completed" } };
    const id = `${ref.pod.metadata.uid}/${ref.container.name}`;
    const instance = instances.get(id);
    const timer = clock.every(everyMs, () => {
      const current = kube.get("pods", ref.pod.metadata.namespace, ref.pod.metadata.name);
      if (
        current?.metadata.uid !== ref.pod.metadata.uid ||
        instances.get(id) !== instance ||
        instance?.lines !== log.lines
      ) {
        timer.cancel();
        return;
      }
      if (!reachable()) return;
      timer.cancel();
      kubelet?.crash(ref.pod.metadata.namespace ?? "default", ref.pod.metadata.name, ref.container.name, {
        code: 0,
        reason: "Completed",
      });
    });
    return {};
  }

  interface Log {
    labels: ReturnType<typeof streamLabels>;
    lines: LogEntry[];
  }

  /** The log of a container that starts; what it printed before becomes the previous one. */
  function open(pod: KubeObject, container: string): Log {
    const id = `${pod.metadata.uid}/${container}`;
    const before = instances.get(id);
    const lines: LogEntry[] = [];
    if (before === undefined) instances.set(id, { lines });
    else {
      before.previous = before.lines;
      before.lines = lines;
    }
    return { labels: streamLabels(pod, container), lines };
  }

  function filesOf(pod: KubeObject): Map<string, string> {
    const uid = pod.metadata.uid!;
    let files = written.get(uid);
    if (files === undefined) {
      files = new Map();
      written.set(uid, files);
    }
    return files;
  }

  function readFlagFile(pod: KubeObject, container: any, args: readonly string[]): string | undefined {
    const uri = args[args.indexOf("--uri") + 1] ?? "";
    const path = uri.replace(/^file:\.?/, "");
    return containerFile(kube, pod, container, path, written.get(pod.metadata.uid!));
  }

  return {
    processes,
    network,
    connect: (connected) => {
      kubelet = connected;
    },
    close: () => {
      unwatch();
      network.close();
    },
    pull: (image) => images.pull(image),
    start,
    probe: ({ pod, container }, kind, probe) => {
      const process = processes.get(`${pod.metadata.uid}/${container.name}`);
      const target = probe.httpGet ?? probe.tcpSocket ?? probe.grpc;
      if (target === undefined) return { ok: true };
      const port = numberOf(target.port, container);
      if (process?.program === undefined || process.ports.has(port)) return { ok: true };
      const ip = pod.status?.podIP ?? "";
      const cause = `dial tcp ${ip}:${port}: connect: connection refused`;
      if (!probe.httpGet) return { ok: false, message: cause };
      const scheme = String(probe.httpGet.scheme ?? "HTTP").toLowerCase();
      const name = kind.slice(0, 1).toUpperCase() + kind.slice(1);
      return {
        ok: false,
        message: `${name} probe failed: Get "${scheme}://${ip}:${port}${probe.httpGet.path ?? "/"}": ${cause}`,
      };
    },
    stopped: ({ pod, container }) => {
      processes.remove(`${pod.metadata.uid}/${container.name}`);
    },
    usage: ({ pod, container }) => {
      const process = processes.get(`${pod.metadata.uid}/${container}`);
      if (process === undefined) return undefined;
      const idle = process.program?.idle.cpuCores ?? IDLE_CORES;
      return { cpuCores: idle + process.cpuCores, memoryBytes: memoryOf(process, clock.now()) };
    },
    logs: ({ pod, container, previous }) => {
      const instance = instances.get(`${pod.metadata.uid}/${container}`);
      return previous ? instance?.previous : instance?.lines;
    },
  };
}

function originOf(pod: KubeObject): { namespace: string; podUid: string; dnsPolicy: string } {
  return {
    namespace: pod.metadata.namespace ?? "default",
    podUid: pod.metadata.uid!,
    dnsPolicy: pod.spec?.dnsPolicy ?? "ClusterFirst",
  };
}

/** The workload's name, from the owner and the pod's hash. */
function workloadOf(pod: KubeObject): string {
  const owner = pod.metadata.ownerReferences?.find((reference) => reference.controller);
  const hash = pod.metadata.labels?.["pod-template-hash"];
  const name = owner?.name ?? pod.metadata.name;
  return hash !== undefined && name.endsWith(`-${hash}`) ? name.slice(0, -hash.length - 1) : name;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
