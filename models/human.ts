/** A person plays the agent: sees what a model would see, and types what a model would call. For blinded trials. */
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { BaseChatModel, type BindToolsInput } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { ModelError } from "./errors.js";

export interface Terminal {
  input: Readable;
  output: Writable;
}

interface Schema {
  type?: string;
  description?: string;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

interface OfferedTool {
  name: string;
  description: string;
  schema: Schema;
}

const HELP = `How to answer:
  TOOL                      asks for each input of the tool
  TOOL words ...            gives the words as the tool's main input
  TOOL key=value key="..."  gives inputs by name
  TOOL {"key": ...}         gives them as JSON, over several lines if need be
  ?                         lists the tools        ? TOOL   shows a tool's inputs
  quit                      leaves
`;

/** A person at `terminal` in the shape of a chat model. Conversations take turns: one question at a time is on the screen. */
export function createHumanModel(terminal: Terminal): BaseChatModel {
  return new HumanModel(new Desk(terminal), []);
}

class HumanModel extends BaseChatModel {
  readonly #desk: Desk;
  readonly #tools: OfferedTool[];

  constructor(desk: Desk, tools: OfferedTool[]) {
    super({ maxRetries: 0 });
    this.#desk = desk;
    this.#tools = tools;
  }

  override _llmType(): string {
    return "human";
  }

  override bindTools(tools: BindToolsInput[]): Runnable<any, any, any> {
    const offered = tools.map((tool): OfferedTool => {
      const { function: fn } = convertToOpenAITool(tool as Parameters<typeof convertToOpenAITool>[0]);
      return { name: fn.name, description: fn.description ?? "", schema: (fn.parameters ?? {}) as Schema };
    });
    return new HumanModel(this.#desk, offered) as unknown as Runnable<any, any, any>;
  }

  override async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    const message = await this.#desk.turn(() => this.#desk.ask(messages, this.#tools, options.signal));
    return { generations: [{ text: message.text, message }] };
  }
}

/** The terminal, the lines typed at it, and what it has shown. */
class Desk {
  readonly #output: Writable;
  readonly #input: Readable;
  #lines: AsyncIterator<string> | undefined;
  #reader: Interface | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #shown: string[] = [];
  #calls = 0;
  #helped = false;

  constructor({ input, output }: Terminal) {
    this.#input = input;
    this.#output = output;
  }

