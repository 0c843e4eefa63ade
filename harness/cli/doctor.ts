/** `itbench doctor`: what works on this computer, what is missing, and how to get it. */
import { execFile } from "node:child_process";
import { loadModelsFile, PROVIDERS } from "../../models/index.js";
import { findScenario } from "../scenario/index.js";
import { EXIT } from "./errors.js";
import { colorsFor, type Io } from "./io.js";
import { findProgram, KUBECTL_HOW } from "./programs.js";
import { renderTable } from "./table.js";

export interface Finding {
  what: string;
  /** `missing` breaks the main use; `optional` only what `usedFor` says. */
  state: "ok" | "optional" | "missing";
  found: string;
  usedFor: string;
  /** How to get it, where it is not there. */
  get?: string;
}

interface Program {
  name: string;
  version: string[];
  usedFor: string;
  get: string;
}

const PROGRAMS: Program[] = [
  {
    name: "kubectl",
    version: ["version", "--client"],
    usedFor: "`--kubectl native`, and your own look at `env up`",
    get: KUBECTL_HOW,
  },
  {
    name: "opa",
    version: ["version"],
    usedFor: "compliance scenarios in Rego (later)",
    get: "`brew install opa`, or a binary from its release page",
  },
  {
    name: "kyverno",
    version: ["version"],
    usedFor: "compliance scenarios in Kyverno (later)",
    get: "`brew install kyverno`, or a binary from its release page",
  },
  {
    name: "ansible-playbook",
    version: ["--version"],
    usedFor: "compliance scenarios on RHEL (later)",
    get: "`brew install ansible`, or `apt-get install ansible-core`",
  },
  {
    name: "bwrap",
    version: ["--version"],
    usedFor: "a wall around scripts of compliance agents (later; Linux only)",
    get: "`apt-get install bubblewrap`",
  },
  {
    name: "go",
    version: ["version"],
    usedFor: "building comparison programs for the conformance tests",
    get: "`brew install go`, or `apt-get install golang`",
  },
];

/** Exit code 0 when the main use works, 1 otherwise. */
export async function doctorCommand(options: { json?: boolean }, io: Io): Promise<number> {
  const findings = [
    checkNode(process.versions.node),
    checkLibrary(),
    ...(await Promise.all(PROGRAMS.map((program) => checkProgram(program, io.env)))),
    await checkOllama(io.env),
    ...checkKeys(io.env),
    checkModelsFile(io.env),
  ];
  const broken = findings.filter((finding) => finding.state === "missing");
  if (options.json) {
    io.out(`${JSON.stringify({ ok: broken.length === 0, findings }, null, 2)}\n`);
  } else {
    const c = colorsFor(io);
    const sign = { ok: c.green("✓"), optional: c.dim("-"), missing: c.red("✗") };
    io.out(
      renderTable(
        [{ title: "" }, { title: "WHAT" }, { title: "FOUND" }, { title: "USED FOR" }],
        findings.map(({ state, what, found, usedFor }) => [sign[state], what, found, usedFor]),
      ),
    );
    const gettable = findings.filter((finding) => finding.state !== "ok" && finding.get);
    if (gettable.length > 0) io.out(`\n${c.bold("How to get what is missing")}\n`);
    for (const { what, get } of gettable) io.out(`  ${what}: ${get}\n`);
    io.out(
      broken.length === 0
        ? "\nThe simulated testbed, the built-in kubectl and the playbook model work here: itbench demo\n"
        : `\nNot usable yet: ${broken.map((finding) => finding.what).join(", ")}\n`,
    );
  }
  return broken.length === 0 ? EXIT.ok : EXIT.failure;
}

export function checkNode(version: string): Finding {
  const major = Number(version.split(".")[0]);
  return {
    what: "Node",
    state: major >= 20 ? "ok" : "missing",
    found: version,
    usedFor: "everything; 20 or later",
    get: "`brew install node`, or the installer of nodejs.org",
  };
}

function checkLibrary(): Finding {
  const usedFor = "scenarios, prompts and application models of this package";
  try {
    findScenario("sre-24");
    return { what: "data files", state: "ok", found: "there", usedFor };
  } catch (error) {
    return { what: "data files", state: "missing", found: (error as Error).message, usedFor, get: "install it again" };
  }
}

async function checkProgram({ name, version, usedFor, get }: Program, env: NodeJS.ProcessEnv): Promise<Finding> {
  const path = findProgram(name, env);
  if (!path) return { what: name, state: "optional", found: "not on the PATH", usedFor, get };
  const output = await firstLine(path, version, env);
  return { what: name, state: "ok", found: output ? short(output) : path, usedFor };
}

function firstLine(path: string, args: string[], env: NodeJS.ProcessEnv): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(path, args, { timeout: 5_000, env }, (_error, stdout) => {
      resolve(stdout.split("\n").find((line) => line.trim() !== "") || undefined);
    });
  });
}

function short(line: string): string {
  const text = line.trim();
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

async function checkOllama(env: NodeJS.ProcessEnv): Promise<Finding> {
  const host = env.OLLAMA_HOST || "http://127.0.0.1:11434";
  const base = (/^https?:\/\//.test(host) ? host : `http://${host}`).replace(/\/+$/, "");
  const usedFor = "models on this computer: `--model ollama:qwen3:8b`";
  const get = "`brew install ollama`, or the installer of ollama.com; then `ollama serve` and `ollama pull qwen3:8b`";
  try {
    const answer = await fetch(`${base}/api/tags`, { signal: AbortSignal.timeout(1_500) });
    const { models = [] } = (await answer.json()) as { models?: { name: string }[] };
    const names = models.map((model) => model.name).join(", ");
    return { what: "Ollama", state: "ok", found: short(names || "running, without a model"), usedFor };
  } catch {
    return { what: "Ollama", state: "optional", found: `no answer at ${base}`, usedFor, get };
  }
}

/** Says which keys are set, never what they are. */
function checkKeys(env: NodeJS.ProcessEnv): Finding[] {
  return Object.entries(PROVIDERS).flatMap(([name, provider]) => {
    const variable = provider.keyVariable;
    if (!variable) return [];
    const set = Boolean(env[variable]);
    return [
      {
        what: variable,
        state: set ? "ok" : "optional",
        found: set ? "set" : "not set",
        usedFor: `models of the provider ${name}`,
        get: `export ${variable}=...`,
      } as const,
    ];
  });
}

function checkModelsFile(env: NodeJS.ProcessEnv): Finding {
  const usedFor = "named models with address, parameters and price";
  try {
    const file = loadModelsFile(undefined, env);
    if (file)
      return { what: "models.yaml", state: "ok", found: Object.keys(file.models).join(", ") || "empty", usedFor };
    return { what: "models.yaml", state: "optional", found: "none", usedFor };
  } catch (error) {
    return { what: "models.yaml", state: "missing", found: (error as Error).message, usedFor, get: "mend the file" };
  }
}
