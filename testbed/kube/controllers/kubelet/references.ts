/** ConfigMaps, Secrets and claims that a pod's volumes and environment name, and what is missing of them. */
import type { KubeApi } from "../../api.js";
import type { KubeObject } from "../../objects.js";

/** Why a volume cannot be mounted, in the kubelet's words; undefined when all can. */
export function missingVolume(api: KubeApi, pod: KubeObject): string | undefined {
  const { namespace } = pod.metadata;
  for (const volume of pod.spec?.volumes ?? []) {
    const sources = volume.projected ? (volume.projected.sources ?? []) : [volume];
    for (const source of sources) {
      const why = missingSource(api, namespace, source);
      if (why) return `MountVolume.SetUp failed for volume "${volume.name}" : ${why}`;
    }
  }
  return undefined;
}

function missingSource(api: KubeApi, namespace: string | undefined, source: any): string | undefined {
  if (source.configMap && !source.configMap.optional) {
    const name = source.configMap.name ?? "";
    const map = api.get("configmaps", namespace, name);
    if (map === undefined) return `configmap "${name}" not found`;
    return missingItem(source.configMap.items, { ...map.data, ...map.binaryData });
  }
  if (source.secret && !source.secret.optional) {
    const name = source.secret.secretName ?? source.secret.name ?? "";
    const secret = api.get("secrets", namespace, name);
    if (secret === undefined) return `secret "${name}" not found`;
    return missingItem(source.secret.items, secret.data ?? {});
  }
  return undefined;
}

function missingItem(items: any[] | undefined, data: Record<string, unknown>): string | undefined {
  const missing = items?.find((item) => !(item.key in data));
  return missing && `references non-existent config key: ${missing.key}`;
}

/** Why a container's environment cannot be made, in the kubelet's words; undefined when it can. */
export function missingEnvironment(api: KubeApi, pod: KubeObject, container: any): string | undefined {
  const { namespace } = pod.metadata;
  for (const source of container.envFrom ?? []) {
    const [resource, kind, reference] = source.configMapRef
      ? ["configmaps", "configmap", source.configMapRef]
      : ["secrets", "secret", source.secretRef];
    if (!reference || reference.optional) continue;
    if (api.get(resource, namespace, reference.name) === undefined) return `${kind} "${reference.name}" not found`;
  }
  for (const variable of container.env ?? []) {
    const from = variable.valueFrom ?? {};
    const [resource, kind, reference] = from.configMapKeyRef
      ? ["configmaps", "ConfigMap", from.configMapKeyRef]
      : ["secrets", "Secret", from.secretKeyRef];
    if (!reference || reference.optional) continue;
    const object = api.get(resource, namespace, reference.name);
    if (object === undefined) return `${kind.toLowerCase()} "${reference.name}" not found`;
    const data = { ...object.data, ...object.binaryData };
    if (!(reference.key in data)) return `couldn't find key ${reference.key} in ${kind} ${namespace}/${reference.name}`;
  }
  return undefined;
}
