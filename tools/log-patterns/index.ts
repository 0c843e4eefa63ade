/** Log patterns: what kinds of lines a service writes, and which of them are new. */
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { minutesArgument, sinceArgument } from "../arguments.js";
import { type ToolContext, ToolFailure } from "../context.js";
import { getJson } from "../http.js";
import { logLabels, logLabelValues } from "../nl2logs/index.js";
import { turningPoint } from "../onset.js";
import { duration, plural, timeOfDay, timestamp } from "../render/text.js";
import { didYouMean, listing } from "../suggest.js";
import { type Cluster, Drain, type Line } from "./drain.js";

const schema = z.object({
  service: z
    .string()
    .optional()
    .describe("service, app or container whose logs to read; leave out for a whole namespace"),
  namespace: z.string().optional(),
  minutes: minutesArgument("look back this many minutes (30)"),
  since: sinceArgument("what is first written from then on is marked NEW"),
  match: z.string().optional().describe("only lines that contain this text"),
});

type Input = z.infer<typeof schema>;

const DEFAULT_MINUTES = 30;
/** Lines to read on each side of `since`. */
const LIMIT = 2500;
const MAX_PATTERNS = 40;
const MAX_TEXT = 300;
/** Labels that may hold a service's name, best first. */
const SERVICE_LABELS = ["service_name", "service", "app", "app_kubernetes_io_name", "container", "job", "pod"];
const NAMESPACE_LABELS = ["namespace", "k8s_namespace_name", "kubernetes_namespace_name"];

/** Tool `log_patterns`. */
export function createLogPatterns(context: ToolContext) {
  return tool(async (input: Input) => run(input, context), {
    name: "log_patterns",
    metadata: { narrow: "name one service, give match, or fewer minutes" },
    description:
      "Puts the log lines of a service or namespace into patterns (like lines together, differing words as <*>), with how often each occurs before and after a time, and marks those that are new or have stopped.",
    schema,
  });
}

async function run(input: Input, context: ToolContext): Promise<string> {
  const now = context.clock.now();
  const minutes = input.minutes ?? DEFAULT_MINUTES;
  const from = now - minutes * 60_000;
  const since = await turningPoint(input.since, from, now, context);
  const selector = await selectorOf(input, context);
  const query = input.match === undefined ? selector : `${selector} |= ${JSON.stringify(input.match)}`;
  const [before, after] = await Promise.all([read(query, from, since, context), read(query, since, now, context)]);
  const head = `${query}, ${timestamp(from)} to ${timeOfDay(now)}`;
  const total = before.length + after.length;
  if (total === 0) {
    return `${head}: no lines\n${input.match === undefined ? "its streams exist, but are silent: look back further" : 'without "match" there may be some'}`;
  }
  const drain = new Drain(since);
  for (const line of [...before, ...after].sort((a, b) => a.time - b.time)) drain.add(line);
  return render(drain.clusters, {
    head,
    since,
    before: before.length,
    after: after.length,
    begin: Math.min(...before.map((line) => line.time), since),
    end: now,
  });
}

/** A stream selector for what was asked. @throws ToolFailure with what there is instead */
async function selectorOf({ service, namespace }: Input, context: ToolContext): Promise<string> {
  const labels = await logLabels(context);
  const matchers: string[] = [];
  const namespaceLabel = NAMESPACE_LABELS.find((label) => labels.includes(label));
  const wanted = namespace === undefined ? context.namespaces : [namespace];
  if (namespaceLabel !== undefined && wanted.length > 0) {
    const known = await logLabelValues(context, namespaceLabel);
    if (namespace !== undefined && !known.includes(namespace)) {
      throw new ToolFailure(
        `no logs of namespace "${namespace}"${didYouMean(namespace, known)}; there are: ${listing(known)}`,
      );
    }
    const present = wanted.filter((one) => known.includes(one));
    if (present.length === 1) matchers.push(`${namespaceLabel}=${JSON.stringify(present[0])}`);
    else if (present.length > 1) matchers.push(`${namespaceLabel}=~${JSON.stringify(present.join("|"))}`);
  }
  if (service !== undefined) {
    const all = new Set<string>();
    for (const label of SERVICE_LABELS.filter((one) => labels.includes(one))) {
      const values = await logLabelValues(context, label);
      if (values.includes(service)) return `{${[...matchers, `${label}=${JSON.stringify(service)}`].join(", ")}}`;
      if (label !== "pod") for (const value of values) all.add(value);
    }
    const names = [...all].sort();
    throw new ToolFailure(`no logs of "${service}"${didYouMean(service, names)}; there are: ${listing(names, 60)}`);
  }
  if (matchers.length > 0) return `{${matchers.join(", ")}}`;
  const label = SERVICE_LABELS.find((one) => labels.includes(one));
  if (label === undefined) throw new ToolFailure("Loki has no streams in the last hour");
  return `{${label}=~".+"}`;
}

