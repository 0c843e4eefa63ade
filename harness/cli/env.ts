/** `itbench env up`: an environment that stays, for kubectl and for agents of one's own. */
import type { SimulatedEnvironment } from "../../testbed/index.js";
import { createSimulated } from "../run/environments.js";
import { findScenario, type Scenario } from "../scenario/index.js";
import { EXIT, UsageError } from "./errors.js";
import { colorsFor, type Io } from "./io.js";

export interface EnvFlags {
  scenario?: string;
  empty?: boolean;
  nodes: number;
  port?: number;
  speed: number;
  seed: string;
  inject: boolean;
  json?: boolean;
}

/** Returns when it is taken down by Ctrl-C or SIGTERM, which is the regular end: exit code 0. */
export async function envUpCommand(flags: EnvFlags, io: Io): Promise<number> {
  if (!flags.scenario && !flags.empty) throw new UsageError("env up: give --scenario <id|path>, or --empty");
  const scenario = flags.scenario ? findScenario(flags.scenario).scenario : undefined;
  const { environment, namespaces } = await prepare(scenario, flags);
  let interrupt = () => {};
  const interrupted = new Promise<void>((resolve) => {
    interrupt = resolve;
  });
  let times = 0;
  const stopListening = io.onInterrupt(() => (++times > 1 ? io.exit(EXIT.interrupted) : interrupt()));
  try {
    const up = bringUp(environment, scenario, flags);
    // An interrupt during the start leaves `up` to fail or finish on its own; nobody waits for it then.
    up.catch(() => {});
    const began = await Promise.race([up, interrupted.then(() => undefined)]);
    if (began) {
      io.out(flags.json ? asJson(environment, scenario, namespaces) : asText(environment, scenario, began, flags, io));
      await interrupted;
    }
  } catch (error) {
    throw portError(error, flags.port);
  } finally {
    stopListening();
    await environment.stop();
  }
  if (!flags.json) io.err("taken down\n");
  return EXIT.ok;
}

async function prepare(
  scenario: Scenario | undefined,
  flags: EnvFlags,
): Promise<{ environment: SimulatedEnvironment; namespaces: string[] }> {
  const settings = {
    nodes: flags.nodes,
    speed: flags.speed,
    ...(flags.port === undefined ? {} : { port: flags.port }),
  };
  if (scenario) return createSimulated(scenario, flags.seed, settings);
  const { createSimulatedEnvironment } = await import("../../testbed/index.js");
  // People expect an empty cluster to show today's date.
  const environment = createSimulatedEnvironment({
    applications: [],
    seed: flags.seed,
    startTime: Date.now(),
    ...settings,
  });
  return { environment, namespaces: [] };
}

async function bringUp(
  environment: SimulatedEnvironment,
  scenario: Scenario | undefined,
  flags: EnvFlags,
): Promise<{ faults: string[] }> {
  await environment.start();
  if (!scenario || !flags.inject) return { faults: [] };
  await environment.inject(scenario.disruptions);
  return { faults: scenario.disruptions.flatMap(({ injections }) => injections.map((injection) => injection.id)) };
}

function addresses(environment: SimulatedEnvironment): Record<string, string> {
  const { prometheus, alertmanager, loki, jaeger, opencost } = environment.endpoints("read-write");
  return {
    KUBECONFIG: environment.adminKubeconfig(),
    PROMETHEUS_URL: prometheus,
    ALERTMANAGER_URL: alertmanager,
    LOKI_URL: loki,
    JAEGER_URL: jaeger,
    ...(opencost ? { OPENCOST_URL: opencost } : {}),
  };
}

function asText(
  environment: SimulatedEnvironment,
  scenario: Scenario | undefined,
  began: { faults: string[] },
  flags: EnvFlags,
  io: Io,
): string {
  const c = colorsFor(io);
  const what = scenario
    ? `${scenario.id}: ${scenario.environment.applications.map((application) => application.id).join(", ")}`
    : `empty cluster, ${flags.nodes} ${flags.nodes === 1 ? "node" : "nodes"}`;
  const fault = began.faults.length > 0 ? `injected ${began.faults.join(", ")}` : "nothing is injected";
  const lines = Object.entries(addresses(environment)).map(([name, value]) => `${name}=${value}`);
  return `${[
    c.bold(`Simulated environment up (${what}; ${fault})`),
    ...lines,
    "",
    `Try:  kubectl --kubeconfig ${environment.adminKubeconfig()} get ${scenario ? "pods" : "nodes"}`,
    `Kubeconfigs of the roles that agents get: ${environment.endpoints("read-only").kubeconfig} (diagnosis),`,
    `  ${environment.endpoints("read-write").kubeconfig} (mitigation)`,
    "Ctrl-C takes it down.",
  ].join("\n")}\n`;
}

function asJson(environment: SimulatedEnvironment, scenario: Scenario | undefined, namespaces: string[]): string {
  return `${JSON.stringify({
    scenario: scenario?.id ?? null,
    namespaces,
    kubeconfig: environment.adminKubeconfig(),
    roles: {
      "read-only": environment.endpoints("read-only"),
      "read-write": environment.endpoints("read-write"),
    },
    env: addresses(environment),
  })}\n`;
}

function portError(error: unknown, port: number | undefined): unknown {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  const cause = (error as Error | undefined)?.cause as NodeJS.ErrnoException | undefined;
  const inUse = [code, cause?.code].includes("EADDRINUSE");
  const refused = [code, cause?.code].includes("EACCES");
  if (!inUse && !refused) return error;
  const taken = (error as { port?: number }).port ?? (cause as { port?: number } | undefined)?.port ?? port;
  return new UsageError(
    `port ${taken} ${inUse ? "is in use" : "may not be used"}: give another with --port, or leave it out for free ones`,
  );
}
