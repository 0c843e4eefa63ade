/**
 * What stands between OpenAI's protocol and the servers that speak something like it: requests in the strictest form that
 * all of them take, and answers brought into the form that clients expect.
 */
import { ModelError } from "./errors.js";
import { invalidCall, readObject } from "./tool-calls.js";

export interface WireMessage {
  role: string;
  content?: unknown;
  name?: string;
  tool_calls?: WireCall[];
  tool_call_id?: string;
  reasoning_content?: string;
  [key: string]: unknown;
}

interface WireCall {
  id?: string | null;
  index?: number | null;
  type?: string;
  function?: { name?: string | null; arguments?: unknown };
}

/** What one server wants, as far as its refusals have told. */
export interface Quirks {
  /** Whether the model's own reasoning goes back to it. */
  reasoning: "send" | "omit";
  /** The user, or a refusal, has decided so. */
  reasoningSettled: boolean;
  /** The server knows no system role: its text goes before what the user says first. */
  foldSystem: boolean;
  /** The server refuses a list of tools with more than the plainest schemas. */
  plainSchemas: boolean;
  /** Fields of the request that the server refused. */
  without: Set<string>;
}

/** @param reasoning `auto` begins without, and changes when the server insists */
export function newQuirks(reasoning: "auto" | "send" | "omit" = "auto"): Quirks {
  return {
    reasoning: reasoning === "send" ? "send" : "omit",
    reasoningSettled: reasoning !== "auto",
    foldSystem: false,
    plainSchemas: false,
    without: new Set(),
  };
}

/** The content block that carries a model's reasoning through LangChain's conversion of messages. */
export const REASONING_BLOCK = "reasoning_content";

/**
 * Messages that strict servers take: one system message, at the beginning; roles that alternate; text instead of null or
 * parts; names of at most 64 letters; no field that the protocol does not have.
 */
export function strictMessages(messages: readonly WireMessage[], quirks: Quirks): WireMessage[] {
  const system: string[] = [];
  const rest: WireMessage[] = [];
  for (const message of messages) {
    const { text, reasoning } = readContent(message.content);
    if (message.role === "system" || message.role === "developer") {
      if (text !== "") system.push(text);
      continue;
    }
    append(rest, plain(message, text, quirks.reasoning === "send" ? reasoning : undefined));
  }
  if (system.length === 0) return rest;
  const content = system.join("\n\n");
  if (!quirks.foldSystem) return [{ role: "system", content }, ...rest];
  const [first] = rest;
  if (first?.role === "user") return [{ ...first, content: `${content}\n\n${first.content}` }, ...rest.slice(1)];
  return [{ role: "user", content }, ...rest];
}

function plain(message: WireMessage, text: string, reasoning: string | undefined): WireMessage {
  const { role, tool_calls: calls, tool_call_id } = message;
  if (role === "tool") return { role, tool_call_id: tool_call_id ?? "", content: text };
  if (role !== "assistant") return { role, content: text };
  return {
    role,
    content: text,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(calls === undefined || calls.length === 0
      ? {}
      : {
          tool_calls: calls.map((call) => ({
            ...call,
            function: { ...call.function, name: safeName(call.function?.name) },
          })),
        }),
  };
}

/** Adds a message; what would stand beside one of the same role, or a user's word right behind a tool's, is joined to it. */
function append(messages: WireMessage[], message: WireMessage): void {
  const last = messages.at(-1);
  const joins =
    last !== undefined &&
    message.tool_calls === undefined &&
    last.tool_calls === undefined &&
    message.role !== "tool" &&
    (last.role === message.role || (last.role === "tool" && message.role === "user"));
  if (joins) messages[messages.length - 1] = { ...last, content: `${last.content}\n\n${message.content}` };
  else messages.push(message);
}

function readContent(content: unknown): { text: string; reasoning?: string } {
  if (typeof content === "string") return { text: content };
  if (!Array.isArray(content)) return { text: "" };
  const parts = content as { type?: string; text?: string }[];
  const reasoning = parts.find((part) => part.type === REASONING_BLOCK)?.text;
  const text = parts.flatMap((part) =>
    typeof part === "string" ? [part] : part.type === "text" ? [part.text ?? ""] : [],
  );
  return { text: text.join(""), ...(reasoning === undefined ? {} : { reasoning }) };
}

