/** `itbench models`: which models can be named, and what one of them can do. */
import {
  checkModel,
  createMasker,
  loadModelsFile,
  type ModelReport,
  PROVIDERS,
  resolveModel,
} from "../../models/index.js";
import { EXIT } from "./errors.js";
import { colorsFor, type Io } from "./io.js";
import { renderTable } from "./table.js";

export interface ModelFlags {
  modelsFile?: string;
  baseUrl?: string;
  json?: boolean;
}

export function modelsListCommand(flags: ModelFlags, io: Io): number {
  const file = loadModelsFile(flags.modelsFile, io.env);
  const named = Object.entries(file?.models ?? {}).map(([name, entry]) => ({
    name,
    provider: entry.provider,
    model: entry.model,
    base_url: entry.base_url ?? null,
    context_window: entry.context_window ?? null,
    price: entry.price ?? null,
    rate_limit: entry.rate_limit ?? null,
  }));
  const providers = Object.entries(PROVIDERS).map(([name, provider]) => ({
    name,
    about: provider.about,
    key: provider.keyVariable ?? null,
    key_set: provider.keyVariable === undefined ? null : Boolean(io.env[provider.keyVariable]),
    package: provider.package ?? null,
  }));
  if (flags.json) {
    io.out(`${JSON.stringify({ models_file: file?.path ?? null, models: named, providers }, null, 2)}\n`);
    return EXIT.ok;
  }
  const c = colorsFor(io);
  if (file === undefined)
    io.out("There is no models file (models.yaml, ~/.config/itbench/models.yaml, --models-file).\n");
  else {
    const rows = named.map((one) => {
      const price = one.price === null ? "-" : `${one.price.input} / ${one.price.output}`;
      return [one.name, `${one.provider}:${one.model}`, one.base_url ?? "-", String(one.context_window ?? "-"), price];
    });
    const titles = ["NAME", "MODEL", "ADDRESS", "CONTEXT", "$ / MILLION IN, OUT"].map((title) => ({ title }));
    io.out(`${c.bold(file.path)}\n${renderTable(titles, rows)}`);
  }
  io.out(`\n${c.bold("Without a models file")}\n`);
  const special = [
    ["playbook", "rules written by hand, not an LLM", "-", "-"],
    ["human", "you, at the terminal", "-", "-"],
    ["replay:<file>", "answers that --record has written down", "-", "-"],
  ];
  const rows = providers.map((one) => {
    const key = one.key === null ? "-" : `${one.key}${one.key_set ? c.green(" (set)") : ""}`;
    return [`${one.name}:<model>`, one.about, key, one.package ?? "-"];
  });
  const titles = ["NAME", "WHAT", "KEY", "PACKAGE TO INSTALL"].map((title) => ({ title }));
  io.out(renderTable(titles, [...special, ...rows]));
  return EXIT.ok;
}

/** Exit code 0 when the model can be run with at least one protocol, 1 otherwise. */
export async function modelsCheckCommand(name: string, flags: ModelFlags, io: Io): Promise<number> {
  const model = await resolveModel(name, {
    env: io.env,
    ...(flags.modelsFile === undefined ? {} : { modelsFile: flags.modelsFile }),
    ...(flags.baseUrl === undefined ? {} : { baseUrl: flags.baseUrl }),
  });
  if (!model.isLlm && model.provider !== "replay") {
    io.out(
      flags.json
        ? `${JSON.stringify({ model: name, checks: [], protocols: ["tool-calling"] })}\n`
        : `${name} needs no check: it runs with the protocol tool-calling.\n`,
    );
    return EXIT.ok;
  }
  const abort = new AbortController();
  const stop = io.onInterrupt(() => abort.abort());
  let report: ModelReport;
  try {
    report = await checkModel(model, abort.signal);
  } catch (error) {
    if (abort.signal.aborted) return EXIT.interrupted;
    throw error;
  } finally {
    stop();
  }
  const mask = createMasker(model.secrets);
  report = { ...report, checks: report.checks.map((check) => ({ ...check, detail: mask(check.detail) })) };
  if (flags.json) io.out(`${JSON.stringify({ model: name, ...report }, null, 2)}\n`);
  else {
    const c = colorsFor(io);
    const rows = report.checks.map(({ what, ok, detail }) => [ok ? c.green("✓") : c.red("✗"), what, detail]);
    io.out(renderTable([{ title: "" }, { title: "WHAT" }, { title: "WHAT CAME" }], rows));
    const [best, ...others] = report.protocols;
    const more = others.length === 0 ? "" : `; also: ${others.join(", ")}`;
    io.out(best === undefined ? "\nIt cannot be used as it is.\n" : `\nRun it with --protocol ${best}${more}\n`);
  }
  return report.protocols.length > 0 ? EXIT.ok : EXIT.failure;
}