async function read(query: string, from: number, to: number, context: ToolContext): Promise<Line[]> {
  const json = await getJson(
    context.endpoints,
    "loki",
    "/loki/api/v1/query_range",
    { query, start: nanoseconds(from), end: nanoseconds(to), limit: LIMIT, direction: "backward" },
    context.signal,
  );
  const streams = json.data.result as { stream: Record<string, string>; values: [string, string][] }[];
  return streams.flatMap(({ stream, values }) => {
    const label = SERVICE_LABELS.find((one) => stream[one] !== undefined);
    const source = label === undefined ? "?" : stream[label]!;
    return values.map(([time, text]): Line => ({ time: Number(BigInt(time) / 1_000_000n), text, source }));
  });
}

function nanoseconds(ms: number): string {
  return (BigInt(Math.round(ms)) * 1_000_000n).toString();
}

interface Frame {
  head: string;
  /** Milliseconds since the epoch. */
  since: number;
  /** Lines read on each side. */
  before: number;
  after: number;
  /** Of the first line read. */
  begin: number;
  end: number;
}

function render(clusters: readonly Cluster[], frame: Frame): string {
  // Where only the latest lines of the earlier part were read, what is missing there may have been cut off.
  const whole = frame.before < LIMIT;
  const stopped = (one: Cluster) => hasStopped(one, frame);
  const mark = (one: Cluster) => (one.before === 0 ? (whole ? "NEW" : "NEW?") : stopped(one) ? "STOPPED" : "");
  const weight = (one: Cluster) => (one.before === 0 ? 2 : stopped(one) ? 1 : 0);
  const alarming = (one: Cluster) =>
    Number(/error|fail|fatal|panic|exception|refused|denied|timeout|warn/i.test(one.words.join(" ")));
  const shown = [...clusters].sort(
    (a, b) => weight(b) - weight(a) || alarming(b) - alarming(a) || b.count - a.count || a.first - b.first,
  );
  const lines = [
    `${frame.head}: ${plural(frame.before + frame.after, "line")} in ${plural(clusters.length, "pattern")}; before and after ${timeOfDay(frame.since)} (${duration((frame.since - frame.begin) / 1000)} and ${duration((frame.end - frame.since) / 1000)}):`,
  ];
  const sources = new Set(clusters.flatMap((one) => [...one.sources]));
  for (const one of shown.slice(0, MAX_PATTERNS)) {
    const tag = mark(one);
    const from = sources.size > 1 ? ` [${listing([...one.sources].sort(), 3)}]` : "";
    lines.push(
      `${tag === "" ? "" : `${tag} `}${one.before} -> ${one.after}  ${timeOfDay(one.first)}..${timeOfDay(one.last)}${from}  ${text(one)}`,
    );
  }
  if (shown.length > MAX_PATTERNS) lines.push(`... and ${shown.length - MAX_PATTERNS} more patterns`);
  for (const [count, when] of [
    [frame.before, "before"],
    [frame.after, "after"],
  ] as const) {
    if (count >= LIMIT)
      lines.push(
        `[only the latest ${LIMIT} lines ${when} ${timeOfDay(frame.since)} were read: name one service, or fewer minutes]`,
      );
  }
  return lines.join("\n");
}

/** Lines that come at random are this many times their mean distance apart in one case of 400. */
const LONG_SILENCE = 6;

/**
 * Was it written regularly, and then no more? What was written for a moment only, as at a start, has not stopped: it was
 * over.
 */
function hasStopped(one: Cluster, frame: Frame): boolean {
  if (one.count < 3 || one.before === 0) return false;
  const lasted = one.last - one.first;
  const regular = lasted > (frame.since - frame.begin) / 4;
  const silence = frame.end - one.last;
  return regular && silence > Math.max((LONG_SILENCE * lasted) / (one.count - 1), (frame.end - frame.since) / 4);
}

/** A pattern of one line is shown as the line itself. */
function text(cluster: Cluster): string {
  const shown = (cluster.count === 1 ? cluster.example : cluster.words.join(" ")).replace(/\s+/g, " ").trim();
  return shown.length > MAX_TEXT ? `${[...shown].slice(0, MAX_TEXT).join("")}...` : shown;
}
