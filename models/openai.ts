/** Any server that speaks OpenAI's chat-completions protocol. */
import { ChatOpenAICompletions } from "@langchain/openai";
import type { ModelParameters } from "./config.js";

export interface OpenAISettings {
  model: string;
  apiKey: string;
  /** With the version: `https://host/v1`. */
  baseUrl?: string;
  parameters: ModelParameters;
  streaming?: boolean;
  headers?: Record<string, string>;
  extra?: Record<string, unknown>;
  fetch: typeof fetch;
}

/** Models that fix temperature and top_p themselves and refuse a request that sets them. */
const REASONING = /^(o\d|gpt-5)/;

/** LangChain counts the tokens of a streamed answer with a table it downloads; the server's own count is used instead. */
class ChatCompletions extends ChatOpenAICompletions {
  override async getNumTokens(content: unknown): Promise<number> {
    return Math.ceil((typeof content === "string" ? content : JSON.stringify(content)).length / 4);
  }
}

/** A chat model for `settings`; makes no request yet. */
export function createOpenAIModel(settings: OpenAISettings): ChatOpenAICompletions {
  const p = settings.parameters;
  const sampled = !REASONING.test(settings.model);
  return new ChatCompletions({
    model: settings.model,
    apiKey: settings.apiKey,
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
    configuration: {
      fetch: settings.fetch,
      maxRetries: 0,
      ...(settings.baseUrl === undefined ? {} : { baseURL: settings.baseUrl }),
      ...(settings.headers === undefined ? {} : { defaultHeaders: settings.headers }),
    },
  });
}
