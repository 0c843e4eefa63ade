/** What kube-state-metrics shows: the state of objects as series. One file a group of kinds. */
import type { KubeApi } from "../../../kube/api.js";
import type { Exporter, MetricStore } from "../../metrics.js";
import { createObjectCache, type KindMetrics } from "../object-cache.js";
import { horizontalPodAutoscalers, podDisruptionBudgets } from "./autoscaling.js";
import { configMaps, limitRanges, resourceQuotas, secrets } from "./config.js";
import { cronJobs, jobs } from "./jobs.js";
import { endpoints, ingresses, networkPolicies, services } from "./network.js";
import { namespaces, nodes } from "./nodes.js";
import { pods } from "./pods.js";
import { persistentVolumeClaims, persistentVolumes, storageClasses } from "./storage.js";
import { daemonSets, deployments, replicaSets, statefulSets } from "./workloads.js";

export const KUBE_STATE_KINDS: readonly KindMetrics[] = [
  pods,
  deployments,
  replicaSets,
  statefulSets,
  daemonSets,
  jobs,
  cronJobs,
  horizontalPodAutoscalers,
  podDisruptionBudgets,
  services,
  endpoints,
  ingresses,
  networkPolicies,
  namespaces,
  nodes,
  resourceQuotas,
  limitRanges,
  persistentVolumes,
  persistentVolumeClaims,
  storageClasses,
  configMaps,
  secrets,
];

const JOB = "kube-state-metrics";
const INSTANCE = "kube-state-metrics:8443";

/** Objects as series, and the exporter's series about itself. */
export function kubeStateExporter(kube: KubeApi, store: MetricStore): Exporter {
  const target = { job: JOB, instance: INSTANCE };
  const cache = createObjectCache(kube, store, KUBE_STATE_KINDS, target);
  const own = (name: string, labels: Record<string, string> = {}) =>
    store.series({ __name__: name, ...target, ...labels });
  const up = own("up");
  const shards = own("kube_state_metrics_total_shards");
  const ordinal = own("kube_state_metrics_shard_ordinal", { shard_ordinal: "0" });
  const list = own("kube_state_metrics_list_total", { result: "success", resource: "*v1.Pod" });
  const watch = own("kube_state_metrics_watch_total", { result: "success", resource: "*v1.Pod" });
  let scrapes = 0;
  return {
    name: JOB,
    collect(emit) {
      emit(up, 1);
      emit(shards, 1);
      emit(ordinal, 0);
      emit(list, 1);
      // A watch ends and begins anew every five to ten minutes, as the API server has it.
      emit(watch, 1 + Math.floor(scrapes++ / 15));
      cache.emitAll(emit);
    },
  };
}
