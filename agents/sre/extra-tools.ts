/** The tools beside the baseline's own: how each is made, what it reads, and how a prompt names it. */
import type { StructuredToolInterface } from "@langchain/core/tools";
import {
  createChanges,
  createCompareTraces,
  createLogPatterns,
  createMetricAnomalies,
  createNl2Script,
  createTopology,
  type ToolContext,
} from "../../tools/index.js";
import type { AgentOptions, ExtraTool } from "../agent.js";

interface Extra {
  /** The modality that it cannot do without. */
  needs?: keyof AgentOptions["modalities"];
  /** For the list of tools in a prompt. */
  about: string;
  create(context: ToolContext, modalities: AgentOptions["modalities"]): unknown;
}

const EXTRAS: Record<ExtraTool, Extra> = {
  topology: {
    about: "what an object hangs together with, who calls it, and what does not fit between them",
    create: (context, { traces }) => createTopology(context, { traces }),
  },
  changes: {
    about: "what was changed before the first alert: edits, new versions and how they differ, deletions",
    create: (context, { metrics }) => createChanges(context, { metrics }),
  },
  log_patterns: {
    needs: "logs",
    about: "the kinds of lines that a service writes, and which of them are new or have stopped",
    create: createLogPatterns,
  },
  metric_anomalies: {
    needs: "metrics",
    about: "which metrics of a workload differ most from before",
    create: createMetricAnomalies,
  },
  compare_traces: {
    needs: "traces",
    about: "how a service's requests differ from before: latency, errors, calls that are missing or new",
    create: createCompareTraces,
  },
  nl2script: {
    about: "several kubectl commands in one go, with loops over lists",
    create: createNl2Script,
  },
};

/** Those that are switched on and have what they read, in the order of the table. */
export function extraToolNames({
  extraTools,
  modalities,
}: Pick<AgentOptions, "extraTools" | "modalities">): ExtraTool[] {
  return (Object.keys(EXTRAS) as ExtraTool[]).filter((name) => {
    const { needs } = EXTRAS[name];
    return extraTools.includes(name) && (needs === undefined || modalities[needs]);
  });
}

export function extraTools(context: ToolContext, options: AgentOptions): StructuredToolInterface[] {
  return extraToolNames(options).map(
    (name) => EXTRAS[name].create(context, options.modalities) as StructuredToolInterface,
  );
}

/** Lines for a prompt: `- changes: what was changed ...`. */
export function describeExtraTools(options: AgentOptions): string {
  return extraToolNames(options)
    .map((name) => `- ${name}: ${EXTRAS[name].about}`)
    .join("\n");
}
