/**
 * Keeps the conversation under the model's context window: old observations are shortened first, then left out; the task,
 * the prompts and what the model itself said (its plan) never are. Where the window is not known, a refusal for length
 * tells that it was passed.
 */
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { cutMiddle } from "../../../tools/index.js";
import type { TaskRun } from "../task-run.js";
import { tokensOf } from "../usage.js";

/** How much of an observation is still sent, in bytes; 0: only that it was there. */
type Room = number;

const SHORT: Room = 600;
const MEDIUM: Room = 2000;
const GONE = "(left out to make room in the conversation; ask again if you need it)";

/** Part of the window that the conversation may take; the rest is for the answer. */
const SHARE = 0.85;
/** Once it is passed, the conversation is cut to this part of what it may take, so that it is not cut anew at each step. */
const TARGET = 0.75;
/** To what part the conversation is cut when a server refused it for its length. */
const AFTER_REFUSAL = 0.6;
const MAX_ROUNDS = 6;
/** Characters of a token, until the backend's own counts say better; low, to err on the safe side. */
const CHARACTERS_PER_TOKEN = 3;

export function contextWindow(run: TaskRun) {
  const rooms = new Map<string, Room>();
  const window = run.context.contextWindow;
  let perToken = CHARACTERS_PER_TOKEN;

  return createMiddleware({
    name: "context-window",
    wrapModelCall: async (request, handler) => {
      const { messages } = request;
      const overhead = request.systemPrompt?.length ?? 0;
      const length = () => lengthOf(messages, rooms) + overhead;
      if (window !== undefined && length() / perToken > window * SHARE) {
        shrink(messages, rooms, window * SHARE * TARGET * perToken - overhead, run);
      }
      for (let round = 0; ; round++) {
        try {
          const answer = await handler({ ...request, messages: allReduced(messages, rooms) });
          const { input } = tokensOf(answer as AIMessage);
          // Schemas of tools are counted too: the true number of characters a token is higher, which is the safe side.
          if (input > 0) perToken = Math.min(6, Math.max(1, length() / input));
          return answer;
        } catch (error) {
          if (run.failure?.kind !== "context-overflow" || round >= MAX_ROUNDS) throw error;
          if (!shrink(messages, rooms, length() * AFTER_REFUSAL - overhead, run)) throw error;
          run.failure = undefined;
        }
      }
    },
  });
}

/** Gives observations less room until the messages have at most `target` characters. @returns whether anything changed */
function shrink(messages: readonly BaseMessage[], rooms: Map<string, Room>, target: number, run: TaskRun): boolean {
  const observations = messages.filter((message) => ToolMessage.isInstance(message)) as ToolMessage[];
  const latest = latestCalls(messages);
  const old = observations.filter((message) => !latest.has(message.tool_call_id));
  const fresh = observations.filter((message) => latest.has(message.tool_call_id));
  const steps: [ToolMessage, Room][] = [
    ...old.map((message): [ToolMessage, Room] => [message, SHORT]),
    ...old.map((message): [ToolMessage, Room] => [message, 0]),
    ...[MEDIUM, SHORT, 0].flatMap((room) => fresh.map((message): [ToolMessage, Room] => [message, room])),
  ];
  let changed = false;
  let length = lengthOf(messages, rooms);
  for (const [message, room] of steps) {
    if (length <= target) break;
    const before = reduced(message, rooms).text.length;
    if ((rooms.get(message.tool_call_id) ?? Number.POSITIVE_INFINITY) <= room || before <= GONE.length) continue;
    if (room > 0 && Buffer.byteLength(message.text) <= room) continue;
    rooms.set(message.tool_call_id, room);
    length += reduced(message, rooms).text.length - before;
    changed = true;
  }
  if (changed) {
    const all = [...rooms.values()];
    const left_out = all.filter((room) => room === 0).length;
    run.recorder.record({ event: "context", step: run.step, shortened: all.length - left_out, left_out });
  }
  return changed;
}

/** Ids of the calls of the latest step. */
function latestCalls(messages: readonly BaseMessage[]): Set<string> {
  const last = messages.findLast((message) => AIMessage.isInstance(message)) as AIMessage | undefined;
  return new Set((last?.tool_calls ?? []).map((call) => call.id ?? ""));
}

function allReduced(messages: BaseMessage[], rooms: Map<string, Room>): BaseMessage[] {
  return rooms.size === 0 ? messages : messages.map((message) => reduced(message, rooms));
}

function reduced(message: BaseMessage, rooms: Map<string, Room>): BaseMessage {
  if (!ToolMessage.isInstance(message)) return message;
  const room = rooms.get(message.tool_call_id);
  if (room === undefined) return message;
  const cut = (bytes: number) => `[... ${bytes} bytes left out to make room in the conversation ...]`;
  return new ToolMessage({
    content: room === 0 ? GONE : cutMiddle(message.text, room, cut).text,
    tool_call_id: message.tool_call_id,
    ...(message.name === undefined ? {} : { name: message.name }),
    ...(message.status === undefined ? {} : { status: message.status }),
  });
}

function lengthOf(messages: readonly BaseMessage[], rooms: Map<string, Room>): number {
  let length = 0;
  for (const message of messages) {
    length += reduced(message, rooms).text.length;
    if (AIMessage.isInstance(message) && message.tool_calls?.length)
      length += JSON.stringify(message.tool_calls).length;
  }
  return length;
}
