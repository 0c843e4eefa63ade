import { PassThrough } from "node:stream";
import { type AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { sreAgent } from "../../agents/index.js";
import { resolveModel, toModelError } from "../../models/index.js";
import { testContext } from "../support/agent-context.js";
import { ScriptedModel } from "../support/scripted-model.js";

const tools = [
  tool(async () => "", {
    name: "look",
    description: "Looks at things.\nMore of it.",
    schema: z.object({
      question: z.string().describe("what to look at"),
      minutes: z.number().optional(),
      state: z.enum(["firing", "pending"]).optional(),
    }),
  }),
  tool(async () => "", {
    name: "submit",
    description: "Ends.",
    schema: z.object({
      entities: z.array(z.object({ name: z.string(), root: z.boolean() })),
      notes: z.array(z.string()).default([]),
    }),
  }),
];

/** A model played by someone who types `lines` and then leaves. */
async function human(lines: string[]) {
  const input = new PassThrough();
  const output = new PassThrough();
  let screen = "";
  output.on("data", (chunk) => {
    screen += chunk;
  });
  input.end(lines.map((line) => `${line}\n`).join(""));
  const { chat, isLlm } = await resolveModel("human", { terminal: { input, output } });
  return { chat, isLlm, screen: () => screen };
}

const ask = async (lines: string[]) => {
  const { chat, screen } = await human(lines);
  const answer = await chat.bindTools!(tools).invoke([new SystemMessage("Be careful."), new HumanMessage("Find it.")]);
  return { calls: answer.tool_calls!.map(({ name, args }) => ({ name, args })), screen: screen() };
};

describe("a person as the model", () => {
  it.each<[string, string[], unknown]>([
    ["words", ["look which pods restart?"], { name: "look", args: { input: "which pods restart?" } }],
    [
      "keys",
      ['look question="which pods" minutes=5'],
      { name: "look", args: { question: "which pods", minutes: "5" } },
    ],
    ["a key that is not the tool's, as words", ["look app=cart"], { name: "look", args: { input: "app=cart" } }],
    ["JSON", ['look {"question": "x"}'], { name: "look", args: { question: "x" } }],
    ["JSON over lines", ['look {"question":', '"x"', "}"], { name: "look", args: { question: "x" } }],
    [
      "a form",
      ["look", "which pods", "", "firing"],
      { name: "look", args: { question: "which pods", state: "firing" } },
    ],
    [
      "a form with a list",
      ["submit", "y", "a/Pod/b", "maybe", "y", "n", "first note", ""],
      { name: "submit", args: { entities: [{ name: "a/Pod/b", root: true }], notes: ["first note"] } },
    ],
    ["a wrong tool first", ["lok x", "", "look x"], { name: "look", args: { input: "x" } }],
    ["broken JSON first", ['look {"question"', "", "look x"], { name: "look", args: { input: "x" } }],
  ])("%s", async (_name, lines, call) => {
    expect((await ask(lines)).calls).toEqual([call]);
  });

  it("sees what a model sees, and can ask for the tools", async () => {
    const { screen } = await ask(["?", "? look", "? nothing", "look x"]);
    for (const text of ["Be careful.", "Find it.", "look: Looks at things.", "question (string): what to look at"]) {
      expect(screen).toContain(text);
    }
    expect(screen).toContain('There is no tool "nothing"');
  });

  it("is shown only what is new", async () => {
    const { chat, screen } = await human(["look a", "look b"]);
    const bound = chat.bindTools!(tools);
    const before = [new HumanMessage("Find it.")];
    const first = await bound.invoke(before);
    const call = (first as AIMessage).tool_calls![0]!;
    await bound.invoke([...before, first, new ToolMessage({ content: "RESULT A", tool_call_id: call.id! })]);
    expect(screen().match(/Find it\./g)).toHaveLength(1);
    expect(screen()).toMatch(/--- result ---\nRESULT A/);
  });

  it("answers questions of tools in words", async () => {
    const { chat, isLlm } = await human(["kubectl get pods", "-n shop", "."]);
    expect((await chat.invoke("Write the command.")).text).toBe("kubectl get pods\n-n shop");
    expect(isLlm).toBe(false);
  });

  it.each([[["quit"]], [[]]])("may leave: %j", async (lines) => {
    const { chat } = await human(lines);
    expect(await chat.bindTools!(tools).invoke("hi").catch(toModelError)).toMatchObject({
      message: "the person at the terminal has left",
    });
  });

  it("stops waiting when the trial is aborted", async () => {
    const output = new PassThrough();
    const { chat } = await resolveModel("human", { terminal: { input: new PassThrough(), output } });
    const abort = new AbortController();
    const answer = chat.bindTools!(tools).invoke("hi", { signal: abort.signal });
    setImmediate(() => abort.abort());
    await expect(answer).rejects.toThrow();
  });

  it("plays a whole task", async () => {
    const { chat } = await human([
      "wait 5",
      "submit_diagnosis",
      "y",
      "shop/Service/cart",
      "y",
      "because",
      "seen",
      "n",
      "n",
      "n",
      "",
    ]);
    const context = testContext(new ScriptedModel([]), { model: chat });
    const outcome = await sreAgent.run({ task: "diagnosis" }, context);
    expect(outcome).toMatchObject({
      status: "ok",
      output: { entities: [{ name: "shop/Service/cart", evidence: "seen" }] },
    });
    expect(context.slept).toEqual([5]);
  });
});
