/** Ollama as a LangChain chat model, over the `ollama` package: tools, streaming, JSON-schema format, token counts. */
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, type BaseMessage, type UsageMetadata } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { type ChatRequest, type ChatResponse, type Message, Ollama, type Tool } from "ollama";
import type { ModelParameters } from "./config.js";
import { ModelError } from "./errors.js";
import { DEFAULT_NUM_CTX } from "./ollama-context.js";
import { strictSchema } from "./openai-wire.js";
import { type RetryOptions, retryingFetch } from "./retry.js";
import { invalidCall, readObject, settleCalls } from "./tool-calls.js";

export interface OllamaSettings {
  model: string;
  /** `http://127.0.0.1:11434` when absent. */
  baseUrl?: string;
  parameters: ModelParameters;
  /** Ask for a streamed answer also where the caller takes the whole. */
  streaming?: boolean;
  headers?: Record<string, string>;
  /** Whether the model's own thinking goes back to it; `auto` does so until the server objects. */
  reasoning?: "auto" | "send" | "omit";
  retry: RetryOptions;
}

export interface OllamaCallOptions extends BaseChatModelCallOptions {
  tools?: Tool[];
  /** `json`, or a JSON schema that the answer must match. */
  format?: string | Record<string, unknown>;
  /** OpenAI's spelling of the same, as LangChain's structured output sends it. */
  response_format?: { type: string; json_schema?: { schema?: Record<string, unknown> } };
}

/** Tokens kept free for the answer where its length is not bounded. */
const ROOM_FOR_ANSWER = 1024;
/** Characters of a token, low enough to err on the safe side with logs and JSON. */
const CHARACTERS_PER_TOKEN = 3;

/** Ollama drops what does not fit without a word; an error lets the caller choose what to leave out. */
function checkLength(messages: readonly BaseMessage[], room: number): void {
  const tokens = messages.reduce((sum, message) => sum + message.text.length, 0) / CHARACTERS_PER_TOKEN;
  if (tokens <= room) return;
  throw new ModelError(
    `the conversation has about ${Math.round(tokens)} tokens, more than the context of ${room} leaves room for; a larger num_ctx helps`,
    { kind: "context-overflow" },
  );
}

export class ChatOllama extends BaseChatModel<OllamaCallOptions> {
  readonly settings: OllamaSettings;
  /** Models that call tools while they think want their thoughts back; they are left out for servers that object. */
  #returnsThinking: boolean;
  #mayThink = true;

  constructor(settings: OllamaSettings) {
    super({ maxRetries: 0 });
    this.settings = settings;
    this.#returnsThinking = settings.reasoning !== "omit";
  }

  /** For code that asks a chat model what it is called. */
  get model(): string {
    return this.settings.model;
  }

  override _llmType(): string {
    return "ollama";
  }

  override get callKeys(): string[] {
    return [...super.callKeys, "tools", "format", "response_format"];
  }

