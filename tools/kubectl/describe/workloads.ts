/** Deployments, replica sets, stateful sets, daemon sets, jobs, cron jobs. */

import { compactJson } from "../printers/json.js";
import { humanDuration } from "../printers/time.js";
import {
  annotations,
  conditionTable,
  controller,
  events,
  formatLabels,
  formatSelector,
  heading,
  labels,
  labelsAndAnnotations,
  longTime,
  podStatuses,
  selectorQuery,
} from "./common.js";
import { podTemplate } from "./containers.js";
import type { Describer } from "./describer.js";

/** A template without the hash that tells replica sets apart. */
export function templateKey(template: any): string {
  const { "pod-template-hash": _, ...rest } = template?.metadata?.labels ?? {};
  return compactJson({ ...template, metadata: { ...template?.metadata, labels: rest, creationTimestamp: undefined } });
}

/** A deployment's replica sets, oldest first, and which is the current one. */
export function splitReplicaSets(deployment: any, sets: readonly any[]): { all: any[]; current: any; old: any[] } {
  const time = (o: any) => Date.parse(o.metadata.creationTimestamp ?? "") || 0;
  const all = sets
    .filter((rs) => controller(rs) && (controller(rs) as any).uid === deployment.metadata.uid)
    .sort((a, b) => time(a) - time(b) || (a.metadata.name < b.metadata.name ? -1 : 1));
  const key = templateKey(deployment.spec.template);
  const current = all.find((rs) => templateKey(rs.spec.template) === key);
  return { all, current, old: all.filter((rs) => rs !== current) };
}

function setsText(sets: readonly any[]): string {
  if (sets.length === 0) return "<none>";
  return sets
    .map((rs) => `${rs.metadata.name} (${rs.status?.replicas ?? 0}/${rs.spec.replicas ?? 0} replicas created)`)
    .join(", ");
}

export const deployment: Describer = {
  kind: "Deployment",
  group: "apps",
  async describe(w, object, d) {
    const { metadata, spec, status = {} } = object;
    heading(w, object);
    w.field(0, "CreationTimestamp", longTime(metadata.creationTimestamp));
    labelsAndAnnotations(w, metadata);
    w.field(0, "Selector", formatSelector(spec.selector));
    w.field(
      0,
      "Replicas",
      `${spec.replicas ?? 0} desired | ${status.updatedReplicas ?? 0} updated | ${status.replicas ?? 0} total | ${status.availableReplicas ?? 0} available | ${status.unavailableReplicas ?? 0} unavailable`,
    );
    w.field(0, "StrategyType", spec.strategy?.type ?? "");
    w.field(0, "MinReadySeconds", spec.minReadySeconds ?? 0);
    const rolling = spec.strategy?.rollingUpdate;
    if (rolling)
      w.field(0, "RollingUpdateStrategy", `${rolling.maxUnavailable} max unavailable, ${rolling.maxSurge} max surge`);
    podTemplate(w, spec.template);
    conditionTable(w, status.conditions, [
      ["Type", "type"],
      ["Status", "status"],
      ["Reason", "reason"],
    ]);
    const sets = await d.list("replicasets.apps", { labelSelector: selectorQuery(spec.selector) });
    const { current, old } = splitReplicaSets(object, sets);
    w.field(0, "OldReplicaSets", setsText(old));
    w.field(0, "NewReplicaSet", setsText(current ? [current] : []));
    await events(w, d);
  },
};

export const replicaSet: Describer = {
  kind: "ReplicaSet",
  group: "apps",
  async describe(w, object, d) {
    const { metadata, spec, status = {} } = object;
    heading(w, object);
    w.field(0, "Selector", formatSelector(spec.selector));
    labelsAndAnnotations(w, metadata);
    const owner = controller(object);
    if (owner) w.field(0, "Controlled By", `${owner.kind}/${owner.name}`);
    w.field(0, "Replicas", `${status.replicas ?? 0} current / ${spec.replicas ?? 0} desired`);
    w.field(0, "Pods Status", await podStatuses(object, d));
    podTemplate(w, spec.template);
    conditionTable(w, status.conditions, [
      ["Type", "type"],
      ["Status", "status"],
      ["Reason", "reason"],
    ]);
    await events(w, d);
  },
};

export const statefulSet: Describer = {
  kind: "StatefulSet",
  group: "apps",
  async describe(w, object, d) {
    const { metadata, spec, status = {} } = object;
    heading(w, object);
    w.field(0, "CreationTimestamp", longTime(metadata.creationTimestamp));
    w.field(0, "Selector", formatSelector(spec.selector));
    labelsAndAnnotations(w, metadata);
    w.field(0, "Replicas", `${spec.replicas ?? 0} desired | ${status.replicas ?? 0} total`);
    w.field(0, "Update Strategy", spec.updateStrategy?.type ?? "");
    const rolling = spec.updateStrategy?.rollingUpdate;
    if (rolling?.partition !== undefined) w.field(1, "Partition", rolling.partition);
    if (rolling?.maxUnavailable !== undefined) w.field(1, "MaxUnavailable", rolling.maxUnavailable);
    w.field(0, "Pods Status", await podStatuses(object, d));
    podTemplate(w, spec.template);
    const claims: any[] = spec.volumeClaimTemplates ?? [];
    w.line(0, `Volume Claims:${claims.length === 0 ? "\t<none>" : ""}`);
    for (const claim of claims) {
      w.field(1, "Name", claim.metadata?.name);
      w.field(1, "StorageClass", claim.spec?.storageClassName ?? "");
      labels(w, "Labels", claim.metadata?.labels, "  ");
      w.write(1, "");
      annotations(w, "Annotations", claim.metadata?.annotations);
      w.field(1, "Capacity", claim.spec?.resources?.requests?.storage ?? "<default>");
      w.field(1, "Access Modes", `[${(claim.spec?.accessModes ?? []).join(" ")}]`);
    }
    await events(w, d);
  },
};

