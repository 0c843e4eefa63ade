/** A chat model that says what a test wrote down, and remembers what it was asked. */
import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import { BaseChatModel, type BindToolsInput } from "@langchain/core/language_models/chat_models";
import { AIMessage, type AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";

export interface ScriptedCall {
  tool: string;
  args: Record<string, unknown>;
  id?: string;
}

/** Text; tool calls; an error to throw; or a function of the conversation that gives one of them. */
export type ScriptedTurn =
  | string
  | ScriptedCall[]
  | { text: string; calls: ScriptedCall[] }
  | Error
  | AIMessage
  | ((messages: BaseMessage[], signal?: AbortSignal) => ScriptedTurn | Promise<ScriptedTurn>);

export interface ScriptedRequest {
  messages: BaseMessage[];
  tools: string[];
  options: Record<string, unknown>;
}

export class ScriptedModel extends BaseChatModel {
  readonly requests: ScriptedRequest[] = [];
  readonly #turns: ScriptedTurn[];
  readonly #tokens: { input: number; output: number; cached: number };
  /** Absent while the base class, which asks for it, is being made. */
  readonly backend?: string;
  #ids = 0;

  constructor(
    turns: ScriptedTurn[],
    options: { tokens?: { input: number; output: number; cached?: number }; type?: string } = {},
  ) {
    super({});
    this.#turns = turns;
    this.#tokens = { cached: 0, ...(options.tokens ?? { input: 10, output: 5 }) };
    this.backend = options.type ?? "scripted";
  }

  override _llmType(): string {
    return this.backend ?? "scripted";
  }

  override bindTools(tools: BindToolsInput[], kwargs?: any): Runnable<BaseLanguageModelInput, AIMessageChunk, any> {
    return this.withConfig({ ...kwargs, boundTools: tools } as any);
  }

  override async _generate(messages: BaseMessage[], options: any): Promise<ChatResult> {
    const tools = (options.boundTools ?? []).map((tool: { name: string }) => tool.name);
    this.requests.push({ messages: [...messages], tools, options });
    let turn = this.#turns[this.requests.length - 1];
    while (typeof turn === "function") turn = await turn(messages, options.signal);
    if (turn === undefined) throw new Error(`the script has no turn ${this.requests.length}`);
    if (turn instanceof Error) throw turn;
    const message = this.#message(turn);
    return { generations: [{ text: message.text, message }] };
  }

  #message(turn: Exclude<ScriptedTurn, Error | ((...args: any[]) => unknown)>): AIMessage {
    if (AIMessage.isInstance(turn)) return turn;
    const { text, calls } =
      typeof turn === "string" ? { text: turn, calls: [] } : Array.isArray(turn) ? { text: "", calls: turn } : turn;
    const { input, output, cached } = this.#tokens;
    return new AIMessage({
      content: text,
      tool_calls: calls.map((call) => ({
        type: "tool_call" as const,
        id: call.id ?? `id_${++this.#ids}`,
        name: call.tool,
        args: call.args,
      })),
      usage_metadata: {
        input_tokens: input,
        output_tokens: output,
        total_tokens: input + output,
        input_token_details: { cache_read: cached },
      },
    });
  }
}
