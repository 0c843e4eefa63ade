/** Deployments, replica sets, stateful sets, daemon sets. */
import type { KubeObject } from "../../../kube/objects.js";
import type { KindMetrics } from "../object-cache.js";
import { flag, owners, seconds, writeCondition, writeIf } from "./values.js";

function named(object: KubeObject, label: string) {
  return { namespace: object.metadata.namespace ?? "", [label]: object.metadata.name };
}

/** `25%` of the replicas (surge rounds up, unavailable down), or the number itself. */
function share(value: number | string | undefined, replicas: number, round: (value: number) => number): number {
  if (typeof value === "string" && value.endsWith("%")) return round((Number.parseInt(value, 10) / 100) * replicas);
  return Number(value ?? 0);
}

export const deployments: KindMetrics = {
  resource: "deployments.apps",
  samples(object, write) {
    const { metadata, spec, status = {} } = object;
    const labels = named(object, "deployment");
    const replicas = spec.replicas ?? 1;
    writeIf(write, "kube_deployment_created", labels, seconds(metadata.creationTimestamp));
    write("kube_deployment_metadata_generation", labels, metadata.generation ?? 0);
    write("kube_deployment_spec_replicas", labels, replicas);
    write("kube_deployment_spec_paused", labels, flag(spec.paused));
    write("kube_deployment_status_replicas", labels, status.replicas ?? 0);
    write("kube_deployment_status_replicas_ready", labels, status.readyReplicas ?? 0);
    write("kube_deployment_status_replicas_available", labels, status.availableReplicas ?? 0);
    write("kube_deployment_status_replicas_unavailable", labels, status.unavailableReplicas ?? 0);
    write("kube_deployment_status_replicas_updated", labels, status.updatedReplicas ?? 0);
    write("kube_deployment_status_observed_generation", labels, status.observedGeneration ?? 0);
    for (const condition of status.conditions ?? []) {
      const conditionLabels = { ...labels, condition: condition.type, reason: condition.reason ?? "" };
      writeCondition(write, "kube_deployment_status_condition", conditionLabels, "status", condition.status);
    }
    const rolling = spec.strategy?.rollingUpdate;
    if (rolling !== undefined && rolling !== null) {
      const prefix = "kube_deployment_spec_strategy_rollingupdate_max";
      write(`${prefix}_unavailable`, labels, share(rolling.maxUnavailable, replicas, Math.floor));
      write(`${prefix}_surge`, labels, share(rolling.maxSurge, replicas, Math.ceil));
    }
  },
};

export const replicaSets: KindMetrics = {
  resource: "replicasets.apps",
  samples(object, write) {
    const { metadata, spec, status = {} } = object;
    const labels = named(object, "replicaset");
    writeIf(write, "kube_replicaset_created", labels, seconds(metadata.creationTimestamp));
    write("kube_replicaset_metadata_generation", labels, metadata.generation ?? 0);
    write("kube_replicaset_spec_replicas", labels, spec.replicas ?? 1);
    write("kube_replicaset_status_replicas", labels, status.replicas ?? 0);
    write("kube_replicaset_status_fully_labeled_replicas", labels, status.fullyLabeledReplicas ?? 0);
    write("kube_replicaset_status_ready_replicas", labels, status.readyReplicas ?? 0);
    write("kube_replicaset_status_observed_generation", labels, status.observedGeneration ?? 0);
    for (const owner of owners(object)) write("kube_replicaset_owner", { ...labels, ...owner }, 1);
  },
};

export const statefulSets: KindMetrics = {
  resource: "statefulsets.apps",
  samples(object, write) {
    const { metadata, spec, status = {} } = object;
    const labels = named(object, "statefulset");
    writeIf(write, "kube_statefulset_created", labels, seconds(metadata.creationTimestamp));
    write("kube_statefulset_metadata_generation", labels, metadata.generation ?? 0);
    write("kube_statefulset_replicas", labels, spec.replicas ?? 1);
    write("kube_statefulset_status_replicas", labels, status.replicas ?? 0);
    write("kube_statefulset_status_replicas_available", labels, status.availableReplicas ?? 0);
    write("kube_statefulset_status_replicas_current", labels, status.currentReplicas ?? 0);
    write("kube_statefulset_status_replicas_ready", labels, status.readyReplicas ?? 0);
    write("kube_statefulset_status_replicas_updated", labels, status.updatedReplicas ?? 0);
    write("kube_statefulset_status_observed_generation", labels, status.observedGeneration ?? 0);
    if (status.currentRevision) {
      write("kube_statefulset_status_current_revision", { ...labels, revision: status.currentRevision }, 1);
    }
    if (status.updateRevision) {
      write("kube_statefulset_status_update_revision", { ...labels, revision: status.updateRevision }, 1);
    }
  },
};

export const daemonSets: KindMetrics = {
  resource: "daemonsets.apps",
  samples(object, write) {
    const { metadata, status = {} } = object;
    const labels = named(object, "daemonset");
    writeIf(write, "kube_daemonset_created", labels, seconds(metadata.creationTimestamp));
    write("kube_daemonset_metadata_generation", labels, metadata.generation ?? 0);
    write("kube_daemonset_status_current_number_scheduled", labels, status.currentNumberScheduled ?? 0);
    write("kube_daemonset_status_desired_number_scheduled", labels, status.desiredNumberScheduled ?? 0);
    write("kube_daemonset_status_number_available", labels, status.numberAvailable ?? 0);
    write("kube_daemonset_status_number_misscheduled", labels, status.numberMisscheduled ?? 0);
    write("kube_daemonset_status_number_ready", labels, status.numberReady ?? 0);
    write("kube_daemonset_status_number_unavailable", labels, status.numberUnavailable ?? 0);
    write("kube_daemonset_status_updated_number_scheduled", labels, status.updatedNumberScheduled ?? 0);
    write("kube_daemonset_status_observed_generation", labels, status.observedGeneration ?? 0);
  },
};
