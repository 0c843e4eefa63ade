import { type AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { parseAlerts, parseFlags } from "../../../models/playbook/evidence.js";
import { createPlaybookModel } from "../../../models/playbook/index.js";
import { ask, nextCalls, type Script } from "../../../models/playbook/script.js";

const TOOLS = ["nl2kubectl", "nl2alerts", "wait", "submit_diagnosis"].map((name) => ({ name }));
const START = [new SystemMessage("You are on call.\nnamespaces: shop. Find the cause."), new HumanMessage("Begin.")];

function bound() {
  return createPlaybookModel().bindTools!(TOOLS as never);
}

describe("the playbook as a chat model", () => {
  it("says in its name that it is no LLM", async () => {
    const { PLAYBOOK_NAME } = await import("../../../models/playbook/index.js");
    expect(PLAYBOOK_NAME).toMatch(/not an LLM/);
    expect(createPlaybookModel()._llmType()).toBe("playbook");
  });

  it("asks for the alerts first, and looks at the namespace that the task names", async () => {
    const first = (await bound().invoke(START)) as AIMessage;
    expect(first.tool_calls?.map((call) => call.name)).toEqual(["nl2alerts"]);
    const answer = new ToolMessage({
      tool_call_id: first.tool_calls![0]!.id!,
      content: "<observation>\nno firing alerts at 2026-01-15 09:00:00Z (none in any state)\n</observation>",
    });
    const second = (await bound().invoke([...START, first, answer])) as AIMessage;
    expect(second.tool_calls!.length).toBeGreaterThan(3);
    for (const call of second.tool_calls!) expect(call.args.command).toContain("-n shop");
  });

  it("answers with an empty list, and why, where nothing is wrong", async () => {
    const messages: (SystemMessage | HumanMessage | AIMessage | ToolMessage)[] = [...START];
    for (let step = 0; step < 10; step++) {
      const message = (await bound().invoke(messages)) as AIMessage;
      const calls = message.tool_calls ?? [];
      if (calls[0]?.name === "submit_diagnosis") {
        expect(calls[0].args.entities).toEqual([]);
        expect(calls[0].args.summary).toMatch(/no root cause/i);
        return;
      }
      messages.push(message, ...calls.map((call) => new ToolMessage({ tool_call_id: call.id!, content: "" })));
    }
    throw new Error("no answer within 10 steps");
  });

  it("says the same about the same conversation, whoever asks", async () => {
    const [one, two] = await Promise.all([bound().invoke(START), bound().invoke(START)]);
    expect((one as AIMessage).tool_calls).toEqual((two as AIMessage).tool_calls);
  });

  it("refuses to work without the tools that it needs", async () => {
    const lame = createPlaybookModel().bindTools!([{ name: "wait" }, { name: "submit_diagnosis" }] as never);
    await expect(lame.invoke(START)).rejects.toThrow(/needs a tool like/);
  });

  it("says what it is when it is asked for text", async () => {
    expect(((await createPlaybookModel().invoke(START)) as AIMessage).text).toMatch(/no language model/);
  });

  it.each(["submit_diagnosis", "submit_mitigation"])("hands in what it has when only %s is left", async (submit) => {
    const first = (await createPlaybookModel().bindTools!([...TOOLS.slice(0, 3), { name: submit }] as never).invoke(
      START,
    )) as AIMessage;
    const observed = new ToolMessage({ tool_call_id: first.tool_calls![0]!.id!, content: "no firing alerts at 09:00" });
    const last = (await createPlaybookModel().bindTools!([{ name: submit }] as never).invoke([
      ...START,
      first,
      observed,
    ])) as AIMessage;
    expect(last.tool_calls!.map((call) => call.name)).toEqual([submit]);
    const { actions, verified } = last.tool_calls![0]!.args;
    if (submit === "submit_mitigation") expect([actions, verified]).toEqual([[], false]);
  });
});

describe("script", () => {
  function* twice(): Script<string> {
    const a = yield* ask("x", { n: 1 });
    const b = yield* ask("x", { n: a.length });
    return b;
  }

  it("is replayed from the conversation alone", () => {
    const turn = (n: number, observation: string) => ({
      calls: [{ tool: "x", args: { n } }],
      observations: [observation],
    });
    expect(nextCalls(twice(), [])).toEqual([{ tool: "x", args: { n: 1 } }]);
    expect(nextCalls(twice(), [turn(1, "four")])).toEqual([{ tool: "x", args: { n: 4 } }]);
    expect(nextCalls(twice(), [turn(1, "four"), turn(4, "end")])).toBeUndefined();
  });
});

describe("what it reads", () => {
  it.each([
    ["no firing alerts at 2026-01-15 09:22:00Z (none in any state)", []],
    ["2 firing alerts at 2026-01-15 09:14:10Z", []],
    ['A{pod="x"} pending since 09:11:00 (3m): text', []],
    ['KubePodNotReady{namespace="shop", pod="x"} firing since 09:11:00 (3m): a pod is pending', ["KubePodNotReady"]],
  ])("alerts: %s", (text, names) => {
    expect(parseAlerts(text).map((alert) => alert.name)).toEqual(names);
  });

  it("labels of alerts", () => {
    const [alert] = parseAlerts('High{namespace="shop", service_name="web"} firing since 09:11:00 (3m): x');
    expect(alert!.labels).toEqual({ namespace: "shop", service_name: "web" });
  });

  it.each([
    ["nothing", ""],
    ["cut JSON", '{"a": "{\\"flags\\"'],
    ["a document that is no JSON", JSON.stringify({ a: "hello" })],
  ])("no flags from %s", (_name, data) => {
    expect(parseFlags("map", data)).toEqual([]);
  });
});
