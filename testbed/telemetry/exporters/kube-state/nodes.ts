/** Nodes and namespaces. */
import type { KindMetrics } from "../object-cache.js";
import { flag, seconds, writeCondition, writeEnum, writeIf, writeResources } from "./values.js";

const ROLE_LABEL = "node-role.kubernetes.io/";

export const nodes: KindMetrics = {
  resource: "nodes",
  samples(object, write) {
    const { metadata, spec = {}, status = {} } = object;
    const labels = { node: metadata.name };
    const info = status.nodeInfo ?? {};
    const address = (type: string) => status.addresses?.find((entry: any) => entry.type === type)?.address ?? "";
    write(
      "kube_node_info",
      {
        ...labels,
        kernel_version: info.kernelVersion ?? "",
        os_image: info.osImage ?? "",
        container_runtime_version: info.containerRuntimeVersion ?? "",
        kubelet_version: info.kubeletVersion ?? "",
        kubeproxy_version: "deprecated",
        provider_id: spec.providerID ?? "",
        pod_cidr: spec.podCIDR ?? "",
        system_uuid: info.systemUUID ?? "",
        internal_ip: address("InternalIP"),
      },
      1,
    );
    writeIf(write, "kube_node_created", labels, seconds(metadata.creationTimestamp));
    write("kube_node_spec_unschedulable", labels, flag(spec.unschedulable));
    for (const taint of spec.taints ?? []) {
      write("kube_node_spec_taint", { ...labels, key: taint.key, value: taint.value ?? "", effect: taint.effect }, 1);
    }
    for (const label of Object.keys(metadata.labels ?? {})) {
      if (label.startsWith(ROLE_LABEL)) write("kube_node_role", { ...labels, role: label.slice(ROLE_LABEL.length) }, 1);
    }
    for (const { type, address: value } of status.addresses ?? []) {
      write("kube_node_status_addresses", { ...labels, type, address: value }, 1);
    }
    for (const condition of status.conditions ?? []) {
      const conditionLabels = { ...labels, condition: condition.type };
      writeCondition(write, "kube_node_status_condition", conditionLabels, "status", condition.status);
    }
    writeResources(write, "kube_node_status_capacity", labels, status.capacity);
    writeResources(write, "kube_node_status_allocatable", labels, status.allocatable);
  },
};

export const namespaces: KindMetrics = {
  resource: "namespaces",
  samples(object, write) {
    const labels = { namespace: object.metadata.name };
    writeIf(write, "kube_namespace_created", labels, seconds(object.metadata.creationTimestamp));
    writeEnum(write, "kube_namespace_status_phase", labels, "phase", ["Active", "Terminating"], object.status?.phase);
  },
};
