/** Persistent volumes, their claims, storage classes. */
import { quantityValue } from "../../../kube/quantity.js";
import type { KindMetrics } from "../object-cache.js";
import { seconds, writeEnum, writeIf } from "./values.js";

export const persistentVolumes: KindMetrics = {
  resource: "persistentvolumes",
  samples({ metadata, spec = {}, status = {} }, write) {
    const labels = { persistentvolume: metadata.name };
    const reclaim = spec.persistentVolumeReclaimPolicy ?? "";
    write(
      "kube_persistentvolume_info",
      { ...labels, storageclass: spec.storageClassName ?? "", reclaim_policy: reclaim },
      1,
    );
    writeIf(write, "kube_persistentvolume_created", labels, seconds(metadata.creationTimestamp));
    const phases = ["Pending", "Available", "Bound", "Released", "Failed"];
    writeEnum(write, "kube_persistentvolume_status_phase", labels, "phase", phases, status.phase);
    write("kube_persistentvolume_capacity_bytes", labels, quantityValue(spec.capacity?.storage));
    if (spec.claimRef !== undefined) {
      const claim = { claim_namespace: spec.claimRef.namespace ?? "", name: spec.claimRef.name ?? "" };
      write("kube_persistentvolume_claim_ref", { ...labels, ...claim }, 1);
    }
  },
};

export const persistentVolumeClaims: KindMetrics = {
  resource: "persistentvolumeclaims",
  samples({ metadata, spec = {}, status = {} }, write) {
    const labels = { namespace: metadata.namespace ?? "", persistentvolumeclaim: metadata.name };
    write(
      "kube_persistentvolumeclaim_info",
      {
        ...labels,
        storageclass: spec.storageClassName ?? "",
        volumename: spec.volumeName ?? "",
        volumemode: spec.volumeMode ?? "",
      },
      1,
    );
    writeIf(write, "kube_persistentvolumeclaim_created", labels, seconds(metadata.creationTimestamp));
    const phases = ["Pending", "Bound", "Lost"];
    writeEnum(write, "kube_persistentvolumeclaim_status_phase", labels, "phase", phases, status.phase);
    const requested = quantityValue(spec.resources?.requests?.storage);
    write("kube_persistentvolumeclaim_resource_requests_storage_bytes", labels, requested);
    for (const mode of spec.accessModes ?? []) {
      write("kube_persistentvolumeclaim_access_mode", { ...labels, access_mode: mode }, 1);
    }
  },
};

export const storageClasses: KindMetrics = {
  resource: "storageclasses.storage.k8s.io",
  samples({ metadata, provisioner, reclaimPolicy, volumeBindingMode }, write) {
    const labels = { storageclass: metadata.name };
    write(
      "kube_storageclass_info",
      {
        ...labels,
        provisioner: provisioner ?? "",
        reclaim_policy: reclaimPolicy ?? "",
        volume_binding_mode: volumeBindingMode ?? "",
      },
      1,
    );
    writeIf(write, "kube_storageclass_created", labels, seconds(metadata.creationTimestamp));
  },
};
