/** Services, endpoints, endpoint slices, ingresses, network policies. */
import {
  annotations,
  events,
  formatLabels,
  formatSelector,
  heading,
  labels,
  labelsAndAnnotations,
  longTime,
} from "./common.js";
import type { Describer } from "./describer.js";
import type { Description } from "./writer.js";

/** Ready addresses of a port, three at most. */
function endpointsText(slices: readonly any[], port: any): string {
  const list: string[] = [];
  for (const slice of slices)
    for (const p of slice.ports ?? [])
      if ((p.name ?? "") === (port.name ?? ""))
        for (const endpoint of slice.endpoints ?? [])
          if (endpoint.conditions?.ready !== false)
            for (const address of endpoint.addresses ?? [])
              list.push(`${address.includes(":") ? `[${address}]` : address}:${p.port ?? ""}`);
  if (list.length === 0) return "";
  const shown = list.slice(0, 3).join(",");
  return list.length > 3 ? `${shown} + ${list.length - 3} more...` : shown;
}

export const service: Describer = {
  kind: "Service",
  group: "",
  async describe(w, object, d) {
    const { metadata, spec, status = {} } = object;
    heading(w, object);
    labelsAndAnnotations(w, metadata);
    w.field(0, "Selector", formatLabels(spec.selector));
    w.field(0, "Type", spec.type ?? "");
    if (spec.ipFamilyPolicy) w.field(0, "IP Family Policy", spec.ipFamilyPolicy);
    w.field(0, "IP Families", (spec.ipFamilies ?? []).join(",") || "<none>");
    w.field(0, "IP", spec.clusterIP ?? "");
    w.field(0, "IPs", (spec.clusterIPs ?? []).join(",") || "<none>");
    if (spec.externalIPs?.length) w.field(0, "External IPs", spec.externalIPs.join(","));
    if (spec.loadBalancerIP) w.field(0, "Desired LoadBalancer IP", spec.loadBalancerIP);
    if (spec.externalName) w.field(0, "External Name", spec.externalName);
    const ingress: any[] = status.loadBalancer?.ingress ?? [];
    if (ingress.length > 0)
      w.field(
        0,
        "LoadBalancer Ingress",
        ingress.map((i) => (i.ip ? `${i.ip}${i.ipMode ? ` (${i.ipMode})` : ""}` : i.hostname)).join(", "),
      );
    const slices = await d.list("endpointslices.discovery.k8s.io", {
      labelSelector: `kubernetes.io/service-name=${metadata.name}`,
    });
    for (const port of spec.ports ?? []) {
      w.line(0, `Port:\t${port.name || "<unset>"}\t${port.port}/${port.protocol ?? "TCP"}`);
      w.field(0, "TargetPort", `${port.targetPort ?? 0}/${port.protocol ?? "TCP"}`);
      if (port.nodePort) w.line(0, `NodePort:\t${port.name || "<unset>"}\t${port.nodePort}/${port.protocol ?? "TCP"}`);
      w.field(0, "Endpoints", endpointsText(slices, port));
    }
    w.field(0, "Session Affinity", spec.sessionAffinity ?? "");
    if (spec.externalTrafficPolicy) w.field(0, "External Traffic Policy", spec.externalTrafficPolicy);
    if (spec.internalTrafficPolicy) w.field(0, "Internal Traffic Policy", spec.internalTrafficPolicy);
    if (spec.trafficDistribution) w.field(0, "Traffic Distribution", spec.trafficDistribution);
    if (spec.healthCheckNodePort) w.field(0, "HealthCheck NodePort", spec.healthCheckNodePort);
    if (spec.loadBalancerSourceRanges?.length)
      w.field(0, "LoadBalancer Source Ranges", spec.loadBalancerSourceRanges.join(","));
    await events(w, d);
  },
};

