/**
 * The playbook behind the wire: a local server that speaks OpenAI's or Ollama's protocol and decides as the in-process
 * playbook does, in each protocol of the loop. In the text protocols it reads its tools and what has happened out of the
 * conversation, as any model does, and makes one call a turn.
 */
import { AIMessage, type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import type { ProtocolName } from "../../agents/index.js";
import { PROTOCOLS } from "../../agents/react/protocols/index.js";
import { createPlaybookModel } from "../../models/playbook/index.js";
import type { Recorded, TestServer } from "./http.js";
import { serveModel, type WireAnswer, type WireKind } from "./wire-model.js";

interface Call {
  name: string;
  args: Record<string, unknown>;
}

export async function servePlaybook(kind: WireKind, protocol: ProtocolName): Promise<TestServer> {
  const answers = new Map<string, WireAnswer>();
  const decide = async (request: Recorded) => {
    const text = JSON.stringify(request.body);
    answers.set(text, protocol === "tool-calling" ? await native(request) : await inText(request, protocol));
  };
  return serveModel(kind, [(request) => answers.get(JSON.stringify(request.body))!], decide);
}

async function native({ body }: Recorded): Promise<WireAnswer> {
  const ids: string[] = [];
  const messages = body.messages.map((message: any): BaseMessage => {
    if (message.role === "system") return new SystemMessage(message.content);
    if (message.role === "tool") {
      // Ollama's results come in the order of their calls.
      return new ToolMessage({ content: message.content, tool_call_id: message.tool_call_id ?? ids.shift() ?? "" });
    }
    if (message.role !== "assistant") return new HumanMessage(message.content);
    const tool_calls = (message.tool_calls ?? []).map((call: any, i: number) => {
      const { name, arguments: args } = call.function;
      const id = call.id ?? `c${ids.length}_${i}_${Math.abs(body.messages.indexOf(message))}`;
      if (call.id === undefined) ids.push(id);
      return { type: "tool_call", id, name, args: typeof args === "string" ? JSON.parse(args) : args };
    });
    return new AIMessage({ content: message.content ?? "", tool_calls });
  });
  const names = (body.tools ?? []).map((tool: any) => tool.function.name);
  const calls = await ask(names, messages);
  return { content: "", calls: calls.map(({ name, args }, i) => ({ name, args, id: `p${messages.length}x${i}` })) };
}

async function inText({ body }: Recorded, protocol: "react-text" | "json-action"): Promise<WireAnswer> {
  const [system, task, ...rest] = body.messages as { role: string; content: string }[];
  const names = [...system!.content.matchAll(/^([a-z][a-z0-9_]*): \S/gm)].map((match) => match[1]!);
  const submit = names.find((name) => name.startsWith("submit"))!;
  const happened: { call: Call; observation: string }[] = [];
  for (let i = 0; i + 1 < rest.length; i += 2) {
    const parsed = PROTOCOLS[protocol].read(new AIMessage(rest[i]!.content), { names, submit });
    if (!parsed.ok) continue;
    const [action] = parsed.actions;
    const observation = rest[i + 1]!.content.replace(/^Observation: /, "");
    happened.push({ call: { name: action!.tool, args: action!.args as Record<string, unknown> }, observation });
  }
  const call = await oneByOne(names, [new SystemMessage(system!.content), new HumanMessage(task!.content)], happened);
  const say = (thought: string) =>
    protocol === "react-text"
      ? `Thought: ${thought}\nAction: ${call.name}\nAction Input: ${JSON.stringify(call.args)}`
      : JSON.stringify({ thought, action: call.name, input: call.args });
  return { content: say(`step ${happened.length + 1}`) };
}

/** The playbook's next call where it wants several at once, but can make only one a turn. */
async function oneByOne(
  names: string[],
  start: BaseMessage[],
  happened: readonly { call: Call; observation: string }[],
): Promise<Call> {
  const messages = [...start];
  for (let done = 0; ; ) {
    const calls = await ask(names, messages);
    if (done + calls.length > happened.length) return calls[happened.length - done]!;
    const ids = calls.map((_, i) => `c${done + i}`);
    const tool_calls = calls.map((call, i) => ({ type: "tool_call" as const, id: ids[i]!, ...call }));
    messages.push(new AIMessage({ content: "", tool_calls }));
    for (const id of ids) messages.push(new ToolMessage({ content: happened[done++]!.observation, tool_call_id: id }));
  }
}

async function ask(names: string[], messages: BaseMessage[]): Promise<Call[]> {
  const tools = names.map((name) => ({ name, description: "", schema: { type: "object", properties: {} } }));
  const answer = (await createPlaybookModel().bindTools!(tools as any).invoke(messages)) as AIMessage;
  return (answer.tool_calls ?? []).map(({ name, args }) => ({ name, args }));
}
