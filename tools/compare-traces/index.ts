/** Compare traces: how a service's requests differ from before: latency, errors, calls that are missing or new. */
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { minutesArgument, sinceArgument } from "../arguments.js";
import { type ToolContext, ToolFailure } from "../context.js";
import { getJson } from "../http.js";
import { type JaegerTrace, traceOperations, traceServices } from "../nl2traces/index.js";
import { turningPoint } from "../onset.js";
import { duration, plural, table, timeOfDay, timestamp } from "../render/text.js";
import { didYouMean, listing } from "../suggest.js";
import { measure, type Operation, percentile } from "./measure.js";

const schema = z.object({
  service: z.string().describe("service as traces name it"),
  operation: z.string().optional().describe("one operation of it; all by which it is entered when left out"),
  since: sinceArgument("compare from then on with before"),
  minutes: minutesArgument("minutes to read on each side (10)"),
});

type Input = z.infer<typeof schema>;

const DEFAULT_MINUTES = 10;
/** How far back the time that parts the two sides may lie. */
const REACH_MS = 3_600_000;
/** Traces to read on each side. */
const LIMIT = 150;
const MAX_OPERATIONS = 12;
const MAX_CALLS = 12;
/** A callee's share of requests counts as changed from this difference on. */
const CHANGED = 0.25;

/** Tool `compare_traces`. */
export function createCompareTraces(context: ToolContext) {
  return tool(async (input: Input) => run(input, context), {
    name: "compare_traces",
    metadata: { narrow: "name one operation" },
    description:
      "Compares a service's traces before and after a time: latency percentiles, error share, and which calls that it makes are missing, new, slower or failing.",
    schema,
  });
}

async function run(input: Input, context: ToolContext): Promise<string> {
  const { service, operation } = input;
  await mustExist(service, operation, context);
  const now = context.clock.now();
  const since = await turningPoint(input.since, now - REACH_MS, now, context);
  const span = (input.minutes ?? DEFAULT_MINUTES) * 60_000;
  const [from, to] = [since - span, Math.min(now, since + span)];
  const [before, after] = await Promise.all([
    read(service, operation, from, since, context),
    read(service, operation, since, to, context),
  ]);
  const head = `${service}${operation === undefined ? "" : `: ${operation}`}, ${timestamp(from)} to ${timeOfDay(since)} against ${timeOfDay(since)} to ${timeOfDay(to)}: ${before.length} and ${plural(after.length, "trace")}`;
  const notes =
    before.length >= LIMIT || after.length >= LIMIT
      ? [`[at most ${LIMIT} traces are read on each side, the latest: counts are no rates]`]
      : [];
  const [old, current] = [measure(before, service, operation), measure(after, service, operation)];
  if (old.size === 0 && current.size === 0) {
    return `${head}\nno such request on either side: it may not run, or nothing calls it; widen with "minutes", or give another "since"`;
  }
  return [head, operations(old, current), ...calls(old, current), ...notes].join("\n");
}

async function mustExist(service: string, operation: string | undefined, context: ToolContext): Promise<void> {
  const services = await traceServices(context);
  if (!services.includes(service)) {
    throw new ToolFailure(
      `no service "${service}" sends traces${didYouMean(service, services)}; there are: ${listing(services, 60)}`,
    );
  }
  if (operation === undefined) return;
  const known = await traceOperations(context, service);
  if (!known.includes(operation)) {
    throw new ToolFailure(`${service} has no operation "${operation}"; its operations: ${listing(known, 40)}`);
  }
}

async function read(
  service: string,
  operation: string | undefined,
  from: number,
  to: number,
  context: ToolContext,
): Promise<JaegerTrace[]> {
  const json = await getJson(
    context.endpoints,
    "jaeger",
    "/api/traces",
    { service, operation, start: Math.round(from * 1000), end: Math.round(to * 1000), limit: LIMIT },
    context.signal,
  );
  return (json.data as JaegerTrace[] | null) ?? [];
}

type Operations = ReadonlyMap<string, Operation>;