/** A name that a model made up goes back to it in a form that servers take. */
function safeName(name: string | null | undefined): string {
  return (name ?? "").replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unknown";
}

/** Keywords of JSON Schema that some servers refuse and no model misses. */
const UNWANTED = new Set(["$schema", "additionalProperties"]);
/** What is left out besides, where a server refuses more. */
const DISPENSABLE = new Set([
  "default",
  "minLength",
  "maxLength",
  "pattern",
  "format",
  "exclusiveMinimum",
  "exclusiveMaximum",
]);

/** A tool's schema without what strict servers refuse. */
export function strictSchema(schema: unknown, quirks: Pick<Quirks, "plainSchemas">, isSchema = true): unknown {
  if (Array.isArray(schema)) return schema.map((one) => strictSchema(one, quirks));
  if (typeof schema !== "object" || schema === null) return schema;
  const unwanted = (key: string) => UNWANTED.has(key) || (quirks.plainSchemas && DISPENSABLE.has(key));
  return Object.fromEntries(
    Object.entries(schema)
      // Below `properties` keys are names of fields, not keywords.
      .filter(([key]) => !isSchema || !unwanted(key))
      .map(([key, value]) => [key, strictSchema(value, quirks, !(isSchema && key === "properties"))]),
  );
}

/** The request as a strict server takes it. */
export function strictRequest<Request extends { messages: unknown }>(request: Request, quirks: Quirks): Request {
  const copy: Record<string, unknown> = { ...request };
  for (const field of quirks.without) delete copy[field];
  copy.messages = strictMessages(request.messages as WireMessage[], quirks);
  if (Array.isArray(copy.tools)) copy.tools = copy.tools.map((tool) => strictTool(tool, quirks));
  return copy as Request;
}

function strictTool(tool: unknown, quirks: Quirks): unknown {
  const { type, function: fn } = tool as { type: string; function?: Record<string, unknown> };
  if (fn === undefined) return tool;
  const { strict: _, ...rest } = fn;
  return { type, function: { ...rest, parameters: strictSchema(fn.parameters, quirks) } };
}

/** Fields that a request can do without, where a server says that it does not know them. */
const OPTIONAL_FIELDS = [
  "stream_options",
  "parallel_tool_calls",
  "seed",
  "top_k",
  "reasoning_effort",
  "temperature",
  "top_p",
];

/**
 * Learns from a refusal what the server wants.
 *
 * @returns whether there is something else to try
 */
export function learn(quirks: Quirks, error: ModelError, request: object): boolean {
  if (error.kind !== "bad-request") return false;
  const { message } = error;
  const fields = request as Record<string, unknown>;
  if (/reasoning_content|reasoning content|\bthinking\b/i.test(message)) {
    // One change of mind only: a server that refuses both is not to be helped.
    if (quirks.reasoningSettled) return false;
    quirks.reasoningSettled = true;
    quirks.reasoning = quirks.reasoning === "send" ? "omit" : "send";
    return true;
  }
  if (!quirks.foldSystem && /system (role|message|prompt)|role.{0,20}system/i.test(message)) {
    quirks.foldSystem = true;
    return true;
  }
  const field = OPTIONAL_FIELDS.find(
    (one) => fields[one] !== undefined && !quirks.without.has(one) && mentions(message, one),
  );
  if (field !== undefined) {
    quirks.without.add(field);
    return true;
  }
  if (
    !quirks.plainSchemas &&
    fields.tools !== undefined &&
    /schema|additionalProperties|unknown name|\$ref/i.test(message)
  ) {
    quirks.plainSchemas = true;
    return true;
  }
  return false;
}

function mentions(message: string, field: string): boolean {
  return new RegExp(`\\b${field}\\b`, "i").test(message);
}

/** Where a message keeps the calls whose arguments are no JSON object; they must not pass for sound ones. */
export const BROKEN_CALLS = "invalid_tool_calls";