export const daemonSet: Describer = {
  kind: "DaemonSet",
  group: "apps",
  async describe(w, object, d) {
    const { metadata, spec, status = {} } = object;
    w.field(0, "Name", metadata.name);
    w.field(0, "Selector", formatSelector(spec.selector));
    w.field(0, "Node-Selector", formatLabels(spec.template?.spec?.nodeSelector));
    labelsAndAnnotations(w, metadata);
    w.line(0, `Desired Number of Nodes Scheduled: ${status.desiredNumberScheduled ?? 0}`);
    w.line(0, `Current Number of Nodes Scheduled: ${status.currentNumberScheduled ?? 0}`);
    w.line(0, `Number of Nodes Scheduled with Up-to-date Pods: ${status.updatedNumberScheduled ?? 0}`);
    w.line(0, `Number of Nodes Scheduled with Available Pods: ${status.numberAvailable ?? 0}`);
    w.line(0, `Number of Nodes Misscheduled: ${status.numberMisscheduled ?? 0}`);
    w.field(0, "Pods Status", await podStatuses(object, d));
    podTemplate(w, spec.template);
    await events(w, d);
  },
};

export const job: Describer = {
  kind: "Job",
  group: "batch",
  async describe(w, object, d) {
    const { metadata, spec, status = {} } = object;
    heading(w, object);
    if (spec.selector) w.field(0, "Selector", formatSelector(spec.selector));
    labelsAndAnnotations(w, metadata);
    const owner = controller(object);
    if (owner) w.field(0, "Controlled By", `${owner.kind}/${owner.name}`);
    if (spec.parallelism !== undefined) w.field(0, "Parallelism", spec.parallelism);
    w.field(0, "Completions", spec.completions ?? "<unset>");
    if (spec.completionMode) w.field(0, "Completion Mode", spec.completionMode);
    if (spec.suspend !== undefined) w.field(0, "Suspend", spec.suspend);
    if (spec.backoffLimit !== undefined) w.field(0, "Backoff Limit", spec.backoffLimit);
    if (spec.ttlSecondsAfterFinished !== undefined)
      w.field(0, "TTL Seconds After Finished", spec.ttlSecondsAfterFinished);
    if (status.startTime) w.field(0, "Start Time", longTime(status.startTime));
    if (status.completionTime) w.field(0, "Completed At", longTime(status.completionTime));
    if (status.startTime && status.completionTime)
      w.field(0, "Duration", humanDuration(Date.parse(status.completionTime) - Date.parse(status.startTime)));
    if (spec.activeDeadlineSeconds !== undefined)
      w.field(0, "Active Deadline Seconds", `${spec.activeDeadlineSeconds}s`);
    const ready = status.ready === undefined ? "" : ` (${status.ready} Ready)`;
    w.field(
      0,
      "Pods Statuses",
      `${status.active ?? 0} Active${ready} / ${status.succeeded ?? 0} Succeeded / ${status.failed ?? 0} Failed`,
    );
    if (spec.completionMode === "Indexed") w.field(0, "Completed Indexes", status.completedIndexes || "<none>");
    podTemplate(w, spec.template);
    await events(w, d);
  },
};

export const cronJob: Describer = {
  kind: "CronJob",
  group: "batch",
  async describe(w, object, d) {
    const { metadata, spec, status = {} } = object;
    heading(w, object);
    labelsAndAnnotations(w, metadata);
    w.field(0, "Schedule", spec.schedule);
    w.field(0, "Concurrency Policy", spec.concurrencyPolicy ?? "");
    w.field(0, "Suspend", spec.suspend === undefined ? "<unset>" : spec.suspend ? "True" : "False");
    w.field(0, "Successful Job History Limit", spec.successfulJobsHistoryLimit ?? "<unset>");
    w.field(0, "Failed Job History Limit", spec.failedJobsHistoryLimit ?? "<unset>");
    w.field(
      0,
      "Starting Deadline Seconds",
      spec.startingDeadlineSeconds === undefined ? "<unset>" : `${spec.startingDeadlineSeconds}s`,
    );
    const template = spec.jobTemplate?.spec ?? {};
    w.field(0, "Selector", template.selector ? formatSelector(template.selector) : "<unset>");
    w.field(0, "Parallelism", template.parallelism ?? "<unset>");
    w.field(0, "Completions", template.completions ?? "<unset>");
    if (template.activeDeadlineSeconds !== undefined)
      w.field(0, "Active Deadline Seconds", `${template.activeDeadlineSeconds}s`);
    podTemplate(w, template.template);
    w.field(0, "Last Schedule Time", status.lastScheduleTime ? longTime(status.lastScheduleTime) : "<unset>");
    w.field(0, "Active Jobs", (status.active ?? []).map((a: any) => a.name).join(", ") || "<none>");
    await events(w, d);
  },
};
