#!/usr/bin/env node
/** The command `itbench`: what commands and options there are. What they do is loaded when one is called. */
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Command, CommanderError, Option } from "commander";
import { DEFAULT_AGENT_OPTIONS, EXTRA_TOOLS } from "../../agents/agent.js";
import { packageVersion } from "../../paths.js";
import { tuneEngine } from "./engine.js";
import { EXIT, exitCodeOf } from "./errors.js";
import { type Io, processIo } from "./io.js";
import { collect, extraTools, integer, port, positive, url } from "./parse.js";

/**
 * Runs the command line `argv` (without node and script) and returns the exit code: 0 done, 1 something failed,
 * 2 wrong usage or input, 130 interrupted.
 * @param prepare is awaited before a command that simulates
 */
export async function main(argv: readonly string[], io: Io, prepare?: () => Promise<void>): Promise<number> {
  const result = { code: EXIT.ok as number };
  const program = buildProgram(io, (code) => {
    result.code = code;
  });
  program.hook("preAction", (_program, command) => (SIMULATING.has(command.name()) ? prepare?.() : undefined));
  try {
    await program.parseAsync([...argv], { from: "user" });
    return result.code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    io.err(`itbench: ${(error as Error).message}\n`);
    if (io.env.ITBENCH_DEBUG) io.err(`${(error as Error).stack}\n`);
    return exitCodeOf(error);
  }
}

/** Commands that run environments. */
const SIMULATING = new Set(["run", "demo", "up"]);

const EXIT_CODES = `
Exit codes: 0 done (whatever was scored), 1 something failed, 2 wrong usage or input, 130 interrupted.
ITBENCH_DEBUG=1 shows where an error came from. NO_COLOR=1 turns colours off.`;