/** A whole answer in the form that clients expect. */
export function plainCompletion<Completion>(completion: Completion): Completion {
  const { choices } = completion as { choices?: { message?: Record<string, unknown> }[] };
  if (!Array.isArray(choices) || choices.length === 0) {
    throw new ModelError(`the backend's answer holds no message: ${JSON.stringify(completion)?.slice(0, 200)}`, {
      kind: "server",
    });
  }
  for (const choice of choices) {
    const { message } = choice;
    if (message === undefined) continue;
    const { text } = readContent(message.content);
    message.role = "assistant";
    message.content = text;
    Object.assign(message, reasoningOf(message));
    const calls = (Array.isArray(message.tool_calls) ? (message.tool_calls as WireCall[]) : []).map((call, i) => ({
      ...call,
      id: realId(call.id) ?? madeId(i),
      type: "function",
      function: { name: call.function?.name ?? "", arguments: argumentText(call.function?.arguments) || "{}" },
    }));
    const sound = calls.filter((call) => readObject(call.function.arguments) !== undefined);
    const broken = calls.filter((call) => !sound.includes(call));
    delete message.tool_calls;
    if (sound.length > 0) message.tool_calls = sound;
    if (broken.length > 0)
      message[BROKEN_CALLS] = broken.map((call) => invalidCall(call.function.name, call.function.arguments, call.id));
  }
  return completion;
}

interface WireChunk {
  choices?: { delta?: Record<string, unknown> & { tool_calls?: WireCall[] }; finish_reason?: string | null }[];
}

/**
 * A streamed answer in the form that clients expect: the role from the start; each call's id and name with its first piece
 * alone, under an index of its own, whatever the server does (no index, the id `"null"`, the id again in each piece).
 */
export async function* plainChunks<Chunk>(stream: AsyncIterable<Chunk>): AsyncGenerator<Chunk> {
  const calls: { id: string; index: number | undefined }[] = [];
  let current = -1;
  for await (const chunk of stream) {
    const choice = (chunk as WireChunk).choices?.[0];
    if (choice?.delta === undefined || choice.delta === null) {
      if (choice?.finish_reason) choice.delta = {};
      yield chunk;
      continue;
    }
    const { delta } = choice;
    delta.role = "assistant";
    delta.content = readContent(delta.content).text;
    Object.assign(delta, reasoningOf(delta));
    if (Array.isArray(delta.tool_calls) && delta.tool_calls.length > 0) {
      delta.tool_calls = delta.tool_calls.map((piece) => {
        const index = typeof piece.index === "number" ? piece.index : undefined;
        const id = realId(piece.id);
        const at = calls.findIndex((call) =>
          id === undefined ? call.index === index && index !== undefined : call.id === id,
        );
        const begins =
          at < 0 && (id !== undefined || calls.length === 0 || (index !== undefined && Boolean(piece.function?.name)));
        const args = argumentText(piece.function?.arguments);
        if (begins) {
          current = calls.length;
          calls.push({ id: id ?? madeId(current), index });
          const fn = { name: piece.function?.name ?? "", arguments: args };
          return { index: current, id: calls[current]!.id, type: "function", function: fn };
        }
        if (at >= 0) current = at;
        return { index: current, function: { arguments: args } };
      });
    } else delete delta.tool_calls;
    yield chunk;
  }
}

function reasoningOf(message: Record<string, unknown>): { reasoning_content?: string } {
  const { reasoning_content, reasoning } = message;
  const text = typeof reasoning_content === "string" ? reasoning_content : reasoning;
  if (typeof text === "string" && text !== "") return { reasoning_content: text };
  delete message.reasoning_content;
  return {};
}

function realId(id: unknown): string | undefined {
  return typeof id === "string" && id !== "" && !/^(null|none|undefined)$/i.test(id) ? id : undefined;
}

/** Nine letters and digits, as the strictest servers want them. */
function madeId(index: number): string {
  return `made${String(index + 1).padStart(5, "0")}`;
}

function argumentText(args: unknown): string {
  if (typeof args === "string") return args;
  return args === undefined || args === null ? "" : JSON.stringify(args);
}
