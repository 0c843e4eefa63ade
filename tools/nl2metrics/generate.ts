/** From a question to PromQL, with the nested model. */
import { prompt } from "../../prompts/index.js";
import { fenced, readNumber, readObject, readString } from "../answers.js";
import { type Ask, type ToolContext, UnreadableQueryError } from "../context.js";
import { questionValues } from "../question.js";
import { relevant } from "../suggest.js";
import { labelValues, type MetricsQuery, metricNames } from "./client.js";

const MAX_METRICS = 150;
const MAX_SERVICES = 60;

/** @throws UnreadableQueryError when the answer holds no query */
export async function writeMetricsQuery(question: string, context: ToolContext, ask: Ask): Promise<MetricsQuery> {
  const names = await metricNames(context);
  const services = await labelValues(context, "service_name");
  const answer = await ask(
    prompt("nl2metrics", context.promptVariant, {
      ...questionValues(question, context),
      metrics: relevant(names, question, MAX_METRICS).join("\n"),
      services: relevant(services, question, MAX_SERVICES).join(", "),
    }),
  );
  return readMetricsQuery(answer);
}

/** Reads the answer: `{"query": ..., "minutes": ...}`, or a query in a fence or by itself. */
export function readMetricsQuery(answer: string): MetricsQuery {
  const object = readObject(answer);
  const query = readString(object?.query) ?? readString(object?.promql);
  if (query !== undefined) {
    const minutes = readNumber(object?.minutes);
    return { promql: query, ...(minutes !== undefined && minutes > 0 ? { minutes } : {}) };
  }
  const text = fenced(answer, ["promql", "prometheus", "", "text"]) ?? answer.trim();
  if (text === "" || (/\n/.test(text) && fenced(answer) === undefined)) {
    throw new UnreadableQueryError('no query found; answer with {"query": "<PromQL>", "minutes": <number or null>}');
  }
  return { promql: text };
}