  turn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(run);
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  async ask(messages: readonly BaseMessage[], tools: OfferedTool[], signal?: AbortSignal): Promise<AIMessage> {
    this.#show(messages);
    if (tools.length === 0) return new AIMessage(await this.#text(signal));
    if (!this.#helped) this.#write(`${HELP}\n`);
    this.#helped = true;
    this.#write(`Tools: ${tools.map((tool) => tool.name).join(", ")}\n`);
    for (;;) {
      const line = (await this.#line("> ", signal)).trim();
      if (line === "") continue;
      if (line === "quit") throw left();
      const help = /^\?\s*(\S*)$/.exec(line);
      if (help !== null) {
        this.#write(help[1] === "" ? listTools(tools) : describe(tools, help[1]!));
        continue;
      }
      const [, name = "", rest = ""] = /^(\S+)\s*([\s\S]*)$/.exec(line) ?? [];
      const tool = tools.find((one) => one.name === name);
      if (tool === undefined) {
        this.#write(`There is no tool "${name}". Tools: ${tools.map((one) => one.name).join(", ")}; ? helps.\n`);
        continue;
      }
      const args = await this.#arguments(tool, rest, signal);
      if (args === undefined) continue;
      return new AIMessage({
        content: "",
        tool_calls: [{ type: "tool_call", id: `human${String(++this.#calls).padStart(4, "0")}`, name, args }],
      });
    }
  }

  async #arguments(
    tool: OfferedTool,
    text: string,
    signal?: AbortSignal,
  ): Promise<Record<string, unknown> | undefined> {
    if (text === "") return (await this.#form(tool.schema, "", signal)) as Record<string, unknown>;
    if (text.startsWith("{")) {
      let json = text;
      for (;;) {
        try {
          return JSON.parse(json) as Record<string, unknown>;
        } catch (error) {
          const more = await this.#line("... ", signal);
          if (more.trim() === "") {
            this.#write(`Not valid JSON: ${(error as Error).message}\n`);
            return undefined;
          }
          json += `\n${more}`;
        }
      }
    }
    const pairs = [...text.matchAll(/([A-Za-z_]\w*)=("(?:\\.|[^"\\])*"|\S+)\s*/g)];
    const known = pairs.every(([, key]) => key! in (tool.schema.properties ?? {}));
    if (pairs.length > 0 && known && pairs.map(([whole]) => whole).join("") === text) {
      return Object.fromEntries(pairs.map(([, key, value]) => [key, unquote(value!)]));
    }
    return { input: text };
  }

  /** Asks for a value of `schema`, field by field. An empty line leaves an optional field out, or ends a list. */
  async #form(schema: Schema, path: string, signal?: AbortSignal, required = true): Promise<unknown> {
    if (schema.type === "object" && schema.properties !== undefined) {
      const object: Record<string, unknown> = {};
      for (const [key, field] of Object.entries(schema.properties)) {
        const needed = schema.required?.includes(key) ?? false;
        const value = await this.#form(field, path === "" ? key : `${path}.${key}`, signal, needed);
        if (value !== undefined) object[key] = value;
      }
      return object;
    }
    if (schema.type === "array" && schema.items !== undefined) {
      const list: unknown[] = [];
      for (;;) {
        const item = `${path}[${list.length + 1}]`;
        if (schema.items.type === "object") {
          const more = await this.#line(`  add ${item}? [y/N] `, signal);
          if (!/^y/i.test(more.trim())) return list;
          list.push(await this.#form(schema.items, item, signal));
        } else {
          const value = await this.#form(schema.items, item, signal, false);
          if (value === undefined) return list;
          list.push(value);
        }
      }
    }
    const choices = schema.enum === undefined ? "" : ` [${schema.enum.join("|")}]`;
    const hint = schema.type === "boolean" ? " [y/n]" : choices;
    for (;;) {
      const text = (await this.#line(`  ${path}${hint}${required ? "" : " (optional)"}: `, signal)).trim();
      if (text === "" && !required) return undefined;
      if (schema.type === "boolean") {
        if (/^(y|yes|true|n|no|false)$/i.test(text)) return /^(y|t)/i.test(text);
      } else if (schema.type === "number" || schema.type === "integer") {
        if (text !== "" && Number.isFinite(Number(text))) return Number(text);
      } else return text;
      this.#write(`  a ${schema.type} is needed\n`);
    }
  }

  /** Text of several lines, ended by a line with a full stop alone. */
  async #text(signal?: AbortSignal): Promise<string> {
    this.#write("Your answer, ended by a line with only a full stop:\n");
    const lines: string[] = [];
    for (;;) {
      const line = await this.#line("| ", signal);
      if (line.trim() === ".") return lines.join("\n");
      lines.push(line);
    }
  }

  /** What is new since the conversation was last on the screen; the person's own calls are not repeated. */
  #show(messages: readonly BaseMessage[]): void {
    const texts = messages.map((message) => `${message.getType()}\n${message.text}`);
    let common = 0;
    while (common < texts.length && texts[common] === this.#shown[common]) common++;
    this.#shown = texts;
    for (const message of messages.slice(common)) {
      if (AIMessage.isInstance(message)) continue;
      const who = ToolMessage.isInstance(message) ? "result" : message.getType() === "system" ? "instructions" : "task";
      this.#write(`\n--- ${who} ---\n${message.text}\n`);
    }
    this.#write("\n");
  }

  async #line(prompt: string, signal?: AbortSignal): Promise<string> {
    signal?.throwIfAborted();
    if (this.#lines === undefined) {
      this.#reader = createInterface({ input: this.#input });
      this.#lines = this.#reader[Symbol.asyncIterator]();
    }
    this.#write(prompt);
    let stop = () => {};
    const aborted = new Promise<never>((_, reject) => {
      stop = () => reject(signal?.reason);
      signal?.addEventListener("abort", stop, { once: true });
    });
    const next = await Promise.race([this.#lines.next(), aborted]).finally(() => {
      signal?.removeEventListener("abort", stop);
    });
    if (next.done) throw left();
    return next.value;
  }

  #write(text: string): void {
    this.#output.write(text);
  }
}

const left = () => new ModelError("the person at the terminal has left", { kind: "unreachable" });

function unquote(value: string): string {
  return value.startsWith('"') ? (JSON.parse(value) as string) : value;
}

function listTools(tools: OfferedTool[]): string {
  return `${tools.map((tool) => `${tool.name}: ${tool.description.split("\n")[0]}`).join("\n")}\n`;
}

function describe(tools: OfferedTool[], name: string): string {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) return `There is no tool "${name}".\n`;
  const lines = Object.entries(tool.schema.properties ?? {}).map(([key, field]) => {
    const optional = tool.schema.required?.includes(key) ? "" : ", optional";
    return `  ${key} (${field.type ?? "value"}${optional})${field.description ? `: ${field.description}` : ""}`;
  });
  return `${tool.name}: ${tool.description}\n${lines.join("\n")}\n`;
}
