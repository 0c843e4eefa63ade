/**
 * Prompts are Markdown files, `prompts/<task>/<variant>.md`; partials stand in `prompts/partials`. A prompt declares its
 * variables, and is rendered with exactly those.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { packageFile } from "../paths.js";
import { PromptError } from "./errors.js";
import { type PromptHead, splitFrontMatter } from "./front-matter.js";
import { hasSection, omitSections, parseTemplate, renderNodes, sourceOf, variablesOf } from "./template.js";

export { PromptError } from "./errors.js";

export interface Prompt extends PromptHead {
  file: string;
  nodes: ReturnType<typeof parseTemplate>;
}

/** A prompt as it goes to a model, with what a transcript says of it. */
export interface RenderedPrompt {
  name: string;
  variant: string;
  text: string;
  /** First 16 hexadecimal digits of the text's SHA-256. */
  hash: string;
}

/** Variants of a task, `default` first; of all tasks when none is named. */
export function promptVariants(task?: string, folder = packageFile("prompts")): string[] {
  const tasks = task === undefined ? promptTasks(folder) : [task];
  const found = new Set(tasks.flatMap((name) => markdownNames(join(folder, name))));
  return [...found].sort((a, b) => Number(b === "default") - Number(a === "default") || a.localeCompare(b));
}

/** Names of all tasks that have a prompt. */
export function promptTasks(folder = packageFile("prompts")): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "partials")
    .map((entry) => entry.name)
    .sort();
}

/**
 * Reads `task`'s prompt. A task without that variant uses `default`, so that a variant need not repeat what it leaves
 * alone.
 *
 * @throws PromptError for an unknown task, a variant that no task has, or a malformed file
 */
export function loadPrompt(task: string, variant = "default", folder = packageFile("prompts")): Prompt {
  const own = promptVariants(task, folder);
  if (own.length === 0) {
    throw new PromptError(`no prompt for "${task}"; there are: ${promptTasks(folder).join(", ")}`);
  }
  if (!own.includes(variant) && !promptVariants(undefined, folder).includes(variant)) {
    throw new PromptError(
      `unknown prompt variant "${variant}"; there are: ${promptVariants(undefined, folder).join(", ")}`,
    );
  }
  return readPrompt(join(folder, task, `${own.includes(variant) ? variant : "default"}.md`), folder, []);
}

function readPrompt(file: string, folder: string, from: readonly string[]): Prompt {
  const { head, template } = splitFrontMatter(readText(file), file);
  if (head.extends !== undefined) return extendedPrompt(head, head.extends, file, template, folder, from);
  if (head.omit.length > 0) throw new PromptError(`${file}: "omit" is for a prompt that extends another`);
  const nodes = parseTemplate(template, file, (name) => readText(join(folder, "partials", `${name}.md`)));
  const used = variablesOf(nodes);
  const undeclared = [...used].filter((name) => !head.variables.includes(name));
  if (undeclared.length > 0) throw new PromptError(`${file}: undeclared variable ${undeclared.join(", ")}`);
  const unused = head.variables.filter((name) => !used.has(name));
  if (unused.length > 0) throw new PromptError(`${file}: declared but unused variable ${unused.join(", ")}`);
  return { ...head, file, nodes };
}

/** The other variant's text without the omitted sections, with the variables that are left in it. */
function extendedPrompt(
  head: PromptHead,
  base: string,
  file: string,
  template: string,
  folder: string,
  from: readonly string[],
): Prompt {
  if (template.trim() !== "" || head.variables.length > 0) {
    throw new PromptError(`${file}: a prompt that extends another has neither text nor variables of its own`);
  }
  if (from.includes(file)) throw new PromptError(`${file}: extends itself`);
  const { nodes } = readPrompt(join(dirname(file), `${base}.md`), folder, [...from, file]);
  const missing = head.omit.filter((name) => !hasSection(nodes, name));
  if (missing.length > 0) throw new PromptError(`${file}: ${base} has no section ${missing.join(", ")} to omit`);
  const kept = omitSections(nodes, head.omit);
  return { ...head, variables: [...variablesOf(kept)], file, nodes: kept };
}

/** The prompt's text with its variables and sections still in it. */
export function promptSource(prompt: Prompt): string {
  return sourceOf(prompt.nodes)
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/**
 * Fills in the variables.
 *
 * @throws PromptError when a declared variable is missing or an undeclared one is given
 */
export function renderPrompt(prompt: Prompt, values: Readonly<Record<string, string>>): RenderedPrompt {
  const missing = prompt.variables.filter((name) => values[name] === undefined);
  if (missing.length > 0) throw new PromptError(`${prompt.file}: no value for ${missing.join(", ")}`);
  const unknown = Object.keys(values).filter((name) => !prompt.variables.includes(name));
  if (unknown.length > 0) throw new PromptError(`${prompt.file}: unknown variable ${unknown.join(", ")}`);
  const text = renderNodes(prompt.nodes, values)
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  return { name: prompt.task, variant: prompt.variant, text, hash: promptHash(text) };
}

/** First 16 hexadecimal digits of the SHA-256 of a rendered prompt. */
export function promptHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Loads and fills in; takes of `values` only what the prompt declares, so that variants may use fewer of them. */
export function prompt(
  task: string,
  variant: string,
  values: Readonly<Record<string, string>>,
  folder?: string,
): RenderedPrompt {
  const loaded = loadPrompt(task, variant, folder);
  return renderPrompt(
    loaded,
    Object.fromEntries(Object.entries(values).filter(([name]) => loaded.variables.includes(name))),
  );
}

function markdownNames(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => name.slice(0, -3));
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new PromptError(`${file}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
