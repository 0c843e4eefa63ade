/** What a scenario may ask of the demo (`environment.applications[].args`), with ITBench's defaults. */
import { z } from "zod";

export const demoArguments = z
  .object({
    autoscaling: z.object({ kubernetes: z.object({ hpa: z.boolean().default(false) }).default({}) }).default({}),
    loadGeneration: z
      .object({
        /** Users at once. */
        users: z.number().int().min(1).max(1000).default(50),
        /** Users added each second. */
        userSpawnRate: z.number().int().min(1).default(5),
        /** Also loads pages through (simulated) browsers: images, scripts, spans of the web page. */
        browserTraffic: z.boolean().default(false),
      })
      .default({}),
  })
  .default({});

export type DemoArguments = z.output<typeof demoArguments>;
