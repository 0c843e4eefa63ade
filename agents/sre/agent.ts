/** The SRE agent: first a diagnosis, which only reads; then, as a task of its own, the mitigation. */
import { prompt } from "../../prompts/index.js";
import type { Agent, AgentContext, Outcome } from "../agent.js";
import { runReact } from "../react/index.js";
import { diagnosisSchema, mitigationSchema } from "./output.js";
import type { DiagnosisTask, MitigationTask, SreTask, SreTaskOutput } from "./task.js";
import { sreTools } from "./tools.js";

export const sreAgent: Agent<SreTask, SreTaskOutput> = {
  persona: "sre",
  run: (task, context) => (task.task === "diagnosis" ? diagnose(task, context) : mitigate(task, context)),
};

function diagnose(task: DiagnosisTask, context: AgentContext): Promise<Outcome<SreTaskOutput>> {
  const system = prompt("sre-diagnosis", context.options.promptVariant, {
    ...scene(task, context),
    submit: "submit_diagnosis",
  });
  return runReact<SreTaskOutput>(
    {
      persona: "sre",
      task: "diagnosis",
      system,
      message: opening(task, context, "Find the root cause of the incident."),
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

function mitigate(task: MitigationTask, context: AgentContext): Promise<Outcome<SreTaskOutput>> {
  const system = prompt("sre-mitigation", context.options.promptVariant, {
    ...scene(task, context),
    submit: "submit_mitigation",
  });
  const diagnosis =
    task.diagnosis === undefined
      ? "There is no diagnosis: find the cause yourself first."
      : `The diagnosis:\n${JSON.stringify(task.diagnosis, null, 1)}`;
  return runReact<SreTaskOutput>(
    {
      persona: "sre",
      task: "mitigation",
      system,
      message: `${opening(task, context, "Repair the incident, and verify that its alerts clear.")}\n\n${diagnosis}`,
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
    examples: examples ? "yes" : "",
    memory: (task.memory ?? []).map((note) => `- ${note}`).join("\n"),
  };
}

function opening(task: SreTask, context: AgentContext, order: string): string {
  return [
    order,
    `Application: ${task.application ?? "not named"}`,
    `Namespaces: ${context.namespaces.join(", ")}`,
  ].join("\n");
}
