/**
 * Changes a workload's template so that no old pod survives the change. A rolling update would keep the old pods until new
 * ones are ready, which they never are; so, as ITBench does, the workload goes to 0 replicas and back. Template and
 * revision are those of one ordinary update: `kubectl rollout undo` brings back the template that stood before.
 */
import type { KubeApi } from "../kube/api.js";
import type { KubeObject } from "../kube/objects.js";
import type { Injected } from "./mechanism.js";
import type { Target } from "./target.js";
import { entityOf, find, resourceOf } from "./target.js";

/** Who writes: what `kubectl get -o yaml --show-managed-fields` shows. Nothing in it says fault. */
const MANAGER = "kubectl-edit";
const POLL_MS = 1000;
/** Old pods are given this long to end. */
const PATIENCE_MS = 120_000;

/** Changes the pod template of `target` with `change`, and replaces all pods. */
export function changeTemplate(kube: KubeApi, target: Target, change: (template: any) => void): Injected {
  const resource = resourceOf(target);
  const { namespace, name } = target.metadata;
  const before = structuredClone(find(kube, target)!);
  const replicas: number = before.spec.replicas ?? 1;
  const write = (draft: (object: KubeObject) => void) =>
    kube.modify(resource, namespace, name, draft, { manager: MANAGER });
  write((draft) => {
    change(draft.spec.template);
    draft.spec.replicas = 0;
  });
  const deadline = kube.clock.now() + PATIENCE_MS;
  const timer = kube.clock.every(POLL_MS, () => {
    if (podsOf(kube, before).length > 0 && kube.clock.now() < deadline) return;
    timer.cancel();
    // Somebody else may have scaled it meanwhile: that stands.
    write((draft) => {
      if (draft.spec.replicas === 0) draft.spec.replicas = replicas;
    });
  });
  return {
    entities: [entityOf(target)],
    undo() {
      timer.cancel();
      write((draft) => {
        draft.spec.template = structuredClone(before.spec.template);
        draft.spec.replicas = replicas;
      });
    },
  };
}

/** Pods that the workload's selector selects and that have not ended. */
export function podsOf(kube: KubeApi, workload: KubeObject): KubeObject[] {
  const wanted = Object.entries((workload.spec?.selector?.matchLabels ?? {}) as Record<string, string>);
  return kube
    .list("pods", workload.metadata.namespace)
    .filter((pod) => wanted.every(([key, value]) => pod.metadata.labels?.[key] === value));
}

/** True when the template that stands has the change; its pods follow as the clock goes on. */
export function stands(kube: KubeApi, target: Target, isChanged: (template: any) => boolean): boolean {
  const workload = find(kube, target);
  return workload !== undefined && isChanged(workload.spec.template);
}
