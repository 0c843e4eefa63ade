/** NL2Traces: questions about requests through the services, answered from Jaeger. */
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { type ToolContext, ToolFailure } from "../context.js";
import { findingTexts } from "../lint/finding.js";
import { runTracesQuery, showTracesQuery, type TracesQuery } from "./client.js";
import { tracesQuery, writeTracesQuery } from "./generate.js";
import { lintTracesQuery } from "./lint.js";

export type { JaegerSpan, JaegerTrace } from "../render/traces.js";
export { traceOperations, traceServices } from "./client.js";

const searchSchema = z.object({
  service: z.string().optional().describe("service whose traces to read"),
  operation: z.string().optional(),
  errors_only: z.boolean().optional().describe("only traces with a failed span"),
  tags: z.record(z.string()).optional().describe('span tags that must match, such as {"http.status_code": "500"}'),
  min_duration: z.string().optional().describe("such as 500ms"),
  max_duration: z.string().optional().describe("such as 2s"),
  minutes: z.number().optional().describe("look back this many minutes (15)"),
  start: z.string().optional().describe("beginning of the time, ISO 8601, in the place of minutes"),
  end: z.string().optional().describe("end of the time, ISO 8601; now if left out"),
  limit: z.number().optional().describe("traces to read at most (20)"),
  trace_id: z.string().optional().describe("one trace by its id"),
  dependencies: z.boolean().optional().describe("show which service calls which instead"),
});

// The question first: text alone stands for it.
const questionSchema = z
  .object({
    question: z
      .string()
      .optional()
      .describe("what you want to know of the traces, in plain words, with names and times"),
  })
  .merge(searchSchema);

/** Tool `nl2traces`; in `direct` mode it takes search parameters only. */
export function createNl2Traces(context: ToolContext) {
  return tool(
    async ({ question, ...search }: z.infer<typeof questionSchema>) => {
      const given = search.service !== undefined || search.trace_id !== undefined || search.dependencies === true;
      if (!given && !question)
        throw new ToolFailure('give "question" (plain words), or "service" and what else you know');
      return context.run<TracesQuery>({
        ...(given ? { literal: tracesQuery(search) } : {}),
        write: (ask) => writeTracesQuery(question!, context, ask),
        lint: async (one) => findingTexts(await lintTracesQuery(one, context)),
        execute: (one) => runTracesQuery(one, context),
        show: showTracesQuery,
      });
    },
    {
      name: "nl2traces",
      metadata: { narrow: "add operation, errors_only or min_duration" },
      description:
        context.mode === "nl2x"
          ? "Answers a question about traces (which call fails or is slow, where, who calls whom) from Jaeger. Ask one question at a time, or give `service` and other search parameters."
          : "Searches traces in Jaeger and shows them as trees, like ones together.",
      schema: (context.mode === "nl2x" ? questionSchema : searchSchema) as typeof questionSchema,
    },
  );
}
