/** Alerts, from Prometheus, or from Alertmanager where Prometheus does not answer; and the rules behind them. */
import { type ToolContext, ToolFailure } from "../context.js";
import { getJson } from "../http.js";
import { duration, labelSet, plural, timeOfDay, timestamp } from "../render/text.js";
import { didYouMean, listing } from "../suggest.js";

export interface AlertsQuery {
  /** `all`: firing and pending. */
  state: "firing" | "pending" | "all";
  /** Text that the alert's name or one of its labels must contain. */
  match?: string;
  /** Name of an alert whose rule to show instead. */
  rule?: string;
}

export interface Alert {
  name: string;
  state: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** Milliseconds since the epoch. */
  since: number;
}

const MAX_ALERTS = 60;

/** The alerts, one a line: `Name{labels} firing since ...: summary`. */
export async function runAlertsQuery(query: AlertsQuery, context: ToolContext): Promise<string> {
  if (query.rule !== undefined) return renderRule(query.rule, context);
  const now = context.clock.now();
  const all = (await readAlerts(context)).filter((one) => one.labels.alertname !== "Watchdog");
  const wanted = query.match?.toLowerCase();
  const found = all
    .filter((one) => query.state === "all" || one.state === query.state)
    .filter((one) => wanted === undefined || `${one.name}${labelSet(one.labels)}`.toLowerCase().includes(wanted))
    .sort((a, b) => a.state.localeCompare(b.state) || a.since - b.since || key(a).localeCompare(key(b)));
  const asked = `${query.state === "all" ? "" : `${query.state} `}alerts${wanted === undefined ? "" : ` that match "${query.match}"`}`;
  if (found.length === 0) {
    const others =
      all.length === 0 ? "none in any state" : `${plural(all.length, "alert")} otherwise: ${listing(names(all))}`;
    return `no ${asked} at ${timestamp(now)} (${others})`;
  }
  const lines = found.slice(0, MAX_ALERTS).map((one) => {
    const { alertname: _, ...labels } = one.labels;
    const text = one.annotations.summary ?? one.annotations.description ?? one.annotations.message ?? "";
    const since = `${one.state} since ${timeOfDay(one.since)} (${duration(Math.max(0, (now - one.since) / 1000))})`;
    return `${one.name}${labelSet(labels)} ${since}${text === "" ? "" : `: ${text.replace(/\s+/g, " ").trim()}`}`;
  });
  if (found.length > MAX_ALERTS) lines.push(`... and ${found.length - MAX_ALERTS} more; narrow with "match"`);
  return [
    `${plural(found.length, asked.startsWith("alerts") ? "alert" : `${query.state} alert`)} at ${timestamp(now)}`,
    ...lines,
  ].join("\n");
}

/** All alerts, pending ones too where Prometheus answers. @throws ToolFailure */
export async function readAlerts(context: Pick<ToolContext, "endpoints" | "signal">): Promise<Alert[]> {
  try {
    const json = await getJson(context.endpoints, "prometheus", "/api/v1/alerts", {}, context.signal);
    return (json.data.alerts as any[]).map((one) => ({
      name: one.labels.alertname ?? "?",
      state: one.state,
      labels: one.labels,
      annotations: one.annotations ?? {},
      since: Date.parse(one.activeAt),
    }));
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    const list = await getJson(context.endpoints, "alertmanager", "/api/v2/alerts", {}, context.signal).catch(() => {
      throw error;
    });
    return (list as any[]).map((one) => ({
      name: one.labels.alertname ?? "?",
      state: "firing",
      labels: one.labels,
      annotations: one.annotations ?? {},
      since: Date.parse(one.startsAt),
    }));
  }
}

/** The alert that began first: of those that fire, else of the pending ones; undefined when there is none to read. */
export async function firstAlert(context: ToolContext): Promise<Alert | undefined> {
  let alerts: Alert[];
  try {
    alerts = await readAlerts(context);
  } catch (error) {
    if (error instanceof ToolFailure) return undefined;
    throw error;
  }
  const real = alerts.filter((one) => one.name !== "Watchdog" && !/^(none|info)$/.test(one.labels.severity ?? ""));
  const firing = real.filter((one) => one.state === "firing");
  return (firing.length > 0 ? firing : real).sort((a, b) => a.since - b.since)[0];
}

async function renderRule(name: string, context: ToolContext): Promise<string> {
  const json = await getJson(context.endpoints, "prometheus", "/api/v1/rules", { type: "alert" }, context.signal);
  const rules = (json.data.groups as any[]).flatMap((group) => group.rules as any[]);
  const found = rules.filter((rule) => rule.name === name);
  if (found.length === 0) {
    const known = [...new Set(rules.map((rule) => String(rule.name)))].sort();
    throw new ToolFailure(`there is no alert rule "${name}"${didYouMean(name, known)}`);
  }
  return found
    .map((rule) => {
      const text = rule.annotations?.description ?? rule.annotations?.summary ?? "";
      return `alert: ${rule.name}\nexpr: ${rule.query}\nfor: ${duration(Number(rule.duration ?? 0))}${text === "" ? "" : `\nabout: ${text}`}`;
    })
    .join("\n\n");
}

function names(alerts: readonly Alert[]): string[] {
  return [...new Set(alerts.map((one) => `${one.name} (${one.state})`))].sort();
}

function key(alert: Alert): string {
  return alert.name + labelSet(alert.labels);
}
