/** Pod disruption budgets: how many of their pods may be taken down now. */
import { type KubeObject, timestamp } from "../objects.js";
import { intOrPercent } from "./fields.js";
import { keyOf, splitKey } from "./keys.js";
import { controllerOf } from "./owners.js";
import type { Plane } from "./plane.js";
import { isActive, isReady } from "./pods.js";
import { isEmptySelector, selects } from "./selectors.js";
import { replaceStatus } from "./status.js";

const BUDGETS = "poddisruptionbudgets.policy";
const OWNERS: Record<string, string> = {
  ReplicaSet: "replicasets.apps",
  StatefulSet: "statefulsets.apps",
  ReplicationController: "replicationcontrollers",
};

export function startDisruptionBudgets(plane: Plane): void {
  const queue = plane.queue((key) => sync(plane, key));
  plane.follow(BUDGETS, queue);
  plane.watch("pods", ({ object }) => {
    for (const budget of plane.api.list(BUDGETS, object.metadata.namespace)) {
      if (selects(budget.spec?.selector, object.metadata.labels)) queue.add(keyOf(budget));
    }
  });
}

function sync(plane: Plane, key: string): void {
  const { api } = plane;
  const { namespace, name } = splitKey(key);
  const budget = api.get(BUDGETS, namespace, name);
  if (budget === undefined) return;
  const all = isEmptySelector(budget.spec.selector);
  const pods = api
    .list("pods", namespace)
    .filter((pod) => isActive(pod) && (all || selects(budget.spec.selector, pod.metadata.labels)));
  if (pods.length === 0) {
    const detail = {
      type: "Normal",
      reason: "NoPods",
      message: "No matching pods found",
      component: "controllermanager",
    };
    api.event(budget, { ...detail, type: "Normal" });
  }
  const { expected, desired } = expectations(plane, budget, pods);
  const healthy = pods.filter(isReady).length;
  const allowed = expected > 0 ? Math.max(0, healthy - desired) : 0;
  const conditions = condition(budget, allowed, timestamp(plane.clock.now()));
  const status = {
    ...budget.status,
    conditions,
    currentHealthy: healthy,
    desiredHealthy: desired,
    disruptionsAllowed: allowed,
    expectedPods: expected,
    observedGeneration: budget.metadata.generation ?? 1,
  };
  replaceStatus(api, BUDGETS, budget, status);
}

function expectations(plane: Plane, budget: KubeObject, pods: KubeObject[]): { expected: number; desired: number } {
  const { maxUnavailable, minAvailable } = budget.spec;
  if (typeof minAvailable === "number") return { expected: pods.length, desired: minAvailable };
  const expected = scaleOf(plane, pods);
  if (maxUnavailable !== undefined) {
    return { expected, desired: Math.max(0, expected - intOrPercent(maxUnavailable, expected, "up")) };
  }
  return { expected, desired: intOrPercent(minAvailable ?? 0, expected, "up") };
}

/** What the pods' controllers ask for together; the pods themselves where they have none. */
function scaleOf(plane: Plane, pods: KubeObject[]): number {
  const sizes = new Map<string, number>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    const resource = owner && OWNERS[owner.kind];
    const found = resource && plane.api.get(resource, pod.metadata.namespace, owner.name);
    if (owner && found) sizes.set(owner.uid, found.spec?.replicas ?? 1);
    else sizes.set(pod.metadata.uid ?? "", 1);
  }
  let sum = 0;
  for (const size of sizes.values()) sum += size;
  return sum;
}

function condition(budget: KubeObject, allowed: number, now: string): any[] {
  const status = allowed > 0 ? "True" : "False";
  const before: any[] = budget.status?.conditions ?? [];
  const current = before.find((entry) => entry.type === "DisruptionAllowed");
  const entry = {
    lastTransitionTime: current?.status === status ? current.lastTransitionTime : now,
    message: "",
    observedGeneration: budget.metadata.generation ?? 1,
    reason: allowed > 0 ? "SufficientPods" : "InsufficientPods",
    status,
    type: "DisruptionAllowed",
  };
  return [...before.filter((each) => each.type !== "DisruptionAllowed"), entry];
}
