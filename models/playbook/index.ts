/**
 * The playbook backend: a rule-based operator in the shape of a chat model. It is not an LLM, and says so in its name;
 * it sees what any model sees (the conversation and the tools) and is the floor that every LLM is measured against.
 */
import {
  BaseChatModel,
  type BaseChatModelParams,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import { diagnose } from "./diagnose.js";
import { mitigate } from "./mitigate.js";
import { type Call, lastCalls, nextCalls, type Script, type Turn } from "./script.js";
import type { Toolbox } from "./toolbox.js";

export const PLAYBOOK_NAME = "playbook (rule-based, not an LLM)";

export class PlaybookModel extends BaseChatModel {
  #tools: string[] = [];

  constructor(params: BaseChatModelParams & { tools?: string[] } = {}) {
    super(params);
    this.#tools = params.tools ?? [];
  }

  override _llmType(): string {
    return "playbook";
  }

  override bindTools(tools: BindToolsInput[]): Runnable<any, any, any> {
    return new PlaybookModel({ tools: tools.map(toolName) }) as unknown as Runnable<any, any, any>;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    if (this.#tools.length === 0) return answer(new AIMessage(WITHOUT_TOOLS));
    const turns = conversation(messages);
    const toolbox = openToolbox(this.#tools, messages);
    const script: Script = toolbox.submit.includes("mitigation") ? mitigate(toolbox) : diagnose(toolbox);
    // After a limit only the answer may be given.
    const last = this.#tools.every((tool) => tool === toolbox.submit);
    const calls = last ? lastCalls(script, turns, toolbox.submit) : nextCalls(script, turns);
    const message = calls
      ? new AIMessage({
          content: "",
          tool_calls: calls.map((call, i) => ({
            type: "tool_call" as const,
            id: `call_${turns.length + 1}_${i + 1}`,
            name: call.tool,
            args: call.args,
          })),
        })
      : new AIMessage("The playbook has nothing to add.");
    return answer(message);
  }
}

/** It can neither write queries nor reflect: whoever asks for that is told so. */
const WITHOUT_TOOLS = "This is the playbook: fixed rules, no language model. Without tools it has nothing to say.";

function answer(message: AIMessage): ChatResult {
  return { generations: [{ text: message.text, message }] };
}

/** @returns a fresh playbook model; it holds no state between calls */
export function createPlaybookModel(): BaseChatModel {
  return new PlaybookModel();
}

function toolName(tool: BindToolsInput): string {
  const { name, function: fn } = tool as { name?: string; function?: { name?: string } };
  return name ?? fn?.name ?? "";
}

/**
 * Finds the tools by what their names say; with nothing but a submit tool the others are not needed.
 * @throws Error when one that the playbook cannot do without is missing
 */
function openToolbox(tools: string[], messages: readonly BaseMessage[]): Toolbox {
  const answerOnly = tools.every((one) => /^submit/i.test(one));
  const find = (pattern: RegExp) => {
    const name = tools.find((one) => pattern.test(one)) ?? (answerOnly ? "" : undefined);
    if (name === undefined) {
      throw new Error(`the playbook needs a tool like ${pattern.source}; it was given: ${tools.join(", ") || "none"}`);
    }
    return name;
  };
  const traces = tools.find((one) => /traces/i.test(one));
  return {
    ...(traces === undefined ? {} : { traces }),
    kubectl: find(/kubectl/i),
    alerts: find(/alerts/i),
    wait: find(/^wait/i),
    submit: find(/^submit/i),
    namespaces: namespacesOf(messages),
  };
}

/** Namespaces that the task names in a line such as `Namespaces: otel-demo, shop`. */
function namespacesOf(messages: readonly BaseMessage[]): string[] {
  for (const message of messages) {
    if (!SystemMessage.isInstance(message) && !HumanMessage.isInstance(message)) continue;
    const match = /^[\s*-]*namespaces?(?: in scope)?\s*:\s*([^.\n]+)/im.exec(message.text);
    if (match) return [...match[1]!.matchAll(/[a-z0-9](?:[a-z0-9-]*[a-z0-9])?/g)].map((word) => word[0]);
  }
  return [];
}

/** The steps so far: each assistant message with calls, and the answers to them, by id. */
function conversation(messages: readonly BaseMessage[]): Turn[] {
  const answers = new Map<string, string>();
  for (const message of messages) {
    if (ToolMessage.isInstance(message)) answers.set(message.tool_call_id, unfence(message.text));
  }
  return messages
    .filter((message): message is AIMessage => AIMessage.isInstance(message) && (message.tool_calls?.length ?? 0) > 0)
    .map((message) => ({
      calls: message.tool_calls!.map((call): Call => ({ tool: call.name, args: call.args })),
      observations: message.tool_calls!.map((call) => answers.get(call.id ?? "") ?? ""),
    }));
}

/** Takes off the fence that marks an observation as data. */
function unfence(text: string): string {
  return text.replace(/^\s*<observation[^>]*>\n?/, "").replace(/\n?<\/observation>\s*$/, "");
}
