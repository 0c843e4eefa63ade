/** What is wrong with a trace query before it runs. */
import type { ToolContext } from "../context.js";
import type { Finding } from "../lint/finding.js";
import { didYouMean, listing } from "../suggest.js";
import { MAX_LIMIT, MAX_MINUTES, readTime, type TracesQuery, traceOperations, traceServices } from "./client.js";
import { TRACE_PARAMETERS } from "./generate.js";

const UNITS: Record<string, number> = { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 };
/** Environment and model may count a little differently. */
const FUTURE_MS = 60_000;

/** Names of parameters, durations, the window and its order, the limit; then service and operation, which must exist. */
export async function lintTracesQuery(query: TracesQuery, context: ToolContext): Promise<Finding[]> {
  const findings = [...shapeFindings(query), ...windowFindings(query, context.clock.now())];
  if (query.traceId !== undefined || query.dependencies === true) return findings;
  return [...findings, ...(await serviceFindings(query, context))];
}

/** `word` is the parameter's name. */
function of(word: string, message: string): Finding {
  return { word, message };
}

function shapeFindings(query: TracesQuery): Finding[] {
  const findings: Finding[] = [];
  for (const name of query.unknown ?? []) {
    const near = didYouMean(name, TRACE_PARAMETERS, 2);
    findings.push(of(name, `there is no parameter "${name}"${near}; there are: ${TRACE_PARAMETERS.join(", ")}`));
  }
  if (query.traceId !== undefined && !/^[0-9a-fA-F]{1,32}$/.test(query.traceId)) {
    findings.push(of("trace_id", `"${query.traceId}" is not a trace id: 16 or 32 hexadecimal digits`));
  }
  const lengths = (["minDuration", "maxDuration"] as const).map((key) => {
    const text = query[key];
    const seconds = text === undefined ? undefined : secondsOf(text);
    if (text !== undefined && seconds === undefined) {
      const name = key === "minDuration" ? "min_duration" : "max_duration";
      findings.push(of(name, `${name} "${text}" is not a duration; write 500ms, 1.5s or 2m`));
    }
    return seconds;
  });
  const [min, max] = lengths;
  if (min !== undefined && max !== undefined && min > max) {
    findings.push(
      of(
        "min_duration",
        `min_duration ${query.minDuration} is longer than max_duration ${query.maxDuration}: swap them`,
      ),
    );
  }
  if (!(query.limit >= 1 && query.limit <= MAX_LIMIT)) {
    findings.push(of("limit", `limit must be a number from 1 to ${MAX_LIMIT}`));
  }
  return findings;
}

function windowFindings(query: TracesQuery, now: number): Finding[] {
  const findings: Finding[] = [];
  if (!(query.minutes > 0 && query.minutes <= MAX_MINUTES)) {
    findings.push(of("minutes", `minutes must be a number above 0 and at most ${MAX_MINUTES}: how far to look back`));
  }
  const shown = new Date(now).toISOString();
  const times = (["start", "end"] as const).map((name) => {
    const text = query[name];
    if (text === undefined) return undefined;
    const time = readTime(text);
    if (time === undefined) {
      findings.push(of(name, `${name} "${text}" is not a time: write it as ${shown}, or look back with minutes`));
    } else if (time > now + FUTURE_MS) {
      findings.push(of(name, `${name} ${text} is in the future: it is ${shown}`));
    } else if (time < now - MAX_MINUTES * 60_000) {
      findings.push(of(name, `${name} ${text} is more than ${MAX_MINUTES / 60} hours ago: it is ${shown}`));
    }
    return time;
  });
  const [start, end] = times;
  if (start !== undefined && start >= (end ?? now) && findings.length === 0) {
    findings.push(
      of("start", `start ${query.start} is not before ${end === undefined ? `now, ${shown}` : `end ${query.end}`}`),
    );
  }
  return findings;
}

async function serviceFindings({ service, operation }: TracesQuery, context: ToolContext): Promise<Finding[]> {
  const services = await traceServices(context);
  if (service === undefined) return [of("service", `"service" is missing; there are: ${listing(services, 60)}`)];
  if (!services.includes(service)) {
    const near = didYouMean(service, services);
    return [of("service", `no service "${service}" sends traces${near}; there are: ${listing(services, 60)}`)];
  }
  if (operation === undefined) return [];
  const operations = await traceOperations(context, service);
  if (operations.includes(operation)) return [];
  const near = didYouMean(operation, operations, 3);
  return [
    of("operation", `${service} has no operation "${operation}"${near}; its operations: ${listing(operations, 40)}`),
  ];
}

/** Go's durations, such as `1.5s` and `1m30s`. */
function secondsOf(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)].reduce(
    (sum, match) => sum + Number(match[1]) * UNITS[match[2]!]!,
    0,
  );
}
