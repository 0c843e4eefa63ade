/**
 * What the SRE agent answers: the form of `agent_output.json` that ITBench's evaluator reads, in two parts, one a task.
 */
import { z } from "zod";

/** `namespace/Kind/name`; cluster-scoped objects have an empty namespace: `/Node/node-1`. */
const entityName = z
  .string()
  .trim()
  .regex(/^[^/\s]*\/[A-Za-z][A-Za-z0-9]*\/[^/\s]+$/, {
    message: 'must have the form "namespace/Kind/name", such as "shop/Deployment/billing"',
  });

export const entitySchema = z.object({
  name: entityName.describe('"namespace/Kind/name", such as "shop/Deployment/billing"'),
  contributing_factor: z
    .boolean()
    .describe("true: this object's own state is a root cause; false: it only shows symptoms or passes them on"),
  reasoning: z.string().describe("why, in one or two sentences"),
  evidence: z.string().describe("what you saw that proves it: the command or query, and the decisive line"),
});

export const propagationSchema = z.object({
  source: z.string().describe('entity the fault comes from, "namespace/Kind/name"'),
  target: z.string().describe('entity that it reaches, "namespace/Kind/name"'),
  condition: z.string().describe("state of the source"),
  effect: z.string().describe("what that does to the target"),
});

export const alertExplainedSchema = z.object({
  alert: z.string().describe("name of a firing alert"),
  explanation: z.string().describe("how the root cause leads to it"),
  explained: z.boolean().describe("false: the root cause does not account for it"),
});

export const diagnosisSchema = z.object({
  entities: z
    .array(entitySchema)
    .describe(
      "root causes first, most important first; an empty list when nothing is wrong, then say why in `summary`",
    ),
  propagations: z.array(propagationSchema).default([]).describe("the chain from root cause to the alerting objects"),
  alerts_explained: z.array(alertExplainedSchema).default([]).describe("one entry for each firing alert"),
  summary: z.string().optional().describe("the incident in two or three sentences"),
});

export const mitigationSchema = z.object({
  plan: z.array(z.string()).describe("what you set out to do, step by step"),
  actions: z
    .array(
      z.object({
        command: z.string().describe("the command that changed something, as it was run"),
        result: z.string().describe("what came of it"),
      }),
    )
    .describe("only what changed something"),
  verified: z.boolean().describe("true only if you saw that the alerts cleared"),
  summary: z.string().optional(),
});

export type SreEntity = z.infer<typeof entitySchema>;
export type SreDiagnosis = z.infer<typeof diagnosisSchema>;
export type SreMitigation = z.infer<typeof mitigationSchema>;

/** The whole of `agent_output.json`. */
export interface SreOutput {
  entities: SreEntity[];
  propagations: z.infer<typeof propagationSchema>[];
  alerts_explained: z.infer<typeof alertExplainedSchema>[];
  mitigation?: SreMitigation;
}

/** Puts the answers of both tasks together; a task without an answer leaves its part empty or out. */
export function composeSreOutput(diagnosis: SreDiagnosis | undefined, mitigation?: SreMitigation): SreOutput {
  return {
    entities: diagnosis?.entities ?? [],
    propagations: diagnosis?.propagations ?? [],
    alerts_explained: diagnosis?.alerts_explained ?? [],
    ...(mitigation === undefined ? {} : { mitigation }),
  };
}
