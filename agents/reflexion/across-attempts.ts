/**
 * Reflexion across attempts: judge an attempt by what its agent can see of the environment, have the model write down
 * what went wrong, and begin the next attempt with that note. Nothing here knows of ground truths or scores.
 */
import { HumanMessage } from "@langchain/core/messages";
import { toModelError } from "../../models/index.js";
import { prompt } from "../../prompts/index.js";
import { cutMiddle } from "../../tools/index.js";
import type { AgentContext, Outcome, Usage } from "../agent.js";
import { firingAlerts, subjectOf } from "../alerts.js";
import { TaskRun } from "../react/task-run.js";
import type { RecordedEvent } from "../react/transcript.js";
import { addTokens, tokensOf } from "../react/usage.js";

/** What an attempt amounted to, in its agent's own words and deeds. */
export interface AttemptReport {
  /** Counts from 1. */
  attempt: number;
  /** How many there may be. */
  of: number;
  application?: string;
  /** The attempt's tasks in order. */
  tasks: readonly { task: string; outcome: Pick<Outcome, "status" | "detail" | "output"> }[];
  /** Whether the agent says that the incident is over; absent where the attempt was not to repair anything. */
  claimsVerified?: boolean;
  /** Transcript of the attempt. */
  events: readonly RecordedEvent[];
}

export interface AttemptVerdict {
  verified: boolean;
  /** Alerts that fire in the task's namespaces; absent when they were not looked at or could not be read. */
  firing?: string[];
  /** What speaks against the attempt, one sentence each; empty when it is verified. */
  problems: string[];
}

/** Alerts clear some minutes after their cause is gone: for so long an answer is given the benefit of the doubt. */
export const SETTLE_SECONDS = 600;
const POLL_SECONDS = 30;

/**
 * Whether an attempt did what it was to do, as far as its agent can tell: the last task has an answer, and no alert fires
 * at the agent's own endpoints, after up to `SETTLE_SECONDS` of environment time. Where alerts cannot be read, the
 * agent's word counts.
 *
 * @param onLook called after each stretch of environment time that was let pass
 */
export async function judgeAttempt(
  report: AttemptReport,
  context: AgentContext,
  options: { settleSeconds?: number; onLook?: () => Promise<void> } = {},
): Promise<AttemptVerdict> {
  const problems = report.tasks.flatMap(({ task, outcome: { status, detail } }) =>
    status === "ok" ? [] : [`the ${task} ended without an answer (${status}${detail ? `: ${detail}` : ""})`],
  );
  const answered = report.tasks.at(-1)?.outcome.status === "ok";
  if (report.claimsVerified === undefined && answered) return { verified: true, problems: [] };

  let firing = await namesFiring(context);
  const deadline = context.clock.now() + (answered ? (options.settleSeconds ?? SETTLE_SECONDS) * 1000 : 0);
  while (firing !== undefined && firing.length > 0 && context.clock.now() < deadline) {
    await context.clock.sleep(POLL_SECONDS, context.signal);
    await options.onLook?.();
    firing = await namesFiring(context);
  }
  const over = firing === undefined ? report.claimsVerified === true : firing.length === 0;
  const found = firing === undefined ? {} : { firing };
  if (answered && over) return { verified: true, ...found, problems: [] };
  if (!over) {
    const said = report.claimsVerified ? "it was reported that the alerts had cleared, but " : "";
    problems.push(
      firing === undefined ? "it was not verified that the alerts cleared" : `${said}${firing.join(", ")} still fires`,
    );
  }
  return { verified: false, ...found, problems };
}

async function namesFiring(context: AgentContext): Promise<string[] | undefined> {
  const alerts = await firingAlerts(context);
  if (alerts === undefined) return undefined;
  const names = alerts.map((alert) => {
    const subject = subjectOf(alert);
    return subject === undefined ? alert.name : `${alert.name}(${subject})`;
  });
  return [...new Set(names)].sort();
}

export interface AttemptReflection {
  /** What the next attempt is told. */
  note: string;
  usage: Usage;
  /** Prompt of the model's reflection; absent when the model gave none. */
  prompt?: { name: string; variant: string; hash: string };
  /** Why the model gave none. */
  failure?: string;
}

