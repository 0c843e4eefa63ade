/** The condition of a pod that is about to be taken down by somebody else than its owner. */
import { type KubeObject, timestamp } from "../objects.js";
import { MANAGER } from "./owners.js";
import type { Plane } from "./plane.js";

export interface Disruption {
  reason: string;
  message: string;
  /** The pod's phase from now on, where it changes. */
  phase?: string;
  /** Field manager, when it is not the controller manager. */
  manager?: string;
}

/** Writes the DisruptionTarget condition. */
export function markDisrupted(plane: Plane, pod: KubeObject, disruption: Disruption): void {
  const { reason, message, phase, manager = MANAGER } = disruption;
  const lastTransitionTime = timestamp(plane.clock.now());
  const change = (draft: KubeObject) => {
    draft.status ??= {};
    const rest = (draft.status.conditions ?? []).filter((entry: any) => entry.type !== "DisruptionTarget");
    const entry = { type: "DisruptionTarget", status: "True", reason, message, lastTransitionTime };
    draft.status.conditions = [...rest, entry];
    if (phase) draft.status.phase = phase;
  };
  plane.api.modify("pods", pod.metadata.namespace, pod.metadata.name, change, { manager, subresource: "status" });
}
