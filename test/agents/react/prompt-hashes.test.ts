/** Every prompt that a model is given has its hash in the transcript. */
import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { expect, it } from "vitest";
import { z } from "zod";
import { createToolContext, runReact } from "../../../agents/react/index.js";
import { prompt, promptHash } from "../../../prompts/index.js";
import { UnreadableQueryError } from "../../../tools/index.js";
import { events, testContext } from "../../support/agent-context.js";
import { ScriptedModel } from "../../support/scripted-model.js";

it.each(["tool-calling", "react-text", "json-action"] as const)("system prompt and format, %s", async (protocol) => {
  const answer =
    protocol === "tool-calling"
      ? [{ tool: "submit", args: { answer: "42" } }]
      : protocol === "react-text"
        ? 'Thought: done\nAction: submit\nAction Input: {"answer": "42"}'
        : '{"thought": "done", "action": "submit", "input": {"answer": "42"}}';
  const model = new ScriptedModel([answer]);
  const context = testContext(model, { protocol });
  const text = "You are tested.";
  const system = { name: "test", variant: "default", text, hash: promptHash(text) };
  await runReact(
    {
      persona: "sre",
      task: "test",
      system,
      message: "Begin.",
      tools: () => [],
      submit: { name: "submit", description: "Answers.", schema: z.object({ answer: z.string() }) },
    },
    context,
  );
  const sent = model.requests[0]!.messages[0]!.text;
  const [event] = events(context, "task");
  expect(event.prompt).toEqual({ name: "test", variant: "default", hash: system.hash });
  if (protocol === "tool-calling") expect(event.format).toBeUndefined();
  else {
    const hash = promptHash(sent.slice(text.length + 2));
    expect(event.format).toEqual({ name: protocol, variant: "default", hash });
  }
});

it("nested prompts, and those that ask to reflect", async () => {
  const model = new ScriptedModel([
    [{ tool: "ask", args: {} }],
    "nonsense",
    "bad",
    "fails",
    "good",
    [{ tool: "submit", args: { answer: "42" } }],
  ]);
  const context = testContext(model);
  const question = prompt("nl2kubectl", "default", {
    question: "q",
    examples: "",
    now: "now",
    namespaces: "shop",
    allowed: "",
  });
  const { ToolFailure } = await import("../../../tools/index.js");
  await runReact(
    {
      persona: "sre",
      task: "test",
      system: { name: "test", variant: "default", text: "t", hash: "h" },
      message: "Begin.",
      tools: (run) => {
        const tools = createToolContext(run, false);
        const steps = {
          write: async (ask: typeof tools.ask) => {
            const said = await ask(question);
            if (said === "nonsense") throw new UnreadableQueryError("no query");
            return said;
          },
          lint: async (query: string) => (query === "bad" ? ["it is bad"] : []),
          execute: async (query: string) => {
            if (query === "fails") throw new ToolFailure("it failed");
            return query;
          },
          show: (query: string) => query,
        };
        return [tool(() => tools.run(steps), { name: "ask", description: "Asks.", schema: z.object({}) }) as any];
      },
      submit: { name: "submit", description: "Answers.", schema: z.object({ answer: z.string() }) },
    },
    context,
  );
  const nested = model.requests.slice(1, 5);
  const sent = nested.map(({ messages }) =>
    promptHash(messages.filter((m) => HumanMessage.isInstance(m)).at(-1)!.text),
  );
  expect(events(context, "generate").every((event) => event.prompt.hash === sent[0])).toBe(true);
  expect(events(context, "reflection").map((event) => event.prompt)).toEqual([
    { name: "reflect-lint", variant: "default", hash: sent[1] },
    { name: "reflect-lint", variant: "default", hash: sent[2] },
    { name: "reflect-error", variant: "default", hash: sent[3] },
  ]);
});
