/** The providers: what each is called, which key it wants, and how its chat model is made. One entry a provider. */
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { ModelParameters } from "./config.js";
import { MissingPackageError } from "./errors.js";
import { type RetryOptions, retryingFetch } from "./retry.js";

export interface ProviderSettings {
  model: string;
  apiKey?: string;
  baseUrl?: string;
  parameters: ModelParameters;
  streaming?: boolean;
  headers?: Record<string, string>;
  extra?: Record<string, unknown>;
  retry: RetryOptions;
}

export interface Provider {
  /** One line for a listing. */
  about: string;
  /** Environment variable that holds the key; absent where none is needed. */
  keyVariable?: string;
  /** Environment variable that may hold the address. */
  baseUrlVariable?: string;
  create(settings: ProviderSettings): Promise<BaseChatModel>;
}

export const PROVIDERS: Record<string, Provider> = {
  openai: {
    about: "OpenAI, or any server that speaks its chat-completions protocol (OPENAI_BASE_URL)",
    keyVariable: "OPENAI_API_KEY",
    baseUrlVariable: "OPENAI_BASE_URL",
    async create(settings) {
      const { createOpenAIModel } = await import("./openai.js");
      // A server of one's own often wants no key, but the client insists on sending one.
      return createOpenAIModel({
        ...settings,
        apiKey: settings.apiKey ?? "none",
        fetch: retryingFetch(settings.retry),
      }) as unknown as BaseChatModel;
    },
  },
  ollama: {
    about: "a local Ollama (OLLAMA_HOST)",
    baseUrlVariable: "OLLAMA_HOST",
    async create(settings) {
      const { ChatOllama } = await import("./ollama.js");
      return new ChatOllama(settings) as unknown as BaseChatModel;
    },
  },
  anthropic: langchain("Anthropic", "ANTHROPIC_API_KEY"),
  azure_openai: langchain("Azure OpenAI", "AZURE_OPENAI_API_KEY", ({ baseUrl, parameters }) => ({
    ...(baseUrl === undefined ? {} : { azureOpenAIEndpoint: baseUrl }),
    ...(parameters.seed === undefined ? {} : { modelKwargs: { seed: parameters.seed } }),
  })),
  "google-genai": langchain("Google Gemini", "GOOGLE_API_KEY"),
  mistralai: langchain("Mistral", "MISTRAL_API_KEY"),
  groq: langchain("Groq", "GROQ_API_KEY"),
  deepseek: langchain("DeepSeek", "DEEPSEEK_API_KEY"),
  bedrock: langchain("AWS Bedrock"),
  watsonx: {
    about: "IBM watsonx.ai (WATSONX_AI_PROJECT_ID)",
    keyVariable: "WATSONX_AI_APIKEY",
    baseUrlVariable: "WATSONX_AI_URL",
    async create(settings) {
      const { ChatWatsonx } = await import("@langchain/community/chat_models/ibm");
      const p = settings.parameters;
      return new ChatWatsonx({
        model: settings.model,
        version: "2024-05-31",
        serviceUrl: settings.baseUrl ?? "https://us-south.ml.cloud.ibm.com",
        projectId: process.env.WATSONX_AI_PROJECT_ID ?? "",
        watsonxAIAuthType: "iam",
        watsonxAIApikey: settings.apiKey ?? "",
        maxRetries: settings.retry.retries,
        ...(p.temperature === undefined ? {} : { temperature: p.temperature }),
        ...(p.max_tokens === undefined ? {} : { maxTokens: p.max_tokens }),
        ...(p.top_p === undefined ? {} : { topP: p.top_p }),
      } as unknown as ConstructorParameters<typeof ChatWatsonx>[0]) as unknown as BaseChatModel;
    },
  },
};

/**
 * A provider that LangChain's `initChatModel` makes out of a package of its own, which the user installs.
 *
 * @param own settings that only this provider knows
 */
function langchain(
  about: string,
  keyVariable?: string,
  own: (settings: ProviderSettings) => Record<string, unknown> = () => ({}),
): Provider {
  return {
    about,
    ...(keyVariable === undefined ? {} : { keyVariable }),
    async create(settings) {
      const { initChatModel } = await import("langchain/chat_models/universal");
      const provider = Object.entries(PROVIDERS).find(([, entry]) => entry === this)![0];
      const p = settings.parameters;
      try {
        const model = await initChatModel(settings.model, {
          modelProvider: provider,
          maxRetries: settings.retry.retries,
          ...(settings.apiKey === undefined ? {} : { apiKey: settings.apiKey }),
          ...(settings.baseUrl === undefined ? {} : { baseUrl: settings.baseUrl }),
          ...(p.temperature === undefined ? {} : { temperature: p.temperature }),
          ...(p.top_p === undefined ? {} : { topP: p.top_p }),
          ...(p.max_tokens === undefined ? {} : { maxTokens: p.max_tokens }),
          ...own(settings),
          ...settings.extra,
        });
        return model as unknown as BaseChatModel;
      } catch (error) {
        const wanted = /npm install (\S+?)`/.exec((error as Error).message)?.[1];
        if (wanted === undefined) throw error;
        throw new MissingPackageError(
          `provider "${provider}" needs the package ${wanted}: run npm install ${wanted} (a version that takes @langchain/core 1.x)`,
        );
      }
    },
  };
}
