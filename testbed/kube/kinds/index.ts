/** The rules of each kind, by the resource's name in the store. A kind that is missing here works by its schema alone. */
import { autoscalerFromV1, autoscalerToV1, horizontalPodAutoscaler, podDisruptionBudget } from "./autoscaling.js";
import {
  controllerRevision,
  lease,
  limitRange,
  namespace,
  node,
  priorityClass,
  resourceQuota,
  runtimeClass,
} from "./cluster.js";
import { configMap, secret, serviceAccount } from "./config.js";
import { daemonSet } from "./daemonset.js";
import { customResourceDefinition } from "./definition.js";
import { deployment, replicaSet, replicationController } from "./deployment.js";
import { event, eventFromGroup, eventToGroup } from "./event.js";
import { cronJob, job } from "./job.js";
import { endpointSlice, endpoints, ingress, ingressClass, networkPolicy } from "./network.js";
import { PLAIN } from "./plain.js";
import { pod } from "./pod.js";
import { binding, clusterRole, role } from "./rbac.js";
import type { KindRules } from "./rules.js";
import { service } from "./service.js";
import { statefulSet } from "./statefulset.js";
import { persistentVolume, persistentVolumeClaim, storageClass } from "./storage.js";

const RULES: Record<string, KindRules> = {
  pods: pod,
  "deployments.apps": deployment,
  "replicasets.apps": replicaSet,
  replicationcontrollers: replicationController,
  "statefulsets.apps": statefulSet,
  "daemonsets.apps": daemonSet,
  "controllerrevisions.apps": controllerRevision,
  "jobs.batch": job,
  "cronjobs.batch": cronJob,
  services: service,
  endpoints,
  "endpointslices.discovery.k8s.io": endpointSlice,
  "networkpolicies.networking.k8s.io": networkPolicy,
  "ingresses.networking.k8s.io": ingress,
  "ingressclasses.networking.k8s.io": ingressClass,
  configmaps: configMap,
  secrets: secret,
  serviceaccounts: serviceAccount,
  namespaces: namespace,
  nodes: node,
  events: event,
  persistentvolumeclaims: persistentVolumeClaim,
  persistentvolumes: persistentVolume,
  "storageclasses.storage.k8s.io": storageClass,
  "horizontalpodautoscalers.autoscaling": horizontalPodAutoscaler,
  "poddisruptionbudgets.policy": podDisruptionBudget,
  "priorityclasses.scheduling.k8s.io": priorityClass,
  resourcequotas: resourceQuota,
  limitranges: limitRange,
  "leases.coordination.k8s.io": lease,
  "runtimeclasses.node.k8s.io": runtimeClass,
  "roles.rbac.authorization.k8s.io": role,
  "clusterroles.rbac.authorization.k8s.io": clusterRole,
  "rolebindings.rbac.authorization.k8s.io": binding,
  "clusterrolebindings.rbac.authorization.k8s.io": binding,
  "customresourcedefinitions.apiextensions.k8s.io": customResourceDefinition,
};

export function rulesOf(key: string): KindRules {
  return RULES[key] ?? PLAIN[key] ?? {};
}

/** Versions that are served but not stored, by `group/version/resource`: where they are kept and how they convert. */
export const CONVERSIONS: Record<string, { key: string; toStorage(o: any): any; fromStorage(o: any): any }> = {
  "autoscaling/v1/horizontalpodautoscalers": {
    key: "horizontalpodautoscalers.autoscaling",
    toStorage: autoscalerFromV1,
    fromStorage: autoscalerToV1,
  },
  "events.k8s.io/v1/events": { key: "events", toStorage: eventFromGroup, fromStorage: eventToGroup },
};

export type { Column, KindContext, KindRules } from "./rules.js";
