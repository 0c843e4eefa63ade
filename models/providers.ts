/** The providers: what each is called, what it wants, and how its chat model is made. One entry a provider. */
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { COMPATIBLE_SERVICES, type CompatibleService } from "./compatible.js";
import type { ModelParameters } from "./config.js";
import { MissingKeyError, MissingPackageError } from "./errors.js";
import { withRetries } from "./foreign.js";
import { type RetryOptions, retryingFetch } from "./retry.js";

export interface ProviderSettings {
  /** As the user named it, for messages. */
  name: string;
  model: string;
  apiKey?: string;
  baseUrl?: string;
  parameters: ModelParameters;
  streaming?: boolean;
  headers?: Record<string, string>;
  extra?: Record<string, unknown>;
  reasoning?: "auto" | "send" | "omit";
  deployment?: string;
  apiVersion?: string;
  retry: RetryOptions;
  env: NodeJS.ProcessEnv;
}

export interface Provider {
  /** One line for a listing. */
  about: string;
  /** Environment variable that holds the key; absent where none is needed. */
  keyVariable?: string;
  /** Environment variable that may hold the address. */
  baseUrlVariable?: string;
  /** A server of one's own may stand at the address, and want no key. */
  ownServers?: boolean;
  /** Package that the user installs beside this one. */
  package?: string;
  create(settings: ProviderSettings): Promise<BaseChatModel>;
}

export const PROVIDERS: Record<string, Provider> = {
  openai: {
    about: "OpenAI, or any server that speaks its chat-completions protocol (OPENAI_BASE_URL)",
    keyVariable: "OPENAI_API_KEY",
    baseUrlVariable: "OPENAI_BASE_URL",
    ownServers: true,
    create: openai,
  },
  ollama: {
    about: "a local Ollama (OLLAMA_HOST)",
    baseUrlVariable: "OLLAMA_HOST",
    ownServers: true,
    async create(settings) {
      const { ChatOllama } = await import("./ollama.js");
      return new ChatOllama(settings) as unknown as BaseChatModel;
    },
  },
  azure_openai: {
    about: "Azure OpenAI: azure_openai:<deployment> (AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_API_VERSION)",
    keyVariable: "AZURE_OPENAI_API_KEY",
    baseUrlVariable: "AZURE_OPENAI_ENDPOINT",
    create: azure,
  },
  anthropic: packaged("Anthropic", "@langchain/anthropic", "ANTHROPIC_API_KEY", ({ baseUrl, headers }) => ({
    ...(baseUrl === undefined ? {} : { anthropicApiUrl: baseUrl }),
    ...(headers === undefined ? {} : { clientOptions: { defaultHeaders: headers } }),
  })),
  "google-genai": packaged("Google Gemini", "@langchain/google-genai", "GOOGLE_API_KEY", ({ parameters: p }) => ({
    ...(p.max_tokens === undefined ? {} : { maxOutputTokens: p.max_tokens }),
    ...(p.top_k === undefined ? {} : { topK: p.top_k }),
  })),
  bedrock: packaged("AWS Bedrock (AWS credentials and AWS_REGION)", "@langchain/aws", undefined, ({ env, baseUrl }) => {
    const region = env.BEDROCK_AWS_REGION ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION;
    return {
      ...(region === undefined ? {} : { region }),
      ...(baseUrl === undefined ? {} : { endpointHost: new URL(baseUrl).host }),
    };
  }),
  watsonx: {
    about: "IBM watsonx.ai (WATSONX_AI_PROJECT_ID)",
    keyVariable: "WATSONX_AI_APIKEY",
    baseUrlVariable: "WATSONX_AI_URL",
    create: watsonx,
  },
  ...Object.fromEntries(Object.entries(COMPATIBLE_SERVICES).map(([name, service]) => [name, compatible(service)])),
};

async function openai(settings: ProviderSettings): Promise<BaseChatModel> {
  const { createOpenAIModel } = await import("./openai.js");
  // A server of one's own often wants no key, but the client insists on sending one.
  const apiKey = settings.apiKey ?? "none";
  const model = createOpenAIModel({ ...settings, apiKey, fetch: retryingFetch(settings.retry) });
  return model as unknown as BaseChatModel;
}

function compatible({ about, baseUrl, keyVariable }: CompatibleService): Provider {
  return { about, keyVariable, create: (settings) => openai({ ...settings, baseUrl: settings.baseUrl ?? baseUrl }) };
}

/** A version of Azure's API that knows tools and JSON schemas. */
const AZURE_API_VERSION = "2024-10-21";