function buildProgram(io: Io, done: (code: number) => void): Command {
  const program = new Command("itbench")
    .description("Baseline agents for IT automation, and the harness that evaluates them.")
    .version(packageVersion())
    .exitOverride()
    .configureOutput({
      writeOut: io.out,
      writeErr: io.err,
      getOutHelpWidth: () => io.columns,
      getErrHelpWidth: () => io.columns,
    })
    .showSuggestionAfterError()
    .addHelpText(
      "after",
      `
Examples:
  $ itbench demo                                  one incident, start to end, without a key
  $ itbench run --scenario sre-24 --model playbook --trials 3
  $ itbench env up --scenario sre-24              an environment for kubectl or an agent of your own
${EXIT_CODES}`,
    );

  runOptions(program.command("run"))
    .description("run an agent on scenarios and score it")
    .addHelpText(
      "after",
      `
Examples:
  $ itbench run --scenario sre-24 --model playbook --trials 3
  $ itbench run --scenario 'sre-*' --model openai:gpt-4o --protocol react-text --trials 10 --concurrency 4
  $ itbench run --scenario path/to/scenario.json --model ollama:qwen3:8b --watch
  $ itbench run --scenario sre-24 --model playbook --trials 10 --out runs/mine --resume
${EXIT_CODES}`,
    )
    .action(async (options) => done(await (await import("./run.js")).runCommand(options, io)));

  program
    .command("demo")
    .description("run one scenario with the rule-based playbook and show what happens")
    .addOption(new Option("--scenario <id|path>", "the scenario").default("sre-24"))
    .addOption(new Option("--seed <text>", "seed of the environment").default("1"))
    .option("--full", "show observations in full")
    .addHelpText("after", "\nExample:\n  $ itbench demo --scenario sre-30")
    .action(async (options) => done(await (await import("./demo.js")).demoCommand(options, io)));

  const env = program.command("env").description("environments outside of a run");
  env
    .command("up")
    .description("bring up a simulated environment and keep it until Ctrl-C")
    .addOption(new Option("--scenario <id|path>", "the scenario: its application and, once it runs, its fault"))
    .addOption(new Option("--empty", "an empty cluster instead").conflicts("scenario"))
    .addOption(new Option("--nodes <n>", "worker nodes").argParser(integer(1)).default(3))
    .addOption(new Option("--port <port>", "first TCP port on 127.0.0.1 (default: free ones)").argParser(port))
    .addOption(new Option("--speed <factor>", "environment seconds a second").argParser(positive()).default(1))
    .addOption(new Option("--seed <text>", "seed of the environment").default("1"))
    .option("--no-inject", "leave the scenario's fault out")
    .option("--json", "print one line of JSON when it is up")
    .addHelpText(
      "after",
      `
Examples:
  $ itbench env up --scenario sre-24
  $ itbench env up --scenario sre-24 --no-inject --speed 10
  $ itbench env up --empty --nodes 3 --port 8001`,
    )
    .action(async (options) => done(await (await import("./env.js")).envUpCommand(options, io)));

  const scenarios = program.command("scenarios").description("the scenario library, and scenario files");
  scenarios
    .command("list")
    .description("list scenarios: the library's, or those of the files, folders and patterns given")
    .argument("[references...]", "ids, paths, folders or patterns")
    .option("--json", "for machines")
    .addHelpText("after", "\nExample:\n  $ itbench scenarios list 'sre-1*'")
    .action(async (references, options) =>
      done(await (await import("./scenarios.js")).listCommand(references, options, io)),
    );
  scenarios
    .command("show")
    .description("show one scenario, its ground truth included")
    .argument("<id|path>")
    .option("--json", "for machines")
    .addHelpText("after", "\nExample:\n  $ itbench scenarios show sre-24")
    .action(async (reference, options) =>
      done(await (await import("./scenarios.js")).showCommand(reference, options, io)),
    );
  scenarios
    .command("validate")
    .description("check scenario files, or the whole library when none is given")
    .argument("[references...]", "ids, paths, folders or patterns")
    .option("--json", "for machines")
    .addHelpText("after", "\nExample:\n  $ itbench scenarios validate my-scenario.yaml")
    .action(async (references, options) =>
      done(await (await import("./scenarios.js")).validateCommand(references, options, io)),
    );

  program
    .command("rules")
    .description("Prometheus rule files on the simulated testbed")
    .command("check")
    .description("evaluate rule files against a healthy application; list errors and the metrics that are not there")
    .argument("<files...>", "PrometheusRule objects or plain rule groups, YAML")
    .addOption(new Option("--application <id>", "the application to run").default("opentelemetry-demo"))
    .addOption(new Option("--seed <text>", "seed of the environment").default("1"))
    .option("--json", "for machines")
    .addHelpText("after", "\nExample:\n  $ itbench rules check my-alerts.yaml")
    .action(async (files, options) => done(await (await import("./rules.js")).checkRulesCommand(files, options, io)));

  const prompts = program.command("prompts").description("the prompts of agents and tools, and their variants");
  prompts
    .command("list")
    .description("list tasks and variants")
    .option("--json", "for machines")
    .action(async (options) => done((await import("./prompts.js")).listPrompts(options, io)));
  prompts
    .command("show")
    .description("show a prompt with its variables and sections")
    .argument("<task>")
    .option("--variant <name>", "which variant", "default")
    .option("--json", "for machines")
    .addHelpText("after", "\nExample:\n  $ itbench prompts show nl2metrics --variant paper")
    .action(async (task, options) => done((await import("./prompts.js")).showPrompt(task, options, io)));
  prompts
    .command("diff")
    .description("what one variant has otherwise than another")
    .argument("<task>")
    .argument("<variant-1>")
    .argument("<variant-2>")
    .option("--json", "for machines")
    .addHelpText("after", "\nExample:\n  $ itbench prompts diff sre-diagnosis default minimal")
    .action(async (task, first, second, options) =>
      done((await import("./prompts.js")).diffPrompts(task, first, second, options, io)),
    );

  program
    .command("compare")
    .description("two runs side by side, trial by trial, and which options differ")
    .argument("<run-a>", "run folder")
    .argument("<run-b>", "run folder")
    .option("--json", "for machines")
    .addHelpText(
      "after",
      `
Example: what it costs to go without traces
  $ itbench run --scenario 'sre-*' --trials 5 --out runs/all
  $ itbench run --scenario 'sre-*' --trials 5 --out runs/no-traces --no-traces
  $ itbench compare runs/all runs/no-traces`,
    )
    .action(async (a, b, options) => done((await import("./compare.js")).compareCommand(a, b, options, io)));

  const models = program.command("models").description("chat models: which there are, and what one can do");
  models
    .command("list")
    .description("list the models of the models file, and the providers")
    .option("--models-file <path>", "models file (default: models.yaml, ~/.config/itbench/models.yaml)")
    .option("--json", "for machines")
    .action(async (options) => done((await import("./models.js")).modelsListCommand(options, io)));
  models
    .command("check")
    .description("send a model one tool call, one structured output and one question, and say what works")
    .argument("<name>", "provider:model, or an entry of models.yaml")
    .option("--models-file <path>", "models file (default: models.yaml, ~/.config/itbench/models.yaml)")
    .option("--base-url <url>", "address of the model's server", url)
    .option("--json", "for machines")
    .addHelpText("after", "\nExample:\n  $ itbench models check ollama:qwen3:8b")
    .action(async (name, options) => done(await (await import("./models.js")).modelsCheckCommand(name, options, io)));

  program
    .command("chat")
    .description("talk with an agent about an environment; it only looks, unless you allow more")
    .option("--scenario <id|path>", "a simulated environment with the scenario's fault")
    .option("--no-inject", "leave the scenario's fault out")
    .option("--kubeconfig <path>", "a cluster of your own instead")
    .option("--prometheus <url>", "its Prometheus; likewise the next four", url)
    .option("--alertmanager <url>", "", url)
    .option("--loki <url>", "", url)
    .option("--jaeger <url>", "", url)
    .option("--opencost <url>", "", url)
    .option("--namespace <name>", "namespace that the talk is about; may be repeated (default: default)", collect)
    .requiredOption("--model <name>", "provider:model, or an entry of models.yaml")
    .addOption(
      new Option("--protocol <name>", "how the model says which tool to call")
        .choices(["tool-calling", "react-text", "json-action"])
        .default("tool-calling"),
    )
    .option("--ask <question>", "ask this and end; may be repeated", collect)
    .option("--allow-writes", "let the agent change what you ask it to change")
    .option("--seed <text>", "seed of the simulated environment", "1")
    .addOption(new Option("--max-steps <n>", "steps of each question").argParser(integer(1)).default(10))
    .option("--prompt <variant>", "prompt variant", "default")
    .option("--models-file <path>", "models file (default: models.yaml, ~/.config/itbench/models.yaml)")
    .option("--base-url <url>", "address of the model's server", url)
    .option("--verbose", "show what the tools return in full")
    .addHelpText(
      "after",
      `
Examples:
  $ itbench chat --scenario sre-24 --model ollama:qwen3:8b
  $ itbench chat --kubeconfig ~/.kube/config --namespace shop --prometheus http://localhost:9090 --model openai:gpt-4o`,
    )
    .action(async (options) => done(await (await import("./chat.js")).chatCommand(options, io)));

  program
    .command("doctor")
    .description("what works here, what is missing, and how to get it")
    .option("--json", "for machines")
    .action(async (options) => done(await (await import("./doctor.js")).doctorCommand(options, io)));

  return program;
}

