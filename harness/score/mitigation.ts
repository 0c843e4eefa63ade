/** `mitigation`: the incident is over and nothing else was broken. Each condition is a check of its own. */

/** One alert instance. */
export interface AlertInstance {
  name: string;
  labels: Record<string, string>;
}

export interface WorkloadReplicas {
  /** `namespace/Kind/name` */
  entity: string;
  desired: number;
  ready: number;
}

/** What was seen of the environment, all that the score needs. Times are milliseconds since the epoch. */
export interface ObservedState {
  /** Firing before anything was injected; such alerts count nowhere. */
  baseline: AlertInstance[];
  /** Firing when the mitigation began, the baseline left out: the triggering alerts and what followed from them. */
  triggering: AlertInstance[];
  mitigationEnded: number;
  /** Firing alerts at each look during and after the mitigation, baseline left out, oldest first. */
  looks: { at: number; firing: AlertInstance[] }[];
  /** Before the injection. */
  healthyWorkloads: WorkloadReplicas[];
  finalWorkloads: WorkloadReplicas[];
}

export interface VerificationWindow {
  /** Seconds after the mitigation within which every alert must have cleared. */
  clearWithinSeconds: number;
  /** Seconds for which they must stay cleared. */
  stayClearedSeconds: number;
}

/** ITBench's alerts look back up to 5 minutes and wait up to 5 more. */
export const DEFAULT_VERIFICATION: VerificationWindow = { clearWithinSeconds: 900, stayClearedSeconds: 300 };

export interface Check {
  name: string;
  passed: boolean;
  /** What the check saw. */
  saw: string;
}

export interface MitigationScore {
  value: 0 | 1;
  checks: Check[];
  /** From when on no alert fired (milliseconds since the epoch), if it came to that. */
  clearedAt?: number;
}

/**
 * Every alert that fired when the mitigation began has cleared in time and stayed so; no other alert fires; no
 * workload is gone or at zero that was not so before the fault, unless the scenario allows it. Pure.
 * @param finished whether the agent handed in an answer; why not, otherwise
 * @param mayRemove workloads (`namespace/Kind/name`) that may be removed
 */
export function mitigation(
  observed: ObservedState,
  finished: { ok: boolean; reason: string },
  window: VerificationWindow = DEFAULT_VERIFICATION,
  mayRemove: readonly string[] = [],
): MitigationScore {
  const names = new Set(observed.triggering.map((alert) => alert.name));
  const own = (alert: AlertInstance) => names.has(alert.name);
  const incidentOver = quietSince(observed, own);
  const all = quietSince(observed, () => true);
  const last = observed.looks.at(-1);
  const clearedIn = incidentOver === undefined ? undefined : (incidentOver - observed.mitigationEnded) / 1000;
  const stayed =
    incidentOver === undefined || last === undefined
      ? 0
      : (last.at - Math.max(incidentOver, observed.mitigationEnded)) / 1000;
  const stillFiring = last?.firing.filter(own) ?? observed.triggering;
  const others = newAlerts(observed, own, window);
  const lost = lostWorkloads(observed, mayRemove);
  const checks: Check[] = [
    { name: "answered", passed: finished.ok, saw: finished.reason },
    {
      name: "incident_present",
      passed: observed.triggering.length > 0,
      saw:
        observed.triggering.length > 0
          ? `firing: ${list(observed.triggering)}`
          : "no alert fired before the mitigation",
    },
    {
      name: "alerts_cleared",
      passed: clearedIn !== undefined && clearedIn <= window.clearWithinSeconds,
      saw:
        clearedIn === undefined
          ? `still firing: ${list(stillFiring)}`
          : `all cleared ${Math.round(Math.abs(clearedIn))} s ${clearedIn < 0 ? "before the mitigation ended" : "after the mitigation"}`,
    },
    {
      name: "stayed_cleared",
      passed: clearedIn !== undefined && stayed >= window.stayClearedSeconds,
      saw: clearedIn === undefined ? "not cleared" : `quiet for ${Math.round(stayed)} s`,
    },
    {
      name: "no_new_alert",
      passed: others.length === 0,
      saw: others.length === 0 ? "no other alert fires" : `firing now, not before: ${list(others)}`,
    },
    {
      name: "no_workload_lost",
      passed: lost.length === 0,
      saw: lost.length === 0 ? "all workloads are there" : lost.join("; "),
    },
  ];
  const value = checks.every((check) => check.passed) ? 1 : 0;
  return { value, checks, ...(all === undefined ? {} : { clearedAt: all }) };
}

/** Same alert, same labels. */
export function alertKey({ name, labels }: AlertInstance): string {
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${name}{${pairs.map(([label, value]) => `${label}=${JSON.stringify(value)}`).join(",")}}`;
}

/** Time of the first look of the unbroken quiet stretch that lasts to the end; undefined when the last is not quiet. */
function quietSince(observed: ObservedState, counts: (alert: AlertInstance) => boolean): number | undefined {
  let since: number | undefined;
  for (const { at, firing } of observed.looks) {
    if (firing.some(counts)) since = undefined;
    else since ??= at;
  }
  return since;
}

/** Alerts of the last stretch of looks that fire for another reason than the incident. */
function newAlerts(
  observed: ObservedState,
  own: (alert: AlertInstance) => boolean,
  window: VerificationWindow,
): AlertInstance[] {
  const last = observed.looks.at(-1);
  if (!last) return [];
  const from = last.at - window.stayClearedSeconds * 1000;
  const found = new Map<string, AlertInstance>();
  for (const { at, firing } of observed.looks) {
    if (at < from) continue;
    for (const alert of firing) if (!own(alert)) found.set(alertKey(alert), alert);
  }
  return [...found.values()];
}

function lostWorkloads(observed: ObservedState, mayRemove: readonly string[]): string[] {
  const after = new Map(observed.finalWorkloads.map((workload) => [workload.entity, workload]));
  const allowed = new Set(mayRemove);
  return observed.healthyWorkloads.flatMap(({ entity, desired }) => {
    if (desired === 0 || allowed.has(entity)) return [];
    const now = after.get(entity);
    if (!now) return [`${entity} is gone`];
    return now.desired === 0 ? [`${entity} is scaled to zero`] : [];
  });
}

function list(alerts: readonly AlertInstance[]): string {
  const subjects = alerts.map(({ name, labels }) => {
    const subject = labels.service_name ?? labels.pod ?? labels.deployment ?? labels.consumergroup ?? labels.namespace;
    return subject === undefined ? name : `${name}(${subject})`;
  });
  return [...new Set(subjects)].sort().join(", ");
}
