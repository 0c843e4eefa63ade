/** Objects that are gone: the cluster keeps nothing of them, but kube-state-metrics' series end when they do. */
import { type ToolContext, ToolFailure } from "../context.js";
import { getJson } from "../http.js";
import type { Change } from "./collect.js";

/** Metric prefix and label, by kind. */
const KINDS: Record<string, [string, string]> = {
  Service: ["service", "service"],
  Deployment: ["deployment", "deployment"],
  StatefulSet: ["statefulset", "statefulset"],
  DaemonSet: ["daemonset", "daemonset"],
  ConfigMap: ["configmap", "configmap"],
  Secret: ["secret", "secret"],
  PersistentVolumeClaim: ["persistentvolumeclaim", "persistentvolumeclaim"],
  HorizontalPodAutoscaler: ["horizontalpodautoscaler", "horizontalpodautoscaler"],
  NetworkPolicy: ["networkpolicy", "networkpolicy"],
  Ingress: ["ingress", "ingress"],
  CronJob: ["cronjob", "cronjob"],
};
const STEP_SECONDS = 30;
/** Series that end so shortly before now may only be between two scrapes. */
const RECENT_MS = 90_000;

/** Objects whose series ended between `from` and `now` (milliseconds), and that `existing` does not name. */
export async function goneObjects(
  context: ToolContext,
  namespaces: readonly string[],
  from: number,
  existing: ReadonlySet<string>,
): Promise<Change[]> {
  const now = context.clock.now();
  const prefixes = Object.values(KINDS).map(([prefix]) => prefix);
  const escaped = namespaces.map((one) => one.replace(/[^\w-]/g, "\\\\$&"));
  let result: { metric: Record<string, string>; values: [number, string][] }[];
  try {
    const json = await getJson(
      context.endpoints,
      "prometheus",
      "/api/v1/query_range",
      {
        query: `{__name__=~"kube_(${prefixes.join("|")})_(created|info|labels)",namespace=~"${escaped.join("|")}"}`,
        start: from / 1000,
        end: now / 1000,
        step: Math.max(STEP_SECONDS, Math.ceil((now - from) / 1000 / 2000)),
      },
      context.signal,
    );
    result = json.data.result;
  } catch (error) {
    if (error instanceof ToolFailure) return [];
    throw error;
  }
  const last = new Map<string, number>();
  for (const { metric, values } of result) {
    for (const [kind, [prefix, label]] of Object.entries(KINDS)) {
      if (!metric.__name__?.startsWith(`kube_${prefix}_`) || metric[label] === undefined) continue;
      const entity = `${metric.namespace}/${kind}/${metric[label]}`;
      const time = (values.at(-1)?.[0] ?? 0) * 1000;
      last.set(entity, Math.max(last.get(entity) ?? 0, time));
    }
  }
  return [...last]
    .filter(([entity, time]) => !existing.has(entity) && now - time > 0)
    .map(([entity, time]) => ({
      time,
      entity,
      text: `is gone: last seen by metrics at this time, and ${now - time > RECENT_MS ? "no longer there" : "not there now"}`,
      details: [],
    }));
}
