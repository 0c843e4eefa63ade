/** A chat model with something around each of its calls: a rate limit, retries, a recording. */
import { BaseCallbackHandler, callbackHandlerPrefersStreaming } from "@langchain/core/callbacks/base";
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import { BaseChatModel, type BindToolsInput } from "@langchain/core/language_models/chat_models";
import type { AIMessage, AIMessageChunk, BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";

/** What a model is asked. */
export interface ModelRequest {
  messages: readonly BaseMessage[];
  tools: readonly BindToolsInput[];
  /** Stop words, output format and the like. */
  settings: Record<string, unknown>;
  signal?: AbortSignal;
}

/** Runs around a call; `call` makes it, under another signal where one is given. */
export type Around = (request: ModelRequest, call: (signal?: AbortSignal) => Promise<AIMessage>) => Promise<AIMessage>;

export function wrapModel(model: BaseChatModel, around: Around): BaseChatModel {
  return new WrappedModel(model, model, around, [], {});
}

class WrappedModel extends BaseChatModel {
  readonly #plain: BaseChatModel;
  /** Absent while the base class, which asks for it, is being made. */
  readonly kind?: string;
  readonly #bound: Runnable<BaseLanguageModelInput, AIMessageChunk, any>;
  readonly #around: Around;
  readonly #tools: readonly BindToolsInput[];
  readonly #settings: Record<string, unknown>;

  constructor(
    plain: BaseChatModel,
    bound: Runnable<any, any, any>,
    around: Around,
    tools: readonly BindToolsInput[],
    settings: Record<string, unknown>,
  ) {
    super({ maxRetries: 0 });
    this.#plain = plain;
    this.kind = plain._llmType();
    this.#bound = bound;
    this.#around = around;
    this.#tools = tools;
    this.#settings = settings;
  }

  override _llmType(): string {
    return this.kind ?? "wrapped";
  }

  override bindTools(tools: BindToolsInput[], kwargs: Record<string, unknown> = {}): Runnable<any, any, any> {
    const { bindTools } = this.#plain;
    if (bindTools === undefined) throw new Error(`a model of the kind ${this._llmType()} takes no tools`);
    const bound = bindTools.call(this.#plain, tools, kwargs);
    const wrapped = new WrappedModel(this.#plain, bound, this.#around, tools, kwargs);
    return wrapped as unknown as Runnable<any, any, any>;
  }

  override async _generate(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): Promise<ChatResult> {
    const { signal, stop } = options;
    const settings = { ...(stop === undefined ? {} : { stop }), ...this.#settings };
    const callbacks = passingTokens(runManager);
    const request: ModelRequest = { messages, tools: this.#tools, settings, ...(signal ? { signal } : {}) };
    const message = await this.#around(request, async (other = signal) => {
      const config = {
        ...(stop === undefined ? {} : { stop }),
        ...(other === undefined ? {} : { signal: other }),
        ...(callbacks === undefined ? {} : { callbacks }),
      };
      return (await this.#bound.invoke(messages, config)) as AIMessage;
    });
    return { generations: [{ text: message.text, message }] };
  }
}

/** Hands the inner model's tokens on to whoever listens to the outer one. */
function passingTokens(outer: CallbackManagerForLLMRun | undefined): [BaseCallbackHandler] | undefined {
  if (!outer?.handlers.some(callbackHandlerPrefersStreaming)) return undefined;
  const handler = BaseCallbackHandler.fromMethods({
    handleLLMNewToken: (token) => outer.handleLLMNewToken(token),
  });
  return [Object.assign(handler, { lc_prefer_streaming: true })];
}
