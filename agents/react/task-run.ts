/** State of one task while its loop runs: counts, calls, observations, and how it ended. */
import { createMasker, type ModelError } from "../../models/index.js";
import type { AgentContext, OutcomeStatus, Usage } from "../agent.js";
import { TranscriptRecorder } from "./transcript.js";
import { emptyUsage } from "./usage.js";

/** A tool call under its number in the transcript. */
export interface NumberedCall {
  /** `call_1`, `call_2`, ... in the order in which the model made them. */
  id: string;
  tool: string;
}

export class TaskRun {
  readonly context: AgentContext;
  readonly usage: Usage;
  readonly recorder: TranscriptRecorder;
  /** Takes out secrets, and addresses that differ from run to run. */
  readonly clean: (text: string) => string;
  readonly startedAt = performance.now();
  /** Whole observations by call number, for the summarizer. */
  readonly observations = new Map<string, string>();
  /** The call whose tool is running. */
  current: NumberedCall = { id: "call_0", tool: "" };
  /** The limit that was hit; the next model call is the last. */
  limit: { status: OutcomeStatus; detail: string } | undefined;
  /** The last turn has been taken. */
  lastTurnTaken = false;
  /** Answers in a row that could not be understood. */
  misunderstood = 0;
  /** Answers in a row that did not fit the schema. */
  rejections = 0;
  submitted: { output: unknown } | undefined;
  /** What was wrong with the submission of the latest step, when it was turned down. */
  rejected: string | undefined;
  failure: ModelError | undefined;
  /** Why the model's last answer could not be read as a call. */
  unreadable: string | undefined;
  /** A remark about the model's last answer, for its next observation. */
  note: string | undefined;
  /** Names of the tools, the submit tool among them. */
  tools: readonly string[] = [];
  /** The harness' signal, and the hard stop of the time limit. */
  readonly signal: AbortSignal;
  readonly hardStop = new AbortController();
  readonly #closers: (() => Promise<void>)[] = [];
  #calls = new Map<string, NumberedCall>();
  #count = 0;

  constructor(context: AgentContext) {
    this.context = context;
    this.usage = emptyUsage(context.price);
    this.signal =
      context.signal === undefined ? this.hardStop.signal : AbortSignal.any([context.signal, this.hardStop.signal]);
    const mask = createMasker([
      ...(context.secrets ?? []),
      ...(context.endpoints.token ? [context.endpoints.token] : []),
    ]);
    const places = addresses(context);
    this.clean = (text) => {
      let cleaned = text;
      for (const [address, name] of places) if (cleaned.includes(address)) cleaned = cleaned.replaceAll(address, name);
      return mask(cleaned);
    };
    this.recorder = new TranscriptRecorder(context.transcript, () => context.clock.now(), this.clean);
  }

  /** Gives a call of the model its number; the same call keeps it. */
  number(langchainId: string, tool: string): NumberedCall {
    const known = this.#calls.get(langchainId);
    if (known !== undefined) return known;
    const call = { id: `call_${++this.#count}`, tool };
    this.#calls.set(langchainId, call);
    return call;
  }

  /** Number of the step that is being taken or was taken last; the last turn has the next number. */
  get step(): number {
    return this.usage.steps + (this.lastTurnTaken ? 1 : 0);
  }

  /** Registers what must be closed when the task ends. */
  onEnd(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  /** Closes what was opened for the task; an error in closing is nobody's concern. */
  async end(): Promise<void> {
    await Promise.allSettled(this.#closers.splice(0).map((close) => close()));
  }

  /** No further model call is to be made. */
  get over(): boolean {
    return (
      this.submitted !== undefined ||
      this.lastTurnTaken ||
      this.misunderstood >= MAX_MISUNDERSTOOD ||
      this.rejections >= MAX_REJECTIONS
    );
  }
}

/** After as many answers in a row that call no tool, the model is not going to. */
export const MAX_MISUNDERSTOOD = 4;
/** An answer that does not fit its schema is sent back with what is wrong, as often as this less one. */
export const MAX_REJECTIONS = 5;

/** Addresses of the endpoints, longest first, with the names to show instead: ports differ from run to run. */
function addresses({ endpoints }: AgentContext): [string, string][] {
  const found: [string, string][] = [];
  for (const name of ["prometheus", "alertmanager", "loki", "jaeger", "opencost"] as const) {
    const url = endpoints[name];
    if (!url) continue;
    found.push([url, `http://${name}`]);
    const host = /^https?:\/\/([^/]+)/.exec(url)?.[1];
    if (host) found.push([host, name]);
  }
  found.push([endpoints.kubeconfig, "kubeconfig"]);
  return found.filter(([address]) => address !== "").sort((a, b) => b[0].length - a[0].length);
}
