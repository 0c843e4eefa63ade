/** What the prompts of the query-writing tools are filled with. */
import type { ToolContext } from "./context.js";
import { timestamp } from "./render/text.js";

/** Values for any of these prompts; each takes those that it declares. */
export function questionValues(question: string, context: ToolContext): Record<string, string> {
  return {
    question,
    examples: context.examples ? "yes" : "",
    now: timestamp(context.clock.now()),
    namespaces: context.namespaces.join(", "),
    allowed: context.writes
      ? "It may change objects in these namespaces."
      : "It may only read: nothing may be changed.",
  };
}
