/** Any server that speaks OpenAI's chat-completions protocol, strictly or not. */
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { AIMessage, type AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import type { ChatGenerationChunk, ChatResult } from "@langchain/core/outputs";
import { AzureChatOpenAICompletions, ChatOpenAICompletions } from "@langchain/openai";
import type { ModelParameters } from "./config.js";
import { toModelError } from "./errors.js";
import {
  BROKEN_CALLS,
  learn,
  newQuirks,
  plainChunks,
  plainCompletion,
  type Quirks,
  REASONING_BLOCK,
  strictRequest,
} from "./openai-wire.js";
import { settleCalls } from "./tool-calls.js";

export interface OpenAISettings {
  model: string;
  apiKey: string;
  /** With the version: `https://host/v1`. */
  baseUrl?: string;
  parameters: ModelParameters;
  streaming?: boolean;
  headers?: Record<string, string>;
  extra?: Record<string, unknown>;
  /** Whether the model's reasoning goes back to it; `auto` begins without and changes when the server insists. */
  reasoning?: "auto" | "send" | "omit";
  fetch: typeof fetch;
}

export interface AzureSettings extends OpenAISettings {
  /** `https://<resource>.openai.azure.com` */
  endpoint: string;
  deployment: string;
  apiVersion: string;
}

/** Models that fix temperature and top_p themselves and refuse a request that sets them. */
const REASONING = /^(o\d|gpt-5)/;

type Completions = new (...args: any[]) => ChatOpenAICompletions;

/**
 * Adds to a client of LangChain what servers other than OpenAI's need. Both ways through the client pass the wire at
 * `completionWithRetry`; there requests become strict and answers plain.
 */
function forAnyServer<Base extends Completions>(base: Base) {
  class AnyServer extends base {
    quirks: Quirks = newQuirks();

    /** LangChain counts the tokens of a streamed answer with a table it downloads; the server's own count is used instead. */
    override async getNumTokens(content: unknown): Promise<number> {
      return Math.ceil((typeof content === "string" ? content : JSON.stringify(content)).length / 4);
    }

    override async _generate(
      messages: BaseMessage[],
      options: this["ParsedCallOptions"],
      runManager?: CallbackManagerForLLMRun,
    ): Promise<ChatResult> {
      const result = await super._generate(messages.map(withReasoning), options, runManager);
      for (const generation of result.generations) {
        const message = generation.message as AIMessage | AIMessageChunk;
        const finish = generation.generationInfo?.finish_reason as string | undefined;
        if (finish !== undefined) message.response_metadata = { ...message.response_metadata, finish_reason: finish };
        generation.message = settleCalls(message);
      }
      return result;
    }

    override async *_streamResponseChunks(
      messages: BaseMessage[],
      options: this["ParsedCallOptions"],
      runManager?: CallbackManagerForLLMRun,
    ): AsyncGenerator<ChatGenerationChunk> {
      for await (const chunk of super._streamResponseChunks(messages.map(withReasoning), options, runManager)) {
        const finish = chunk.generationInfo?.finish_reason;
        if (finish !== undefined) {
          chunk.message.response_metadata = { ...chunk.message.response_metadata, finish_reason: finish };
        }
        yield chunk;
      }
    }

    override _convertCompletionsMessageToBaseMessage(message: any, rawResponse: any): any {
      const converted = super._convertCompletionsMessageToBaseMessage(message, rawResponse);
      if (message[BROKEN_CALLS] !== undefined) (converted as AIMessage).invalid_tool_calls = message[BROKEN_CALLS];
      return converted;
    }

    override async completionWithRetry(request: any, options?: any): Promise<any> {
      const clientOptions = this._getClientOptions(options);
      for (;;) {
        const strict = strictRequest(request, this.quirks);
        try {
          const answer = await this.client.chat.completions.create(strict, clientOptions);
          return request.stream ? plainChunks(answer as unknown as AsyncIterable<unknown>) : plainCompletion(answer);
        } catch (error) {
          if (options?.signal?.aborted) throw error;
          const failure = toModelError(error);
          if (!learn(this.quirks, failure, strict)) throw failure;
        }
      }
    }
  }
  return AnyServer;
}

const ChatCompletions = forAnyServer(ChatOpenAICompletions);
const AzureCompletions = forAnyServer(AzureChatOpenAICompletions);

/** Reasoning travels as a part of the content: the client passes parts on as they are. */
function withReasoning(message: BaseMessage): BaseMessage {
  const reasoning = AIMessage.isInstance(message) ? message.additional_kwargs.reasoning_content : undefined;
  if (typeof reasoning !== "string" || reasoning === "") return message;
  const { tool_calls, invalid_tool_calls } = message as AIMessage;
  return new AIMessage({
    content: [
      { type: "text", text: message.text },
      { type: REASONING_BLOCK, text: reasoning },
    ],
    ...(tool_calls === undefined ? {} : { tool_calls }),
    ...(invalid_tool_calls === undefined ? {} : { invalid_tool_calls }),
  });
}

/** A chat model for `settings`; makes no request yet. */
export function createOpenAIModel(settings: OpenAISettings): ChatOpenAICompletions {
  const { baseUrl, headers } = settings;
  const model = new ChatCompletions({
    ...fields(settings),
    apiKey: settings.apiKey,
    configuration: {
      fetch: settings.fetch,
      maxRetries: 0,
      ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
      ...(headers === undefined ? {} : { defaultHeaders: headers }),
    },
  });
  model.quirks = newQuirks(settings.reasoning);
  return model;
}

/** A chat model for a deployment on Azure; makes no request yet. */
export function createAzureModel(settings: AzureSettings): ChatOpenAICompletions {
  return new AzureCompletions({
    ...fields(settings),
    azureOpenAIApiKey: settings.apiKey,
    azureOpenAIEndpoint: settings.endpoint,
    azureOpenAIApiDeploymentName: settings.deployment,
    azureOpenAIApiVersion: settings.apiVersion,
    configuration: {
      fetch: settings.fetch,
      maxRetries: 0,
      ...(settings.headers === undefined ? {} : { defaultHeaders: settings.headers }),
    },
  });
}

function fields(settings: OpenAISettings) {
  const p = settings.parameters;
  const sampled = !REASONING.test(settings.model);
  return {
    model: settings.model,
    maxRetries: 0,
    ...(sampled && p.temperature !== undefined ? { temperature: p.temperature } : {}),
    ...(sampled && p.top_p !== undefined ? { topP: p.top_p } : {}),
    ...(p.max_tokens === undefined ? {} : { maxTokens: p.max_tokens }),
    ...(settings.streaming ? { streaming: true } : {}),
    modelKwargs: {
      ...(p.seed === undefined ? {} : { seed: p.seed }),
      ...(p.top_k === undefined ? {} : { top_k: p.top_k }),
      ...(p.reasoning_effort === undefined ? {} : { reasoning_effort: p.reasoning_effort }),
      ...settings.extra,
    },
  };
}
