/**
 * The ReAct loop: LangChain's agent with our middleware. Outermost first: `pace` (limits, steps, time), `context-window`,
 * `speak` (protocol), `model-call` (tokens, errors); around tools `tool-calls`.
 */
import { HumanMessage } from "@langchain/core/messages";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { createAgent } from "langchain";
import { loadPrompt, promptHash, type RenderedPrompt } from "../../prompts/index.js";
import type { AgentContext, Outcome, Persona } from "../agent.js";
import { hardStopSeconds } from "./limits.js";
import { contextWindow } from "./middleware/context-window.js";
import { modelCall } from "./middleware/model-call.js";
import { pace } from "./middleware/pace.js";
import { speak } from "./middleware/speak.js";
import { toolCalls } from "./middleware/tool-calls.js";
import { PROTOCOLS } from "./protocols/index.js";
import { createSubmit, type SubmitSpec } from "./submit.js";
import { TaskRun } from "./task-run.js";
import type { TranscriptEvent } from "./transcript.js";

export interface ReactTask {
  persona: Persona;
  task: string;
  /** The system prompt; the protocol's instructions are added to it. */
  system: RenderedPrompt;
  /** What the user says first. */
  message: string;
  /** Makes the task's tools, without the submit tool. */
  tools(run: TaskRun): StructuredToolInterface[];
  submit: SubmitSpec;
  /** What led up to the task, for the transcript. */
  before?: readonly TranscriptEvent[];
}

/** Runs one task to its end. Never throws for what a model said; a backend that fails is an outcome too. */
export async function runReact<Output>(task: ReactTask, context: AgentContext): Promise<Outcome<Output>> {
  const run = new TaskRun(context);
  const protocol = PROTOCOLS[context.protocol];
  const tools = [...task.tools(run), createSubmit(task.submit, run) as unknown as StructuredToolInterface];
  run.tools = tools.map((tool) => tool.name);
  const instructions = protocol.instructions(tools, task.submit.name, context.options);
  const system = instructions === "" ? task.system.text : `${task.system.text}\n\n${instructions}`;
  recordStart(task, run, system, instructions);

  const agent = createAgent({
    model: context.model,
    tools,
    systemPrompt: system,
    // All calls of a step in one node of the graph: cheaper than a node each, and they run one at a time anyway.
    version: "v1",
    middleware: [
      pace(run, task.submit.name),
      contextWindow(run),
      speak(protocol, run, task.submit.name),
      modelCall(run),
      toolCalls(run, task.submit.name),
    ] as const,
  });
  const timer = startHardStop(run);
  let outcome: Outcome<Output>;
  try {
    await agent.invoke(
      { messages: [new HumanMessage(task.message)] },
      // The limits end the loop; the graph's own bound on its length must not.
      { signal: run.signal, recursionLimit: 100_000 },
    );
    outcome = judge(run);
  } catch (error) {
    outcome = judgeFailure(run, error);
  } finally {
    clearTimeout(timer);
    await run.end();
  }
  run.recorder.record({ event: "usage", usage: outcome.usage });
  const { status, detail, output } = outcome;
  run.recorder.record({
    event: "outcome",
    status,
    ...(detail === undefined ? {} : { detail }),
    ...(output === undefined ? {} : { output }),
  });
  return outcome;
}

function recordStart(task: ReactTask, run: TaskRun, system: string, instructions: string): void {
  const { context } = run;
  const { name, variant, hash } = task.system;
  run.recorder.record({
    event: "task",
    persona: task.persona,
    task: task.task,
    model: context.modelName,
    protocol: context.protocol,
    prompt: { name, variant, hash },
    ...(instructions === ""
      ? {}
      : {
          format: {
            name: context.protocol,
            variant: loadPrompt(context.protocol, context.options.promptVariant).variant,
            hash: promptHash(instructions),
          },
        }),
    options: { ...context.options },
    limits: { ...context.limits },
    tools: [...run.tools],
  });
  for (const event of task.before ?? []) run.recorder.record(event);
  run.recorder.record({ event: "message", role: "system", content: system });
  run.recorder.record({ event: "message", role: "user", content: task.message });
}

/** Cuts off even a call in flight, some time after the limit. */
function startHardStop(run: TaskRun): NodeJS.Timeout | undefined {
  const { wallSeconds } = run.context.limits;
  if (wallSeconds === undefined) return undefined;
  const timer = setTimeout(() => run.hardStop.abort(), hardStopSeconds(wallSeconds) * 1000);
  timer.unref();
  return timer;
}

function judge<Output>(run: TaskRun): Outcome<Output> {
  const { usage, limit } = run;
  if (run.submitted !== undefined) {
    const detail =
      limit === undefined ? {} : { detail: `submitted in the last turn, after ${limit.status}: ${limit.detail}` };
    return { status: "ok", output: run.submitted.output as Output, usage, ...detail };
  }
  if (run.rejected !== undefined) return { status: "invalid-output", detail: run.rejected, usage };
  if (limit !== undefined)
    return { status: limit.status, detail: `${limit.detail}, and no answer was submitted`, usage };
  return { status: "invalid-output", detail: `${run.misunderstood} answers in a row called no tool`, usage };
}

function judgeFailure<Output>(run: TaskRun, error: unknown): Outcome<Output> {
  const { usage, context } = run;
  if (context.signal?.aborted) return { status: "aborted", usage };
  if (run.hardStop.signal.aborted) {
    return { status: "limit-time", detail: "cut off: the time limit was over and the last turn took too long", usage };
  }
  if (run.failure !== undefined) {
    const { kind, message } = run.failure;
    const noTools = kind === "bad-request" && /\btools?\b/i.test(message) && context.protocol === "tool-calling";
    const hint = noTools ? "; this model may know no tools: try the protocol react-text or json-action" : "";
    return { status: "model-error", detail: run.clean(`${kind}: ${message}${hint}`), usage };
  }
  throw error;
}