export const endpoints: Describer = {
  kind: "Endpoints",
  group: "",
  async describe(w, object, d) {
    heading(w, object);
    labelsAndAnnotations(w, object.metadata);
    w.line(0, "Subsets:");
    for (const subset of object.subsets ?? []) {
      const text = (list: any[] | undefined) => (list ?? []).map((a) => a.ip).join(",") || "<none>";
      w.field(1, "Addresses", text(subset.addresses));
      w.field(1, "NotReadyAddresses", text(subset.notReadyAddresses));
      if (subset.ports?.length) {
        w.line(1, "Ports:");
        w.line(2, "Name\tPort\tProtocol");
        w.line(2, "----\t----\t--------");
        for (const port of subset.ports)
          w.line(2, `${port.name || "<unset>"}\t${port.port}\t${port.protocol ?? "TCP"}`);
      }
      w.line(0, "");
    }
    await events(w, d);
  },
};

export const endpointSlice: Describer = {
  kind: "EndpointSlice",
  group: "discovery.k8s.io",
  async describe(w, object, d) {
    heading(w, object);
    labelsAndAnnotations(w, object.metadata);
    w.field(0, "AddressType", object.addressType);
    if (object.ports?.length) {
      w.line(0, "Ports:");
      w.line(1, "Name\tPort\tProtocol");
      w.line(1, "----\t----\t--------");
      for (const port of object.ports)
        w.line(1, `${port.name || "<unset>"}\t${port.port ?? "<unset>"}\t${port.protocol ?? "TCP"}`);
    } else w.line(0, "Ports: <unset>");
    if (object.endpoints?.length) {
      w.line(0, "Endpoints:");
      for (const e of object.endpoints) {
        w.line(1, `- Addresses:\t${(e.addresses ?? []).join(", ") || "<none>"}`);
        w.line(2, "Conditions:");
        w.field(3, "Ready", e.conditions?.ready ?? "<unset>");
        w.field(2, "Hostname", e.hostname ?? "<unset>");
        if (e.targetRef) w.field(2, "TargetRef", `${e.targetRef.kind}/${e.targetRef.name}`);
        w.field(2, "NodeName", e.nodeName ?? "<unset>");
        w.field(2, "Zone", e.zone ?? "<unset>");
      }
    } else w.line(0, "Endpoints: <none>");
    await events(w, d);
  },
};

export const ingress: Describer = {
  kind: "Ingress",
  group: "networking.k8s.io",
  async describe(w, object, d) {
    const { metadata, spec = {}, status = {} } = object;
    w.field(0, "Name", metadata.name);
    labels(w, "Labels", metadata.labels);
    w.field(0, "Namespace", metadata.namespace);
    w.field(0, "Address", (status.loadBalancer?.ingress ?? []).map((i: any) => i.ip ?? i.hostname).join(","));
    w.field(0, "Ingress Class", spec.ingressClassName ?? "<none>");
    const backend = async (b: any): Promise<string> => {
      if (!b) return "<default>";
      if (!b.service)
        return `APIGroup: ${b.resource?.apiGroup ?? ""}, Kind: ${b.resource?.kind}, Name: ${b.resource?.name}`;
      const port = b.service.port?.name ?? b.service.port?.number ?? "";
      const found = await d.get("services", metadata.namespace, b.service.name);
      if (!found) return `${b.service.name}:${port} (<error: services "${b.service.name}" not found>)`;
      const slices = await d.list("endpointslices.discovery.k8s.io", {
        labelSelector: `kubernetes.io/service-name=${b.service.name}`,
      });
      const servicePort = (found.spec?.ports ?? []).find((p: any) => p.name === port || p.port === port) ?? {
        name: "",
      };
      return `${b.service.name}:${port} (${endpointsText(slices, servicePort)})`;
    };
    w.field(0, "Default backend", await backend(spec.defaultBackend));
    if (spec.tls?.length) {
      w.line(0, "TLS:");
      for (const tls of spec.tls)
        w.line(1, `${tls.secretName || "SNI routes"} terminates ${(tls.hosts ?? []).join(",")}`);
    }
    w.line(0, "Rules:\n  Host\tPath\tBackends");
    w.line(1, "----\t----\t--------");
    let count = 0;
    for (const rule of spec.rules ?? []) {
      if (!rule.http) continue;
      count++;
      w.line(1, `${rule.host || "*"}\t`);
      for (const path of rule.http.paths ?? []) w.line(2, `\t${path.path ?? ""} \t${await backend(path.backend)}`);
    }
    if (count === 0) w.line(1, `*\t*\t${await backend(spec.defaultBackend)}`);
    annotations(w, "Annotations", metadata.annotations);
    await events(w, d);
  },
};

