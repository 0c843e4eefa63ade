/**
 * NL2Kubectl: questions and orders about the cluster's objects. What already is a command is run as it is, without a
 * nested model call.
 */
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { type ToolContext, ToolFailure } from "../context.js";
import { findingTexts } from "../lint/finding.js";
import { createKubectlRunner, type KubectlQuery } from "./client.js";
import { isCommand, writeKubectlQuery } from "./generate.js";
import { createKubectlLint } from "./lint.js";

export { openKubectl, type RunCommand } from "./client.js";

const command = z
  .string()
  .describe("one kubectl command, run as it is; `|` only into grep, head, tail, sort, uniq, wc, cut, awk, jq");
const manifest = z.string().optional().describe("YAML for a command that ends in `-f -`");

const questionSchema = z.object({
  question: z.string().optional().describe("what you want to know or do, in plain words, with names and namespace"),
  command: command.optional(),
  manifest,
});

/** Tool `nl2kubectl`; in `direct` mode it takes commands only. */
export function createNl2Kubectl(context: ToolContext) {
  const runCommand = createKubectlRunner(context);
  const lint = createKubectlLint(context);
  const can = context.writes ? "reads and changes" : "reads (it cannot change anything)";
  return tool(
    async (input: z.infer<typeof questionSchema>) => {
      const question = input.question?.trim();
      const given = input.command?.trim() || (question !== undefined && isCommand(question) ? question : undefined);
      if (!given && !question) throw new ToolFailure('give "question" (plain words) or "command" (kubectl ...)');
      return context.run<KubectlQuery>({
        ...(given ? { literal: { command: given, ...(input.manifest ? { manifest: input.manifest } : {}) } } : {}),
        write: async (ask) => {
          const written = await writeKubectlQuery(question!, context, ask);
          return input.manifest && !written.manifest ? { ...written, manifest: input.manifest } : written;
        },
        // The agent reads kubectl's own message as well as a finding; only what a nested model wrote is checked first.
        lint: async (one) => (given ? [] : findingTexts(await lint(one))),
        execute: async (one) => {
          const output = await runCommand(one);
          return given ? output : `$ ${one.command}\n${output}`;
        },
        show: (one) => (one.manifest === undefined ? one.command : `${one.command}\n${one.manifest}`),
      });
    },
    {
      name: "nl2kubectl",
      metadata: {
        narrow:
          "name the object, add a selector (-l), choose fields (-o jsonpath=...), or filter with | grep and | head",
      },
      description:
        context.mode === "nl2x"
          ? `Turns a question or an order into a kubectl command and runs it; ${can} objects of the cluster: pods, deployments, services, events, logs, configuration. Ask one thing at a time, or give the command itself in \`command\`.`
          : `Runs one kubectl command; ${can} objects of the cluster.`,
      schema: context.mode === "nl2x" ? questionSchema : z.object({ command, manifest }),
    },
  );
}
