/** Arithmetic and conditions of deployments: pure functions, named after what the rollout asks. */
import type { KubeObject } from "../objects.js";
import { intOrPercent, same } from "./fields.js";
import { createdAt } from "./plane.js";

export const REVISION = "deployment.kubernetes.io/revision";
export const REVISION_HISTORY = "deployment.kubernetes.io/revision-history";
export const DESIRED = "deployment.kubernetes.io/desired-replicas";
export const MAX_REPLICAS = "deployment.kubernetes.io/max-replicas";
export const TEMPLATE_HASH = "pod-template-hash";

/** Annotations of a deployment that its replica sets do not inherit. */
const NOT_COPIED = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  REVISION,
  REVISION_HISTORY,
  DESIRED,
  MAX_REPLICAS,
  "deprecated.deployment.rollback.to",
]);
/** Kubernetes means "no deadline" by the largest 32-bit integer. */
const NO_DEADLINE = 2147483647;

export const desired = (object: KubeObject): number => object.spec?.replicas ?? 1;
export const sumDesired = (sets: KubeObject[]): number => sets.reduce((sum, set) => sum + desired(set), 0);
export const sumStatus = (sets: KubeObject[], field: string): number =>
  sets.reduce((sum, set) => sum + (set.status?.[field] ?? 0), 0);
export const active = (sets: KubeObject[]): KubeObject[] => sets.filter((set) => desired(set) > 0);
export const isRolling = (deployment: KubeObject): boolean => deployment.spec?.strategy?.type !== "Recreate";
export const revisionOf = (object: KubeObject): number => Number(object.metadata.annotations?.[REVISION] ?? 0) || 0;
export const byAge = (sets: KubeObject[]): KubeObject[] =>
  [...sets].sort((a, b) => createdAt(a) - createdAt(b) || compareNames(a, b));
export const hasDeadline = (deployment: KubeObject): boolean =>
  (deployment.spec?.progressDeadlineSeconds ?? NO_DEADLINE) !== NO_DEADLINE;

function compareNames(a: KubeObject, b: KubeObject): number {
  return a.metadata.name < b.metadata.name ? -1 : a.metadata.name > b.metadata.name ? 1 : 0;
}

/** Pods that a rolling update may have beyond, and may lack of, the desired number. */
export function fences(deployment: KubeObject): { maxSurge: number; maxUnavailable: number } {
  const replicas = desired(deployment);
  if (!isRolling(deployment)) return { maxSurge: 0, maxUnavailable: 0 };
  const rolling = deployment.spec?.strategy?.rollingUpdate ?? {};
  const maxSurge = intOrPercent(rolling.maxSurge ?? "25%", replicas, "up");
  let maxUnavailable = intOrPercent(rolling.maxUnavailable ?? "25%", replicas, "down");
  if (maxSurge === 0 && maxUnavailable === 0) maxUnavailable = 1;
  return { maxSurge, maxUnavailable: Math.min(maxUnavailable, replicas) };
}

/** Templates are equal when they differ in nothing but the hash label that the controller adds. */
export function sameTemplate(a: any, b: any): boolean {
  return same(withoutHash(a), withoutHash(b));
}

function withoutHash(template: any): any {
  if (template?.metadata?.labels?.[TEMPLATE_HASH] === undefined) return template;
  const { [TEMPLATE_HASH]: _, ...labels } = template.metadata.labels;
  return { ...template, metadata: { ...template.metadata, labels } };
}

/** The oldest replica set with the deployment's template. */
export function findNew(deployment: KubeObject, sets: KubeObject[]): KubeObject | undefined {
  return byAge(sets).find((set) => sameTemplate(set.spec?.template, deployment.spec?.template));
}

/** Size of the new replica set as far as the surge allows it to grow now. */
export function newReplicas(deployment: KubeObject, sets: KubeObject[], newSize: number): number {
  if (!isRolling(deployment)) return desired(deployment);
  const room = desired(deployment) + fences(deployment).maxSurge - sumDesired(sets);
  if (room <= 0) return newSize;
  return newSize + Math.min(room, desired(deployment) - newSize);
}

/** Annotations that the new replica set should carry: the deployment's own, and the revision that it stands for. */
export function replicaSetAnnotations(
  deployment: KubeObject,
  current: Record<string, string> | undefined,
  revision: number,
): Record<string, string> {
  const annotations: Record<string, string> = { ...current };
  for (const [key, value] of Object.entries(deployment.metadata.annotations ?? {})) {
    if (!NOT_COPIED.has(key)) annotations[key] = value;
  }
  const old = annotations[REVISION];
  if ((Number(old) || 0) < revision) {
    annotations[REVISION] = String(revision);
    if (old !== undefined) {
      const history = annotations[REVISION_HISTORY];
      annotations[REVISION_HISTORY] = history === undefined || history === "" ? old : `${history},${old}`;
    }
  }
  return annotations;
}

export function sizeAnnotations(deployment: KubeObject): Record<string, string> {
  return {
    [DESIRED]: String(desired(deployment)),
    [MAX_REPLICAS]: String(desired(deployment) + fences(deployment).maxSurge),
  };
}

export interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
  lastUpdateTime: string;
  lastTransitionTime: string;
}

/** Replaces a condition unless status and reason stay; the transition time moves only with the status. */
export function setCondition(conditions: Condition[], next: Omit<Condition, "lastTransitionTime">): Condition[] {
  const current = conditions.find((condition) => condition.type === next.type);
  if (current !== undefined && current.status === next.status && current.reason === next.reason) return conditions;
  const lastTransitionTime = current?.status === next.status ? current.lastTransitionTime : next.lastUpdateTime;
  return [...dropCondition(conditions, next.type), { ...next, lastTransitionTime }];
}

export function dropCondition(conditions: Condition[], type: string): Condition[] {
  return conditions.filter((condition) => condition.type !== type);
}

export function isComplete(deployment: KubeObject, status: any): boolean {
  const replicas = desired(deployment);
  return (
    (status.updatedReplicas ?? 0) === replicas &&
    (status.replicas ?? 0) === replicas &&
    (status.availableReplicas ?? 0) === replicas &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  );
}

export function isProgressing(before: any, after: any): boolean {
  const old = (status: any) => (status?.replicas ?? 0) - (status?.updatedReplicas ?? 0);
  return (
    (after.updatedReplicas ?? 0) > (before?.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before?.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before?.availableReplicas ?? 0)
  );
}
