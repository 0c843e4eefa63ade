/**
 * NL2Script: several kubectl commands in one go, over lists. A small language of its own, read and run here: no shell is
 * involved, and each command passes the guard of the agents' kubectl.
 */
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { type ToolContext, ToolFailure } from "../context.js";
import { openKubectl } from "../nl2kubectl/index.js";
import { checkScript } from "./check.js";
import { writeScript } from "./generate.js";
import { parseScript } from "./parse.js";
import { runScript } from "./run.js";
import { ScriptError } from "./syntax.js";

const script = z
  .string()
  .describe(
    "kubectl commands, one a line, with filters behind |; x=$(kubectl ...), echo, and for x in ...; do ...; done; nothing else",
  );

const questionSchema = z.object({
  question: z.string().optional().describe("what you want to know or do, in plain words, with names and namespace"),
  script: script.optional(),
});

/** Tool `nl2script`; in `direct` mode it takes scripts only. */
export function createNl2Script(context: ToolContext) {
  const run = openKubectl(context);
  const policy = { mode: context.writes ? "read-write" : "read-only", namespaces: context.namespaces } as const;
  return tool(
    async (input: z.infer<typeof questionSchema>) => {
      const given = input.script?.trim();
      const question = input.question?.trim();
      if (!given && !question) throw new ToolFailure('give "question" (plain words) or "script" (kubectl commands)');
      return context.run<string>({
        ...(given ? { literal: given } : {}),
        write: (ask) => writeScript(question!, context, ask),
        lint: async (text) => lint(text),
        execute: async (text) => {
          // Also where linters are off: a script that is refused half-way has done half of its work.
          const findings = lint(text);
          if (findings.length > 0) throw new ToolFailure(`nothing was run: ${findings.join("\n")}`);
          return runScript(parseScript(text), run);
        },
        show: (text) => text,
      });
    },
    {
      name: "nl2script",
      metadata: { narrow: "ask for fewer objects, or filter with | grep and | head" },
      description:
        context.mode === "nl2x"
          ? "Turns a question or an order into a short script of kubectl commands (with loops over lists) and runs it: for what would take many single commands. Or give the script itself in `script`."
          : "Runs a short script of kubectl commands, with loops over lists: for what would take many single commands.",
      schema: (context.mode === "nl2x" ? questionSchema : z.object({ script })) as typeof questionSchema,
    },
  );

  function lint(text: string): string[] {
    try {
      return checkScript(parseScript(text), policy);
    } catch (error) {
      if (error instanceof ScriptError) return [error.message];
      throw error;
    }
  }
}
