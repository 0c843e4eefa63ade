/** Summarize: reads a long observation whole, with the nested model, and answers a question about it. */
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { prompt } from "../../prompts/index.js";
import { type ToolContext, ToolFailure } from "../context.js";
import { cutMiddle } from "../render/cut.js";

/** Longest text for the nested model; its middle is left out beyond that. */
const MAX_BYTES = 100_000;

const schema = z.object({
  observation: z.string().describe('id of an earlier observation, such as "call_3", or the text itself'),
  question: z.string().describe("what you want to know of it"),
});

/** Tool `summarize`. */
export function createSummarize(context: ToolContext) {
  return tool(
    async ({ observation, question }: z.infer<typeof schema>) => {
      const id = /^(?:id=)?["']?(call_\d+)["']?$/.exec(observation.trim())?.[1];
      const text = id === undefined ? observation : context.observation(id);
      if (text === undefined)
        throw new ToolFailure(`there is no observation ${id}; use the id that stands in its first line`);
      const { text: bounded } = cutMiddle(text, MAX_BYTES, (left) => `[... ${left} bytes left out ...]`);
      return (await context.ask(prompt("summarize", context.promptVariant, { question, text: bounded }))).trim();
    },
    {
      name: "summarize",
      description: "Reads an observation that was cut, as a whole, and answers your question about it.",
      schema,
    },
  );
}
