/** Horizontal pod autoscalers and disruption budgets. */

import type { KubeObject } from "../../../kube/objects.js";
import { quantityValue } from "../../../kube/quantity.js";
import type { Labels } from "../../metrics.js";
import type { KindMetrics, Write } from "../object-cache.js";
import { seconds, writeCondition, writeIf } from "./values.js";

export const horizontalPodAutoscalers: KindMetrics = {
  resource: "horizontalpodautoscalers.autoscaling",
  samples(object, write) {
    const { metadata, spec = {}, status = {} } = object;
    const labels = { namespace: metadata.namespace ?? "", horizontalpodautoscaler: metadata.name };
    const target = spec.scaleTargetRef ?? {};
    write(
      "kube_horizontalpodautoscaler_info",
      {
        ...labels,
        scaletargetref_api_version: target.apiVersion ?? "",
        scaletargetref_kind: target.kind ?? "",
        scaletargetref_name: target.name ?? "",
      },
      1,
    );
    writeIf(write, "kube_horizontalpodautoscaler_created", labels, seconds(metadata.creationTimestamp));
    write("kube_horizontalpodautoscaler_metadata_generation", labels, metadata.generation ?? 0);
    write("kube_horizontalpodautoscaler_spec_max_replicas", labels, spec.maxReplicas ?? 0);
    write("kube_horizontalpodautoscaler_spec_min_replicas", labels, spec.minReplicas ?? 1);
    write("kube_horizontalpodautoscaler_status_current_replicas", labels, status.currentReplicas ?? 0);
    write("kube_horizontalpodautoscaler_status_desired_replicas", labels, status.desiredReplicas ?? 0);
    for (const condition of status.conditions ?? []) {
      const conditionLabels = { ...labels, condition: condition.type };
      writeCondition(
        write,
        "kube_horizontalpodautoscaler_status_condition",
        conditionLabels,
        "status",
        condition.status,
      );
    }
    writeMetrics(object, labels, write);
  },
};

/** Targets as the spec states them, and what was measured last. */
function writeMetrics({ spec = {}, status = {} }: KubeObject, labels: Labels, write: Write): void {
  const each = (metric: string, list: any[] | undefined, field: "target" | "current") => {
    for (const entry of list ?? []) {
      const source = entry.resource ?? entry.containerResource ?? entry.pods ?? entry.object ?? entry.external;
      if (source === undefined) continue;
      const values = source[field] ?? {};
      const named = { ...labels, metric_name: source.name ?? source.metric?.name ?? "" };
      if (values.averageUtilization !== undefined) {
        write(metric, { ...named, metric_target_type: "utilization" }, values.averageUtilization);
      }
      if (values.averageValue !== undefined) {
        write(metric, { ...named, metric_target_type: "average" }, quantityValue(values.averageValue));
      }
      if (values.value !== undefined)
        write(metric, { ...named, metric_target_type: "value" }, quantityValue(values.value));
    }
  };
  each("kube_horizontalpodautoscaler_spec_target_metric", spec.metrics, "target");
  each("kube_horizontalpodautoscaler_status_target_metric", status.currentMetrics, "current");
}

export const podDisruptionBudgets: KindMetrics = {
  resource: "poddisruptionbudgets.policy",
  samples({ metadata, status = {} }, write) {
    const labels = { namespace: metadata.namespace ?? "", poddisruptionbudget: metadata.name };
    writeIf(write, "kube_poddisruptionbudget_created", labels, seconds(metadata.creationTimestamp));
    write("kube_poddisruptionbudget_status_current_healthy", labels, status.currentHealthy ?? 0);
    write("kube_poddisruptionbudget_status_desired_healthy", labels, status.desiredHealthy ?? 0);
    write("kube_poddisruptionbudget_status_pod_disruptions_allowed", labels, status.disruptionsAllowed ?? 0);
    write("kube_poddisruptionbudget_status_expected_pods", labels, status.expectedPods ?? 0);
    write("kube_poddisruptionbudget_status_observed_generation", labels, status.observedGeneration ?? 0);
  },
};
