/** Containers, volumes and pod templates. */
import { annotations, labels, longTime, resources, sortedKeys, tolerations, topologySpread } from "./common.js";
import type { Description } from "./writer.js";

function probeText(p: any): string {
  const attributes = `delay=${p.initialDelaySeconds ?? 0}s timeout=${p.timeoutSeconds ?? 0}s period=${p.periodSeconds ?? 0}s #success=${p.successThreshold ?? 0} #failure=${p.failureThreshold ?? 0}`;
  if (p.exec) return `exec [${(p.exec.command ?? []).join(" ")}] ${attributes}`;
  if (p.httpGet) {
    const { scheme = "HTTP", host = "", port, path = "" } = p.httpGet;
    const slash = path === "" || path.startsWith("/") ? "" : "/";
    return `http-get ${scheme.toLowerCase()}://${host}:${port}${slash}${path} ${attributes}`;
  }
  if (p.tcpSocket) return `tcp-socket ${p.tcpSocket.host ?? ""}:${p.tcpSocket.port} ${attributes}`;
  if (p.grpc) return `grpc <pod>:${p.grpc.port} ${p.grpc.service ?? ""} ${attributes}`;
  return `unknown ${attributes}`;
}

function state(w: Description, title: string, value: any): void {
  if (value?.running) {
    w.field(2, title, "Running");
    w.field(3, "Started", longTime(value.running.startedAt));
  } else if (value?.terminated) {
    const t = value.terminated;
    w.field(2, title, "Terminated");
    if (t.reason) w.field(3, "Reason", t.reason);
    if (t.message) w.field(3, "Message", t.message);
    w.field(3, "Exit Code", t.exitCode);
    if (t.signal > 0) w.field(3, "Signal", t.signal);
    w.field(3, "Started", longTime(t.startedAt));
    w.field(3, "Finished", longTime(t.finishedAt));
  } else {
    w.field(2, title, "Waiting");
    if (value?.waiting?.reason) w.field(3, "Reason", value.waiting.reason);
  }
}

/** Values of `fieldRef` that the description of a pod fills in. */
function fieldValue(pod: any, path: string): string {
  const match = /^metadata\.(annotations|labels)\['(.+)'\]$/.exec(path);
  if (match) return pod.metadata?.[match[1] as string]?.[match[2] as string] ?? "";
  if (/^metadata\.(name|namespace|uid)$/.test(path)) return pod.metadata?.[path.slice(9)] ?? "";
  return "";
}

function resourceValue(container: any, ref: any, pod: any): string {
  const source = ref.containerName
    ? (pod?.spec?.containers ?? []).find((c: any) => c.name === ref.containerName)
    : container;
  const [kind, name] = String(ref.resource).split(".");
  const value = source?.resources?.[kind as string]?.[name as string];
  if (value === undefined) return "0";
  const divisor = ref.divisor && ref.divisor !== "0" ? ref.divisor : "1";
  return divisor === "1" && name === "cpu" ? String(Math.ceil(cpu(value))) : bytes(value, divisor);
}

function cpu(text: string): number {
  return text.endsWith("m") ? Number(text.slice(0, -1)) / 1000 : Number(text);
}

function bytes(text: string, divisor: string): string {
  const units: Record<string, number> = {
    Ki: 2 ** 10,
    Mi: 2 ** 20,
    Gi: 2 ** 30,
    k: 1e3,
    M: 1e6,
    G: 1e9,
    m: 1e-3,
    "": 1,
  };
  const value = (t: string) => {
    const match = /^([\d.]+)([A-Za-z]*)$/.exec(t);
    return match ? Number(match[1]) * (units[match[2] as string] ?? 1) : 0;
  };
  return String(Math.ceil(value(text) / value(divisor)));
}

