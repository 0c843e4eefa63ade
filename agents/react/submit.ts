/** The tool that takes a task's answer. Its input is checked against the task's schema before it gets here. */
import { tool } from "@langchain/core/tools";
import type { ZodTypeAny } from "zod";
import type { TaskRun } from "./task-run.js";

export interface SubmitSpec {
  name: string;
  description: string;
  schema: ZodTypeAny;
}

export function createSubmit(spec: SubmitSpec, run: TaskRun) {
  return tool(
    async (output: unknown) => {
      run.submitted = { output };
      return "submitted";
    },
    { name: spec.name, description: spec.description, schema: spec.schema as any },
  );
}
