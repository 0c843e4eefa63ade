/** Metric anomalies: which metrics of a workload or service differ from what they were before. */
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { minutesArgument, sinceArgument } from "../arguments.js";
import { type ToolContext, ToolFailure } from "../context.js";
import { getJson } from "../http.js";
import { turningPoint } from "../onset.js";
import { compactNumber, labelSet, plural, table, timeOfDay, timestamp } from "../render/text.js";
import { didYouMean, listing } from "../suggest.js";
import { type Course, coursesOf, type RawSeries } from "./series.js";
import { type Shift, shiftOf, THRESHOLD } from "./shift.js";

const schema = z.object({
  name: z.string().describe("workload or service, such as billing"),
  namespace: z.string().optional(),
  minutes: minutesArgument("look back this many minutes, before and after (60)"),
  since: sinceArgument("compare from then on with before"),
  match: z.string().optional().describe("only metrics whose name or labels contain this text"),
});

type Input = z.infer<typeof schema>;

const DEFAULT_MINUTES = 60;
const MIN_STEP_SECONDS = 30;
const MAX_POINTS = 240;
const MAX_ROWS = 25;
/** Labels that may hold the name of a workload or service. */
const NAME_LABELS = [
  "service_name",
  "service",
  "app",
  "deployment",
  "statefulset",
  "daemonset",
  "workload",
  "k8s_deployment_name",
  "destination_workload",
  "destination_service_name",
  "source_workload",
  "horizontalpodautoscaler",
  "container",
  "endpoint",
  "consumergroup",
];
const NAMESPACE_LABELS = ["namespace", "k8s_namespace_name", "destination_workload_namespace"];

/** Tool `metric_anomalies`. */
export function createMetricAnomalies(context: ToolContext) {
  return tool(async (input: Input) => run(input, context), {
    name: "metric_anomalies",
    metadata: { narrow: "give match, such as a part of the metric's name" },
    description:
      "Compares all metrics of a workload or service from a time on with before (robust z-score), and lists the largest shifts, and what began or stopped.",
    schema,
  });
}

async function run(input: Input, context: ToolContext): Promise<string> {
  const now = context.clock.now();
  const from = now - (input.minutes ?? DEFAULT_MINUTES) * 60_000;
  const since = await turningPoint(input.since, from, now, context);
  const namespaces = input.namespace === undefined ? context.namespaces : [input.namespace];
  const series = await readSeries(input.name, namespaces, from, now, context);
  const wanted = input.match?.toLowerCase();
  const courses = coursesOf(series, (label, value) => isSubject(label, value, input.name)).filter(
    (one) => wanted === undefined || `${one.name}${labelSet(one.labels)}`.toLowerCase().includes(wanted),
  );
  const head = `metrics of ${input.name}${wanted === undefined ? "" : ` that match "${input.match}"`}, ${timestamp(from)} to ${timeOfDay(since)} against ${timeOfDay(since)} to ${timeOfDay(now)}: ${plural(courses.length, "course")} of ${plural(series.length, "series")}`;
  if (courses.length === 0) return `${head}\nno metric fits; without "match" there are ${series.length} series`;
  return `${head}\n${report(compare(courses, since / 1000))}`;
}

interface Compared {
  course: Course;
  shift: Shift;
  /** Other metrics that went the very same way, with the same labels. */
  same: string[];
}

/** @param since seconds since the epoch */
function compare(courses: readonly Course[], since: number): Compared[] {
  return courses.flatMap((course) => {
    const before: number[] = [];
    const after: number[] = [];
    for (const [time, value] of course.points) (time <= since ? before : after).push(value);
    const shift = shiftOf(before, after);
    return shift === undefined ? [] : [{ course, shift, same: [] }];
  });
}

/** Metrics that count the same thing are one row. */
function merged(all: readonly Compared[]): Compared[] {
  const rows = new Map<string, Compared>();
  for (const one of all) {
    const { course, shift } = one;
    const key = JSON.stringify([course.labels, course.kind, shift.before, shift.after, shift.score]);
    const known = course.kind === "rate" ? rows.get(key) : undefined;
    if (known === undefined) rows.set(course.kind === "rate" ? key : `${key} ${course.name}`, one);
    else known.same.push(course.name);
  }
  return [...rows.values()];
}

