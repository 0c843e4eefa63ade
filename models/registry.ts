/** From a model's name to a chat model that is ready to be called. */
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { loadModelsFile, type ModelEntry, type ModelParameters, type ModelsFile } from "./config.js";
import { MissingKeyError, UnknownModelError } from "./errors.js";
import type { Price } from "./price.js";
import { PROVIDERS } from "./providers.js";
import { DEFAULT_RETRY, type RetryOptions } from "./retry.js";

export interface ResolveOptions {
  /** Path of the models file; the default places are searched when absent. */
  modelsFile?: string;
  /** Address of the backend; wins over the models file and the environment. */
  baseUrl?: string;
  /** Win over the models file's and the defaults (temperature 0, seed 42). */
  parameters?: ModelParameters;
  retry?: Partial<RetryOptions>;
  env?: NodeJS.ProcessEnv;
}

/** A backend, ready to be called. */
export interface ResolvedModel {
  /** As the user named it. */
  name: string;
  provider: string;
  /** As the backend knows it. */
  model: string;
  chat: BaseChatModel;
  /** False for the rule-based playbook, which reports must say. */
  isLlm: boolean;
  /** Parameters of every request, for the run's record. */
  parameters: ModelParameters;
  baseUrl?: string;
  price?: Price;
  /** Texts to mask wherever something is shown. */
  secrets: string[];
}

/** As the paper's baselines: as deterministic as the backend allows. */
export const DEFAULT_PARAMETERS: ModelParameters = { temperature: 0, seed: 42 };

/**
 * The chat model called `name`: `playbook`, an entry of the models file, or `provider:model`. Makes no request.
 *
 * @throws UnknownModelError naming what there is, MissingKeyError, ModelsFileError, MissingPackageError
 */
export async function resolveModel(name: string, options: ResolveOptions = {}): Promise<ResolvedModel> {
  const env = options.env ?? process.env;
  if (name === "playbook") return playbook();
  const file = loadModelsFile(options.modelsFile, env);
  const entry = file?.models[name] ?? entryOf(name, file);
  const provider = Object.hasOwn(PROVIDERS, entry.provider) ? PROVIDERS[entry.provider] : undefined;
  if (provider === undefined) {
    throw new UnknownModelError(`model "${name}": unknown provider "${entry.provider}". ${whatThereIs(file)}`);
  }
  const baseUrl =
    options.baseUrl ?? entry.base_url ?? (provider.baseUrlVariable && env[provider.baseUrlVariable]) ?? undefined;
  const variable = entry.api_key_env ?? provider.keyVariable;
  const apiKey = variable === undefined ? undefined : env[variable] || undefined;
  // A server of one's own may want no key; a hosted one, or one for which the user named a variable, does.
  const needsKey = variable !== undefined && (entry.api_key_env !== undefined || isHosted(entry.provider, baseUrl));
  if (needsKey && apiKey === undefined) throw new MissingKeyError(name, variable);
  const parameters = { ...DEFAULT_PARAMETERS, ...entry.parameters, ...options.parameters };
  const chat = await provider.create({
    model: entry.model,
    parameters,
    retry: {
      ...DEFAULT_RETRY,
      ...(entry.retries === undefined ? {} : { retries: entry.retries }),
      ...(entry.timeout_seconds === undefined ? {} : { timeoutSeconds: entry.timeout_seconds }),
      ...options.retry,
    },
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseUrl ? { baseUrl } : {}),
    ...(entry.streaming === undefined ? {} : { streaming: entry.streaming }),
    ...(entry.headers === undefined ? {} : { headers: entry.headers }),
    ...(entry.extra === undefined ? {} : { extra: entry.extra }),
  });
  return {
    name,
    provider: entry.provider,
    model: entry.model,
    chat,
    isLlm: true,
    parameters,
    ...(baseUrl ? { baseUrl } : {}),
    ...(entry.price === undefined ? {} : { price: entry.price as Price }),
    secrets: [...(apiKey === undefined ? [] : [apiKey]), ...Object.values(entry.headers ?? {})],
  };
}

async function playbook(): Promise<ResolvedModel> {
  const { createPlaybookModel } = await import("./playbook/index.js");
  return {
    name: "playbook",
    provider: "playbook",
    model: "playbook",
    chat: createPlaybookModel(),
    isLlm: false,
    parameters: {},
    price: { input: 0, output: 0 },
    secrets: [],
  };
}

/** `provider:model`; the model itself may hold colons (`ollama:llama3.3:70b`). */
function entryOf(name: string, file: ModelsFile | undefined): ModelEntry {
  const colon = name.indexOf(":");
  if (colon <= 0 || colon === name.length - 1) {
    throw new UnknownModelError(`unknown model "${name}". ${whatThereIs(file)}`);
  }
  return { provider: name.slice(0, colon), model: name.slice(colon + 1) };
}

function whatThereIs(file: ModelsFile | undefined): string {
  const named = file === undefined ? [] : Object.keys(file.models);
  const entries = named.length === 0 ? "" : `, an entry of ${file!.path} (${named.join(", ")})`;
  return `Give "playbook" (rule-based, not an LLM)${entries}, or provider:model with a provider out of: ${Object.keys(PROVIDERS).join(", ")}`;
}

function isHosted(provider: string, baseUrl: string | undefined): boolean {
  if (provider !== "openai") return true;
  return baseUrl === undefined || baseUrl === "" || /\bopenai\.com\b/.test(baseUrl);
}
