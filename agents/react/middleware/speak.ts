/** Lets a protocol write the conversation for the model and read the calls out of its answer. */
import type { AIMessage } from "@langchain/core/messages";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { createMiddleware } from "langchain";
import type { Parsed, Protocol } from "../protocols/index.js";
import { withCalls, withoutCalls, withoutThinking } from "../protocols/index.js";
import type { TaskRun } from "../task-run.js";

/** @param options `prose`: words without a call are an answer, as in a conversation */
export function speak(protocol: Protocol, run: TaskRun, submit: string, options: { prose?: boolean } = {}) {
  let count = 0;
  const used = new Set<string>();
  // Nine letters and digits: Mistral's servers take no other ids.
  const nextId = () => `call${String(++count).padStart(5, "0")}`;
  const settings = protocol.settings(run.context.model._llmType(), { names: run.tools, submit });
  return createMiddleware({
    name: "speak",
    wrapModelCall: async (request, handler) => {
      const tools = request.tools as StructuredToolInterface[];
      // Parsers know all tools, also in the last turn: a call that comes too late is answered, not misunderstood.
      const names = { names: run.tools, submit };
      const ask = async (settings: Record<string, unknown>) =>
        (await handler({
          ...request,
          messages: protocol.write(request.messages),
          tools: protocol.native ? tools : [],
          modelSettings: { ...request.modelSettings, ...settings },
        })) as AIMessage;
      const answer = await withFallback(settings, ask, run);
      // Some servers give all their answers one id; the graph would take them for one message.
      answer.id = undefined;
      const parsed = protocol.read(answer, names);
      if (options.prose && !parsed.ok && isProse(answer)) return asProse(answer);
      run.note = parsed.ok ? parsed.note : undefined;
      run.unreadable = parsed.ok ? undefined : parsed.reason;
      return keepsCalls(protocol, answer, parsed, used) ? answer : withCalls(answer, parsed, nextId);
    },
  });
}

/** Words, and nothing that looks like a call that failed. */
function isProse(answer: AIMessage): boolean {
  const calls = (answer.tool_calls?.length ?? 0) + (answer.invalid_tool_calls?.length ?? 0);
  return (
    calls === 0 &&
    withoutThinking(answer.text) !== "" &&
    !/^\s*(```\w*\s*)?[{[<]|^[ \t]*action[ \t]*:/im.test(answer.text)
  );
}

function asProse(answer: AIMessage): AIMessage {
  return withoutCalls(answer, withoutThinking(answer.text).replace(/^(thought:.*\n+)?final answer:\s*/i, ""));
}

/**
 * Not every server knows stop words or a JSON schema: what one refuses is taken off `settings` for good, the next is tried,
 * and in the end the protocol does without.
 */
async function withFallback(
  settings: Record<string, unknown>[],
  ask: (settings: Record<string, unknown>) => Promise<AIMessage>,
  run: TaskRun,
): Promise<AIMessage> {
  for (;;) {
    try {
      return await ask(settings[0] ?? {});
    } catch (error) {
      if (run.failure?.kind !== "bad-request" || settings.length === 0) throw error;
      run.failure = undefined;
      settings.shift();
    }
  }
}

/**
 * Sound calls of the backend's own stay as they are, so that the next request repeats what the backend sent. Ids that are
 * missing or come twice (some servers number each answer's calls anew) would mix up observations.
 */
function keepsCalls(protocol: Protocol, answer: AIMessage, parsed: Parsed, used: Set<string>): boolean {
  const calls = answer.tool_calls ?? [];
  if (!protocol.native || !parsed.ok || calls.length === 0 || calls.length !== parsed.actions.length) return false;
  const ids = calls.map((call) => call.id ?? "");
  const fresh = ids.every((id) => id !== "" && !used.has(id)) && new Set(ids).size === ids.length;
  for (const id of ids) used.add(id);
  const plain = calls.every((call) => typeof call.args === "object" && call.args !== null);
  return fresh && plain && calls.every((call, i) => call.name === parsed.actions[i]!.tool);
}
