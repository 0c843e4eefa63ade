/** Looks at an environment: is it healthy, has the incident begun, is it over. */
import type { Alert, Environment } from "../../testbed/environment.js";
import { type AlertInstance, alertKey, type ObservedState, type VerificationWindow } from "../score/index.js";

/** The environment is not fit for a trial. */
export class UnhealthyEnvironmentError extends Error {
  override name = "UnhealthyEnvironmentError";
}

/** The fault was injected, and no alert told of it. */
export class NoAlertError extends Error {
  override name = "NoAlertError";
}

const POLL_SECONDS = 15;
/** Alerts that fire in health, by design: they show that alerting itself works. */
const ALWAYS_FIRING = new Set(["Watchdog", "InfoInhibitor"]);

export function instance({ name, labels }: Alert): AlertInstance {
  return { name, labels };
}

/**
 * Firing alerts of an environment into which nothing was injected yet.
 * @throws UnhealthyEnvironmentError when one of `expected` fires already, or a workload is not ready
 */
export async function checkHealth(environment: Environment, expected: readonly string[]): Promise<AlertInstance[]> {
  const firing = (await environment.alerts()).filter((alert) => alert.state === "firing");
  const early = firing.filter((alert) => expected.includes(alert.name));
  if (early.length > 0) {
    throw new UnhealthyEnvironmentError(
      `before anything was injected, ${[...new Set(early.map((alert) => alert.name))].join(", ")} fires already`,
    );
  }
  const lame = (await environment.workloads()).filter((workload) => workload.ready < workload.desired);
  if (lame.length > 0) {
    const names = lame.map((workload) => `${workload.entity} (${workload.ready}/${workload.desired})`);
    throw new UnhealthyEnvironmentError(`before anything was injected, not ready: ${names.join(", ")}`);
  }
  return firing.map(instance);
}

/** Alerts that are not of the baseline and do not fire by design. */
export function incidentAlerts(alerts: readonly Alert[], baseline: readonly AlertInstance[]): Alert[] {
  const known = new Set(baseline.map(alertKey));
  return alerts.filter((alert) => !ALWAYS_FIRING.has(alert.name) && !known.has(alertKey(alert)));
}

/**
 * Lets time pass until each of `names` fires (any alert when empty). When only some do in time, goes on with those,
 * and says which are missing.
 * @throws NoAlertError when none fires within `timeoutSeconds`
 */
export async function awaitIncident(
  environment: Environment,
  names: readonly string[],
  baseline: readonly AlertInstance[],
  timeoutSeconds: number,
  signal?: AbortSignal,
): Promise<{ firing: Alert[]; missing: string[] }> {
  const deadline = environment.clock.now() + timeoutSeconds * 1000;
  for (;;) {
    signal?.throwIfAborted();
    const firing = incidentAlerts(await environment.alerts(), baseline).filter((alert) => alert.state === "firing");
    const fired = new Set(firing.map((alert) => alert.name));
    const missing = names.filter((name) => !fired.has(name));
    if (firing.length > 0 && missing.length === 0) return { firing, missing };
    if (environment.clock.now() >= deadline) {
      if (firing.length > 0) return { firing, missing };
      const what = names.length > 0 ? names.join(", ") : "no alert";
      throw new NoAlertError(
        `${timeoutSeconds} s after the injection ${names.length > 0 ? `none of ${what} fires` : "no alert fires"}`,
      );
    }
    await environment.clock.sleep(POLL_SECONDS, signal);
  }
}

/**
 * Looks on after a mitigation until no alert has fired for the whole window, or it is clear that it came too late. While
 * an alert is pending the last look is put off, up to the deadline: what the agent broke may need time to show.
 */
export async function watchRecovery(
  environment: Environment,
  baseline: readonly AlertInstance[],
  window: VerificationWindow,
  signal?: AbortSignal,
): Promise<ObservedState["looks"]> {
  const began = environment.clock.now();
  const deadline = began + window.clearWithinSeconds * 1000;
  const looks: ObservedState["looks"] = [];
  let quietSince: number | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const now = environment.clock.now();
    const alerts = incidentAlerts(await environment.alerts(), baseline);
    const firing = alerts.filter((alert) => alert.state === "firing").map(instance);
    looks.push({ at: now, firing });
    quietSince = firing.length > 0 ? undefined : (quietSince ?? now);
    const stayed = quietSince !== undefined && now - quietSince >= window.stayClearedSeconds * 1000;
    if (stayed && (alerts.length === 0 || now >= deadline)) return looks;
    if (quietSince === undefined && now >= deadline) return looks;
    await environment.clock.sleep(POLL_SECONDS, signal);
  }
}
