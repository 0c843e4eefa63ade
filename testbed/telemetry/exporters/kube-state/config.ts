/** Config maps, secrets, quotas, limit ranges. */
import { quantityValue } from "../../../kube/quantity.js";
import type { KindMetrics } from "../object-cache.js";
import { seconds, writeIf } from "./values.js";

export const configMaps: KindMetrics = {
  resource: "configmaps",
  samples({ metadata }, write) {
    const labels = { namespace: metadata.namespace ?? "", configmap: metadata.name };
    write("kube_configmap_info", labels, 1);
    writeIf(write, "kube_configmap_created", labels, seconds(metadata.creationTimestamp));
    write("kube_configmap_metadata_resource_version", labels, Number(metadata.resourceVersion ?? 0));
  },
};

export const secrets: KindMetrics = {
  resource: "secrets",
  samples({ metadata, type }, write) {
    const labels = { namespace: metadata.namespace ?? "", secret: metadata.name };
    write("kube_secret_info", labels, 1);
    write("kube_secret_type", { ...labels, type: type ?? "Opaque" }, 1);
    writeIf(write, "kube_secret_created", labels, seconds(metadata.creationTimestamp));
    write("kube_secret_metadata_resource_version", labels, Number(metadata.resourceVersion ?? 0));
  },
};

export const resourceQuotas: KindMetrics = {
  resource: "resourcequotas",
  samples({ metadata, status = {} }, write) {
    const labels = { namespace: metadata.namespace ?? "", resourcequota: metadata.name };
    writeIf(write, "kube_resourcequota_created", labels, seconds(metadata.creationTimestamp));
    for (const type of ["hard", "used"] as const) {
      for (const [resource, quantity] of Object.entries(status[type] ?? {})) {
        write("kube_resourcequota", { ...labels, resource, type }, quantityValue(quantity as string));
      }
    }
  },
};

export const limitRanges: KindMetrics = {
  resource: "limitranges",
  samples({ metadata, spec = {} }, write) {
    const labels = { namespace: metadata.namespace ?? "", limitrange: metadata.name };
    writeIf(write, "kube_limitrange_created", labels, seconds(metadata.creationTimestamp));
    for (const limit of spec.limits ?? []) {
      for (const constraint of ["min", "max", "default", "defaultRequest", "maxLimitRequestRatio"]) {
        for (const [resource, quantity] of Object.entries(limit[constraint] ?? {})) {
          const value = quantityValue(quantity as string);
          write("kube_limitrange", { ...labels, resource, type: limit.type ?? "", constraint }, value);
        }
      }
    }
  },
};