function policyPorts(w: Description, indent: string, list: any[] | undefined): void {
  if (!list?.length) w.line(0, `${indent}To Port: <any> (traffic allowed to all ports)`);
  for (const p of list ?? []) w.line(0, `${indent}To Port: ${p.port ?? ""}/${p.protocol ?? "TCP"}`);
}

function policyPeers(w: Description, indent: string, word: string, list: any[] | undefined): void {
  const hint = word === "From" ? "traffic not restricted by source" : "traffic not restricted by destination";
  if (!list?.length) w.line(0, `${indent}${word}: <any> (${hint})`);
  for (const peer of list ?? []) {
    w.line(0, `${indent}${word}:`);
    if (peer.podSelector && peer.namespaceSelector) {
      w.line(0, `${indent}  NamespaceSelector: ${formatSelector(peer.namespaceSelector)}`);
      w.line(0, `${indent}  PodSelector: ${formatSelector(peer.podSelector)}`);
    } else if (peer.podSelector) w.line(0, `${indent}  PodSelector: ${formatSelector(peer.podSelector)}`);
    else if (peer.namespaceSelector)
      w.line(0, `${indent}  NamespaceSelector: ${formatSelector(peer.namespaceSelector)}`);
    else if (peer.ipBlock) {
      w.line(0, `${indent}  IPBlock:`);
      w.line(0, `${indent}    CIDR: ${peer.ipBlock.cidr}`);
      w.line(0, `${indent}    Except: ${(peer.ipBlock.except ?? []).join(", ")}`);
    }
  }
}

export const networkPolicy: Describer = {
  kind: "NetworkPolicy",
  group: "networking.k8s.io",
  async describe(w, object) {
    const { metadata, spec = {} } = object;
    heading(w, object);
    const created = metadata.creationTimestamp ? longTime(metadata.creationTimestamp) : "";
    w.line(
      0,
      `Created on:\t${created.replace(/^\w+, (\d+) (\w+) (\d+) (.*)$/, (_, day, month, year, rest) => `${year}-${String(["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"].indexOf(month) + 1).padStart(2, "0")}-${day} ${rest} UTC`)}`,
    );
    labelsAndAnnotations(w, metadata);
    w.line(0, "Spec:");
    w.write(0, "  PodSelector: ");
    const selector = formatSelector(spec.podSelector);
    w.line(
      0,
      selector === "<none>"
        ? "    <none> (Allowing the specific traffic to all pods in this namespace)"
        : `    ${selector}`,
    );
    const types: string[] = spec.policyTypes ?? [];
    const none = "<none> (Selected pods are isolated for";
    if (types.includes("Ingress")) {
      w.line(0, "  Allowing ingress traffic:");
      const rules: any[] = spec.ingress ?? [];
      if (rules.length === 0) w.line(0, `    ${none} ingress connectivity)`);
      rules.forEach((rule, i) => {
        policyPorts(w, "    ", rule.ports);
        policyPeers(w, "    ", "From", rule.from);
        if (i < rules.length - 1) w.line(0, "    ----------");
      });
    } else w.line(0, "  Not affecting ingress traffic");
    if (types.includes("Egress")) {
      w.line(0, "  Allowing egress traffic:");
      const rules: any[] = spec.egress ?? [];
      if (rules.length === 0) w.line(0, `    ${none} egress connectivity)`);
      rules.forEach((rule, i) => {
        policyPorts(w, "    ", rule.ports);
        policyPeers(w, "    ", "To", rule.to);
        if (i < rules.length - 1) w.line(0, "    ----------");
      });
    } else w.line(0, "  Not affecting egress traffic");
    w.line(0, `  Policy Types: ${types.join(", ")}`);
  },
};