function environment(w: Description, container: any, pod: any): void {
  const from: any[] = container.envFrom ?? [];
  if (from.length > 0) {
    w.line(2, "Environment Variables from:");
    for (const e of from) {
      const source = e.configMapRef ? "ConfigMap" : "Secret";
      const ref = e.configMapRef ?? e.secretRef ?? {};
      w.line(
        3,
        `${ref.name}\t${source}${e.prefix ? ` with prefix '${e.prefix}'` : ""}\tOptional: ${ref.optional === true}`,
      );
    }
  }
  const list: any[] = container.env ?? [];
  w.line(2, `Environment:${list.length === 0 ? "\t<none>" : ""}`);
  for (const e of list) {
    const source = e.valueFrom;
    if (!source) {
      String(e.value ?? "")
        .split("\n")
        .forEach((part, i) => {
          w.line(3, i === 0 ? `${e.name}:\t${part}` : `\t${part}`);
        });
    } else if (source.fieldRef)
      w.line(
        3,
        `${e.name}:\t${pod ? fieldValue(pod, source.fieldRef.fieldPath) : ""} (${source.fieldRef.apiVersion ?? "v1"}:${source.fieldRef.fieldPath})`,
      );
    else if (source.resourceFieldRef)
      w.line(
        3,
        `${e.name}:\t${resourceValue(container, source.resourceFieldRef, pod)} (${source.resourceFieldRef.resource})`,
      );
    else if (source.secretKeyRef)
      w.line(
        3,
        `${e.name}:\t<set to the key '${source.secretKeyRef.key}' in secret '${source.secretKeyRef.name}'>\tOptional: ${source.secretKeyRef.optional === true}`,
      );
    else if (source.configMapKeyRef)
      w.line(
        3,
        `${e.name}:\t<set to the key '${source.configMapKeyRef.key}' of config map '${source.configMapKeyRef.name}'>\tOptional: ${source.configMapKeyRef.optional === true}`,
      );
  }
}

function mounts(w: Description, container: any): void {
  const list: any[] = [...(container.volumeMounts ?? [])].sort((a, b) => (a.mountPath < b.mountPath ? -1 : 1));
  w.line(2, `Mounts:${list.length === 0 ? "\t<none>" : ""}`);
  for (const m of list) {
    const flags = [m.readOnly ? "ro" : "rw", ...(m.subPath ? [`path="${m.subPath}"`] : [])];
    w.line(3, `${m.mountPath} from ${m.name} (${flags.join(",")})`);
  }
  const devices: any[] = container.volumeDevices ?? [];
  if (devices.length > 0) {
    w.line(2, "Devices:");
    for (const device of devices) w.line(3, `${device.devicePath} from ${device.name}`);
  }
}

function ports(w: Description, container: any): void {
  const list: any[] = container.ports ?? [];
  const join = (field: string) => list.map((p) => `${p[field] ?? 0}/${p.protocol ?? "TCP"}`).join(", ");
  const many = list.length > 1 ? "s" : "";
  w.field(2, `Port${many}`, join("containerPort") || "<none>");
  w.field(2, `Host Port${many}`, join("hostPort") || "<none>");
}

/** `pod` fills in field references; `indent` is two blanks inside a template. */
export function containers(
  w: Description,
  title: string,
  list: any[] | undefined,
  statuses: any[] | undefined,
  pod: any,
  indent: string,
): void {
  w.line(0, `${indent}${title}:${list?.length ? "" : " <none>"}`);
  for (const container of list ?? []) {
    const status = statuses?.find((s) => s.name === container.name);
    w.line(1, `${indent ? " " : ""}${container.name}:`);
    if (status) w.field(2, "Container ID", status.containerID ?? "");
    w.field(2, "Image", container.image ?? "");
    if (status) w.field(2, "Image ID", status.imageID ?? "");
    ports(w, container);
    if (container.securityContext?.seccompProfile)
      w.field(2, "SeccompProfile", container.securityContext.seccompProfile.type);
    for (const [label, words] of [
      ["Command", container.command],
      ["Args", container.args],
    ] as const)
      if (words?.length) {
        w.line(2, `${label}:`);
        for (const word of words) for (const part of String(word).split("\n")) w.line(3, part);
      }
    if (status) {
      state(w, "State", status.state);
      if (status.lastState?.terminated) state(w, "Last State", status.lastState);
      w.field(2, "Ready", status.ready ? "True" : "False");
      w.field(2, "Restart Count", status.restartCount ?? 0);
    }
    resources(w, 2, container.resources);
    for (const [label, probe] of [
      ["Liveness", container.livenessProbe],
      ["Readiness", container.readinessProbe],
      ["Startup", container.startupProbe],
    ] as const)
      if (probe) w.field(2, label, probeText(probe));
    environment(w, container, pod);
    mounts(w, container);
  }
}

