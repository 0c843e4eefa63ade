/** The user's models file: named models with address, parameters, key and price. */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { ModelsFileError } from "./errors.js";

export const parametersSchema = z
  .object({
    temperature: z.number().min(0).optional(),
    top_p: z.number().min(0).max(1).optional(),
    top_k: z.number().int().min(1).optional(),
    seed: z.number().int().optional(),
    max_tokens: z.number().int().positive().optional(),
    /** Ollama: length of the context in tokens. */
    num_ctx: z.number().int().positive().optional(),
    /** Ollama: let the model think, where it can. */
    think: z.union([z.boolean(), z.enum(["low", "medium", "high"])]).optional(),
    /** OpenAI: how much a reasoning model may think. */
    reasoning_effort: z.string().optional(),
  })
  .strict();

export type ModelParameters = z.infer<typeof parametersSchema>;

const entrySchema = z
  .object({
    provider: z.string(),
    model: z.string(),
    base_url: z.string().url().optional(),
    api_key_env: z.string().optional(),
    parameters: parametersSchema.optional(),
    /** US dollars per million tokens. */
    price: z
      .object({ input: z.number().min(0), output: z.number().min(0), cached: z.number().min(0).optional() })
      .strict()
      .optional(),
    /** Node gives up on an answer that does not begin within 300 s; a streamed one begins at once. */
    timeout_seconds: z.number().positive().max(300, "at most 300; slower models need streaming: true").optional(),
    retries: z.number().int().min(0).optional(),
    /** Ask for a streamed answer: for servers and proxies that cut long silences. */
    streaming: z.boolean().optional(),
    headers: z.record(z.string()).optional(),
    /** Tokens that the model can read at once: the conversation is kept under it. */
    context_window: z.number().int().positive().optional(),
    /** Of any minute, for all trials of a process together. */
    rate_limit: z
      .object({
        requests_per_minute: z.number().int().positive().optional(),
        tokens_per_minute: z.number().int().positive().optional(),
      })
      .strict()
      .optional(),
    /** Whether the model's own reasoning goes back to it; `auto`: as the server wants it. */
    reasoning: z.enum(["auto", "send", "omit"]).optional(),
    /** Azure: name of the deployment, where it is not the model's. */
    deployment: z.string().optional(),
    /** Azure, watsonx: version of the API. */
    api_version: z.string().optional(),
    /** More fields for the request, as the backend spells them. */
    extra: z.record(z.unknown()).optional(),
  })
  .strict();

export type ModelEntry = z.infer<typeof entrySchema>;

export interface ModelsFile {
  path: string;
  models: Record<string, ModelEntry>;
}

/**
 * Reads the models file: `path` when given, else `models.yaml` in the current folder, else
 * `~/.config/itbench/models.yaml`.
 *
 * @returns undefined when no path was given and neither default exists
 * @throws ModelsFileError naming file, entry, field and fix
 */
export function loadModelsFile(path?: string, env: NodeJS.ProcessEnv = process.env): ModelsFile | undefined {
  const config = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), ".config");
  const found = path ?? ["models.yaml", join(config, "itbench", "models.yaml")].find((file) => existsSync(file));
  if (found === undefined) return undefined;
  let text: string;
  try {
    text = readFileSync(found, "utf8");
  } catch (error) {
    throw new ModelsFileError(`models file ${found}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  let data: unknown;
  try {
    data = parse(text);
  } catch (error) {
    throw new ModelsFileError(`models file ${found}: not valid YAML: ${(error as Error).message.split("\n", 1)[0]}`);
  }
  const result = z
    .object({ models: z.record(entrySchema) })
    .strict()
    .safeParse(data ?? {});
  if (!result.success) {
    const problems = result.error.issues.map((issue) => `${issue.path.join(".") || "top level"}: ${issue.message}`);
    throw new ModelsFileError(
      `models file ${found}: ${problems.join("; ")}. Expected "models:" with one entry a name, each with provider and model`,
    );
  }
  return { path: found, models: result.data.models };
}
