/**
 * Recordings: what a model answered, keyed by what it was asked, so that a run can be played again without the model, byte
 * for byte.
 */
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, statSync } from "node:fs";
import type { BindToolsInput } from "@langchain/core/language_models/chat_models";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import type { ModelParameters } from "./config.js";
import { ModelError } from "./errors.js";
import type { Price } from "./price.js";
import { type ModelRequest, wrapModel } from "./wrap.js";

export const RECORDING_FORMAT = "itbench-baselines/recording/1";

/** First line of a recording: whose answers these are. */
export interface RecordedModel {
  format: typeof RECORDING_FORMAT;
  name: string;
  provider: string;
  model: string;
  is_llm: boolean;
  /** What LangChain calls the kind of backend; protocols ask for it. */
  kind: string;
  parameters: ModelParameters;
  context_window?: number;
  price?: Price;
}

interface MessagePrint {
  role: string;
  hash: string;
  /** How the message begins, for people. */
  begins: string;
}

interface RequestPrint {
  messages: MessagePrint[];
  tools: string[];
  /** Of the tools' schemas and the settings. */
  rest: string;
}

interface Entry {
  key: string;
  request: RequestPrint;
  answer: {
    content: AIMessage["content"];
    tool_calls?: AIMessage["tool_calls"];
    invalid_tool_calls?: AIMessage["invalid_tool_calls"];
    usage_metadata?: AIMessage["usage_metadata"];
    additional_kwargs?: Record<string, unknown>;
    response_metadata?: Record<string, unknown>;
  };
}

/** A recording that cannot be written or read; the message names the file and the fix. */
export class RecordingError extends Error {
  override readonly name = "RecordingError";
}

/** A file to which answers are added as they come. One for all trials of a run. */
export class Recorder {
  readonly path: string;
  #begun = false;

  /** @throws RecordingError when the file holds something already */
  constructor(path: string) {
    this.path = path;
    if (existsSync(path) && statSync(path).size > 0) {
      throw new RecordingError(`--record: ${path} holds something already; give another file, or take it away first`);
    }
  }

  /** The model, with each of its answers written down. */
  wrap(chat: BaseChatModel, about: Omit<RecordedModel, "format" | "kind">): BaseChatModel {
    if (!this.#begun) this.#write({ format: RECORDING_FORMAT, ...about, kind: chat._llmType() });
    this.#begun = true;
    return wrapModel(chat, async (request, call) => {
      const answer = await call();
      const print = printOf(request);
      this.#write({ key: keyOf(print), request: print, answer: plainAnswer(answer) } satisfies Entry);
      return answer;
    });
  }

  #write(line: object): void {
    try {
      appendFileSync(this.path, `${JSON.stringify(line)}\n`);
    } catch (error) {
      throw new RecordingError(`--record: ${this.path} cannot be written (${(error as NodeJS.ErrnoException).code})`);
    }
  }
}

function plainAnswer(answer: AIMessage): Entry["answer"] {
  const { content, tool_calls, invalid_tool_calls, usage_metadata, additional_kwargs, response_metadata } = answer;
  return {
    content,
    ...(tool_calls?.length ? { tool_calls } : {}),
    ...(invalid_tool_calls?.length ? { invalid_tool_calls } : {}),
    ...(usage_metadata === undefined ? {} : { usage_metadata }),
    ...(Object.keys(additional_kwargs).length === 0 ? {} : { additional_kwargs }),
    ...(Object.keys(response_metadata).length === 0 ? {} : { response_metadata }),
  };
}

function printOf(request: ModelRequest): RequestPrint {
  const tools = request.tools.map((tool) => convertToOpenAITool(tool as Parameters<typeof convertToOpenAITool>[0]));
  return {
    messages: request.messages.map(printMessage),
    tools: tools.map((tool) => tool.function.name),
    rest: hashOf(JSON.stringify([tools, sorted(request.settings)])),
  };
}

function printMessage(message: BaseMessage): MessagePrint {
  const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
  const answers = ToolMessage.isInstance(message) ? [message.tool_call_id, message.name ?? ""] : [];
  const said = calls.map(({ id, name, args }) => [id, name, sorted(args)]);
  const role = message.getType();
  return {
    role,
    hash: hashOf(JSON.stringify([role, message.content, said, answers])),
    begins: (message.text === "" ? calls.map((call) => call.name).join(", ") : message.text).slice(0, 160),
  };
}

