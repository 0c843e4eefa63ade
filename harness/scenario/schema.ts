/**
 * What a scenario is: metadata and ground truth, environment, triggering events, desired outcome. Keys are spelled as
 * in the files: the ground truth as ITBench's ground truths have them, disruptions as its scenario index has them.
 */
import { z } from "zod";

export const PERSONAS = ["sre", "ciso", "finops"] as const;
export type Persona = (typeof PERSONAS)[number];

export const COMPLEXITIES = ["easy", "medium", "hard"] as const;
export type Complexity = (typeof COMPLEXITIES)[number];

const text = z.string().trim().min(1, "must not be empty");

/** A set of objects of the cluster: one kind, named by `name` or by regular expressions that match a whole name. */
export const groupSchema = z
  .object({
    id: text,
    kind: text,
    namespace: text.optional(),
    name: text.optional(),
    filter: z.array(text).min(1).optional(),
    root_cause: z.boolean().default(false),
  })
  .strict()
  .refine((group) => group.name !== undefined || group.filter !== undefined, {
    message: "names nothing: give `name`, or `filter` with regular expressions",
  });
export type Group = z.infer<typeof groupSchema>;

export const faultSchema = z
  .object({
    category: z.string().optional(),
    condition: z.string().optional(),
    fault_mechanism: z.string().optional(),
    entity: z
      .object({ kind: z.string().optional(), name: z.string().optional(), group_id: z.string().optional() })
      .strict()
      .optional(),
  })
  .strict();

export const truthAlertSchema = z
  .object({
    /** The alert's name. */
    id: text,
    /** The group that it speaks of. */
    group_id: z.string().optional(),
    labels: z.record(z.string()).optional(),
    metadata: z.record(z.unknown()).optional(),
  })
  .strict();

export const propagationSchema = z
  .object({
    source: text,
    target: text,
    condition: z.string().default(""),
    effect: z.string().default(""),
  })
  .strict();

export const groundTruthSchema = z
  .object({
    fault: z.array(faultSchema).default([]),
    alerts: z.array(truthAlertSchema).default([]),
    groups: z.array(groupSchema).default([]),
    /** Lists of group ids that stand for one thing; closed transitively. */
    aliases: z.array(z.array(text)).default([]),
    /** The fault propagation chain, cause to effect; may branch. */
    propagations: z.array(propagationSchema).default([]),
    recommended_actions: z
      .array(
        z.object({ solution: z.object({ id: z.string().optional(), actions: z.array(z.string()) }).strict() }).strict(),
      )
      .default([]),
  })
  .strict();
export type GroundTruth = z.infer<typeof groundTruthSchema>;

/** One fault, or one action on the environment, with arguments in ITBench's form. */
export const injectionSchema = z.object({ id: text, args: z.record(z.unknown()).default({}) }).strict();

export const disruptionSchema = z
  .object({
    preInjection: z.array(injectionSchema).optional(),
    injections: z.array(injectionSchema).min(1, "a disruption needs at least one injection"),
    postInjection: z.array(injectionSchema).optional(),
  })
  .strict();

export const solutionSchema = z
  .object({
    steps: z.array(z.object({ command: z.string().optional(), text: z.string().optional() }).strict()).min(1),
  })
  .strict();
export type Solution = z.infer<typeof solutionSchema>;

export const scenarioSchema = z
  .object({
    id: text.regex(/^[a-z0-9][a-z0-9._-]*$/, "must be lower-case letters, digits, `-`, `_` and `.`, such as sre-24"),
    persona: z.enum(PERSONAS),
    /** Scenario class, for personas that have several. */
    class: z.string().optional(),
    title: z.string().optional(),
    description: text,
    /** The author's own level, and the figures that the computed one comes from. */
    complexity: z
      .object({
        level: z.enum(COMPLEXITIES).optional(),
        chain_length: z.number().int().positive().optional(),
        resolution_steps: z.number().int().positive().optional(),
        technologies: z.number().int().positive().optional(),
      })
      .strict()
      .default({}),
    tags: z.array(z.string()).default([]),
    provenance: z
      .object({
        source: z.string().optional(),
        /** Number in ITBench's scenario index. */
        itbench_scenario: z.number().int().optional(),
        note: z.string().optional(),
      })
      .strict()
      .default({}),
    environment: z
      .object({
        applications: z
          .array(z.object({ id: text, args: z.record(z.unknown()).optional() }).strict())
          .min(1, "an environment needs at least one application"),
      })
      .strict(),
    /** None in a healthy twin. */
    disruptions: z.array(disruptionSchema).default([]),
    /** Names of the alerts that the fault triggers; empty: whichever fire. */
    alerts: z.array(text).default([]),
    ground_truth: groundTruthSchema.default({}),
    /** Independent problems in order; for each, alternative ways to solve it. */
    solutions: z.array(z.array(solutionSchema)).default([]),
    desired: z
      .object({
        /** Workloads (`namespace/Kind/name`) that a right mitigation may delete or scale to zero. */
        may_remove: z.array(text).default([]),
      })
      .strict()
      .default({}),
  })
  .strict();

/** A scenario with every default filled in. */
export type Scenario = z.infer<typeof scenarioSchema>;

/** A scenario as read from a file, with what was odd about it but did not stop the reading. */
export interface LoadedScenario {
  scenario: Scenario;
  /** Absolute path. */
  file: string;
  format: "itbench-baselines" | "itbench-index";
  warnings: string[];
}
