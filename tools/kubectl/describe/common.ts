/** Parts that several descriptions share. */
import { age, longTime } from "../printers/time.js";
import type { Describing } from "./describer.js";
import type { Description } from "./writer.js";

const MAX_ANNOTATION = 140;
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

export function sortedKeys(value: Record<string, unknown> | undefined | null): string[] {
  return Object.keys(value ?? {}).sort();
}

/** `a=1,b=2` or `<none>`. */
export function formatLabels(labels: Record<string, string> | undefined): string {
  const keys = sortedKeys(labels);
  return keys.length === 0 ? "<none>" : keys.map((key) => `${key}=${labels?.[key]}`).join(",");
}

/** A label selector as kubectl writes it: `app=web,tier in (a,b)`. */
export function formatSelector(selector: any): string {
  if (!selector) return "<none>";
  const parts = sortedKeys(selector.matchLabels).map((key) => ({ key, text: `${key}=${selector.matchLabels[key]}` }));
  for (const e of selector.matchExpressions ?? []) {
    const values = [...(e.values ?? [])].sort().join(",");
    const text =
      e.operator === "In"
        ? `${e.key} in (${values})`
        : e.operator === "NotIn"
          ? `${e.key} notin (${values})`
          : e.operator === "Exists"
            ? e.key
            : `!${e.key}`;
    parts.push({ key: e.key, text });
  }
  if (parts.length === 0) return "<none>";
  return parts
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map((p) => p.text)
    .join(",");
}

export function labels(w: Description, title: string, values: Record<string, string> | undefined, indent = ""): void {
  w.write(0, `${indent}${title}:\t`);
  const keys = sortedKeys(values);
  if (keys.length === 0) w.line(0, "<none>");
  keys.forEach((key, i) => {
    w.line(0, `${i === 0 ? "" : `${indent}\t`}${key}=${values?.[key]}`);
  });
}

