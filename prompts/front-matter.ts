/** Reads a prompt file: YAML front matter that declares it, then the template. */
import { parse } from "yaml";
import { z } from "zod";
import { PromptError } from "./errors.js";

const headSchema = z
  .object({
    task: z.string(),
    variant: z.string(),
    description: z.string(),
    /** All variables of the template and of the partials it includes. */
    variables: z.array(z.string()).default([]),
    /** Another variant of the task whose text this one takes over; the file then has none of its own. */
    extends: z.string().optional(),
    /** Sections of that text to leave out. */
    omit: z.array(z.string()).default([]),
  })
  .strict();

export type PromptHead = z.infer<typeof headSchema>;

/** @throws PromptError naming the file when the front matter is missing or not as declared */
export function splitFrontMatter(text: string, file: string): { head: PromptHead; template: string } {
  const match = /^---\r?\n([\s\S]*?)\r?\n---\r?\n/.exec(text);
  if (match === null) throw new PromptError(`${file}: no front matter; begin the file with "---", task, variant, ...`);
  const result = headSchema.safeParse(parse(match[1]!));
  if (!result.success) {
    const problems = result.error.issues.map((issue) => `${issue.path.join(".") || "front matter"}: ${issue.message}`);
    throw new PromptError(`${file}: ${problems.join("; ")}`);
  }
  return { head: result.data, template: text.slice(match[0].length) };
}
