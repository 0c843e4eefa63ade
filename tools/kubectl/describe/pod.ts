import {
  age,
  controller,
  events,
  heading,
  labels,
  labelsAndAnnotations,
  longTime,
  tolerations,
  topologySpread,
} from "./common.js";
import { containers, volumes } from "./containers.js";
import type { Describer } from "./describer.js";

export const pod: Describer = {
  kind: "Pod",
  group: "",
  async describe(w, object, d) {
    const { metadata, spec, status = {} } = object;
    heading(w, object);
    if (spec.priority !== undefined && spec.priority !== null) w.field(0, "Priority", spec.priority);
    if (spec.priorityClassName) w.field(0, "Priority Class Name", spec.priorityClassName);
    if (spec.runtimeClassName) w.field(0, "Runtime Class Name", spec.runtimeClassName);
    if (spec.serviceAccountName) w.field(0, "Service Account", spec.serviceAccountName);
    w.field(0, "Node", spec.nodeName ? `${spec.nodeName}/${status.hostIP ?? ""}` : "<none>");
    if (status.startTime) w.field(0, "Start Time", longTime(status.startTime));
    labelsAndAnnotations(w, metadata);
    if (metadata.deletionTimestamp && status.phase !== "Failed" && status.phase !== "Succeeded") {
      w.field(0, "Status", `Terminating (lasts ${age(metadata.deletionTimestamp, d.context.now())})`);
      w.field(0, "Termination Grace Period", `${metadata.deletionGracePeriodSeconds ?? 0}s`);
    } else w.field(0, "Status", status.phase ?? "");
    if (status.reason) w.field(0, "Reason", status.reason);
    if (status.message) w.field(0, "Message", status.message);
    if (spec.securityContext?.seccompProfile) w.field(0, "SeccompProfile", spec.securityContext.seccompProfile.type);
    w.field(0, "IP", status.podIP ?? "");
    if (status.podIPs?.length) {
      w.line(0, "IPs:");
      for (const ip of status.podIPs) w.field(1, "IP", ip.ip);
    } else w.field(0, "IPs", "<none>");
    const owner = controller(object);
    if (owner) w.field(0, "Controlled By", `${owner.kind}/${owner.name}`);
    if (status.nominatedNodeName) w.field(0, "NominatedNodeName", status.nominatedNodeName);
    if (spec.initContainers?.length)
      containers(w, "Init Containers", spec.initContainers, status.initContainerStatuses, object, "");
    containers(w, "Containers", spec.containers, status.containerStatuses, object, "");
    if (spec.ephemeralContainers?.length)
      containers(w, "Ephemeral Containers", spec.ephemeralContainers, status.ephemeralContainerStatuses, object, "");
    if (spec.readinessGates?.length) {
      w.line(0, "Readiness Gates:\n  Type\tStatus");
      for (const gate of spec.readinessGates) {
        const condition = (status.conditions ?? []).find((c: any) => c.type === gate.conditionType);
        w.line(1, `${gate.conditionType} \t${condition?.status ?? "<none>"} `);
      }
    }
    if (status.conditions?.length) {
      w.line(0, "Conditions:\n  Type\tStatus");
      for (const c of status.conditions) w.line(1, `${c.type} \t${c.status} `);
    }
    volumes(w, spec.volumes, "");
    w.field(0, "QoS Class", status.qosClass ?? "");
    labels(w, "Node-Selectors", spec.nodeSelector);
    tolerations(w, "Tolerations", spec.tolerations);
    topologySpread(w, spec.topologySpreadConstraints, "");
    await events(w, d);
  },
};
