/** Puts a simulated cluster together: API, controllers, applications, traffic, telemetry, rules, on one clock. */
import type { Application } from "../apps/index.js";
import type { VirtualClock } from "../clock.js";
import { EnvironmentError } from "../errors.js";
import { nodeSpecs, startControllers } from "../kube/controllers/index.js";
import type { KubeObject } from "../kube/objects.js";
import { ApiServer } from "../kube/server.js";
import type { Random } from "../random.js";
import { createClusterExporters } from "../telemetry/exporters/index.js";
import { createLogStore } from "../telemetry/log-store.js";
import type { LogStore } from "../telemetry/logs.js";
import { createMetricStore } from "../telemetry/metric-store.js";
import type { MetricStore } from "../telemetry/metrics.js";
import {
  createRuleEngine,
  ITBENCH_FOR,
  kubernetesRules,
  loadRules,
  type RuleEngine,
} from "../telemetry/rules/index.js";
import { startScraper } from "../telemetry/scraper.js";
import { createTraceStore } from "../telemetry/trace-store.js";
import type { TraceStore } from "../telemetry/traces.js";
import { createAppRuntime, createTraffic } from "../traffic/index.js";
import type { Call } from "./topology.js";

export interface ClusterOptions {
  clock: VirtualClock;
  random: Random;
  nodes: number;
  applications: { application: Application; args?: Record<string, unknown> | undefined }[];
}

export interface Cluster {
  kube: ApiServer;
  metrics: MetricStore;
  logs: LogStore;
  traces: TraceStore;
  rules: RuleEngine;
  /** Who calls whom, over all applications. */
  calls(): Call[];
  stop(): void;
}

/**
 * Makes a cluster and installs the applications; nothing happens before its clock advances. A cluster without an
 * application looks like one of kwok's: nodes and pods without containers, no metrics server.
 */
export function createCluster({ clock, random, nodes, applications }: ClusterOptions): Cluster {
  const empty = applications.length === 0;
  const kube: ApiServer = new ApiServer({
    clock,
    random: random.fork("api"),
    ...(empty ? {} : { podLogs: (ref) => runtime.logs(ref), usage: (ref) => runtime.usage(ref) }),
  });
  const metrics = createMetricStore();
  const logs = createLogStore();
  const traces = createTraceStore();
  const runtime = createAppRuntime({
    applications: applications.map(({ application }) => application),
    kube,
    clock,
    random: random.fork("runtime"),
    logs,
  });
  const profile = empty ? "kwok" : "containerd";
  const controllers = startControllers(kube, { runtime, profile, nodes: nodeSpecs(nodes, profile) });
  runtime.connect(controllers.kubelet);
  const exporters = createClusterExporters({ kube, store: metrics, usage: (ref) => runtime.usage(ref) });
  const traffic = applications.map(({ application }) =>
    createTraffic({
      application,
      runtime,
      kubelet: controllers.kubelet,
      clock,
      random: random.fork("traffic"),
      metrics,
      logs,
      traces,
    }),
  );
  for (const { application, args } of applications) install(kube, application.manifests(args));
  const scraper = startScraper(clock, metrics, [...exporters, ...traffic.flatMap((one) => one.exporters)]);
  const groups = empty
    ? []
    : [
        ...kubernetesRules(),
        ...applications.flatMap(({ application }) =>
          loadRules(application.rules(), { source: application.id, for: ITBENCH_FOR }),
        ),
      ];
  const rules = createRuleEngine({ clock, store: metrics, groups });
  for (const one of traffic) one.start();
  return {
    kube,
    metrics,
    logs,
    traces,
    rules,
    calls: () => traffic.flatMap((one) => one.callGraph()),
    stop() {
      for (const one of traffic) one.stop();
      rules.stop();
      scraper.stop();
      runtime.close();
      controllers.stop();
    },
  };
}

/** Creates the objects in order, as `helm install` would. */
function install(kube: ApiServer, objects: readonly KubeObject[]): void {
  for (const object of objects) {
    const [group, version] = object.apiVersion.includes("/") ? object.apiVersion.split("/") : ["", object.apiVersion];
    const info = kube.registry.byKind(group!, version!, object.kind);
    if (!info) throw new EnvironmentError(`no kind ${object.kind} in ${object.apiVersion} (${object.metadata.name})`);
    kube.create(info.key, object, { manager: "helm" });
    kube.clock.settle();
  }
}
