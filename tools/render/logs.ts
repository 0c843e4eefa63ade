/** Log lines, with those that differ only in numbers and ids put together. */
import { labelSet, plural, timeOfDay, timestamp } from "./text.js";

export interface LogStream {
  labels: Record<string, string>;
  /** `[nanoseconds, line]` */
  values: [string, string][];
}

interface Group {
  from: string;
  count: number;
  first: number;
  last: number;
  example: string;
}

const MAX_GROUPS = 40;
const MAX_LINE = 600;
/** Labels that name where a line came from, best first. */
const SOURCE = ["service_name", "service", "app", "container", "pod", "job"];

/** The lines as text, latest groups first; undefined when there is none. */
export function renderLogs(streams: readonly LogStream[], limit: number): string | undefined {
  const groups = new Map<string, Group>();
  let total = 0;
  let first = Number.POSITIVE_INFINITY;
  let last = 0;
  for (const stream of streams) {
    const from = source(stream.labels);
    for (const [nanoseconds, line] of stream.values) {
      const ms = Number(BigInt(nanoseconds) / 1_000_000n);
      total++;
      first = Math.min(first, ms);
      last = Math.max(last, ms);
      const key = `${from}\n${shape(line)}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { from, count: 1, first: ms, last: ms, example: line });
      else {
        group.count++;
        group.first = Math.min(group.first, ms);
        if (ms > group.last) {
          group.last = ms;
          group.example = line;
        }
      }
    }
  }
  if (total === 0) return undefined;
  const shown = [...groups.values()].sort((a, b) => b.last - a.last || a.from.localeCompare(b.from));
  const lines = shown.slice(0, MAX_GROUPS).map((group) => {
    const when =
      group.count === 1 ? timeOfDay(group.last) : `${timeOfDay(group.first)}..${timeOfDay(group.last)} x${group.count}`;
    return `[${group.from}] ${when}  ${oneLine(group.example)}`;
  });
  const head = `${plural(total, "line")} in ${plural(groups.size, "group")}, ${timestamp(first)} to ${timestamp(last)}; lines that differ only in numbers and ids are shown once, the latest of them`;
  const tail: string[] = [];
  if (shown.length > MAX_GROUPS) {
    tail.push(`... and ${shown.length - MAX_GROUPS} more groups; narrow with a filter such as |~ "(?i)error"`);
  }
  if (total >= limit)
    tail.push(`only the latest ${limit} lines were read; narrow the selector or the time, or raise the limit`);
  return [head, ...lines, ...tail].join("\n");
}

function source(labels: Record<string, string>): string {
  const name = SOURCE.find((label) => labels[label] !== undefined);
  return name === undefined ? labelSet(labels) : labels[name]!;
}

/** What is left of a line when times, ids and numbers are taken out. */
function shape(line: string): string {
  return line
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\dZ+:]*/g, "T")
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, "U")
    .replace(/\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/gi, "H")
    .replace(/\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{6,}\b/g, "I")
    .replace(/\d+(\.\d+)*/g, "N");
}

function oneLine(text: string): string {
  const flat = text.replace(/\s*\r?\n\s*/g, " | ");
  if (flat.length <= MAX_LINE) return flat;
  return `${[...flat.slice(0, MAX_LINE)].slice(0, -1).join("")}...`;
}
