import { formatQuantity, parseQuantity } from "../printers/quantity.js";
import { age, conditionTable, events, labelsAndAnnotations, longTime, sortedKeys, taints } from "./common.js";
import type { Describer, Describing } from "./describer.js";
import type { Description } from "./writer.js";

type Totals = Record<string, number>;

/** What a pod asks for: the sum of its containers, or an init container where that is more. */
function podTotals(pod: any, field: "requests" | "limits"): Totals {
  const total: Totals = {};
  for (const c of pod.spec.containers ?? [])
    for (const [name, value] of Object.entries(c.resources?.[field] ?? {}))
      total[name] = (total[name] ?? 0) + (parseQuantity(value) ?? 0);
  for (const c of pod.spec.initContainers ?? [])
    for (const [name, value] of Object.entries(c.resources?.[field] ?? {}))
      total[name] = Math.max(total[name] ?? 0, parseQuantity(value) ?? 0);
  return total;
}

function cpuText(cores: number): string {
  const m = Math.round(cores * 1000);
  return m % 1000 === 0 ? String(m / 1000) : `${m}m`;
}

function percent(value: number, of: number): string {
  return of > 0 ? `(${Math.trunc((value / of) * 100 + 1e-9)}%)` : "(0%)";
}

async function lease(w: Description, name: string, d: Describing): Promise<void> {
  const found = await d.get("leases.coordination.k8s.io", "kube-node-lease", name);
  if (!found) {
    w.field(0, "Lease", `Failed to get lease: leases.coordination.k8s.io "${name}" not found`);
    return;
  }
  w.line(0, "Lease:");
  w.field(1, "HolderIdentity", found.spec?.holderIdentity ?? "<unset>");
  w.field(1, "AcquireTime", found.spec?.acquireTime ? longTime(found.spec.acquireTime) : "<unset>");
  w.field(1, "RenewTime", found.spec?.renewTime ? longTime(found.spec.renewTime) : "<unset>");
}

async function podTable(w: Description, node: any, d: Describing): Promise<void> {
  const pods = (
    await d.list("pods", {
      namespace: "",
      fieldSelector: `spec.nodeName=${node.metadata.name},status.phase!=Failed,status.phase!=Succeeded`,
    })
  ).filter(
    (p) => p.spec?.nodeName === node.metadata.name && p.status?.phase !== "Failed" && p.status?.phase !== "Succeeded",
  );
  const capacity = node.status?.allocatable ?? node.status?.capacity ?? {};
  const cpu = parseQuantity(capacity.cpu) ?? 0;
  const memory = parseQuantity(capacity.memory) ?? 0;
  w.line(0, `Non-terminated Pods:\t(${pods.length} in total)`);
  w.line(1, "Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge");
  w.line(1, "---------\t----\t\t------------\t----------\t---------------\t-------------\t---");
  const sums = { requests: {} as Totals, limits: {} as Totals };
  for (const pod of pods) {
    const requests = podTotals(pod, "requests");
    const limits = podTotals(pod, "limits");
    for (const [name, value] of Object.entries(requests)) sums.requests[name] = (sums.requests[name] ?? 0) + value;
    for (const [name, value] of Object.entries(limits)) sums.limits[name] = (sums.limits[name] ?? 0) + value;
    const c = (t: Totals) => `${cpuText(t.cpu ?? 0)} ${percent(t.cpu ?? 0, cpu)}`;
    const m = (t: Totals) => `${formatQuantity(t.memory ?? 0, "binary")} ${percent(t.memory ?? 0, memory)}`;
    w.line(
      1,
      `${pod.metadata.namespace}\t${pod.metadata.name}\t\t${c(requests)}\t${c(limits)}\t${m(requests)}\t${m(limits)}\t${age(pod.metadata.creationTimestamp, d.context.now())}`,
    );
  }
  w.line(
    0,
    "Allocated resources:\n  (Total limits may be over 100 percent, i.e., overcommitted.)\n  Resource\tRequests\tLimits",
  );
  w.line(1, "--------\t--------\t------");
  w.line(
    1,
    `cpu\t${cpuText(sums.requests.cpu ?? 0)} ${percent(sums.requests.cpu ?? 0, cpu)}\t${cpuText(sums.limits.cpu ?? 0)} ${percent(sums.limits.cpu ?? 0, cpu)}`,
  );
  for (const name of ["memory", "ephemeral-storage"]) {
    const of = parseQuantity(capacity[name]) ?? 0;
    const [r, l] = [sums.requests[name] ?? 0, sums.limits[name] ?? 0];
    w.line(
      1,
      `${name}\t${formatQuantity(r, "binary")} ${percent(r, of)}\t${formatQuantity(l, "binary")} ${percent(l, of)}`,
    );
  }
  for (const name of sortedKeys(capacity).filter(
    (n) => n.startsWith("hugepages-") || (n.includes("/") && !n.startsWith("kubernetes.io/")),
  ))
    w.line(
      1,
      `${name}\t${formatQuantity(sums.requests[name] ?? 0, "binary")}${name.startsWith("hugepages-") ? " (0%)" : ""}\t${formatQuantity(sums.limits[name] ?? 0, "binary")}${name.startsWith("hugepages-") ? " (0%)" : ""}`,
    );
}

