/** The SRE agent: first a diagnosis, which only reads; then, as a task of its own, the mitigation. */
import { prompt } from "../../prompts/index.js";
import type { Agent, AgentContext, Outcome } from "../agent.js";
import { firingAlerts, subjectOf } from "../alerts.js";
import { runReact, type TranscriptEvent } from "../react/index.js";
import { fenceChunks } from "../reflexion/index.js";
import { describeExtraTools } from "./extra-tools.js";
import { diagnosisSchema, mitigationSchema } from "./output.js";
import type { DiagnosisTask, MitigationTask, SreTask, SreTaskOutput } from "./task.js";
import { sreTools } from "./tools.js";

export const sreAgent: Agent<SreTask, SreTaskOutput> = {
  persona: "sre",
  run: (task, context) => (task.task === "diagnosis" ? diagnose(task, context) : mitigate(task, context)),
};

async function diagnose(task: DiagnosisTask, context: AgentContext): Promise<Outcome<SreTaskOutput>> {
  const system = prompt("sre-diagnosis", context.options.promptVariant, {
    ...scene(task, context),
    submit: "submit_diagnosis",
  });
  const { text: known, events: before } = await recall(task, context);
  return runReact<SreTaskOutput>(
    {
      persona: "sre",
      task: "diagnosis",
      system,
      message: `${opening(task, context, "Find the root cause of the incident.")}${known}`,
      before,
      tools: (run) => sreTools(run, false),
      submit: {
        name: "submit_diagnosis",
        description: "Gives your diagnosis and ends the task.",
        schema: diagnosisSchema,
      },
    },
    context,
  );
}

async function mitigate(task: MitigationTask, context: AgentContext): Promise<Outcome<SreTaskOutput>> {
  const system = prompt("sre-mitigation", context.options.promptVariant, {
    ...scene(task, context),
    submit: "submit_mitigation",
  });
  const { text: known, events: before } = await recall(task, context);
  const diagnosis =
    task.diagnosis === undefined
      ? "There is no diagnosis: find the cause yourself first."
      : `The diagnosis:\n${JSON.stringify(task.diagnosis, null, 1)}`;
  return runReact<SreTaskOutput>(
    {
      persona: "sre",
      task: "mitigation",
      system,
      message: `${opening(task, context, "Repair the incident, and verify that its alerts clear.")}\n\n${diagnosis}${known}`,
      before,
      tools: (run) => sreTools(run, true),
      submit: {
        name: "submit_mitigation",
        description: "Reports what you did and ends the task.",
        schema: mitigationSchema,
      },
    },
    context,
  );
}

/** Values that both system prompts may use. */
function scene(task: SreTask, context: AgentContext): Record<string, string> {
  const { modalities, summarizer, examples, tools } = context.options;
  return {
    application: task.application ?? "an application",
    namespaces: context.namespaces.join(", "),
    steps: String(context.limits.maxSteps),
    questions: tools === "nl2x" ? "yes" : "",
    metrics: modalities.metrics ? "yes" : "",
    logs: modalities.logs ? "yes" : "",
    traces: modalities.traces ? "yes" : "",
    summarizer: summarizer ? "yes" : "",
    extra: describeExtraTools(context.options),
    examples: examples ? "yes" : "",
    memory: (task.memory ?? []).map((note) => `- ${note}`).join("\n"),
  };
}

/** What runbooks and past incidents say about what can be seen now: the firing alerts, and the diagnosis if there is one. */
async function recall(task: SreTask, context: AgentContext): Promise<{ text: string; events: TranscriptEvent[] }> {
  if (context.runbooks === undefined) return { text: "", events: [] };
  const diagnosis = task.task === "mitigation" ? task.diagnosis : undefined;
  const query = [
    ...(await alertTexts(context)),
    ...(diagnosis?.entities ?? [])
      .filter((entity) => entity.contributing_factor)
      .map((entity) => `${entity.name.replaceAll("/", " ")} ${entity.reasoning}`),
    diagnosis?.summary ?? "",
  ].join("\n");
  const found = await context.runbooks.find(query);
  if (found.length === 0) return { text: "", events: [] };
  const { text, name, variant, hash } = prompt("runbooks", context.options.promptVariant, {
    notes: fenceChunks(found),
  });
  const places = found.map(({ source, heading, score }) => ({ source, heading, score: Math.round(score * 100) / 100 }));
  return { text: `\n\n${text}`, events: [{ event: "runbooks", prompt: { name, variant, hash }, found: places }] };
}

/** Name, subject and description of each alert that fires; none when they cannot be read. */
async function alertTexts(context: AgentContext): Promise<string[]> {
  const texts = ((await firingAlerts(context)) ?? []).map((alert) => {
    const { summary, description } = alert.annotations;
    return `${alert.name} ${subjectOf(alert) ?? ""} ${summary ?? description ?? ""}`;
  });
  return [...new Set(texts)].sort();
}

function opening(task: SreTask, context: AgentContext, order: string): string {
  return [
    order,
    `Application: ${task.application ?? "not named"}`,
    `Namespaces: ${context.namespaces.join(", ")}`,
  ].join("\n");
}
