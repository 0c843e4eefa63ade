/** Wait: lets time pass, so that a change can take effect before it is judged. */
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import type { ToolContext } from "../context.js";
import { duration, timestamp } from "../render/text.js";

const MAX_SECONDS = 600;

const schema = z.object({
  seconds: z.number().positive().describe(`how long, at most ${MAX_SECONDS}`),
});

/** Tool `wait`; longer waits are cut to ten minutes, and said to be. */
export function createWait(context: ToolContext) {
  return tool(
    async ({ seconds }: z.infer<typeof schema>) => {
      const bounded = Math.min(seconds, MAX_SECONDS);
      await context.clock.sleep(bounded, context.signal);
      const cut = bounded < seconds ? ` (the longest wait; you asked for ${duration(seconds)})` : "";
      return `waited ${duration(bounded)}${cut}; it is now ${timestamp(context.clock.now())}`;
    },
    {
      name: "wait",
      description: "Waits, for instance for a rollout to finish or an alert to clear.",
      schema,
    },
  );
}