function report(all: readonly Compared[]): string {
  const size = ({ shift }: Compared) => {
    const [a, b] = [shift.before ?? 0, shift.after ?? 0];
    const sum = Math.abs(a) + Math.abs(b);
    return sum === 0 ? 0 : Math.abs(a - b) / sum;
  };
  const ranked = [...merged(all)].sort(
    (a, b) =>
      Math.abs(b.shift.score) - Math.abs(a.shift.score) ||
      size(b) - size(a) ||
      a.course.name.localeCompare(b.course.name),
  );
  const shifted = ranked.filter(({ shift }) => shift.kind === "shifted" && Math.abs(shift.score) >= THRESHOLD);
  const began = ranked.filter(({ shift }) => shift.kind !== "shifted" && (shift.before ?? shift.after) !== 0);
  const parts: string[] = [];
  if (shifted.length > 0) {
    const shown = shifted.slice(0, MAX_ROWS);
    parts.push(`${plural(shifted.length, "shift")} (z of ${THRESHOLD} and more), the largest first:`, rows(shown));
    if (shifted.length > shown.length) parts.push(`... and ${shifted.length - shown.length} more; narrow with "match"`);
  } else {
    parts.push("nothing shifted by more than it varied before; what comes nearest:");
    parts.push(rows(ranked.filter(({ shift }) => shift.kind === "shifted").slice(0, 5)));
  }
  if (began.length > 0) {
    parts.push("began or stopped:", rows(began.slice(0, MAX_ROWS)));
    if (began.length > MAX_ROWS) parts.push(`... and ${began.length - MAX_ROWS} more; narrow with "match"`);
  }
  return parts.join("\n");
}

function rows(compared: readonly Compared[]): string {
  const value = (number: number | undefined, course: Course) =>
    number === undefined ? "-" : `${compactNumber(number)}${course.kind === "rate" ? "/s" : ""}`;
  return table([
    ["z", "before", "after", "metric"],
    ...compared.map(({ course, shift, same }) => [
      shift.kind === "shifted" ? shift.score.toFixed(1) : shift.kind,
      value(shift.before, course),
      value(shift.after, course),
      `${course.kind === "mean" ? "mean of " : ""}${course.name}${Object.keys(course.labels).length === 0 ? "" : labelSet(course.labels)}${same.length === 0 ? "" : ` (and ${listing(same, 3)})`}`,
    ]),
  ]);
}

/** Raw samples of all series that name the subject. @throws ToolFailure with near names when there are none */
async function readSeries(
  name: string,
  namespaces: readonly string[],
  from: number,
  now: number,
  context: ToolContext,
): Promise<RawSeries[]> {
  const window = { start: from / 1000, end: now / 1000 };
  const get = (path: string, parameters: Record<string, string | number>) =>
    getJson(context.endpoints, "prometheus", path, { ...window, ...parameters }, context.signal);
  const labels = ((await get("/api/v1/labels", {})).data as string[]) ?? [];
  const escaped = name.replace(/[^\w-]/g, "\\$&");
  const matchers = NAME_LABELS.filter((label) => labels.includes(label)).map((label) => `${label}=${quoted(name)}`);
  // Pods of deployments, stateful sets, daemon sets and jobs.
  if (labels.includes("pod"))
    matchers.push(`pod=~${quoted(`${escaped}(-[a-z0-9]{6,10})?-([a-z0-9]{5}|[0-9]+)|${escaped}`)}`);
  const step = Math.max(MIN_STEP_SECONDS, Math.ceil((now - from) / 1000 / MAX_POINTS));
  const seen = new Set<string>();
  const found: RawSeries[] = [];
  for (const matcher of matchers) {
    const query = `{__name__!~".+_(bucket|created|info|labels)",${matcher}}`;
    const json = await get("/api/v1/query_range", { query, step });
    for (const one of json.data.result as RawSeries[]) {
      const namespace = NAMESPACE_LABELS.map((label) => one.metric[label]).find((value) => value !== undefined);
      if (namespace !== undefined && namespaces.length > 0 && !namespaces.includes(namespace)) continue;
      // An alert about it is known from elsewhere.
      if (/^ALERTS/.test(one.metric.__name__ ?? "")) continue;
      const key = JSON.stringify(Object.entries(one.metric).sort());
      if (!seen.has(key)) {
        seen.add(key);
        found.push(one);
      }
    }
  }
  if (found.length > 0) return found;
  const names = new Set<string>();
  for (const label of NAME_LABELS.filter((one) => labels.includes(one))) {
    const values = await get(`/api/v1/label/${encodeURIComponent(label)}/values`, {});
    for (const value of (values.data as string[]) ?? []) names.add(value);
  }
  const known = [...names].sort();
  throw new ToolFailure(
    `no metrics name "${name}" in ${namespaces.join(", ")}${didYouMean(name, known)}; there are: ${listing(known, 60)}`,
  );
}

function isSubject(label: string, value: string, name: string): boolean {
  if (NAMESPACE_LABELS.includes(label) || label === "service_namespace") return true;
  return value === name || (NAME_LABELS.includes(label) && value.startsWith(`${name}-`));
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
