/** NL2Logs: questions about log lines, answered with LogQL. */
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { type ToolContext, ToolFailure } from "../context.js";
import { findingTexts } from "../lint/finding.js";
import { DEFAULT_LIMIT, DEFAULT_MINUTES, type LogsQuery, runLogsQuery } from "./client.js";
import { logsQuery, writeLogsQuery } from "./generate.js";
import { lintLogsQuery } from "./lint.js";

export { logLabels, logLabelValues } from "./client.js";

const query = z.string().describe("a LogQL query, run as it is");
const minutes = z.number().positive().optional().describe(`look back this many minutes (${DEFAULT_MINUTES})`);
const limit = z.number().positive().optional().describe(`lines to read at most (${DEFAULT_LIMIT})`);

const questionSchema = z.object({
  question: z.string().optional().describe("what you want to know of the logs, in plain words, with names and times"),
  query: query.optional(),
  minutes,
  limit,
});

/** Tool `nl2logs`; in `direct` mode it takes LogQL only. */
export function createNl2Logs(context: ToolContext) {
  return tool(
    async (input: z.infer<typeof questionSchema>) => {
      const { question } = input;
      if (!input.query && !question) throw new ToolFailure('give "question" (plain words) or "query" (LogQL)');
      return context.run<LogsQuery>({
        ...(input.query ? { literal: logsQuery(input.query, input.minutes, input.limit) } : {}),
        write: (ask) => writeLogsQuery(question!, context, ask),
        lint: async (one) => findingTexts(await lintLogsQuery(one, context)),
        execute: (one) => runLogsQuery(one, context),
        show: (one) => `${one.logql}  (last ${one.minutes} minutes)`,
      });
    },
    {
      name: "nl2logs",
      metadata: { narrow: 'add a line filter such as |~ "(?i)error", or look back less' },
      description:
        context.mode === "nl2x"
          ? "Answers a question about log lines of services from Loki. Ask one question at a time, or give LogQL in `query`."
          : "Runs a LogQL query against Loki and shows the lines, like ones together.",
      schema: context.mode === "nl2x" ? questionSchema : z.object({ query, minutes, limit }),
    },
  );
}