function keyOf(print: RequestPrint): string {
  return hashOf(JSON.stringify([print.messages.map((message) => message.hash), print.tools, print.rest]));
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

export interface Recording {
  about: RecordedModel;
  entries: Entry[];
}

/** @throws RecordingError naming the file, the line and what is wrong */
export function readRecording(path: string): Recording {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new RecordingError(`replay: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  const lines = text.split("\n").filter((line) => line !== "");
  const values = lines.map((line, i) => {
    try {
      return JSON.parse(line) as unknown;
    } catch {
      // A run that was killed leaves half a line at the end.
      if (i === lines.length - 1 && i > 0) return undefined;
      throw new RecordingError(`replay: ${path}, line ${i + 1}: not valid JSON`);
    }
  });
  const about = values[0] as RecordedModel | undefined;
  if (about?.format !== RECORDING_FORMAT) {
    throw new RecordingError(
      `replay: ${path} is no recording: its first line must say "format": "${RECORDING_FORMAT}"`,
    );
  }
  return { about, entries: values.slice(1).filter((value) => value !== undefined) as Entry[] };
}

/**
 * A chat model that answers from a recording. A request that was made several times gets its answers in their order, and
 * then the last one again. A request that is not there is a ModelError that names the nearest one that is.
 */
export function createReplayModel(path: string, recording: Recording): BaseChatModel {
  const answers = new Map<string, Entry[]>();
  for (const entry of recording.entries) {
    const same = answers.get(entry.key);
    if (same === undefined) answers.set(entry.key, [entry]);
    else same.push(entry);
  }
  const given = new Map<string, number>();
  return new ReplayModel(recording.about.kind, (request) => {
    const print = printOf(request);
    const key = keyOf(print);
    const same = answers.get(key);
    if (same === undefined) throw new ModelError(missText(path, print, recording.entries), { kind: "not-found" });
    const n = given.get(key) ?? 0;
    given.set(key, n + 1);
    return new AIMessage(structuredClone(same[Math.min(n, same.length - 1)]!.answer));
  });
}

/** What was asked, and where it leaves what was recorded. */
function missText(path: string, print: RequestPrint, entries: readonly Entry[]): string {
  const head = `replay: ${path} has no answer to this request`;
  let nearest: RequestPrint | undefined;
  let common = -1;
  for (const { request } of entries) {
    const length = commonLength(request.messages, print.messages);
    if (length > common) {
      common = length;
      nearest = request;
    }
  }
  if (nearest === undefined) return `${head}: it is empty`;
  const wanted = print.messages[common];
  const recorded = nearest.messages[common];
  if (wanted === undefined && recorded === undefined) {
    return `${head}: the nearest has the same ${common} messages, but other tools or settings (recorded: ${nearest.tools.join(", ") || "none"}; asked: ${print.tools.join(", ") || "none"})`;
  }
  const show = (message: MessagePrint | undefined) =>
    message === undefined ? "nothing" : `${message.role} ${JSON.stringify(message.begins)}`;
  return `${head}: the nearest differs from message ${common + 1} on; recorded ${show(recorded)}, asked ${show(wanted)}`;
}

function commonLength(a: readonly MessagePrint[], b: readonly MessagePrint[]): number {
  let i = 0;
  while (i < a.length && i < b.length && a[i]!.hash === b[i]!.hash) i++;
  return i;
}

class ReplayModel extends BaseChatModel {
  /** Absent while the base class, which asks for it, is being made. */
  readonly kind?: string;
  readonly #answer: (request: ModelRequest) => AIMessage;
  readonly #tools: readonly BindToolsInput[];
  readonly #settings: Record<string, unknown>;

  constructor(
    kind: string,
    answer: (request: ModelRequest) => AIMessage,
    tools: readonly BindToolsInput[] = [],
    settings: Record<string, unknown> = {},
  ) {
    super({ maxRetries: 0 });
    this.kind = kind;
    this.#answer = answer;
    this.#tools = tools;
    this.#settings = settings;
  }

  override _llmType(): string {
    return this.kind ?? "replay";
  }

  override bindTools(tools: BindToolsInput[], kwargs: Record<string, unknown> = {}): Runnable<any, any, any> {
    return new ReplayModel(this._llmType(), this.#answer, tools, kwargs) as unknown as Runnable<any, any, any>;
  }

  override async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    const settings = { ...(options.stop === undefined ? {} : { stop: options.stop }), ...this.#settings };
    const message = this.#answer({ messages, tools: this.#tools, settings });
    return { generations: [{ text: message.text, message }] };
  }
}
