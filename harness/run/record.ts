/** What is kept of a trial: `scores.json`. */
import type { OutcomeStatus, Usage } from "../../agents/agent.js";
import type { AlertInstance, ObservedState, Scores } from "../score/index.js";

/** Why a trial scored what it scored, where its agent did not come to an answer. */
export type TrialReason = Exclude<OutcomeStatus, "ok"> | "environment-error";

export interface TaskRecord {
  task: "diagnosis" | "mitigation" | "reflection";
  /** Which attempt it belongs to, where several were allowed. */
  attempt?: number;
  status: OutcomeStatus;
  detail?: string;
  usage: Usage;
}

export interface Effort {
  steps: number;
  tool_calls: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  nested_calls: number;
  lint_findings: number;
  reflections: number;
  /** US dollars; null when the model has no price. */
  cost: number | null;
  /** Environment seconds from the agent's start to its end. */
  virtual_seconds: number;
  /** Wall seconds of the whole trial: environment, agent and verification. */
  wall_seconds: number;
  /** Environment seconds from the first triggering alert to the diagnosis; null without a right one. */
  time_to_diagnosis: number | null;
  /** Environment seconds from the first triggering alert to when alerts stay cleared; null without a mitigation. */
  time_to_mitigation: number | null;
}

export interface TrialRecord extends Scores {
  schema: "itbench-baselines/trial/1";
  scenario: string;
  trial: number;
  seed: string;
  model: string;
  /** False for the rule-based playbook. */
  is_llm: boolean;
  /** The first task that ended without an answer, or what was wrong with the environment; null when all went well. */
  reason: TrialReason | null;
  reason_detail?: string;
  /** How many attempts were made; scores are of the last. 0 when the environment failed before the first. */
  attempts: number;
  /** Of all attempts, in order. */
  tasks: TaskRecord[];
  effort: Effort;
  /** Alerts that the agent found firing. */
  alerts: AlertInstance[];
  /** What the mitigation score was computed from; null where it never came to one. */
  observed: ObservedState | null;
  warnings: string[];
}

export function addUsage(
  tasks: readonly TaskRecord[],
): Omit<Effort, "virtual_seconds" | "wall_seconds" | "time_to_diagnosis" | "time_to_mitigation"> {
  const sum = (pick: (usage: Usage) => number) => tasks.reduce((total, task) => total + pick(task.usage), 0);
  const priced = tasks.every((task) => task.usage.cost !== undefined);
  return {
    steps: sum((usage) => usage.steps),
    tool_calls: sum((usage) => usage.toolCalls),
    input_tokens: sum((usage) => usage.inputTokens),
    output_tokens: sum((usage) => usage.outputTokens),
    cached_tokens: sum((usage) => usage.cachedTokens),
    nested_calls: sum((usage) => usage.nestedCalls),
    lint_findings: sum((usage) => usage.lintFindings),
    reflections: sum((usage) => usage.reflections),
    cost: priced ? sum((usage) => usage.cost ?? 0) : null,
  };
}
