/** NL2Alerts: which alerts fire, and what their rules say. The questions are few, so nothing has to be generated. */
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import type { ToolContext } from "../context.js";
import { type AlertsQuery, runAlertsQuery } from "./client.js";

export { firstAlert } from "./client.js";

const schema = z.object({
  state: z.enum(["firing", "pending", "all"]).optional().describe("which alerts to list (firing)"),
  match: z.string().optional().describe("only alerts whose name or labels contain this text"),
  rule: z.string().optional().describe("name of an alert: show the expression behind it instead"),
});

/** Tool `nl2alerts`. */
export function createNl2Alerts(context: ToolContext) {
  return tool(
    async (input: z.infer<typeof schema>) => {
      const query: AlertsQuery = {
        state: input.state ?? "firing",
        ...(input.match ? { match: input.match } : {}),
        ...(input.rule ? { rule: input.rule } : {}),
      };
      return context.run<AlertsQuery>({
        literal: query,
        write: async () => query,
        lint: async () => [],
        execute: (one) => runAlertsQuery(one, context),
        show: (one) => (one.rule === undefined ? `${one.state} alerts` : `rule of ${one.rule}`),
      });
    },
    {
      name: "nl2alerts",
      metadata: { narrow: "filter with match" },
      description:
        "Lists the alerts that fire right now, with labels and since when; or shows the rule behind an alert.",
      schema,
    },
  );
}