function operations(old: Operations, current: Operations): string {
  const worse = (name: string) => {
    const [a, b] = [old.get(name), current.get(name)];
    return Math.abs(errorShare(b) - errorShare(a)) * 10 + (a === undefined || b === undefined ? 5 : 0);
  };
  const names = [...new Set([...old.keys(), ...current.keys()])].sort(
    (a, b) => worse(b) - worse(a) || size(b, old, current) - size(a, old, current) || a.localeCompare(b),
  );
  const change = (of: (operation: Operation) => string, name: string) => {
    const [a, b] = [old.get(name), current.get(name)];
    return `${a === undefined ? "-" : of(a)} -> ${b === undefined ? "-" : of(b)}`;
  };
  const rows = names
    .slice(0, MAX_OPERATIONS)
    .map((name) => [
      name,
      change((one) => String(one.durations.length), name),
      change((one) => percent(errorShare(one)), name),
      change((one) => duration(percentile(one.durations, 0.5)), name),
      change((one) => duration(percentile(one.durations, 0.95)), name),
      change((one) => duration(percentile(one.durations, 1)), name),
    ]);
  const more = names.length > MAX_OPERATIONS ? `\n... and ${names.length - MAX_OPERATIONS} more operations` : "";
  return table([["operation", "requests", "errors", "p50", "p95", "max"], ...rows]) + more;
}

function size(name: string, old: Operations, current: Operations): number {
  return (old.get(name)?.durations.length ?? 0) + (current.get(name)?.durations.length ?? 0);
}

/** What is different in the calls that requests make, by operation. */
function calls(old: Operations, current: Operations): string[] {
  const lines: string[] = [];
  for (const [name, after] of current) {
    const before = old.get(name);
    if (before === undefined) continue;
    const found = callDifferences(before, after);
    if (found.length === 0) continue;
    lines.push(`calls of ${name}:`, ...found.slice(0, MAX_CALLS).map((line) => `  ${line}`));
    if (found.length > MAX_CALLS) lines.push(`  ... and ${found.length - MAX_CALLS} more`);
  }
  if (lines.length === 0) lines.push("the calls that it makes are the same on both sides");
  return lines;
}

function callDifferences(before: Operation, after: Operation): string[] {
  const found: [number, string][] = [];
  const perRequest = (operation: Operation, name: string) =>
    (operation.calls.get(name)?.count ?? 0) / operation.durations.length;
  for (const name of new Set([...before.calls.keys(), ...after.calls.keys()])) {
    const [a, b] = [before.calls.get(name), after.calls.get(name)];
    const [was, is] = [perRequest(before, name), perRequest(after, name)];
    const rate = `${ratio(was)} -> ${ratio(is)} a request`;
    if (b === undefined) found.push([4, `MISSING ${name} (${rate})`]);
    else if (a === undefined) found.push([3, `NEW ${name} (${rate}, ${percent(b.failed / b.count)} errors)`]);
    else {
      const parts: string[] = [];
      const [oldErrors, errors] = [a.failed / a.count, b.failed / b.count];
      if (Math.abs(errors - oldErrors) >= 0.05) parts.push(`errors ${percent(oldErrors)} -> ${percent(errors)}`);
      const [oldP95, p95] = [percentile(a.durations, 0.95), percentile(b.durations, 0.95)];
      const slower = p95 > oldP95 * 2 && p95 - oldP95 > 0.01;
      const faster = oldP95 > p95 * 2 && oldP95 - p95 > 0.01;
      if (slower || faster) parts.push(`p95 ${duration(oldP95)} -> ${duration(p95)}`);
      if (Math.abs(is - was) >= CHANGED * Math.max(was, is)) parts.push(rate);
      if (parts.length > 0) found.push([errors > oldErrors ? 2 : slower ? 1 : 0, `${name}: ${parts.join(", ")}`]);
    }
  }
  return found.sort((x, y) => y[0] - x[0] || x[1].localeCompare(y[1])).map(([, text]) => text);
}

function errorShare(operation: Operation | undefined): number {
  return operation === undefined || operation.durations.length === 0
    ? 0
    : operation.failed / operation.durations.length;
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

function ratio(value: number): string {
  return String(Number(value.toFixed(2)));
}
