/** NL2Metrics: questions about metrics, answered with PromQL. */
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { minutesArgument } from "../arguments.js";
import { type ToolContext, ToolFailure } from "../context.js";
import { findingTexts } from "../lint/finding.js";
import { type MetricsQuery, runMetricsQuery } from "./client.js";
import { writeMetricsQuery } from "./generate.js";
import { lintMetricsQuery } from "./lint.js";

const query = z.string().describe("a PromQL expression, run as it is");
const minutes = minutesArgument("look back this many minutes and show values over time; leave out for the value now");

const questionSchema = z.object({
  question: z
    .string()
    .optional()
    .describe("what you want to know of the metrics, in plain words, with names and times"),
  query: query.optional(),
  minutes,
});

/** Tool `nl2metrics`; in `direct` mode it takes PromQL only. */
export function createNl2Metrics(context: ToolContext) {
  return tool(
    async (input: z.infer<typeof questionSchema>) => {
      const { question } = input;
      if (!input.query && !question) throw new ToolFailure('give "question" (plain words) or "query" (PromQL)');
      const literal: MetricsQuery | undefined = input.query
        ? { promql: input.query, ...(input.minutes === undefined ? {} : { minutes: input.minutes }) }
        : undefined;
      return context.run<MetricsQuery>({
        ...(literal === undefined ? {} : { literal }),
        write: (ask) => writeMetricsQuery(question!, context, ask),
        lint: async (one) => findingTexts(await lintMetricsQuery(one, context)),
        execute: (one) => runMetricsQuery(one, context),
        show: (one) => (one.minutes === undefined ? one.promql : `${one.promql}  (last ${one.minutes} minutes)`),
      });
    },
    {
      name: "nl2metrics",
      metadata: { narrow: "add label matchers, topk(10, ...) or sum by (...)" },
      description:
        context.mode === "nl2x"
          ? "Answers a question about metrics (rates, latencies, errors, CPU, memory, restarts) from Prometheus. Ask one question at a time, or give PromQL in `query`."
          : "Runs a PromQL query against Prometheus and shows the series.",
      schema: context.mode === "nl2x" ? questionSchema : z.object({ query, minutes }),
    },
  );
}
