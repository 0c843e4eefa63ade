/** The exporters of a cluster: what Prometheus scrapes in a kube-prometheus installation, beside the applications. */
import type { KubeApi } from "../../kube/api.js";
import type { Exporter, MetricStore } from "../metrics.js";
import { cadvisorExporter } from "./cadvisor.js";
import { createContainerTracker, type Usage } from "./containers.js";
import { apiServerExporter, controllerManagerExporter, schedulerExporter } from "./control-plane.js";
import { kubeStateExporter } from "./kube-state/index.js";
import { kubeletExporter } from "./kubelet.js";
import { nodeExporter } from "./node-exporter.js";
import { createNodeTracker } from "./nodes.js";

export interface ClusterExporterOptions {
  kube: KubeApi;
  /** Where the series live. */
  store: MetricStore;
  /** What containers use: the runtime's own answer. */
  usage: Usage;
}

/**
 * Exporters for everything that is not an application: kube-state-metrics, cAdvisor, kubelet, node-exporter, API
 * server, scheduler, controller manager. They watch the API from now on, so make them once a cluster.
 */
export function createClusterExporters({ kube, store, usage }: ClusterExporterOptions): Exporter[] {
  const tracker = createContainerTracker(kube, usage);
  const nodes = createNodeTracker(kube);
  return [
    kubeStateExporter(kube, store),
    kubeletExporter(kube, store, tracker, nodes),
    cadvisorExporter(store, tracker, nodes),
    nodeExporter(store, tracker, nodes),
    apiServerExporter(kube, store),
    schedulerExporter(kube, store),
    controllerManagerExporter(store),
  ];
}
