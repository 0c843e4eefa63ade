/** Limits of a task. When one is hit the model gets one last turn to submit its answer. */
import type { OutcomeStatus } from "../agent.js";
import type { TaskRun } from "./task-run.js";

/** The limit that has been reached, if any. */
export function reachedLimit(run: TaskRun): { status: OutcomeStatus; detail: string } | undefined {
  const { limits } = run.context;
  const { usage } = run;
  if (usage.steps >= limits.maxSteps) return { status: "limit-steps", detail: `${usage.steps} steps were taken` };
  const tokens = usage.inputTokens + usage.outputTokens;
  if (limits.maxTokens !== undefined && tokens >= limits.maxTokens) {
    return { status: "limit-tokens", detail: `${tokens} of ${limits.maxTokens} tokens were used` };
  }
  if (limits.maxCost !== undefined && usage.cost !== undefined && usage.cost >= limits.maxCost) {
    return { status: "limit-cost", detail: `${usage.cost.toFixed(4)} of ${limits.maxCost} dollars were spent` };
  }
  const seconds = (performance.now() - run.startedAt) / 1000;
  if (limits.wallSeconds !== undefined && seconds >= limits.wallSeconds) {
    return { status: "limit-time", detail: `the time limit of ${limits.wallSeconds} s is over` };
  }
  return undefined;
}

/** What the model is told when a limit is hit. */
export function lastTurnMessage(detail: string, submit: string): string {
  return `The limit is reached: ${detail}. This is your last turn: call ${submit} now with the best answer you have. No other tool will run.`;
}

/** Wall seconds after which even a call in flight is cut off: the limit, and room for the last turn. */
export function hardStopSeconds(wallSeconds: number): number {
  return wallSeconds + Math.max(30, wallSeconds / 4);
}