  override bindTools(
    tools: BindToolsInput[],
    kwargs?: Partial<OllamaCallOptions>,
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, OllamaCallOptions> {
    const converted = tools.map((tool) => {
      const { type, function: fn } = convertToOpenAITool(tool as Parameters<typeof convertToOpenAITool>[0]);
      return { type, function: { ...fn, parameters: strictSchema(fn.parameters, { plainSchemas: false }) } };
    });
    return this.withConfig({ ...kwargs, tools: converted as unknown as Tool[] } as Partial<OllamaCallOptions>);
  }

  override async _generate(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): Promise<ChatResult> {
    if (this.settings.streaming) {
      let whole: ChatGenerationChunk | undefined;
      for await (const chunk of this._streamResponseChunks(messages, options, runManager)) {
        whole = whole === undefined ? chunk : whole.concat(chunk);
      }
      if (whole === undefined) throw new ModelError("Ollama sent an empty stream", { kind: "server" });
      return { generations: [{ text: whole.text, message: settleCalls(whole.message as AIMessageChunk) }] };
    }
    const response = await this.#ask(messages, options, (request, client) =>
      client.chat({ ...request, stream: false }),
    );
    const said = messageOf(response);
    const { tool_calls, invalid_tool_calls } = toolCalls(said, 0);
    const message = new AIMessage({
      content: said.content ?? "",
      tool_calls,
      invalid_tool_calls,
      usage_metadata: usage(response),
      additional_kwargs: thinking(said),
      response_metadata: metadata(response),
    });
    return { generations: [{ text: said.content ?? "", message }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const stream = await this.#ask(messages, options, (request, client) => client.chat({ ...request, stream: true }));
    let calls = 0;
    const parts = stream[Symbol.asyncIterator]();
    for (;;) {
      const next = await guard(() => parts.next());
      if (next.done) return;
      const part = next.value;
      const said = messageOf(part);
      const pieces = (said.tool_calls ?? []).map((call) => ({
        type: "tool_call_chunk" as const,
        id: `ollama_${calls + 1}`,
        name: call.function.name,
        args: argumentText(call.function.arguments),
        index: calls++,
      }));
      const text = said.content ?? "";
      const chunk = new ChatGenerationChunk({
        text,
        message: new AIMessageChunk({
          content: text,
          tool_call_chunks: pieces,
          additional_kwargs: thinking(said),
          ...(part.done ? { usage_metadata: usage(part), response_metadata: metadata(part) } : {}),
        }),
      });
      yield chunk;
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
    }
  }

  /**
   * Asks, and asks once more when the server turns down what not all take: a model's own thinking sent back to it, or the
   * wish that it think.
   */
  async #ask<Answer>(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    send: (request: ChatRequest, client: Ollama) => Promise<Answer>,
  ): Promise<Answer> {
    for (;;) {
      const request = this.#request(messages, options);
      try {
        return await guard(() => send(request, this.#client(options.signal)));
      } catch (error) {
        if (!(error instanceof ModelError) || error.kind !== "bad-request" || !/think/i.test(error.message))
          throw error;
        if (request.think !== undefined && /support/i.test(error.message)) this.#mayThink = false;
        else if (this.#returnsThinking && request.messages?.some((message) => message.thinking))
          this.#returnsThinking = false;
        else throw error;
      }
    }
  }

  #request(messages: BaseMessage[], options: this["ParsedCallOptions"]): ChatRequest {
    const p = this.settings.parameters;
    const numCtx = p.num_ctx ?? DEFAULT_NUM_CTX;
    checkLength(messages, numCtx - (p.max_tokens ?? ROOM_FOR_ANSWER));
    const format = options.format ?? formatOf(options.response_format);
    return {
      model: this.settings.model,
      messages: messages.map((message) => toOllama(message, this.#returnsThinking)),
      ...(options.tools === undefined || options.tools.length === 0 ? {} : { tools: options.tools }),
      ...(format === undefined ? {} : { format }),
      ...(p.think === undefined || !this.#mayThink ? {} : { think: p.think as boolean | "low" | "medium" | "high" }),
      options: {
        num_ctx: numCtx,
        ...(p.temperature === undefined ? {} : { temperature: p.temperature }),
        ...(p.seed === undefined ? {} : { seed: p.seed }),
        ...(p.top_p === undefined ? {} : { top_p: p.top_p }),
        ...(p.top_k === undefined ? {} : { top_k: p.top_k }),
        ...(p.max_tokens === undefined ? {} : { num_predict: p.max_tokens }),
        ...(options.stop === undefined ? {} : { stop: options.stop }),
      },
    };
  }

  /** The package cannot abort a request that is not streamed; a client of its own for each call lets our fetch do it. */
  #client(signal: AbortSignal | undefined): Ollama {
    const { baseUrl, headers, retry } = this.settings;
    return new Ollama({
      ...(baseUrl === undefined ? {} : { host: baseUrl }),
      ...(headers === undefined ? {} : { headers }),
      fetch: retryingFetch(signal === undefined ? retry : { ...retry, signal }),
    } as ConstructorParameters<typeof Ollama>[0]);
  }
}

/** An error that Ollama reports inside its stream, or a stream that breaks off, becomes a ModelError; an abort stays one. */
async function guard<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ModelError || (error instanceof Error && error.name === "AbortError")) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new ModelError(`Ollama: ${message}`, { kind: "server", cause: error });
  }
}

function formatOf(format: OllamaCallOptions["response_format"]): string | Record<string, unknown> | undefined {
  if (format === undefined) return undefined;
  if (format.type === "json_schema") return format.json_schema?.schema ?? "json";
  return format.type === "json_object" ? "json" : undefined;
}

function toOllama(message: BaseMessage, returnsThinking: boolean): Message {
  const content = message.text;
  switch (message.getType()) {
    case "system":
      return { role: "system", content };
    case "tool":
      return { role: "tool", content, ...(message.name === undefined ? {} : { tool_name: message.name }) };
    case "ai": {
      const calls = (message as AIMessage).tool_calls ?? [];
      const { reasoning_content: thought } = message.additional_kwargs;
      return {
        role: "assistant",
        content,
        ...(returnsThinking && typeof thought === "string" ? { thinking: thought } : {}),
        ...(calls.length === 0
          ? {}
          : { tool_calls: calls.map((call) => ({ function: { name: call.name, arguments: call.args } })) }),
      };
    }
    default:
      return { role: "user", content };
  }
}

/** Ollama gives its calls no ids; they are numbered from `from`. Its arguments are objects, but proxies send text. */
function toolCalls(message: Message, from: number) {
  const tool_calls: NonNullable<AIMessage["tool_calls"]> = [];
  const invalid_tool_calls: NonNullable<AIMessage["invalid_tool_calls"]> = [];
  for (const [i, call] of (message.tool_calls ?? []).entries()) {
    const { name } = call.function;
    const id = `ollama_${from + i + 1}`;
    const args = argumentText(call.function.arguments);
    const object = readObject(args);
    if (object !== undefined) tool_calls.push({ type: "tool_call", id, name, args: object });
    else invalid_tool_calls.push(invalidCall(name, args, id));
  }
  return { tool_calls, invalid_tool_calls };
}

function argumentText(args: unknown): string {
  return typeof args === "string" ? args : JSON.stringify(args ?? {});
}

function messageOf(response: ChatResponse): Message {
  if (response.message !== undefined && response.message !== null) return response.message;
  throw new ModelError("Ollama's answer holds no message", { kind: "server" });
}

function usage(response: ChatResponse): UsageMetadata {
  const input = response.prompt_eval_count ?? 0;
  const output = response.eval_count ?? 0;
  return { input_tokens: input, output_tokens: output, total_tokens: input + output };
}

function thinking(message: Message): Record<string, unknown> {
  return message.thinking ? { reasoning_content: message.thinking } : {};
}

function metadata(response: ChatResponse): Record<string, unknown> {
  return { model_name: response.model, finish_reason: response.done_reason };
}