function projected(source: any): string[] {
  if (source.secret)
    return [`SecretName:\t${source.secret.name}`, `SecretOptionalName:\t${source.secret.optional ?? "<nil>"}`];
  if (source.downwardAPI) return ["DownwardAPI:\ttrue"];
  if (source.configMap)
    return [`ConfigMapName:\t${source.configMap.name}`, `ConfigMapOptional:\t${source.configMap.optional ?? "<nil>"}`];
  if (source.serviceAccountToken)
    return [`TokenExpirationSeconds:\t${source.serviceAccountToken.expirationSeconds ?? 3600}`];
  return [];
}

function volumeLines(v: any): string[] {
  if (v.hostPath)
    return [
      "Type:\tHostPath (bare host directory volume)",
      `Path:\t${v.hostPath.path}`,
      `HostPathType:\t${v.hostPath.type ?? ""}`,
    ];
  if (v.emptyDir)
    return [
      "Type:\tEmptyDir (a temporary directory that shares a pod's lifetime)",
      `Medium:\t${v.emptyDir.medium ?? ""}`,
      `SizeLimit:\t${v.emptyDir.sizeLimit ?? "<unset>"}`,
    ];
  if (v.secret)
    return [
      "Type:\tSecret (a volume populated by a Secret)",
      `SecretName:\t${v.secret.secretName}`,
      `Optional:\t${v.secret.optional === true}`,
    ];
  if (v.configMap)
    return [
      "Type:\tConfigMap (a volume populated by a ConfigMap)",
      `Name:\t${v.configMap.name}`,
      `Optional:\t${v.configMap.optional === true}`,
    ];
  if (v.persistentVolumeClaim)
    return [
      "Type:\tPersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)",
      `ClaimName:\t${v.persistentVolumeClaim.claimName}`,
      `ReadOnly:\t${v.persistentVolumeClaim.readOnly === true}`,
    ];
  if (v.projected)
    return [
      "Type:\tProjected (a volume that contains injected data from multiple sources)",
      ...(v.projected.sources ?? []).flatMap(projected),
    ];
  if (v.downwardAPI)
    return [
      "Type:\tDownwardAPI (a volume populated by information about the pod)",
      "Items:",
      ...(v.downwardAPI.items ?? []).flatMap((item: any) =>
        item.fieldRef ? [`  ${item.fieldRef.fieldPath} -> ${item.path}`] : [],
      ),
    ];
  if (v.csi)
    return [
      "Type:\tCSI (a Container Storage Interface (CSI) volume source)",
      `Driver:\t${v.csi.driver}`,
      `FSType:\t${v.csi.fsType ?? ""}`,
      `ReadOnly:\t${v.csi.readOnly === true}`,
      ...sortedKeys(v.csi.volumeAttributes).map(
        (key, i) => `${i === 0 ? "VolumeAttributes:" : ""}\t${key}=${v.csi.volumeAttributes[key]}`,
      ),
    ];
  if (v.nfs)
    return [
      "Type:\tNFS (an NFS mount that lasts the lifetime of a pod)",
      `Server:\t${v.nfs.server}`,
      `Path:\t${v.nfs.path}`,
      `ReadOnly:\t${v.nfs.readOnly === true}`,
    ];
  if (v.ephemeral)
    return ["Type:\tEphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)"];
  return ["<unknown>"];
}

export function volumes(w: Description, list: any[] | undefined, indent: string): void {
  if (!list?.length) {
    w.line(0, `${indent}Volumes:\t<none>`);
    return;
  }
  w.line(0, `${indent}Volumes:`);
  for (const volume of list) {
    w.line(1, `${indent ? " " : ""}${volume.name}:`);
    for (const text of volumeLines(volume)) w.line(2, text);
  }
}

export function podTemplate(w: Description, template: any): void {
  w.line(0, "Pod Template:");
  const spec = template?.spec ?? {};
  labels(w, "  Labels", template?.metadata?.labels);
  if (sortedKeys(template?.metadata?.annotations).length > 0)
    annotations(w, "  Annotations", template.metadata.annotations);
  if (spec.serviceAccountName) w.field(1, "Service Account", spec.serviceAccountName);
  if (spec.initContainers?.length) containers(w, "Init Containers", spec.initContainers, undefined, undefined, "  ");
  containers(w, "Containers", spec.containers, undefined, undefined, "  ");
  volumes(w, spec.volumes, "  ");
  topologySpread(w, spec.topologySpreadConstraints, "  ");
  if (spec.priorityClassName) w.field(1, "Priority Class Name", spec.priorityClassName);
  labels(w, "  Node-Selectors", spec.nodeSelector);
  tolerations(w, "  Tolerations", spec.tolerations);
}