async function azure(settings: ProviderSettings): Promise<BaseChatModel> {
  const { createAzureModel } = await import("./openai.js");
  const { name, model, baseUrl, env } = settings;
  const instance = env.AZURE_OPENAI_API_INSTANCE_NAME;
  const endpoint = baseUrl ?? (instance ? `https://${instance}.openai.azure.com` : undefined);
  if (endpoint === undefined) throw new MissingKeyError(name, "AZURE_OPENAI_ENDPOINT", "its address");
  const chat = createAzureModel({
    ...settings,
    apiKey: settings.apiKey ?? "",
    endpoint,
    deployment: settings.deployment ?? (env.AZURE_OPENAI_API_DEPLOYMENT_NAME || model),
    apiVersion: settings.apiVersion ?? (env.AZURE_OPENAI_API_VERSION || AZURE_API_VERSION),
    fetch: retryingFetch(settings.retry),
  });
  return chat as unknown as BaseChatModel;
}

/**
 * A provider that LangChain's `initChatModel` makes out of a package of its own, which the user installs.
 *
 * @param own settings that only this provider knows
 */
function packaged(
  about: string,
  name: string,
  keyVariable: string | undefined,
  own: (settings: ProviderSettings) => Record<string, unknown>,
): Provider {
  return {
    about,
    package: name,
    ...(keyVariable === undefined ? {} : { keyVariable }),
    async create(settings) {
      const provider = Object.entries(PROVIDERS).find(([, entry]) => entry === this)![0];
      const p = settings.parameters;
      const chat = await imported(provider, [name], async () => {
        const { getChatModelByClassName, MODEL_PROVIDER_CONFIG } = await import("langchain/chat_models/universal");
        const config = MODEL_PROVIDER_CONFIG[provider as keyof typeof MODEL_PROVIDER_CONFIG];
        // `initChatModel` itself puts off what goes wrong in the constructor to the first call.
        const Model = (await getChatModelByClassName(config.className, provider)) as new (
          fields: object,
        ) => BaseChatModel;
        return new Model({
          model: settings.model,
          maxRetries: 0,
          ...(settings.apiKey === undefined ? {} : { apiKey: settings.apiKey }),
          ...(settings.baseUrl === undefined ? {} : { baseUrl: settings.baseUrl }),
          ...(settings.streaming === undefined ? {} : { streaming: settings.streaming }),
          ...(p.temperature === undefined ? {} : { temperature: p.temperature }),
          ...(p.top_p === undefined ? {} : { topP: p.top_p }),
          ...(p.max_tokens === undefined ? {} : { maxTokens: p.max_tokens }),
          ...own(settings),
          ...settings.extra,
        });
      });
      return withRetries(chat, settings.retry);
    },
  };
}

const WATSONX_PACKAGES = ["@ibm-cloud/watsonx-ai", "ibm-cloud-sdk-core"];

async function watsonx(settings: ProviderSettings): Promise<BaseChatModel> {
  const { name, env, parameters: p } = settings;
  const projectId = env.WATSONX_AI_PROJECT_ID;
  if (!projectId) throw new MissingKeyError(name, "WATSONX_AI_PROJECT_ID", "a project");
  const chat = await imported("watsonx", WATSONX_PACKAGES, async () => {
    const { ChatWatsonx } = await import("@langchain/community/chat_models/ibm");
    return new ChatWatsonx({
      model: settings.model,
      version: settings.apiVersion ?? "2024-05-31",
      serviceUrl: settings.baseUrl ?? "https://us-south.ml.cloud.ibm.com",
      projectId,
      watsonxAIAuthType: "iam",
      watsonxAIApikey: settings.apiKey ?? "",
      maxRetries: 0,
      ...(p.temperature === undefined ? {} : { temperature: p.temperature }),
      ...(p.max_tokens === undefined ? {} : { maxTokens: p.max_tokens }),
      ...(p.top_p === undefined ? {} : { topP: p.top_p }),
      ...settings.extra,
    } as unknown as ConstructorParameters<typeof ChatWatsonx>[0]);
  });
  return withRetries(chat as unknown as BaseChatModel, settings.retry);
}

/** @throws MissingPackageError with the command that installs what is missing */
async function imported<T>(provider: string, packages: readonly string[], load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const message = (error as Error).message ?? "";
    const missing = packages.some((name) => message.includes(name)) && /cannot find|unable to import/i.test(message);
    if (!missing) throw error;
    throw new MissingPackageError(
      `provider "${provider}" needs ${packages.join(" and ")}: run npm install ${packages.join(" ")} in the folder where itbench-baselines is installed (or npm install -g, where it is installed so)`,
    );
  }
}
