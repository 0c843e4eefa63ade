/** `itbench prompts list | show | diff` */
import {
  loadPrompt,
  type Prompt,
  PromptError,
  promptSource,
  promptTasks,
  promptVariants,
  renderPrompt,
} from "../../prompts/index.js";
import { EXIT, UsageError } from "./errors.js";
import { colorsFor, type Io } from "./io.js";
import { renderTable } from "./table.js";

interface JsonOption {
  json?: boolean;
}

export function listPrompts(options: JsonOption, io: Io): number {
  const all = promptTasks().flatMap((task) => promptVariants(task).map((variant) => describe(task, variant)));
  if (options.json) {
    io.out(`${JSON.stringify(all, null, 2)}\n`);
    return EXIT.ok;
  }
  const columns = [
    { title: "TASK" },
    { title: "VARIANT" },
    { title: "WORDS", align: "right" as const },
    { title: "WHAT" },
  ];
  const rows = all.map(({ task, variant, words, description }, i) => [
    all[i - 1]?.task === task ? "" : task,
    variant,
    String(words),
    description,
  ]);
  io.out(renderTable(columns, rows));
  return EXIT.ok;
}

export function showPrompt(task: string, options: JsonOption & { variant: string }, io: Io): number {
  const prompt = load(task, options.variant);
  const text = promptSource(prompt);
  if (options.json) {
    io.out(`${JSON.stringify({ ...describe(task, options.variant), text }, null, 2)}\n`);
    return EXIT.ok;
  }
  const c = colorsFor(io);
  io.out(`${c.bold(`${task} / ${prompt.variant}`)}  ${prompt.description}\n`);
  io.out(c.dim(`variables: ${prompt.variables.join(", ") || "none"}\nfile: ${prompt.file}\n`));
  io.out(`\n${text}\n`);
  return EXIT.ok;
}

/** Line by line, what the second variant has otherwise than the first. Exit code 0 also where they differ. */
export function diffPrompts(task: string, first: string, second: string, options: JsonOption, io: Io): number {
  const [a, b] = [promptSource(load(task, first)), promptSource(load(task, second))];
  const lines = diffLines(a.split("\n"), b.split("\n"));
  if (options.json) {
    io.out(`${JSON.stringify({ task, first, second, same: a === b, lines }, null, 2)}\n`);
    return EXIT.ok;
  }
  const c = colorsFor(io);
  if (a === b) {
    io.out(`${task}: ${first} and ${second} are the same\n`);
    return EXIT.ok;
  }
  io.out(`${c.red(`--- ${task}/${first}`)}\n${c.green(`+++ ${task}/${second}`)}\n`);
  for (const { sign, text } of lines) {
    const line = `${sign}${text}`.trimEnd();
    io.out(`${sign === "-" ? c.red(line) : sign === "+" ? c.green(line) : line}\n`);
  }
  return EXIT.ok;
}

/** A prompt of exactly that variant. @throws UsageError that says which there are */
function load(task: string, variant: string): Prompt {
  const tasks = promptTasks();
  if (!tasks.includes(task)) throw new UsageError(`no prompt for "${task}"; there are: ${tasks.join(", ")}`);
  const variants = promptVariants(task);
  if (!variants.includes(variant)) {
    throw new UsageError(`${task} has no variant "${variant}"; there are: ${variants.join(", ")}`);
  }
  try {
    return loadPrompt(task, variant);
  } catch (error) {
    if (error instanceof PromptError) throw new UsageError(error.message);
    throw error;
  }
}

function describe(task: string, variant: string) {
  const prompt = load(task, variant);
  const empty = Object.fromEntries(prompt.variables.map((name) => [name, ""]));
  const { description, variables, file, extends: base } = prompt;
  return {
    task,
    variant,
    description,
    variables,
    ...(base === undefined ? {} : { extends: base }),
    /** Words that do not come from variables or optional sections. */
    words: renderPrompt(prompt, empty).text.split(/\s+/).filter(Boolean).length,
    file,
  };
}

interface DiffLine {
  sign: " " | "-" | "+";
  text: string;
}

/** The shortest edit from `a` to `b`, by longest common subsequence; prompts are short. */
export function diffLines(a: readonly string[], b: readonly string[]): DiffLine[] {
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i]![j] = a[i] === b[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ sign: " ", text: a[i++]! });
      j++;
    } else if (i < a.length && (j === b.length || common[i + 1]![j]! >= common[i]![j + 1]!)) {
      lines.push({ sign: "-", text: a[i++]! });
    } else lines.push({ sign: "+", text: b[j++]! });
  }
  return lines;
}