export const node: Describer = {
  kind: "Node",
  group: "",
  async describe(w, object, d) {
    const { metadata, spec = {}, status = {} } = object;
    w.field(0, "Name", metadata.name);
    const roles = new Set<string>();
    for (const key of sortedKeys(metadata.labels)) {
      if (key.startsWith("node-role.kubernetes.io/") && key.length > 24) roles.add(key.slice(24));
      else if (key === "kubernetes.io/role" && metadata.labels[key]) roles.add(metadata.labels[key]);
    }
    w.field(0, "Roles", [...roles].sort().join(",") || "<none>");
    labelsAndAnnotations(w, metadata);
    w.field(0, "CreationTimestamp", longTime(metadata.creationTimestamp));
    taints(w, spec.taints);
    w.field(0, "Unschedulable", spec.unschedulable === true);
    await lease(w, metadata.name, d);
    conditionTable(
      w,
      status.conditions,
      [
        ["Type", "type"],
        ["Status", "status"],
        ["LastHeartbeatTime", "lastHeartbeatTime"],
        ["LastTransitionTime", "lastTransitionTime"],
        ["Reason", "reason"],
        ["Message", "message"],
      ],
      "all",
    );
    w.line(0, "Addresses:");
    for (const a of status.addresses ?? []) w.field(1, a.type, a.address);
    for (const [title, list] of [
      ["Capacity", status.capacity],
      ["Allocatable", status.allocatable],
    ] as const) {
      if (!list) continue;
      w.line(0, `${title}:`);
      for (const key of sortedKeys(list)) w.field(1, key, list[key]);
    }
    const info = status.nodeInfo ?? {};
    w.line(0, "System Info:");
    for (const [title, field] of [
      ["Machine ID", "machineID"],
      ["System UUID", "systemUUID"],
      ["Boot ID", "bootID"],
      ["Kernel Version", "kernelVersion"],
      ["OS Image", "osImage"],
      ["Operating System", "operatingSystem"],
      ["Architecture", "architecture"],
      ["Container Runtime Version", "containerRuntimeVersion"],
      ["Kubelet Version", "kubeletVersion"],
      ["Kube-Proxy Version", "kubeProxyVersion"],
    ] as const)
      w.field(1, title, info[field] ?? "");
    if (spec.podCIDR) w.field(0, "PodCIDR", spec.podCIDR);
    if (spec.podCIDRs?.length) w.field(0, "PodCIDRs", spec.podCIDRs.join(","));
    if (spec.providerID) w.field(0, "ProviderID", spec.providerID);
    await podTable(w, object, d);
    await events(w, d);
  },
};
