/** A container's environment and mounted files, as the kubelet would make them from the objects of the moment. */
import type { KubeApi } from "../kube/api.js";
import type { KubeObject } from "../kube/objects.js";

/**
 * Variables of a container: `envFrom`, then `env` in order, `$(NAME)` replaced by variables that stand before it. A
 * reference to an object that is not there is left out (the kubelet refuses to start such a container before we are asked).
 */
export function containerVariables(kube: KubeApi, pod: KubeObject, container: any): Map<string, string> {
  const namespace = pod.metadata.namespace;
  const variables = new Map<string, string>();
  for (const source of container.envFrom ?? []) {
    const data = source.configMapRef
      ? kube.get("configmaps", namespace, source.configMapRef.name)?.data
      : decoded(kube.get("secrets", namespace, source.secretRef?.name));
    for (const [key, value] of Object.entries(data ?? {})) variables.set(`${source.prefix ?? ""}${key}`, String(value));
  }
  for (const entry of container.env ?? []) {
    const value = entry.valueFrom === undefined ? entry.value : fromSource(kube, pod, container, entry.valueFrom);
    if (value !== undefined) variables.set(entry.name, expand(String(value), variables));
    else if (entry.valueFrom === undefined) variables.set(entry.name, "");
  }
  return variables;
}

/** Replaces `$(NAME)`; `$$(NAME)` stands for itself, an unknown name stays as written. */
function expand(text: string, variables: ReadonlyMap<string, string>): string {
  if (!text.includes("$")) return text;
  return text.replaceAll(/\$\$|\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)/g, (match, name) =>
    match === "$$" ? "$" : (variables.get(name) ?? match),
  );
}

function fromSource(kube: KubeApi, pod: KubeObject, container: any, source: any): string | undefined {
  const namespace = pod.metadata.namespace;
  if (source.configMapKeyRef) {
    return kube.get("configmaps", namespace, source.configMapKeyRef.name)?.data?.[source.configMapKeyRef.key];
  }
  if (source.secretKeyRef) {
    return decoded(kube.get("secrets", namespace, source.secretKeyRef.name))?.[source.secretKeyRef.key];
  }
  if (source.fieldRef) return podField(pod, source.fieldRef.fieldPath);
  if (source.resourceFieldRef) {
    const [kind, resource] = String(source.resourceFieldRef.resource).split(".");
    return container.resources?.[kind ?? ""]?.[resource ?? ""];
  }
  return undefined;
}

function podField(pod: KubeObject, path: string): string | undefined {
  const keyed = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (keyed) return pod.metadata[keyed[1] as "labels" | "annotations"]?.[keyed[2]!] ?? "";
  let value: any = pod;
  for (const part of path.split(".")) value = value?.[part];
  return value === undefined ? undefined : String(value);
}

function decoded(secret: KubeObject | undefined): Record<string, string> | undefined {
  if (secret?.data === undefined) return undefined;
  const entries = Object.entries(secret.data as Record<string, string>);
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));
}

/**
 * Text of the file at `path` in a container: from a ConfigMap or Secret volume as it stands now, or from `written`, what
 * other containers of the pod wrote to its emptyDir volumes (by `volume/relative path`).
 */
export function containerFile(
  kube: KubeApi,
  pod: KubeObject,
  container: any,
  path: string,
  written?: ReadonlyMap<string, string>,
): string | undefined {
  for (const mount of container.volumeMounts ?? []) {
    const inside = relative(mount.mountPath, path);
    if (inside === undefined) continue;
    const file = inside === "" && mount.subPath ? mount.subPath : inside;
    const text = volumeFile(kube, pod, mount.name, file, written);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The file `path` of a container as `volume/relative path`, where it lies in an emptyDir. */
export function writablePlace(pod: KubeObject, container: any, path: string): string | undefined {
  for (const mount of container.volumeMounts ?? []) {
    const inside = relative(mount.mountPath, path);
    const volume = pod.spec?.volumes?.find((candidate: any) => candidate.name === mount.name);
    if (inside !== undefined && volume?.emptyDir !== undefined) return `${mount.name}/${inside}`;
  }
  return undefined;
}

/** Every file of a container's ConfigMap volumes whose name ends in `suffix`. */
export function configFiles(kube: KubeApi, pod: KubeObject, container: any, suffix: string): string[] {
  const texts: string[] = [];
  for (const mount of container.volumeMounts ?? []) {
    const volume = pod.spec?.volumes?.find((candidate: any) => candidate.name === mount.name);
    const data = volume?.configMap && kube.get("configmaps", pod.metadata.namespace, volume.configMap.name)?.data;
    for (const [name, text] of Object.entries((data ?? {}) as Record<string, string>)) {
      if (name.endsWith(suffix)) texts.push(text);
    }
  }
  return texts;
}

function volumeFile(
  kube: KubeApi,
  pod: KubeObject,
  name: string,
  file: string,
  written: ReadonlyMap<string, string> | undefined,
): string | undefined {
  const volume = pod.spec?.volumes?.find((candidate: any) => candidate.name === name);
  if (volume?.configMap) {
    const items = volume.configMap.items as { key: string; path: string }[] | undefined;
    const key = items ? items.find((item) => item.path === file)?.key : file;
    return key === undefined
      ? undefined
      : kube.get("configmaps", pod.metadata.namespace, volume.configMap.name)?.data?.[key];
  }
  if (volume?.secret) return decoded(kube.get("secrets", pod.metadata.namespace, volume.secret.secretName))?.[file];
  return written?.get(`${name}/${file}`);
}

function relative(folder: string, path: string): string | undefined {
  const base = folder.endsWith("/") ? folder.slice(0, -1) : folder;
  if (path === base) return "";
  return path.startsWith(`${base}/`) ? path.slice(base.length + 1) : undefined;
}
