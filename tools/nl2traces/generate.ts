/** From a question to Jaeger's search parameters, with the nested model. */
import { prompt } from "../../prompts/index.js";
import { readNumber, readObject, readString } from "../answers.js";
import { type Ask, type ToolContext, UnreadableQueryError } from "../context.js";
import { questionValues } from "../question.js";
import { DEFAULT_LIMIT, DEFAULT_MINUTES, type TracesQuery, traceServices } from "./client.js";

/** @throws UnreadableQueryError when the answer holds no query */
export async function writeTracesQuery(question: string, context: ToolContext, ask: Ask): Promise<TracesQuery> {
  const answer = await ask(
    prompt("nl2traces", context.promptVariant, {
      ...questionValues(question, context),
      services: (await traceServices(context)).join(", "),
    }),
  );
  const object = readObject(answer);
  if (object === undefined) {
    throw new UnreadableQueryError('no JSON object found; answer with {"service": "<name>", "minutes": <number>, ...}');
  }
  return tracesQuery(object);
}

/** Parameters that are read; another one is a slip that would be passed over in silence. */
const PARAMETERS: Record<string, string> = {
  service: "service",
  operation: "operation",
  tags: "tags",
  errors_only: "errors_only",
  min_duration: "min_duration",
  minDuration: "min_duration",
  max_duration: "max_duration",
  maxDuration: "max_duration",
  minutes: "minutes",
  start: "start",
  end: "end",
  limit: "limit",
  trace_id: "trace_id",
  traceId: "trace_id",
  traceID: "trace_id",
  dependencies: "dependencies",
  question: "question",
};

export const TRACE_PARAMETERS = [...new Set(Object.values(PARAMETERS))].filter((name) => name !== "question");

/** Reads search parameters, forgiving in spelling, and fills in what was left open; the linter judges the values. */
export function tracesQuery(object: Record<string, unknown>): TracesQuery {
  const text = (name: string) => {
    const key = Object.keys(object).find((one) => PARAMETERS[one] === name && object[one] != null);
    const value = key === undefined ? undefined : object[key];
    return typeof value === "number" ? String(value) : readString(value);
  };
  const optional = (name: "service" | "operation", value: string | undefined) =>
    value === undefined ? {} : { [name]: value };
  const operation = text("operation");
  const tags = readTags(object.tags);
  if (object.errors_only === true || object.errors_only === "true") tags.error = "true";
  const unknown = Object.keys(object).filter((name) => !Object.hasOwn(PARAMETERS, name) && object[name] != null);
  const [minDuration, maxDuration] = [text("min_duration"), text("max_duration")];
  const [start, end, traceId] = [text("start"), text("end"), text("trace_id")];
  return {
    ...optional("service", text("service")),
    ...(operation === "all" ? {} : optional("operation", operation)),
    ...(minDuration === undefined ? {} : { minDuration }),
    ...(maxDuration === undefined ? {} : { maxDuration }),
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end }),
    ...(traceId === undefined ? {} : { traceId }),
    ...(Object.keys(tags).length === 0 ? {} : { tags }),
    ...(object.dependencies === true || object.dependencies === "true" ? { dependencies: true } : {}),
    ...(unknown.length === 0 ? {} : { unknown }),
    minutes: readNumber(object.minutes) ?? (object.minutes == null ? DEFAULT_MINUTES : Number.NaN),
    limit: readNumber(object.limit) ?? (object.limit == null ? DEFAULT_LIMIT : Number.NaN),
  };
}

function readTags(value: unknown): Record<string, string> {
  const source = typeof value === "string" ? readObject(value) : value;
  if (typeof source !== "object" || source === null || Array.isArray(source)) return {};
  return Object.fromEntries(Object.entries(source).map(([key, one]) => [key, String(one)]));
}
