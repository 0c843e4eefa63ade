import { conditionTable, events, heading, labelsAndAnnotations, longTime } from "./common.js";
import type { Describer } from "./describer.js";
import type { Description } from "./writer.js";

function target(t: any): string {
  if (t?.averageUtilization !== undefined) return `${t.averageUtilization}%`;
  return t?.averageValue ?? t?.value ?? "<auto>";
}

function metric(w: Description, spec: any, current: any): void {
  const type = spec.type as string;
  const field = type.charAt(0).toLowerCase() + type.slice(1);
  const s = spec[field] ?? {};
  const now = current?.[field]?.current;
  const average = s.target?.averageUtilization === undefined;
  const value =
    now === undefined
      ? "<unknown>"
      : average
        ? (now.averageValue ?? now.value ?? "<unknown>")
        : now.averageUtilization === undefined
          ? "<unknown>"
          : `${now.averageUtilization}% (${now.averageValue ?? "0"})`;
  switch (type) {
    case "Resource":
      w.line(
        1,
        `resource ${s.name} on pods${average ? "" : "  (as a percentage of request)"}:\t${value} / ${target(s.target)}`,
      );
      break;
    case "ContainerResource":
      w.line(
        1,
        `resource ${s.name} of container "${s.container}" on pods${average ? "" : "  (as a percentage of request)"}:\t${value} / ${target(s.target)}`,
      );
      break;
    case "Pods":
      w.line(1, `"${s.metric?.name}" on pods:\t${value} / ${target(s.target)}`);
      break;
    case "Object":
      w.line(
        1,
        `"${s.metric?.name}" on ${s.describedObject?.kind}/${s.describedObject?.name} (target value):\t${value} / ${target(s.target)}`,
      );
      break;
    case "External":
      w.line(
        1,
        `"${s.metric?.name}" (${s.target?.averageValue ? "target average value" : "target value"}):\t${value} / ${target(s.target)}`,
      );
      break;
    default:
      w.line(1, `<unknown metric type "${type}">`);
  }
}

function direction(w: Description, title: string, rules: any): void {
  if (!rules) return;
  w.line(1, `${title}:`);
  if (rules.stabilizationWindowSeconds !== undefined)
    w.field(2, "Stabilization Window", `${rules.stabilizationWindowSeconds} seconds`);
  if (rules.policies?.length) {
    if (rules.selectPolicy) w.field(2, "Select Policy", rules.selectPolicy);
    w.line(2, "Policies:");
    for (const p of rules.policies)
      w.line(3, `- Type: ${p.type}\tValue: ${p.value}\tPeriod: ${p.periodSeconds} seconds`);
  }
}

export const horizontalPodAutoscaler: Describer = {
  kind: "HorizontalPodAutoscaler",
  group: "autoscaling",
  async describe(w, object, d) {
    const { metadata, spec, status = {} } = object;
    heading(w, object);
    labelsAndAnnotations(w, metadata);
    w.field(0, "CreationTimestamp", longTime(metadata.creationTimestamp));
    w.field(0, "Reference", `${spec.scaleTargetRef?.kind}/${spec.scaleTargetRef?.name}`);
    w.field(0, "Metrics", "( current / target )");
    (spec.metrics ?? []).forEach((m: any, i: number) => {
      metric(w, m, status.currentMetrics?.[i]);
    });
    w.field(0, "Min replicas", spec.minReplicas ?? "<unset>");
    w.field(0, "Max replicas", spec.maxReplicas);
    if (spec.behavior) {
      w.line(0, "Behavior:");
      direction(w, "Scale Up", spec.behavior.scaleUp);
      direction(w, "Scale Down", spec.behavior.scaleDown);
    }
    w.field(
      0,
      `${spec.scaleTargetRef?.kind} pods`,
      `${status.currentReplicas ?? 0} current / ${status.desiredReplicas ?? 0} desired`,
    );
    conditionTable(
      w,
      status.conditions,
      [
        ["Type", "type"],
        ["Status", "status"],
        ["Reason", "reason"],
        ["Message", "message"],
      ],
      "none",
    );
    await events(w, d);
  },
};
