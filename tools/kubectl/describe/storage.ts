/** Claims, volumes, storage classes. */
import { age, conditionTable, events, formatLabels, heading, labelsAndAnnotations } from "./common.js";
import type { Describer } from "./describer.js";

const SHORT_MODES: Record<string, string> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

function modes(list: string[] | undefined): string {
  return (list ?? []).map((m) => SHORT_MODES[m] ?? m).join(",");
}

export const claim: Describer = {
  kind: "PersistentVolumeClaim",
  group: "",
  async describe(w, object, d) {
    const { metadata, spec, status = {} } = object;
    heading(w, object);
    w.field(
      0,
      "StorageClass",
      spec.storageClassName ?? metadata.annotations?.["volume.beta.kubernetes.io/storage-class"] ?? "",
    );
    w.field(
      0,
      "Status",
      metadata.deletionTimestamp
        ? `Terminating (lasts ${age(metadata.deletionTimestamp, d.context.now())})`
        : (status.phase ?? ""),
    );
    w.field(0, "Volume", spec.volumeName ?? "");
    labelsAndAnnotations(w, metadata);
    w.field(0, "Finalizers", `[${(metadata.finalizers ?? []).join(" ")}]`);
    w.field(0, "Capacity", spec.volumeName ? (status.capacity?.storage ?? "0") : "");
    w.field(0, "Access Modes", spec.volumeName ? modes(status.accessModes) : "");
    w.field(0, "VolumeMode", spec.volumeMode ?? "Filesystem");
    if (spec.dataSource) {
      w.line(0, "DataSource:");
      w.field(1, "Kind", spec.dataSource.kind);
      w.field(1, "Name", spec.dataSource.name);
    }
    const pods = (await d.list("pods")).filter((p) =>
      (p.spec?.volumes ?? []).some((v: any) => v.persistentVolumeClaim?.claimName === metadata.name),
    );
    w.write(0, "Used By:\t");
    if (pods.length === 0) w.line(0, "<none>");
    pods.forEach((p, i) => {
      w.line(0, `${i === 0 ? "" : "\t"}${p.metadata.name}`);
    });
    conditionTable(
      w,
      status.conditions,
      [
        ["Type", "type"],
        ["Status", "status"],
        ["LastProbeTime", "lastProbeTime"],
        ["LastTransitionTime", "lastTransitionTime"],
        ["Reason", "reason"],
        ["Message", "message"],
      ],
      "all",
    );
    await events(w, d);
  },
};

export const volume: Describer = {
  kind: "PersistentVolume",
  group: "",
  async describe(w, object, d) {
    const { metadata, spec, status = {} } = object;
    w.field(0, "Name", metadata.name);
    labelsAndAnnotations(w, metadata);
    w.field(0, "Finalizers", `[${(metadata.finalizers ?? []).join(" ")}]`);
    w.field(0, "StorageClass", spec.storageClassName ?? "");
    w.field(
      0,
      "Status",
      metadata.deletionTimestamp
        ? `Terminating (lasts ${age(metadata.deletionTimestamp, d.context.now())})`
        : (status.phase ?? ""),
    );
    w.field(0, "Claim", spec.claimRef ? `${spec.claimRef.namespace}/${spec.claimRef.name}` : "");
    w.field(0, "Reclaim Policy", spec.persistentVolumeReclaimPolicy ?? "");
    w.field(0, "Access Modes", modes(spec.accessModes));
    w.field(0, "VolumeMode", spec.volumeMode ?? "Filesystem");
    w.field(0, "Capacity", spec.capacity?.storage ?? "");
    w.line(0, `Node Affinity:\t${spec.nodeAffinity ? "" : "<none>"}`);
    for (const [i, term] of (spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).entries()) {
      if (i === 0) w.line(1, "Required Terms:\t");
      const text = (term.matchExpressions ?? []).map(
        (e: any) => `${e.key} ${String(e.operator).toLowerCase()} [${(e.values ?? []).join(", ")}]`,
      );
      w.field(2, `Term ${i}`, text.join("\n               "));
    }
    w.field(0, "Message", status.message ?? "");
    w.line(0, "Source:");
    if (spec.hostPath) {
      w.line(2, "Type:\tHostPath (bare host directory volume)");
      w.field(2, "Path", spec.hostPath.path);
      w.field(2, "HostPathType", spec.hostPath.type ?? "");
    } else if (spec.local) {
      w.line(2, "Type:\tLocalVolume (a persistent volume backed by local storage on a node)");
      w.field(2, "Path", spec.local.path);
    } else if (spec.csi) {
      w.line(2, "Type:\tCSI (a Container Storage Interface (CSI) volume source)");
      w.field(2, "Driver", spec.csi.driver);
      w.field(2, "FSType", spec.csi.fsType ?? "");
      w.field(2, "VolumeHandle", spec.csi.volumeHandle);
      w.field(2, "ReadOnly", spec.csi.readOnly === true);
      w.field(2, "VolumeAttributes", formatLabels(spec.csi.volumeAttributes));
    } else if (spec.nfs) {
      w.line(2, "Type:\tNFS (an NFS mount that lasts the lifetime of a pod)");
      w.field(2, "Server", spec.nfs.server);
      w.field(2, "Path", spec.nfs.path);
      w.field(2, "ReadOnly", spec.nfs.readOnly === true);
    } else w.line(2, "<unknown>");
    await events(w, d);
  },
};

export const storageClass: Describer = {
  kind: "StorageClass",
  group: "storage.k8s.io",
  async describe(w, object, d) {
    const { metadata } = object;
    w.field(0, "Name", metadata.name);
    w.field(
      0,
      "IsDefaultClass",
      metadata.annotations?.["storageclass.kubernetes.io/is-default-class"] === "true" ? "Yes" : "No",
    );
    w.field(0, "Annotations", formatLabels(metadata.annotations));
    w.field(0, "Provisioner", object.provisioner);
    w.field(0, "Parameters", formatLabels(object.parameters));
    w.field(
      0,
      "AllowVolumeExpansion",
      object.allowVolumeExpansion === undefined ? "<unset>" : object.allowVolumeExpansion ? "True" : "False",
    );
    if (!object.mountOptions?.length) w.field(0, "MountOptions", "<none>");
    else {
      w.line(0, "MountOptions:");
      for (const option of object.mountOptions) w.line(1, option);
    }
    w.field(0, "ReclaimPolicy", object.reclaimPolicy ?? "");
    w.field(0, "VolumeBindingMode", object.volumeBindingMode ?? "");
    await events(w, d);
  },
};
