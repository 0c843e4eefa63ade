/** Metric results (Prometheus', and Loki's metric queries) as tables. */
import { compactNumber, labelSet, plural, table, timeOfDay } from "./text.js";

type Labels = Record<string, string>;

/** `[seconds, "value"]`, as both backends write a sample. */
type Sample = [number, string];

export type MetricResult =
  | { resultType: "vector"; result: { metric: Labels; value: Sample }[] }
  | { resultType: "matrix"; result: { metric: Labels; values: Sample[] }[] }
  | { resultType: "scalar" | "string"; result: Sample };

const MAX_ROWS = 40;
const MAX_COLUMNS = 10;

/** The result as text; undefined when it is empty. */
export function renderMetrics(data: MetricResult): string | undefined {
  if (data.resultType === "scalar" || data.resultType === "string") return `value: ${data.result[1]}`;
  if (data.result.length === 0) return undefined;
  if (data.resultType === "vector") return renderVector(data.result);
  return renderMatrix(data.result as { metric: Labels; values: Sample[] }[]);
}

function renderVector(series: { metric: Labels; value: Sample }[]): string {
  const shown = [...series].sort(
    (a, b) => Number(b.value[1]) - Number(a.value[1]) || order(a.metric).localeCompare(order(b.metric)),
  );
  const { common, columns } = split(series.map((one) => one.metric));
  const rows = shown
    .slice(0, MAX_ROWS)
    .map((one) => [...columns.map((name) => one.metric[name] ?? "-"), compactNumber(Number(one.value[1]))]);
  return [heading(series.length, common), table([[...columns, "value"], ...rows]), ...more(series.length)].join("\n");
}

function renderMatrix(series: { metric: Labels; values: Sample[] }[]): string {
  const times = [...new Set(series.flatMap((one) => one.values.map(([time]) => time)))].sort((a, b) => a - b);
  const picked = spread(times, MAX_COLUMNS);
  const { common, columns } = split(series.map((one) => one.metric));
  const shown = [...series].sort(
    (a, b) => last(b.values) - last(a.values) || order(a.metric).localeCompare(order(b.metric)),
  );
  const rows = shown.slice(0, MAX_ROWS).map((one) => {
    const byTime = new Map(one.values);
    const numbers = one.values.map(([, value]) => Number(value));
    return [
      ...columns.map((name) => one.metric[name] ?? "-"),
      compactNumber(Math.min(...numbers)),
      compactNumber(Math.max(...numbers)),
      ...picked.map((time) => (byTime.has(time) ? compactNumber(Number(byTime.get(time))) : "-")),
    ];
  });
  const head = [...columns, "min", "max", ...picked.map((time) => timeOfDay(time * 1000))];
  return [heading(series.length, common), table([head, ...rows]), ...more(series.length)].join("\n");
}

/** Labels that all series share, and the names of those in which they differ. */
function split(all: readonly Labels[]): { common: Labels; columns: string[] } {
  const names = [...new Set(all.flatMap((labels) => Object.keys(labels)))].sort();
  const common: Labels = {};
  const columns: string[] = [];
  for (const name of names) {
    const first = all[0]![name];
    if (name === "__name__" && all.every((labels) => labels[name] === first)) continue;
    if (first !== undefined && all.every((labels) => labels[name] === first)) common[name] = first;
    else columns.push(name);
  }
  return { common, columns };
}

function heading(count: number, common: Labels): string {
  const shared = Object.keys(common).length === 0 ? "" : `, all with ${labelSet(common)}`;
  return `${plural(count, "series")}${shared}`;
}

function more(count: number): string[] {
  if (count <= MAX_ROWS) return [];
  return [`... and ${count - MAX_ROWS} more; narrow with a label matcher, topk(10, ...) or sum by (...)`];
}

function order(labels: Labels): string {
  return labelSet(labels);
}

function last(values: readonly Sample[]): number {
  const value = Number(values.at(-1)?.[1]);
  return Number.isNaN(value) ? Number.NEGATIVE_INFINITY : value;
}

/** At most `max` of `items`, evenly spread, the first and the last among them. */
function spread<T>(items: readonly T[], max: number): T[] {
  if (items.length <= max) return [...items];
  return Array.from({ length: max }, (_, i) => items[Math.round((i * (items.length - 1)) / (max - 1))]!);
}
