/**
 * The transcript: one event a line, enough to recompute everything in a report. All times stand in an event's `time`,
 * so that two transcripts of one seed are equal once it is taken out.
 */
import { appendFileSync, writeFileSync } from "node:fs";
import type { OutcomeStatus, ProtocolName, Usage } from "../agent.js";

export interface TokenCount {
  input: number;
  output: number;
  cached: number;
}

/** What a model was sent, without the history that earlier events already show. */
export interface MessageRecord {
  role: "system" | "user" | "assistant" | "tool";
  content: string;
}

/** Events as agents write them; the recorder adds `seq` and `time`. */
export type TranscriptEvent =
  | {
      event: "task";
      persona: string;
      task: string;
      model: string;
      protocol: ProtocolName;
      prompt: { name: string; variant: string; hash: string };
      /** The format of a text protocol, which follows the system prompt. */
      format?: { name: string; variant: string; hash: string };
      options: Record<string, unknown>;
      limits: Record<string, unknown>;
      tools: string[];
    }
  /** What the loop told the model: system prompt, task, and later remarks (limit reached, not understood ...). */
  | ({ event: "message" } & MessageRecord)
  /** One model call of the loop. `text` is what the model said beside its tool calls. */
  | {
      event: "step";
      step: number;
      text: string;
      calls: { id: string; tool: string; args: unknown }[];
      tokens: TokenCount;
    }
  | { event: "tool_call"; step: number; id: string; tool: string; args: unknown }
  /** What the agent got to see; `bytes` before it was cut. */
  | {
      event: "observation";
      step: number;
      id: string;
      tool: string;
      ok: boolean;
      content: string;
      bytes: number;
      cut: boolean;
    }
  /** A model call inside a tool. */
  | {
      event: "generate";
      id: string;
      tool: string;
      attempt: number;
      prompt: { name: string; variant: string; hash: string };
      text: string;
      tokens: TokenCount;
    }
  /** What a tool is about to run. */
  | { event: "execute"; id: string; tool: string; attempt: number; command: string }
  | { event: "lint"; id: string; tool: string; attempt: number; command: string; findings: string[] }
  | {
      event: "reflection";
      id: string;
      tool: string;
      attempt: number;
      cause: "lint" | "error";
      detail: string;
      prompt: { name: string; variant: string; hash: string };
    }
  /** Text that could not be read as a tool call, and what the model was told. */
  | { event: "not_understood"; step: number; text: string; reason: string }
  | { event: "repeated"; step: number; id: string; tool: string; times: number }
  /** Observations that are sent in short, or no longer, since the conversation outgrew the model's context window. */
  | { event: "context"; step: number; shortened: number; left_out: number }
  | { event: "limit"; step: number; limit: OutcomeStatus; detail: string }
  /** An attempt begins, with these notes from those before it. Only where several are allowed. */
  | { event: "attempt"; attempt: number; of: number; memory: string[] }
  /** What came of it, as far as its agent can tell; `note` is for the next one. */
  | {
      event: "attempt_result";
      attempt: number;
      of: number;
      verified: boolean;
      problems: string[];
      /** Alerts that fired in the end; absent when they were not looked at. */
      firing?: string[];
      note?: string;
      prompt?: { name: string; variant: string; hash: string };
      /** Why the model wrote no note of its own. */
      failure?: string;
      tokens?: TokenCount;
    }
  /** What was found in the runbooks and put into the task. */
  | {
      event: "runbooks";
      prompt: { name: string; variant: string; hash: string };
      found: { source: string; heading: string; score: number }[];
    }
  | { event: "usage"; usage: Usage }
  | { event: "outcome"; status: OutcomeStatus; detail?: string; output?: unknown };

export type RecordedEvent = TranscriptEvent & {
  seq: number;
  time: {
    /** Environment time, ISO 8601. */
    virtual: string;
    /** Wall-clock milliseconds since the task began. */
    wall_ms: number;
    /** Wall-clock milliseconds that the thing itself took, where that is meant. */
    took_ms?: number;
  };
};

/** Where events go. `write` is synchronous, so that nothing is lost when the process dies. */
export interface TranscriptSink {
  write(event: RecordedEvent): void;
}

/** Keeps events in memory. */
export class MemoryTranscript implements TranscriptSink {
  readonly events: RecordedEvent[] = [];
  write(event: RecordedEvent): void {
    this.events.push(event);
  }
}

/** Writes JSON Lines to a new file, each event as it happens. */
export function fileTranscript(path: string): TranscriptSink {
  writeFileSync(path, "");
  return { write: (event) => appendFileSync(path, `${JSON.stringify(event)}\n`) };
}

/** Sends each event to all of `sinks`. */
export function teeTranscript(...sinks: TranscriptSink[]): TranscriptSink {
  return {
    write: (event) => {
      for (const sink of sinks) sink.write(event);
    },
  };
}

/** Adds number and time to events and takes secrets out of them. One for each task. */
export class TranscriptRecorder {
  readonly #sink: TranscriptSink;
  readonly #now: () => number;
  readonly #mask: (text: string) => string;
  readonly #start = performance.now();
  #seq = 0;

  /**
   * @param now environment time, milliseconds since the epoch
   * @param mask takes secrets out of a text
   */
  constructor(sink: TranscriptSink, now: () => number, mask: (text: string) => string) {
    this.#sink = sink;
    this.#now = now;
    this.#mask = mask;
  }

  /** @param startedAt `performance.now()` at the start of what the event tells of */
  record(event: TranscriptEvent, startedAt?: number): void {
    const now = performance.now();
    const took = startedAt === undefined ? {} : { took_ms: Math.round(now - startedAt) };
    this.#sink.write({
      seq: ++this.#seq,
      ...(maskDeep(event, this.#mask) as TranscriptEvent),
      time: { virtual: new Date(this.#now()).toISOString(), wall_ms: Math.round(now - this.#start), ...took },
    });
  }
}

/** Applies `mask` to every string of a JSON value; keys and everything else stay. */
export function maskDeep(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) return value.map((item) => maskDeep(item, mask));
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskDeep(item, mask)]));
  }
  return value;
}
