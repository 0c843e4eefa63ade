/** Fake model servers that speak OpenAI's or Ollama's protocol, streamed or not, with answers that a test wrote down. */
import type { ServerResponse } from "node:http";
import { json, type Recorded, serve, type TestServer } from "./http.js";

export type WireKind = "openai" | "ollama";

export interface WireAnswer {
  content?: string | null;
  /** What a reasoning model thought. */
  thinking?: string;
  calls?: { name: string; args: unknown; id?: string }[];
  /** `stop` where absent; `length` when the answer was cut off. */
  finish?: string;
}

export interface Refusal {
  status: number;
  message: string;
}

export type WireTurn = WireAnswer | Refusal | ((request: Recorded, n: number) => WireTurn);

/**
 * Answers the n-th request with the n-th turn; the last one repeats.
 *
 * @param prepare runs before a turn is asked for, for those that take time to decide
 */
export function serveModel(
  kind: WireKind,
  turns: readonly WireTurn[],
  prepare?: (request: Recorded) => Promise<void>,
): Promise<TestServer> {
  return serve(async (request, response, n) => {
    await prepare?.(request);
    let turn = turns[Math.min(n, turns.length) - 1]!;
    while (typeof turn === "function") turn = turn(request, n);
    if ("status" in turn) {
      const error = kind === "ollama" ? turn.message : { message: turn.message };
      json(response, { error }, turn.status);
    } else if (kind === "ollama") ollama(response, turn, request.body.stream === true);
    else openai(response, turn, n, request.body.stream === true);
  });
}

/** The base URL for `resolveModel`. */
export function baseUrlOf(kind: WireKind, server: TestServer): string {
  return kind === "openai" ? `${server.url}/v1` : server.url;
}

function ollama(response: ServerResponse, answer: WireAnswer, stream: boolean): void {
  const { content = "", thinking, calls = [], finish = "stop" } = answer;
  const message = {
    role: "assistant",
    content,
    ...(thinking === undefined ? {} : { thinking }),
    ...(calls.length === 0
      ? {}
      : { tool_calls: calls.map(({ name, args }) => ({ function: { name, arguments: args } })) }),
  };
  const end = { model: "m", done: true, done_reason: finish, prompt_eval_count: 50, eval_count: 5 };
  if (!stream) {
    json(response, { ...end, message });
    return;
  }
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  response.write(`${JSON.stringify({ model: "m", done: false, message })}\n`);
  response.end(`${JSON.stringify({ ...end, message: { role: "assistant", content: "" } })}\n`);
}

function openai(response: ServerResponse, answer: WireAnswer, n: number, stream: boolean): void {
  const { content = null, thinking, calls = [], finish = "stop" } = answer;
  const tool_calls = calls.map(({ name, args, id }, i) => ({
    id: id ?? `c${n}x${i}`,
    type: "function",
    function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
  }));
  const message = {
    role: "assistant",
    content,
    ...(thinking === undefined ? {} : { reasoning_content: thinking }),
    ...(calls.length === 0 ? {} : { tool_calls }),
  };
  const usage = { prompt_tokens: 50, completion_tokens: 5, total_tokens: 55 };
  if (!stream) {
    json(response, { choices: [{ index: 0, message, finish_reason: finish }], usage });
    return;
  }
  const pieces = tool_calls.flatMap((call, index) => {
    const half = Math.ceil(call.function.arguments.length / 2);
    return [
      { tool_calls: [{ ...call, index, function: { ...call.function, arguments: "" } }] },
      { tool_calls: [{ index, function: { arguments: call.function.arguments.slice(0, half) } }] },
      { tool_calls: [{ index, function: { arguments: call.function.arguments.slice(half) } }] },
    ];
  });
  const { tool_calls: _, ...said } = message as { tool_calls?: unknown };
  streamDeltas(response, [said, ...pieces], finish, usage);
}

/** Sends `deltas` as a stream of chunks. */
export function streamDeltas(response: ServerResponse, deltas: object[], finish: string, usage?: object): void {
  const head = { id: "c", object: "chat.completion.chunk", created: 0, model: "m" };
  const send = (chunk: object) => response.write(`data: ${JSON.stringify({ ...head, ...chunk })}\n\n`);
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const delta of deltas) send({ choices: [{ index: 0, delta }] });
  send({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });
  if (usage !== undefined) send({ choices: [], usage });
  response.end("data: [DONE]\n\n");
}
