/** From a question to LogQL, with the nested model. */
import { prompt } from "../../prompts/index.js";
import { fenced, readNumber, readObject, readString } from "../answers.js";
import { type Ask, type ToolContext, UnreadableQueryError } from "../context.js";
import { questionValues } from "../question.js";
import { listing } from "../suggest.js";
import { DEFAULT_LIMIT, DEFAULT_MINUTES, type LogsQuery, logLabels, logLabelValues } from "./client.js";

/** Labels whose values help in writing a selector. */
const TELLING = ["service_name", "namespace", "k8s_namespace_name", "app", "container", "level", "severity", "job"];

/** @throws UnreadableQueryError when the answer holds no query */
export async function writeLogsQuery(question: string, context: ToolContext, ask: Ask): Promise<LogsQuery> {
  const labels = await logLabels(context);
  const values: string[] = [];
  for (const label of labels) {
    if (TELLING.includes(label)) values.push(`${label}: ${listing(await logLabelValues(context, label), 60)}`);
    else values.push(label);
  }
  const answer = await ask(
    prompt("nl2logs", context.promptVariant, {
      ...questionValues(question, context),
      labels: values.join("\n"),
    }),
  );
  return readLogsQuery(answer);
}

/** Reads the answer: `{"query": ..., "minutes": ..., "limit": ...}`, or a query in a fence or by itself. */
export function readLogsQuery(answer: string): LogsQuery {
  const object = readObject(answer);
  const query = readString(object?.query) ?? readString(object?.logql);
  if (query !== undefined) return logsQuery(query, readNumber(object?.minutes), readNumber(object?.limit));
  const text = fenced(answer, ["logql", "loki", "", "text"]) ?? answer.trim();
  if (text === "" || !text.includes("{")) {
    throw new UnreadableQueryError('no query found; answer with {"query": "<LogQL>", "minutes": <number>}');
  }
  return logsQuery(text);
}

/** Fills in and bounds what was left open. */
export function logsQuery(logql: string, minutes = DEFAULT_MINUTES, limit = DEFAULT_LIMIT): LogsQuery {
  return {
    logql,
    minutes: Math.min(Math.max(minutes, 1), 24 * 60),
    limit: Math.min(Math.max(Math.round(limit), 1), 5000),
  };
}
