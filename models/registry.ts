/** From a model's name to a chat model that is ready to be called. */
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { loadModelsFile, type ModelEntry, type ModelParameters, type ModelsFile } from "./config.js";
import { MissingKeyError, UnknownModelError } from "./errors.js";
import type { Terminal } from "./human.js";
import { DEFAULT_NUM_CTX } from "./ollama-context.js";
import type { Price } from "./price.js";
import { PROVIDERS, type Provider } from "./providers.js";
import { type RateLimit, type RateLimiter, sharedLimiter } from "./rate-limit.js";
import type { Recorder } from "./record.js";
import { DEFAULT_RETRY, type RetryOptions } from "./retry.js";
import { wrapModel } from "./wrap.js";

export interface ResolveOptions {
  /** Path of the models file; the default places are searched when absent. */
  modelsFile?: string;
  /** Address of the backend; wins over the models file and the environment. */
  baseUrl?: string;
  /** Win over the models file's and the defaults (temperature 0, seed 42). */
  parameters?: ModelParameters;
  retry?: Partial<RetryOptions>;
  /** Writes every answer down. One for all models of a run. */
  recorder?: Recorder;
  /** Where the model `human` reads and writes; stdin and stderr when absent. */
  terminal?: Terminal;
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
  /** Tokens that the model can read at once, where it is known. */
  contextWindow?: number;
  price?: Price;
  /** Texts to mask wherever something is shown. */
  secrets: string[];
}

/** As the paper's baselines: as deterministic as the backend allows. */
export const DEFAULT_PARAMETERS: ModelParameters = { temperature: 0, seed: 42 };

/**
 * The chat model called `name`: `playbook`, `human`, `replay:<file>`, an entry of the models file, or `provider:model`.
 * Makes no request.
 *
 * @throws UnknownModelError naming what there is, MissingKeyError, ModelsFileError, MissingPackageError, RecordingError
 */
export async function resolveModel(name: string, options: ResolveOptions = {}): Promise<ResolvedModel> {
  const model = await resolve(name, options);
  if (options.recorder === undefined) return model;
  const chat = options.recorder.wrap(model.chat, {
    name: model.name,
    provider: model.provider,
    model: model.model,
    is_llm: model.isLlm,
    parameters: model.parameters,
    ...(model.contextWindow === undefined ? {} : { context_window: model.contextWindow }),
    ...(model.price === undefined ? {} : { price: model.price }),
  });
  return { ...model, chat };
}

async function resolve(name: string, options: ResolveOptions): Promise<ResolvedModel> {
  const env = options.env ?? process.env;
  if (name === "playbook") return playbook();
  if (name === "human") return human(options.terminal);
  if (name.startsWith("replay:")) return replay(name, name.slice("replay:".length));
  const file = loadModelsFile(options.modelsFile, env);
  const entry = file?.models[name] ?? entryOf(name, file);
  const provider = Object.hasOwn(PROVIDERS, entry.provider) ? PROVIDERS[entry.provider] : undefined;
  if (provider === undefined) {
    throw new UnknownModelError(`model "${name}": unknown provider "${entry.provider}". ${whatThereIs(file)}`);
  }
  const given = options.baseUrl ?? entry.base_url;
  const baseUrl = given ?? (provider.baseUrlVariable && env[provider.baseUrlVariable]) ?? undefined;
  const variable = entry.api_key_env ?? provider.keyVariable;
  const apiKey = variable === undefined ? undefined : env[variable] || undefined;
  // A server of one's own may want no key; a hosted one, or one for which the user named a variable, does.
  const needsKey = variable !== undefined && (entry.api_key_env !== undefined || isHosted(provider, baseUrl));
  if (needsKey && apiKey === undefined) throw new MissingKeyError(name, variable);
  const parameters = { ...DEFAULT_PARAMETERS, ...entry.parameters, ...options.parameters };
  const limiter =
    entry.rate_limit === undefined
      ? undefined
      : sharedLimiter(`${entry.provider} ${baseUrl ?? ""} ${entry.model}`, entry.rate_limit as RateLimit);
  const chat = await provider.create({
    name,
    model: entry.model,
    parameters,
    env,
    retry: {
      ...DEFAULT_RETRY,
      ...(entry.retries === undefined ? {} : { retries: entry.retries }),
      ...(entry.timeout_seconds === undefined ? {} : { timeoutSeconds: entry.timeout_seconds }),
      ...(limiter === undefined ? {} : { onRetryAfter: (ms: number) => limiter.pause(ms) }),
      ...options.retry,
    },
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseUrl ? { baseUrl } : {}),
    ...(entry.streaming === undefined ? {} : { streaming: entry.streaming }),
    ...(entry.headers === undefined ? {} : { headers: entry.headers }),
    ...(entry.extra === undefined ? {} : { extra: entry.extra }),
    ...(entry.reasoning === undefined ? {} : { reasoning: entry.reasoning }),
    ...(entry.deployment === undefined ? {} : { deployment: entry.deployment }),
    ...(entry.api_version === undefined ? {} : { apiVersion: entry.api_version }),
  });
  const contextWindow =
    entry.context_window ?? (entry.provider === "ollama" ? (parameters.num_ctx ?? DEFAULT_NUM_CTX) : undefined);
  return {
    name,
    provider: entry.provider,
    model: entry.model,
    chat: limiter === undefined ? chat : limited(chat, limiter),
    isLlm: true,
    parameters,
    ...(baseUrl ? { baseUrl } : {}),
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(entry.price === undefined ? {} : { price: entry.price as Price }),
    secrets: [...(apiKey === undefined ? [] : [apiKey]), ...Object.values(entry.headers ?? {})],
  };
}

/** Characters of a token, for the estimate before a request; the backend's own count replaces it. */
const CHARACTERS_PER_TOKEN = 4;

function limited(chat: BaseChatModel, limiter: RateLimiter): BaseChatModel {
  return wrapModel(chat, async ({ messages, signal }, call) => {
    const characters = messages.reduce((sum, message) => sum + message.text.length, 0);
    const settle = await limiter.take(Math.ceil(characters / CHARACTERS_PER_TOKEN), signal);
    const answer = await call();
    const used = answer.usage_metadata?.total_tokens;
    if (used) settle(used);
    return answer;
  });
}

async function human(terminal: Terminal = { input: process.stdin, output: process.stderr }): Promise<ResolvedModel> {
  const { createHumanModel } = await import("./human.js");
  return {
    name: "human",
    provider: "human",
    model: "human",
    chat: createHumanModel(terminal),
    isLlm: false,
    parameters: {},
    price: { input: 0, output: 0 },
    secrets: [],
  };
}

async function replay(name: string, path: string): Promise<ResolvedModel> {
  const { createReplayModel, readRecording } = await import("./record.js");
  const recording = readRecording(path);
  const { about } = recording;
  return {
    name,
    provider: "replay",
    model: about.model,
    chat: createReplayModel(path, recording),
    isLlm: about.is_llm,
    parameters: about.parameters,
    ...(about.context_window === undefined ? {} : { contextWindow: about.context_window }),
    ...(about.price === undefined ? {} : { price: about.price }),
    secrets: [],
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
  return `Give "playbook" (rule-based, not an LLM), "human", replay:<file>${entries}, or provider:model with a provider out of: ${Object.keys(PROVIDERS).join(", ")}`;
}

function isHosted(provider: Provider, baseUrl: string | undefined): boolean {
  if (!provider.ownServers) return true;
  return baseUrl === undefined || baseUrl === "" || /\bopenai\.com\b/.test(baseUrl);
}
