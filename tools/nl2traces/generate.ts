/** From a question to Jaeger's search parameters, with the nested model. */
import { prompt } from "../../prompts/index.js";
import { readNumber, readObject, readString } from "../answers.js";
import { type Ask, type ToolContext, UnreadableQueryError } from "../context.js";
import { timestamp } from "../render/text.js";
import { type TracesQuery, traceServices } from "./client.js";

const DEFAULT_MINUTES = 15;
const DEFAULT_LIMIT = 20;

/** @throws UnreadableQueryError when the answer holds no query */
export async function writeTracesQuery(question: string, context: ToolContext, ask: Ask): Promise<TracesQuery> {
  const answer = await ask(
    prompt("nl2traces", context.promptVariant, {
      question,
      examples: context.examples ? "yes" : "",
      now: timestamp(context.clock.now()),
      services: (await traceServices(context)).join(", "),
    }),
  );
  const object = readObject(answer);
  if (object === undefined) {
    throw new UnreadableQueryError('no JSON object found; answer with {"service": "<name>", "minutes": <number>, ...}');
  }
  return tracesQuery(object);
}

/** Reads search parameters, forgiving in spelling; fills in and bounds what was left open. */
export function tracesQuery(object: Record<string, unknown>): TracesQuery {
  const service = readString(object.service);
  const operation = readString(object.operation);
  const minDuration = readString(object.min_duration ?? object.minDuration);
  const traceId = readString(object.trace_id ?? object.traceId ?? object.traceID);
  const tags = readTags(object.tags);
  if (object.errors_only === true) tags.error = "true";
  return {
    ...(service === undefined ? {} : { service }),
    ...(operation === undefined || operation === "all" ? {} : { operation }),
    ...(minDuration === undefined ? {} : { minDuration }),
    ...(traceId === undefined ? {} : { traceId }),
    ...(Object.keys(tags).length === 0 ? {} : { tags }),
    ...(object.dependencies === true ? { dependencies: true } : {}),
    minutes: Math.min(Math.max(readNumber(object.minutes) ?? DEFAULT_MINUTES, 1), 24 * 60),
    limit: Math.min(Math.max(Math.round(readNumber(object.limit) ?? DEFAULT_LIMIT), 1), 200),
  };
}

function readTags(value: unknown): Record<string, string> {
  const source = typeof value === "string" ? readObject(value) : value;
  if (typeof source !== "object" || source === null || Array.isArray(source)) return {};
  return Object.fromEntries(Object.entries(source).map(([key, one]) => [key, String(one)]));
}
