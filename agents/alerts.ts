/** The alerts that concern a task, as its agent can see them. */
import { type Alert, readAlerts, ToolFailure } from "../tools/index.js";
import type { AgentContext } from "./agent.js";

/**
 * Firing alerts of the task's namespaces, and those that name no namespace; without those that fire by design.
 * Undefined when no server of alerts answers.
 */
export async function firingAlerts({
  endpoints,
  namespaces,
  signal,
}: Pick<AgentContext, "endpoints" | "namespaces" | "signal">): Promise<Alert[] | undefined> {
  try {
    const alerts = await readAlerts({ endpoints, ...(signal ? { signal } : {}) });
    return alerts
      .filter(({ name, state }) => state === "firing" && name !== "Watchdog")
      .filter(({ labels }) => !/^(none|info)$/.test(labels.severity ?? ""))
      .filter(({ labels }) => labels.namespace === undefined || namespaces.includes(labels.namespace));
  } catch (error) {
    if (error instanceof ToolFailure) return undefined;
    throw error;
  }
}

/** What an alert is about: the service, workload or pod that its labels name. */
export function subjectOf({ labels }: Alert): string | undefined {
  return labels.service_name ?? labels.deployment ?? labels.statefulset ?? labels.pod ?? labels.consumergroup;
}