export function annotations(w: Description, title: string, values: Record<string, string> | undefined): void {
  w.write(0, `${title}:\t`);
  const keys = sortedKeys(values).filter((key) => key !== LAST_APPLIED);
  if (keys.length === 0) w.line(0, "<none>");
  keys.forEach((key, i) => {
    if (i > 0) w.write(0, "\t");
    const value = (values?.[key] ?? "").replace(/\n$/, "");
    if (value.length + key.length + 2 > MAX_ANNOTATION || value.includes("\n")) {
      w.line(0, `${key}:`);
      for (const part of value.split("\n")) w.line(0, `\t  ${shorten(part, MAX_ANNOTATION - 2)}`);
    } else w.line(0, `${key}: ${value}`);
  });
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}...` : text;
}

export function controller(object: any): { kind: string; name: string } | undefined {
  return (object.metadata?.ownerReferences ?? []).find((owner: any) => owner.controller);
}

/** The two fields that most descriptions have below the name. */
export function labelsAndAnnotations(w: Description, metadata: any): void {
  labels(w, "Labels", metadata.labels);
  annotations(w, "Annotations", metadata.annotations);
}

/** Name, namespace and what nearly every description begins with. */
export function heading(w: Description, object: any, options: { namespace?: boolean } = {}): void {
  w.field(0, "Name", object.metadata.name);
  if (options.namespace !== false) w.field(0, "Namespace", object.metadata.namespace ?? "");
}

export function tolerations(w: Description, title: string, list: any[] | undefined): void {
  w.write(0, `${title}:\t`);
  if (!list?.length) w.line(0, "<none>");
  (list ?? []).forEach((t, i) => {
    let text = t.key ?? "";
    if (t.value) text += `=${t.value}`;
    if (t.effect) text += `:${t.effect}`;
    if (t.operator === "Exists" && !t.value) text += t.key || t.effect ? " op=Exists" : "op=Exists";
    if (t.tolerationSeconds !== undefined && t.tolerationSeconds !== null) text += ` for ${t.tolerationSeconds}s`;
    w.line(0, `${i === 0 ? "" : "\t"}${text}`);
  });
}

export function taints(w: Description, list: any[] | undefined): void {
  w.write(0, "Taints:\t");
  if (!list?.length) w.line(0, "<none>");
  const texts = (list ?? []).map((t) => `${t.key}${t.value ? `=${t.value}` : ""}:${t.effect}`).sort();
  texts.forEach((text, i) => {
    w.line(0, `${i === 0 ? "" : "\t"}${text}`);
  });
}

export function resources(w: Description, level: number, value: any): void {
  for (const [title, field] of [
    ["Limits", "limits"],
    ["Requests", "requests"],
  ] as const) {
    const keys = sortedKeys(value?.[field]);
    if (keys.length > 0) w.line(level, `${title}:`);
    for (const key of keys) w.field(level + 1, key, value[field][key]);
  }
}

export function topologySpread(w: Description, list: any[] | undefined, indent: string): void {
  if (!list?.length) return;
  const rows = [...list]
    .sort((a, b) => (a.topologyKey < b.topologyKey ? -1 : 1))
    .map(
      (c) =>
        `${c.topologyKey}:${c.whenUnsatisfiable} when max skew ${c.maxSkew} is exceeded for selector ${formatSelector(c.labelSelector)}`,
    );
  w.write(0, `${indent}Topology Spread Constraints:\t`);
  rows.forEach((row, i) => {
    w.line(0, `${i === 0 ? "" : `${indent}\t`}${row}`);
  });
}

/** Conditions in the four-column form. */
export function conditionTable(
  w: Description,
  conditions: any[] | undefined,
  columns: [title: string, field: string][],
  /** kubectl leaves a blank behind some cells: behind the first, behind all but the last, or none. */
  blanks: "first" | "all" | "none" = "first",
): void {
  if (!conditions?.length) return;
  w.line(0, `Conditions:\n  ${columns.map(([title]) => title).join("\t")}`);
  w.line(1, columns.map(([title]) => "-".repeat(title.length)).join("\t"));
  const last = columns.length - 1;
  for (const c of conditions) {
    const cells = columns.map(([, field], i) => {
      const blank = blanks === "all" ? i < last : blanks === "first" && i === 0;
      return `${/Time$/.test(field) ? longTime(c[field]) : (c[field] ?? "")}${blank ? " " : ""}`;
    });
    w.line(1, cells.join("\t"));
  }
}

export async function events(w: Description, d: Describing): Promise<void> {
  if (d.context.flags.has("show-events") && !d.context.flags.bool("show-events")) return;
  const list = await d.events();
  if (list.length === 0) {
    w.line(0, "Events:\t<none>");
    return;
  }
  w.flush();
  w.line(0, "Events:\n  Type\tReason\tAge\tFrom\tMessage");
  w.line(1, "----\t------\t----\t----\t-------");
  const now = d.context.now();
  const time = (e: any) => Date.parse(e.lastTimestamp ?? e.eventTime ?? e.metadata?.creationTimestamp ?? "") || 0;
  for (const e of [...list].sort((a, b) => time(a) - time(b)))
    w.line(
      1,
      `${e.type}\t${e.reason}\t${eventInterval(e, now)}\t${e.source?.component || e.reportingComponent || ""}\t${(e.message ?? "").trim()}`,
    );
}

/** `5s`, or `21s (x2 over 30s)`. */
export function eventInterval(e: any, now: number): string {
  const first = age(e.eventTime ?? e.firstTimestamp, now);
  if (e.series) return `${age(e.series.lastObservedTime, now)} (x${e.series.count} over ${first})`;
  return (e.count ?? 1) > 1 ? `${age(e.lastTimestamp, now)} (x${e.count} over ${first})` : first;
}

/** `3 Running / 0 Waiting / 0 Succeeded / 0 Failed` of the pods that the object controls. */
export async function podStatuses(object: any, d: Describing): Promise<string> {
  const pods = await d.list("pods", { labelSelector: selectorQuery(object.spec?.selector) });
  const count = { Running: 0, Pending: 0, Succeeded: 0, Failed: 0 } as Record<string, number>;
  for (const pod of pods) {
    const owner = (pod.metadata?.ownerReferences ?? []).find((o: any) => o.controller);
    if (owner?.uid === object.metadata.uid) count[pod.status?.phase] = (count[pod.status?.phase] ?? 0) + 1;
  }
  return `${count.Running} Running / ${count.Pending} Waiting / ${count.Succeeded} Succeeded / ${count.Failed} Failed`;
}

/** A selector as a query parameter. */
export function selectorQuery(selector: any): string {
  const text = formatSelector(selector);
  return text === "<none>" ? "" : text;
}

export { age, longTime };
