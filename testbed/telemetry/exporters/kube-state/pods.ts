/** kube_pod_*: pods and their containers. */
import type { KubeObject } from "../../../kube/objects.js";
import type { Labels } from "../../metrics.js";
import type { KindMetrics, Write } from "../object-cache.js";
import { flag, owners, seconds, writeCondition, writeEnum, writeIf, writeResources } from "./values.js";

const PHASES = ["Pending", "Succeeded", "Failed", "Unknown", "Running"];
const REASONS = ["Evicted", "NodeAffinity", "NodeLost", "SchedulingGated", "Shutdown", "UnexpectedAdmissionError"];
const QOS_CLASSES = ["BestEffort", "Burstable", "Guaranteed"];

export const pods: KindMetrics = {
  resource: "pods",
  samples(pod, write) {
    const { metadata, spec, status = {} } = pod;
    const base = { namespace: metadata.namespace ?? "", pod: metadata.name, uid: metadata.uid ?? "" };
    const controller = metadata.ownerReferences?.find((owner) => owner.controller) ?? metadata.ownerReferences?.[0];
    write(
      "kube_pod_info",
      {
        ...base,
        host_ip: status.hostIP ?? "",
        pod_ip: status.podIP ?? "",
        node: spec.nodeName ?? "",
        created_by_kind: controller?.kind ?? "",
        created_by_name: controller?.name ?? "",
        priority_class: spec.priorityClassName ?? "",
        host_network: String(spec.hostNetwork ?? false),
      },
      1,
    );
    for (const owner of owners(pod)) write("kube_pod_owner", { ...base, ...owner }, 1);
    writeIf(write, "kube_pod_created", base, seconds(metadata.creationTimestamp));
    writeIf(write, "kube_pod_start_time", base, seconds(status.startTime));
    writeIf(write, "kube_pod_deletion_timestamp", base, seconds(metadata.deletionTimestamp));
    write("kube_pod_restart_policy", { ...base, type: spec.restartPolicy ?? "Always" }, 1);
    writePhase(pod, base, write);
    writeEnum(write, "kube_pod_status_reason", base, "reason", REASONS, reasonOf(pod));
    writeEnum(write, "kube_pod_status_qos_class", base, "qos_class", QOS_CLASSES, status.qosClass);
    writeConditions(pod, base, write);
    for (const ip of status.podIPs ?? []) {
      write("kube_pod_ips", { ...base, ip: ip.ip, ip_family: ip.ip.includes(":") ? "6" : "4" }, 1);
    }
    for (const volume of spec.volumes ?? []) {
      const claim = volume.persistentVolumeClaim;
      if (claim === undefined) continue;
      const labels = { ...base, volume: volume.name, persistentvolumeclaim: claim.claimName };
      write("kube_pod_spec_volumes_persistentvolumeclaims_info", labels, 1);
      write("kube_pod_spec_volumes_persistentvolumeclaims_readonly", labels, flag(claim.readOnly));
    }
    writeContainers(pod, "kube_pod_container", spec.containers, status.containerStatuses, base, write);
    writeContainers(pod, "kube_pod_init_container", spec.initContainers, status.initContainerStatuses, base, write);
  },
};

/** A pod on a lost node is counted as Unknown, as kube-state-metrics counts it. */
function writePhase(pod: KubeObject, base: Labels, write: Write): void {
  const phase = pod.metadata.deletionTimestamp && pod.status?.reason === "NodeLost" ? "Unknown" : pod.status?.phase;
  writeEnum(write, "kube_pod_status_phase", base, "phase", PHASES, phase);
}

function reasonOf(pod: KubeObject): string | undefined {
  if (pod.status?.reason) return pod.status.reason;
  return conditionOf(pod, "PodScheduled")?.reason === "SchedulingGated" ? "SchedulingGated" : undefined;
}

function conditionOf(pod: KubeObject, type: string): any {
  return pod.status?.conditions?.find((condition: any) => condition.type === type);
}

function writeConditions(pod: KubeObject, base: Labels, write: Write): void {
  const ready = conditionOf(pod, "Ready");
  const scheduled = conditionOf(pod, "PodScheduled");
  if (ready !== undefined) {
    writeCondition(write, "kube_pod_status_ready", base, "condition", ready.status);
    if (ready.status === "True") {
      writeIf(write, "kube_pod_status_ready_time", base, seconds(ready.lastTransitionTime));
    }
  }
  if (scheduled !== undefined) {
    writeCondition(write, "kube_pod_status_scheduled", base, "condition", scheduled.status);
    if (scheduled.status === "True") {
      writeIf(write, "kube_pod_status_scheduled_time", base, seconds(scheduled.lastTransitionTime));
    }
    if (scheduled.status === "False" && scheduled.reason === "Unschedulable") {
      write("kube_pod_status_unschedulable", base, 1);
    }
  }
  const initialized = conditionOf(pod, "Initialized");
  if (initialized?.status === "True") {
    writeIf(write, "kube_pod_status_initialized_time", base, seconds(initialized.lastTransitionTime));
  }
}

/** Containers: what the spec asks for, and what the kubelet reports. */
function writeContainers(
  pod: KubeObject,
  prefix: string,
  containers: any[] | undefined,
  statuses: any[] | undefined,
  base: Labels,
  write: Write,
): void {
  const node = pod.spec.nodeName ?? "";
  for (const container of containers ?? []) {
    const labels = { ...base, container: container.name };
    writeResources(write, `${prefix}_resource_requests`, { ...labels, node }, container.resources?.requests);
    writeResources(write, `${prefix}_resource_limits`, { ...labels, node }, container.resources?.limits);
    const status = statuses?.find((candidate) => candidate.name === container.name);
    if (status === undefined) continue;
    write(
      `${prefix}_info`,
      {
        ...labels,
        image_spec: container.image ?? "",
        image: status.image ?? "",
        image_id: status.imageID ?? "",
        container_id: status.containerID ?? "",
      },
      1,
    );
    writeStatus(`${prefix}_status`, status, labels, write);
    writeIf(
      write,
      `${prefix}_state_started`,
      labels,
      seconds(status.state?.running?.startedAt ?? status.state?.terminated?.startedAt),
    );
  }
}

function writeStatus(prefix: string, status: any, labels: Labels, write: Write): void {
  const { running, waiting, terminated } = status.state ?? {};
  write(`${prefix}_running`, labels, flag(running));
  write(`${prefix}_waiting`, labels, flag(waiting));
  write(`${prefix}_terminated`, labels, flag(terminated));
  write(`${prefix}_ready`, labels, flag(status.ready));
  write(`${prefix}_restarts_total`, labels, status.restartCount ?? 0);
  if (waiting?.reason) write(`${prefix}_waiting_reason`, { ...labels, reason: waiting.reason }, 1);
  if (terminated?.reason) write(`${prefix}_terminated_reason`, { ...labels, reason: terminated.reason }, 1);
  const last = status.lastState?.terminated;
  if (last === undefined) return;
  if (last.reason) write(`${prefix}_last_terminated_reason`, { ...labels, reason: last.reason }, 1);
  write(`${prefix}_last_terminated_exitcode`, labels, last.exitCode ?? 0);
  writeIf(write, `${prefix}_last_terminated_timestamp`, labels, seconds(last.finishedAt));
}
