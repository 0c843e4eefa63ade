/** `itbench rules check`: what Prometheus rule files find, and lack, on the simulated testbed. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { createSimulatedEnvironment, RuleError } from "../../testbed/index.js";
import { EXIT, UsageError } from "./errors.js";
import { colorsFor, type Io } from "./io.js";

export interface RulesFlags {
  application: string;
  seed: string;
  json?: boolean;
}

/** Exit code 0 when every rule evaluates, whatever it lacks; 1 when one does not. */
export async function checkRulesCommand(paths: string[], flags: RulesFlags, io: Io): Promise<number> {
  const files = paths.map((path) => ({ name: basename(path), text: read(path) }));
  const environment = createSimulatedEnvironment({ applications: [{ id: flags.application }], seed: flags.seed });
  try {
    await environment.start();
    const rules = environment.checkRules(files);
    if (flags.json) io.out(`${JSON.stringify({ application: flags.application, rules }, null, 2)}\n`);
    else io.out(report(rules, io));
    return rules.some((rule) => rule.error !== undefined) ? EXIT.failure : EXIT.ok;
  } catch (error) {
    if (error instanceof RuleError) throw new UsageError(error.message);
    throw error;
  } finally {
    await environment.stop();
  }
}

function report(rules: ReturnType<ReturnType<typeof createSimulatedEnvironment>["checkRules"]>, io: Io): string {
  const c = colorsFor(io);
  const broken = rules.filter((rule) => rule.error !== undefined);
  const lacking = rules.filter((rule) => rule.missing.length > 0);
  const active = rules.filter((rule) => rule.active);
  const lines = [
    `${rules.length} rules: ${broken.length} cannot be evaluated, ${active.length} active in health, ${lacking.length} read metrics that the testbed does not have`,
    ...broken.map(({ group, rule, error }) => c.red(`error    ${group} / ${rule}: ${error}`)),
    ...active.map(({ group, rule }) => c.yellow(`active   ${group} / ${rule}`)),
    ...lacking.map(({ group, rule, missing }) => `missing  ${group} / ${rule}: ${missing.join(", ")}`),
  ];
  return `${lines.join("\n")}\n`;
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(
      `${path}: cannot be read (${(error as NodeJS.ErrnoException).code}): give a file of Prometheus rules`,
    );
  }
}
