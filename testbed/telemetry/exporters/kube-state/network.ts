/** Services, endpoints, ingresses, network policies. */
import type { KindMetrics } from "../object-cache.js";
import { seconds, writeIf } from "./values.js";

export const services: KindMetrics = {
  resource: "services",
  samples(object, write) {
    const { metadata, spec = {}, status = {} } = object;
    const labels = { namespace: metadata.namespace ?? "", service: metadata.name, uid: metadata.uid ?? "" };
    write(
      "kube_service_info",
      {
        ...labels,
        cluster_ip: spec.clusterIP ?? "",
        external_name: spec.externalName ?? "",
        external_traffic_policy: spec.externalTrafficPolicy ?? "",
        load_balancer_ip: spec.loadBalancerIP ?? "",
      },
      1,
    );
    writeIf(write, "kube_service_created", labels, seconds(metadata.creationTimestamp));
    write("kube_service_spec_type", { ...labels, type: spec.type ?? "ClusterIP" }, 1);
    for (const ip of spec.externalIPs ?? []) write("kube_service_spec_external_ip", { ...labels, external_ip: ip }, 1);
    for (const { ip, hostname } of status.loadBalancer?.ingress ?? []) {
      write("kube_service_status_load_balancer_ingress", { ...labels, ip: ip ?? "", hostname: hostname ?? "" }, 1);
    }
  },
};

export const endpoints: KindMetrics = {
  resource: "endpoints",
  samples(object, write) {
    const { metadata, subsets } = object;
    const labels = { namespace: metadata.namespace ?? "", endpoint: metadata.name };
    write("kube_endpoint_info", labels, 1);
    writeIf(write, "kube_endpoint_created", labels, seconds(metadata.creationTimestamp));
    let available = 0;
    let notReady = 0;
    for (const subset of subsets ?? []) {
      const ports: any[] = subset.ports?.length > 0 ? subset.ports : [{}];
      available += (subset.addresses?.length ?? 0) * ports.length;
      notReady += (subset.notReadyAddresses?.length ?? 0) * ports.length;
      for (const port of ports) {
        const portLabels = {
          port_protocol: port.protocol ?? "",
          port_number: port.port === undefined ? "" : String(port.port),
          port_name: port.name ?? "",
        };
        for (const { ip } of subset.addresses ?? []) {
          write("kube_endpoint_address", { ...labels, ...portLabels, ip, ready: "true" }, 1);
        }
        for (const { ip } of subset.notReadyAddresses ?? []) {
          write("kube_endpoint_address", { ...labels, ...portLabels, ip, ready: "false" }, 1);
        }
      }
    }
    write("kube_endpoint_address_available", labels, available);
    write("kube_endpoint_address_not_ready", labels, notReady);
  },
};

export const ingresses: KindMetrics = {
  resource: "ingresses.networking.k8s.io",
  samples(object, write) {
    const { metadata, spec = {} } = object;
    const labels = { namespace: metadata.namespace ?? "", ingress: metadata.name };
    write("kube_ingress_info", { ...labels, ingressclass: spec.ingressClassName ?? "_default" }, 1);
    writeIf(write, "kube_ingress_created", labels, seconds(metadata.creationTimestamp));
    for (const rule of spec.rules ?? []) {
      for (const path of rule.http?.paths ?? []) {
        const { name = "", port = {} } = path.backend?.service ?? {};
        const target = { service_name: name, service_port: String(port.number ?? port.name ?? "") };
        write("kube_ingress_path", { ...labels, host: rule.host ?? "", path: path.path ?? "", ...target }, 1);
      }
    }
  },
};

export const networkPolicies: KindMetrics = {
  resource: "networkpolicies.networking.k8s.io",
  samples(object, write) {
    const { metadata, spec = {} } = object;
    const labels = { namespace: metadata.namespace ?? "", networkpolicy: metadata.name };
    writeIf(write, "kube_networkpolicy_created", labels, seconds(metadata.creationTimestamp));
    write("kube_networkpolicy_spec_ingress_rules", labels, spec.ingress?.length ?? 0);
    write("kube_networkpolicy_spec_egress_rules", labels, spec.egress?.length ?? 0);
  },
};