function runOptions(command: Command): Command {
  return command
    .requiredOption("--scenario <id|path|pattern>", "what to run; may be repeated, or a list with commas", collect)
    .option("--model <name>", "playbook, human, replay:<file>, provider:model, or an entry of models.yaml", "playbook")
    .addOption(
      new Option("--protocol <name>", "how the model says which tool to call")
        .choices(["tool-calling", "react-text", "json-action"])
        .default("tool-calling"),
    )
    .addOption(new Option("--trials <n>", "trials of each scenario").argParser(integer(1)).default(1))
    .addOption(new Option("--concurrency <n>", "trials side by side").argParser(integer(1)).default(1))
    .option("--seed <text>", "seed of the environments", "1")
    .option("--out <folder>", "run folder (default: runs/<time>-<model>)")
    .option("--resume", "run only what is missing in --out, or in the last run of this configuration")
    .option("--healthy", "run the scenarios' healthy twins: nothing is injected, false alarms are counted")
    .option("--json", "results as JSON on stdout, progress on stderr")
    .addOption(new Option("--max-steps <n>", "steps of each task").argParser(integer(1)).default(20))
    .addOption(new Option("--max-tokens <n>", "tokens of each task, in and out").argParser(integer(1)))
    .addOption(
      new Option("--max-cost <dollars>", "cost of each task; needs a price in models.yaml").argParser(positive()),
    )
    .addOption(new Option("--timeout <seconds>", "wall time of each task").argParser(positive()))
    .addOption(
      new Option("--attempts <n>", "most attempts at an incident; each learns from those before, until one is verified")
        .argParser(integer(1))
        .default(1),
    )
    .addOption(new Option("--total-steps <n>", "steps of all tasks of a trial together").argParser(integer(1)))
    .addOption(new Option("--total-tokens <n>", "tokens of all tasks of a trial together").argParser(integer(1)))
    .addOption(new Option("--total-cost <dollars>", "cost of all tasks of a trial together").argParser(positive()))
    .addOption(
      new Option("--total-timeout <seconds>", "wall time of all tasks of a trial together").argParser(positive()),
    )
    .option("--runbooks <folder>", "Markdown files in which the agent may find help: runbooks, notes of past incidents")
    .addOption(
      new Option("--runbook-chunks <n>", "most sections of runbooks shown in a task").argParser(integer(1)).default(3),
    )
    .option("--save-incidents <folder>", "write a note of what the agent said of each incident, for later runs")
    .addOption(
      new Option("--step-seconds <s>", "environment seconds that pass at each step")
        .argParser(positive(true))
        .default(10),
    )
    .addOption(
      new Option("--tools <mode>", "nl2x: a nested call writes each command; direct: the agent does")
        .choices(["nl2x", "direct"])
        .default("nl2x"),
    )
    .addOption(new Option("--max-reflections <n>", "re-prompts inside one tool call").argParser(integer(0)).default(3))
    .option("--no-reflection", "no re-prompts inside tools")
    .option("--no-linters", "run generated commands unchecked")
    .option("--no-examples", "without worked examples in prompts")
    .option("--no-summarizer", "without the tool that summarizes long observations")
    .addOption(
      new Option(
        "--extra-tools <list>",
        `tools beside the baseline's own: all, none, or some of ${EXTRA_TOOLS.join(", ")}`,
      )
        .argParser(extraTools)
        .default(DEFAULT_AGENT_OPTIONS.extraTools, DEFAULT_AGENT_OPTIONS.extraTools.join(",")),
    )
    .option("--no-traces", "without traces")
    .option("--no-logs", "without logs")
    .option("--no-metrics", "without metrics")
    .option("--prompt <variant>", "prompt variant", "default")
    .addOption(
      new Option("--kubectl <which>", "builtin, or native: the program on your PATH")
        .choices(["builtin", "native"])
        .default("builtin"),
    )
    .option("--models-file <path>", "models file (default: models.yaml, ~/.config/itbench/models.yaml)")
    .option("--base-url <url>", "address of the model's server", url)
    .option("--record <file>", "write the model's answers down, for --model replay:<file>")
    .option("--watch", "show each step as it happens")
    .option("--verbose", "show phases, warnings, and every check");
}

/** True when this file is the program, also behind the link that npm makes. */
function isProgram(): boolean {
  const entry = process.argv[1];
  if (entry === undefined) return false;
  try {
    return realpathSync(entry) === fileURLToPath(import.meta.url);
  } catch {
    return false;
  }
}

if (isProgram()) {
  process.exitCode = await main(process.argv.slice(2), processIo(), tuneEngine);
  // A terminal that someone read from (a talk, a person as the model) would keep the process alive.
  process.stdin.pause();
}
