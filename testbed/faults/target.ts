/** The object that a fault is about, as ITBench's arguments name it, and what the mechanisms share. */
import { z } from "zod";
import type { KubeApi } from "../kube/api.js";
import type { KubeObject } from "../kube/objects.js";

const metadata = z.object({ name: z.string().min(1), namespace: z.string().min(1) });

export const workloadTarget = z.object({
  apiVersion: z.enum(["apps/v1"]),
  kind: z.enum(["Deployment", "StatefulSet"]),
  metadata,
});
export const serviceTarget = z.object({ apiVersion: z.enum(["v1"]), kind: z.enum(["Service"]), metadata });

export interface Target {
  kind: string;
  metadata: { name: string; namespace: string };
}

const RESOURCES: Readonly<Record<string, string>> = {
  Deployment: "deployments.apps",
  StatefulSet: "statefulsets.apps",
  Service: "services",
  ConfigMap: "configmaps",
};

/** `deployments.apps` for a Deployment ... */
export function resourceOf(target: Target): string {
  const resource = RESOURCES[target.kind];
  if (resource === undefined) throw new RangeError(`no resource known for kind ${target.kind}`);
  return resource;
}

/** `namespace/Kind/name` */
export function entityOf(target: Target): string {
  return `${target.metadata.namespace}/${target.kind}/${target.metadata.name}`;
}

export function find(kube: KubeApi, target: Target): KubeObject | undefined {
  return kube.get(resourceOf(target), target.metadata.namespace, target.metadata.name);
}

/** Says that the target is not there, and what is; undefined when it is there. */
export function missing(kube: KubeApi, target: Target): string | undefined {
  if (find(kube, target) !== undefined) return undefined;
  const { name, namespace } = target.metadata;
  const names = kube.list(resourceOf(target), namespace).map((object) => object.metadata.name);
  const there = names.length === 0 ? "there is none" : `there are: ${names.join(", ")}`;
  return `no ${target.kind} "${name}" in namespace "${namespace}"; ${there}`;
}

/** As `kubectl scale`. @returns what gives the workload its former number of replicas back */
export function scale(kube: KubeApi, target: Target, replicas: number): () => void {
  const before: number = find(kube, target)!.spec.replicas ?? 1;
  const { namespace, name } = target.metadata;
  const set = (to: number) => {
    kube.modify(
      resourceOf(target),
      namespace,
      name,
      (draft) => {
        draft.spec.replicas = to;
      },
      { manager: "kubectl" },
    );
  };
  set(replicas);
  return () => set(before);
}

/** The container of that name in a workload's template. */
export function containerOf(workload: KubeObject, name: string): any {
  return workload.spec?.template?.spec?.containers?.find((container: any) => container.name === name);
}

/** Says that a workload has no container of that name, and which it has. */
export function missingContainer(workload: KubeObject, name: string): string | undefined {
  if (containerOf(workload, name) !== undefined) return undefined;
  const names = (workload.spec?.template?.spec?.containers ?? []).map((container: any) => container.name);
  return `${workload.kind} "${workload.metadata.name}" has no container "${name}"; it has: ${names.join(", ")}`;
}