const MAX_NOTE_BYTES = 2_000;
const MAX_LOG_BYTES = 8_000;

/**
 * Asks the model what went wrong. A model that fails leaves a note of the bare facts: that is no reason to give up.
 * @throws the signal's reason when aborted
 */
export async function reflectOnAttempt(
  report: AttemptReport,
  verdict: AttemptVerdict,
  context: AgentContext,
): Promise<AttemptReflection> {
  const run = new TaskRun(context);
  const facts = run.clean(factsOf(report, verdict));
  const question = prompt("reflect-attempt", context.options.promptVariant, {
    attempt: String(report.attempt),
    application: report.application ?? "an application",
    answers: run.clean(answersOf(report)),
    problems: verdict.problems.map((problem) => `- ${problem}`).join("\n"),
    log: logOf(report.events),
    examples: context.options.examples ? "yes" : "",
  });
  try {
    const answer = await context.model.invoke([new HumanMessage(question.text)], { signal: run.signal });
    addTokens(run.usage, tokensOf(answer), context.price);
    run.usage.reflections++;
    run.usage.nestedCalls++;
    const said = shorten(run.clean(answer.text.trim()), MAX_NOTE_BYTES);
    const { name, variant, hash } = question;
    if (said !== "") {
      return { note: `${facts} ${said}`, usage: run.usage, prompt: { name, variant, hash } };
    }
    return { note: facts, usage: run.usage, failure: "the model said nothing" };
  } catch (error) {
    context.signal?.throwIfAborted();
    return { note: facts, usage: run.usage, failure: run.clean(toModelError(error).message) };
  }
}

/** What can be said without a model: what the attempt named, changed, and came to. */
function factsOf(report: AttemptReport, { problems }: AttemptVerdict): string {
  const causes = report.tasks.flatMap(({ outcome }) => rootCauses(outcome.output));
  const changes = report.tasks.flatMap(({ outcome }) => commands(outcome.output));
  const parts = [
    causes.length > 0 ? `named ${causes.join(", ")} as the root cause` : "named no root cause",
    changes.length > 0 ? `ran ${changes.map((command) => `\`${command}\``).join(", ")}` : "reported no change",
  ];
  return `Attempt ${report.attempt} ${parts.join(" and ")}; ${problems.join("; ")}.`;
}

function rootCauses(output: unknown): string[] {
  const { entities } = (output ?? {}) as { entities?: { name: string; contributing_factor: boolean }[] };
  return (entities ?? []).filter((entity) => entity.contributing_factor).map((entity) => entity.name);
}

function commands(output: unknown): string[] {
  const { actions } = (output ?? {}) as { actions?: { command: string }[] };
  return (actions ?? []).map((action) => action.command);
}

function answersOf(report: AttemptReport): string {
  const texts = report.tasks.map(({ task, outcome: { status, detail, output } }) => {
    const answer =
      output === undefined ? `no answer (${status}${detail ? `: ${detail}` : ""})` : JSON.stringify(output);
    return `${task}: ${answer}`;
  });
  return shorten(texts.join("\n"), MAX_LOG_BYTES);
}

/** What was done, a line each: the call, and the first line of what it returned. */
function logOf(events: readonly RecordedEvent[]): string {
  const lines = events.flatMap((event) => {
    if (event.event === "tool_call") return [`${event.tool} ${JSON.stringify(event.args)}`];
    if (event.event === "observation") return [`  ${event.ok ? "->" : "failed:"} ${firstLine(event.content)}`];
    if (event.event === "limit") return [`limit reached: ${event.detail}`];
    return [];
  });
  return shorten(lines.join("\n"), MAX_LOG_BYTES);
}

function shorten(text: string, maxBytes: number): string {
  return cutMiddle(text, maxBytes, (bytes) => `[... ${bytes} bytes left out ...]`).text;
}

function firstLine(text: string): string {
  const line = text
    .replace(/<\/?observation[^>]*>/g, "")
    .split("\n")
    .find((one) => one.trim() !== "");
  return (line ?? "(nothing)").trim().slice(0, 200);
}
