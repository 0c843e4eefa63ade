/**
 * What an agent is: a function from a task and a context to an outcome. The harness hands it endpoints, a chat model,
 * limits and a place to write its transcript; it knows nothing else of the environment.
 */
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { Price } from "../models/index.js";
import type { ToolClock, ToolEndpoints } from "../tools/index.js";
import type { TranscriptSink } from "./react/transcript.js";
import type { RunbookMemory } from "./reflexion/runbooks.js";

export type Persona = "sre" | "ciso" | "finops";

/** How a model says which tool to call. */
export type ProtocolName = "tool-calling" | "react-text" | "json-action";

export const PROTOCOL_NAMES: readonly ProtocolName[] = ["tool-calling", "react-text", "json-action"];

/** Tools beside the baseline's own; each can be switched on and off. */
export const EXTRA_TOOLS = [
  "topology",
  "changes",
  "log_patterns",
  "metric_anomalies",
  "compare_traces",
  "nl2script",
] as const;

export type ExtraTool = (typeof EXTRA_TOOLS)[number];

/** When one is reached the model gets one last turn to submit its answer. An absent limit is no limit. */
export interface Limits {
  /** Model calls of the loop; the last turn comes on top. */
  maxSteps: number;
  /** Tokens in and out, nested calls of tools included. */
  maxTokens?: number;
  /** In the currency of the price (US dollars). Needs a price. */
  maxCost?: number;
  /** Wall-clock seconds for the task. */
  wallSeconds?: number;
}

/** The factors of an ablation that concern the agent. */
export interface AgentOptions {
  /** `nl2x`: a tool takes a question and a nested model call writes the command; `direct`: the agent writes it. */
  tools: "nl2x" | "direct";
  /** Re-prompt inside a tool on a lint finding or an execution error. */
  reflection: boolean;
  /** Re-prompts inside one tool call, at most. */
  maxReflections: number;
  /** Check a generated command before it runs. */
  linters: boolean;
  /** Show worked examples in prompts (few-shot). */
  examples: boolean;
  /** Offer the tool that summarizes long observations. */
  summarizer: boolean;
  /** Tools beside the baseline's own. One that reads a modality which is off is left out. */
  extraTools: readonly ExtraTool[];
  /** Which telemetry the agent may read. */
  modalities: { traces: boolean; logs: boolean; metrics: boolean };
  /** `prompts/<task>/<variant>.md`; a task without that variant uses `default`. */
  promptVariant: string;
  /** `builtin`: our own kubectl over REST; `native`: the program on the PATH. */
  kubectl: "builtin" | "native";
  /** Longest observation in bytes of UTF-8; longer ones are cut in the middle. */
  maxObservationBytes: number;
}

export const DEFAULT_AGENT_OPTIONS: AgentOptions = {
  tools: "nl2x",
  reflection: true,
  maxReflections: 3,
  linters: true,
  examples: true,
  summarizer: true,
  extraTools: ["topology", "changes"],
  modalities: { traces: true, logs: true, metrics: true },
  promptVariant: "default",
  kubectl: "builtin",
  maxObservationBytes: 12_000,
};

export const DEFAULT_LIMITS: Limits = { maxSteps: 20 };

export interface AgentContext {
  /** Endpoints for the role that the task allows: read-only in diagnosis, read-write in mitigation. */
  endpoints: ToolEndpoints;
  clock: ToolClock;
  model: BaseChatModel;
  /** As the user named it, for the transcript. */
  modelName: string;
  /** Price of the model's tokens; without one the cost is unknown. */
  price?: Price;
  /** Tokens that the model can read at once; without it, only a refusal for length tells. */
  contextWindow?: number;
  protocol: ProtocolName;
  limits: Limits;
  options: AgentOptions;
  /** Runbooks and notes of past incidents; what fits is put into the task. */
  runbooks?: RunbookMemory;
  /** The scenario's namespaces: the only ones in which a mitigation may write. */
  namespaces: readonly string[];
  transcript: TranscriptSink;
  /** Texts that no transcript, observation or message may contain (keys, tokens). */
  secrets?: readonly string[];
  signal?: AbortSignal;
  /** Called once a step, after the model has answered and before its tools run: the harness lets virtual time pass. */
  onStep?(): Promise<void>;
}

export type OutcomeStatus =
  | "ok"
  | "limit-steps"
  | "limit-tokens"
  | "limit-time"
  | "limit-cost"
  | "invalid-output"
  | "model-error"
  | "aborted";

/** Tokens and calls of one task; nested calls (inside tools) are counted in and also shown apart. */
export interface Usage {
  steps: number;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
  /** Part of `inputTokens` that the backend served from its cache. */
  cachedTokens: number;
  /** Model calls made inside tools. */
  nestedCalls: number;
  lintFindings: number;
  reflections: number;
  /** Absent when the model has no price. */
  cost?: number;
}

export interface Outcome<Output = unknown> {
  status: OutcomeStatus;
  /** Schema-checked; absent unless the status is `ok`. */
  output?: Output;
  /** Why there is no output; with `ok`, what was noteworthy (submitted in the last turn after a limit ...). */
  detail?: string;
  usage: Usage;
}

/**
 * An agent of one persona. `run` never throws for what a model said or failed to say: that is an outcome. It throws
 * only for misuse (an unknown task or prompt variant).
 */
export interface Agent<Task = any, Output = any> {
  readonly persona: Persona;
  run(task: Task, context: AgentContext): Promise<Outcome<Output>>;
}
