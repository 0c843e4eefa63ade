/**
 * Around every tool call: one at a time and in order (environment time passes inside them), arguments checked, errors
 * turned into observations, observations bounded and fenced, repetition noticed.
 */
import { ToolMessage } from "@langchain/core/messages";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { createMiddleware } from "langchain";
import type { ZodTypeAny } from "zod";
import { ToolFailure } from "../../../tools/index.js";
import { checkArguments } from "../arguments.js";
import { observe } from "../observation.js";
import { NOT_UNDERSTOOD, TEXT_ARGUMENT } from "../protocols/index.js";
import type { NumberedCall, TaskRun } from "../task-run.js";

interface Result {
  ok: boolean;
  text: string;
}

/** How to ask for less, where a tool says nothing of it. */
const NARROW = "ask for less";

export function toolCalls(run: TaskRun, submit: string) {
  let queue: Promise<unknown> = Promise.resolve();
  const seen = new Map<string, { times: number; text: string }>();

  return createMiddleware({
    name: "tool-calls",
    wrapToolCall: (request, handler) => {
      const { toolCall } = request;
      const tool = request.tool as StructuredToolInterface | undefined;
      const turn = queue.then(async () => {
        run.signal.throwIfAborted();
        if (run.failure !== undefined) throw run.failure;
        if (toolCall.name === NOT_UNDERSTOOD) return message(toolCall, notUnderstood(toolCall.args), false);
        const call = run.number(toolCall.id ?? "", toolCall.name);
        const startedAt = performance.now();
        run.current = call;
        const checked = prepare(tool, toolCall.name, toolCall.args, run, submit);
        const args = checked.ok ? checked.args : toolCall.args;
        run.usage.toolCalls++;
        run.recorder.record({ event: "tool_call", step: run.step, id: call.id, tool: call.tool, args });
        const result = checked.ok
          ? await execute(() => handler({ ...request, toolCall: { ...toolCall, args: checked.args } }), run)
          : checked;
        if (call.tool === submit) {
          run.rejected = result.ok ? undefined : result.text;
          run.rejections = result.ok ? 0 : run.rejections + 1;
        }
        const notes = run.note === undefined ? [] : [`[note: ${run.note}]`];
        run.note = undefined;
        const repeated = repetition(seen, call, args, result.text, run);
        if (repeated !== undefined) notes.push(`[note: ${repeated}]`);
        return answer(run, call, toolCall, result, notes, narrowOf(tool), startedAt);
      });
      queue = turn.catch(() => undefined);
      return turn;
    },
  });
}

/** What the tool will be called with, or why it will not. */
function prepare(
  tool: StructuredToolInterface | undefined,
  name: string,
  args: unknown,
  run: TaskRun,
  submit: string,
): { ok: true; args: Record<string, unknown> } | ({ ok: false } & Result) {
  if (tool === undefined) {
    return { ok: false, text: `there is no tool "${name}"; the tools are: ${run.tools.join(", ")}` };
  }
  if (run.submitted !== undefined) return { ok: false, text: "not run: the answer has been submitted" };
  if (run.lastTurnTaken && name !== submit) return { ok: false, text: "not run: the limit is reached" };
  const given = (args as Record<string, unknown> | undefined)?.[TEXT_ARGUMENT] ?? args;
  const checked = checkArguments(tool.schema as ZodTypeAny, given);
  if (checked.ok) return checked;
  const problems = checked.problems.map((problem) => `- ${problem}`).join("\n");
  return { ok: false, text: `the input of ${name} does not fit its schema; mend it and call again:\n${problems}` };
}

async function execute(run: () => unknown, state: TaskRun): Promise<Result> {
  try {
    const output = await run();
    const text = ToolMessage.isInstance(output) ? output.text : String(output);
    return { ok: !(ToolMessage.isInstance(output) && output.status === "error"), text };
  } catch (error) {
    if (state.signal.aborted || state.failure !== undefined) throw error;
    const cause = rootCause(error);
    const prefix = cause instanceof ToolFailure ? "" : "the tool failed: ";
    return { ok: false, text: `${prefix}${cause.message}` };
  }
}

function answer(
  run: TaskRun,
  call: NumberedCall,
  toolCall: { id?: string; name: string },
  result: Result,
  notes: string[],
  narrow: string,
  startedAt: number,
): ToolMessage {
  const clean = run.clean(result.text);
  run.observations.set(call.id, clean);
  const { options } = run.context;
  const seen = observe(call, clean, {
    maxBytes: options.maxObservationBytes,
    ok: result.ok,
    narrow,
    summarizer: run.tools.includes("summarize"),
    notes,
  });
  run.recorder.record(
    {
      event: "observation",
      step: run.step,
      id: call.id,
      tool: call.tool,
      ok: result.ok,
      content: seen.content,
      bytes: seen.bytes,
      cut: seen.cut,
    },
    startedAt,
  );
  return message(toolCall, seen.fenced, result.ok);
}

function message(toolCall: { id?: string; name: string }, content: string, ok: boolean): ToolMessage {
  return new ToolMessage({
    content,
    tool_call_id: toolCall.id ?? "",
    name: toolCall.name,
    status: ok ? "success" : "error",
  });
}

/** A remark when the very same call gave the very same answer before. */
function repetition(
  seen: Map<string, { times: number; text: string }>,
  call: NumberedCall,
  args: unknown,
  text: string,
  run: TaskRun,
): string | undefined {
  const key = `${call.tool} ${JSON.stringify(args, sortedKeys)}`;
  const before = seen.get(key);
  const times = (before?.times ?? 0) + 1;
  seen.set(key, { times, text });
  if (before === undefined || before.text !== text) return undefined;
  run.recorder.record({ event: "repeated", step: run.step, id: call.id, tool: call.tool, times });
  return `you have made this same call ${times} times, and the answer has not changed; try something else`;
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function notUnderstood(args: unknown): string {
  return `Your answer could not be understood: ${(args as { reason?: string }).reason ?? "it called no tool"}.`;
}

function narrowOf(tool: StructuredToolInterface | undefined): string {
  const narrow = (tool as { metadata?: { narrow?: unknown } } | undefined)?.metadata?.narrow;
  return typeof narrow === "string" ? narrow : NARROW;
}

/** LangChain wraps what a tool threw. */
function rootCause(error: unknown): Error {
  let e: unknown = error;
  for (
    let depth = 0;
    depth < 8 && e instanceof Error && e.cause instanceof Error && !(e instanceof ToolFailure);
    depth++
  ) {
    e = e.cause;
  }
  return e instanceof Error ? e : new Error(String(e));
}
