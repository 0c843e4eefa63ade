/** Changes: what was changed before the incident began, newest first. */
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { minutesArgument } from "../arguments.js";
import { chosenNamespaces, withCluster } from "../cluster.js";
import type { ToolContext } from "../context.js";
import { firstAlert } from "../nl2alerts/index.js";
import { duration, plural, timeOfDay, timestamp } from "../render/text.js";
import { type Change, collectChanges } from "./collect.js";
import { goneObjects } from "./gone.js";

const schema = z.object({
  namespace: z.string().optional().describe("leave out for all namespaces of the application"),
  minutes: minutesArgument("look back this many minutes (60)"),
  match: z.string().optional().describe("only changes whose object or text contains this"),
});

const DEFAULT_MINUTES = 60;
const MAX_CHANGES = 40;
const MAX_WARNINGS = 15;

/**
 * Tool `changes`.
 *
 * @param options metrics: whether deleted objects may be looked for in Prometheus
 */
export function createChanges(context: ToolContext, options: { metrics: boolean }) {
  return tool(async (input: z.infer<typeof schema>) => run(input, context, options.metrics), {
    name: "changes",
    metadata: { narrow: "give match, a namespace, or fewer minutes" },
    description:
      "Lists what was changed, newest first, with how long before the first alert: edits of objects and by whom, new pod templates with the difference to the one before, objects created and deleted, scaling; then warnings that began in that time.",
    schema,
  });
}

async function run(input: z.infer<typeof schema>, context: ToolContext, metrics: boolean): Promise<string> {
  const now = context.clock.now();
  const minutes = input.minutes ?? DEFAULT_MINUTES;
  const from = now - minutes * 60_000;
  const namespaces = chosenNamespaces(context, input.namespace);
  const notes: string[] = [];
  const { changes, warnings, existing } = await withCluster(context, async (cluster) => {
    const collected = await collectChanges(cluster, namespaces, from);
    for (const [kind, reason] of cluster.unread) if (kind !== "secrets") notes.push(`${kind} (${reason})`);
    return collected;
  });
  if (metrics) changes.push(...(await goneObjects(context, namespaces, from, existing)));
  const alert = await firstAlert(context);
  const wanted = input.match?.toLowerCase();
  const fits = (one: Change) =>
    wanted === undefined || [one.entity, one.text, ...one.details].join("\n").toLowerCase().includes(wanted);
  const order = (a: Change, b: Change) => b.time - a.time || a.entity.localeCompare(b.entity);
  const found = changes.filter(fits).sort(order);
  const lines = [
    `${plural(found.length, "change")} in ${namespaces.join(", ")}${wanted === undefined ? "" : ` that match "${input.match}"`}, ${timestamp(from)} to ${timeOfDay(now)}; ${
      alert === undefined
        ? "no alert fires"
        : `first alert: ${alert.name} (${alert.state}) since ${timeOfDay(alert.since)}`
    }`,
  ];
  for (const one of found.slice(0, MAX_CHANGES)) lines.push(...render(one, alert?.since));
  if (found.length > MAX_CHANGES)
    lines.push(`... and ${found.length - MAX_CHANGES} older ones; narrow with "match" or "minutes"`);
  if (found.length === 0) lines.push(nothing(changes, minutes, wanted !== undefined));
  const began = warnings.filter(fits).sort(order);
  if (began.length > 0) lines.push("", "warnings that began in that time (symptoms rather than changes):");
  for (const one of began.slice(0, MAX_WARNINGS)) lines.push(...render(one, alert?.since));
  if (began.length > MAX_WARNINGS) lines.push(`... and ${began.length - MAX_WARNINGS} older ones`);
  if (notes.length > 0) lines.push("", `[could not be read: ${notes.join(", ")}]`);
  return lines.join("\n");
}

function render(change: Change, alert: number | undefined): string[] {
  const relative = alert === undefined ? "" : ` (${relativeTime(change.time, alert)})`;
  const entity = change.entity === "" ? "" : ` ${change.entity}`;
  return [
    `${timeOfDay(change.time)}${relative}${entity} ${change.text}${change.details.length > 0 ? ":" : ""}`,
    ...change.details.map((line) => `    ${line}`),
  ];
}

function relativeTime(time: number, alert: number): string {
  const seconds = Math.round(Math.abs(alert - time) / 1000);
  return seconds === 0
    ? "with the first alert"
    : `${duration(seconds)} ${time <= alert ? "before" : "after"} the alert`;
}

/** Nothing fits: what the nearest change is. */
function nothing(all: readonly Change[], minutes: number, filtered: boolean): string {
  const latest = [...all].sort((a, b) => b.time - a.time)[0];
  if (filtered && latest !== undefined) {
    return `none match; without the filter there are ${all.length}, the latest: ${timeOfDay(latest.time)} ${latest.entity} ${latest.text}`;
  }
  return `nothing was edited, created, deleted or rolled out in the last ${duration(minutes * 60)}; look back further with "minutes"`;
}
