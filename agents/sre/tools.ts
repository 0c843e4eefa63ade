/** Which tools the SRE agent gets for a task, by what the run's options leave on. */
import type { StructuredToolInterface } from "@langchain/core/tools";
import {
  createNl2Alerts,
  createNl2Kubectl,
  createNl2Logs,
  createNl2Metrics,
  createNl2Traces,
  createSummarize,
  createWait,
} from "../../tools/index.js";
import { createToolContext, type TaskRun } from "../react/index.js";
import { extraTools } from "./extra-tools.js";

/** @param writes whether the task may change the cluster */
export function sreTools(run: TaskRun, writes: boolean): StructuredToolInterface[] {
  const context = createToolContext(run, writes);
  const { modalities, summarizer } = run.context.options;
  const tools = [
    createNl2Kubectl(context),
    createNl2Alerts(context),
    ...(modalities.metrics ? [createNl2Metrics(context)] : []),
    ...(modalities.logs ? [createNl2Logs(context)] : []),
    ...(modalities.traces ? [createNl2Traces(context)] : []),
    ...extraTools(context, run.context.options),
    createWait(context),
    ...(summarizer ? [createSummarize(context)] : []),
  ];
  return tools as unknown as StructuredToolInterface[];
}
