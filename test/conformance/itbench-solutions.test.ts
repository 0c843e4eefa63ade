/**
 * ITBench's own scenario files on the simulated testbed: the fault's alerts fire, ITBench's own solutions (typed with the
 * real kubectl) end them, and neither doing nothing nor restarting everything does.
 */
import { execFile, execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { packageFile } from "../../paths.js";
import { createSimulatedEnvironment, type Disruption, type SimulatedEnvironment } from "../../testbed/index.js";

const DATA = packageFile("..", "shared", "data", "itbench");
const MINUTE = 60;

interface ScenarioFile {
  disruptions: { injections: Disruption["injections"]; waitFor?: { postInjection?: Disruption["postInjection"] } }[];
  alerts: string[];
  solutions: { steps: { command?: string }[] }[][];
}

interface Command {
  args: string[];
  stdin?: string;
}

interface Case {
  /** The object that the fault changes, to remember before the injection. */
  object: string;
  /** What `kubectl edit` would change back, as a command; gets the healthy object. */
  edit(healthy: any): Command;
  /** Commands of ITBench that a real cluster refuses too, and how. */
  refused?: Record<string, RegExp>;
}

const inApp = (...args: string[]): Command => ({ args: ["-n", "otel-demo", ...args] });
const patch = (object: string, body: unknown, type = "merge") =>
  inApp("patch", ...object.split("/"), `--type=${type}`, "-p", JSON.stringify(body));

const CASES: Record<number, Case> = {
  2: { object: "configmap/flagd-config", edit: (healthy) => patch("configmap/flagd-config", { data: healthy.data }) },
  20: {
    object: "deployment/product-catalog",
    edit: (healthy) => {
      const { image } = healthy.spec.template.spec.containers[0];
      return inApp("set", "image", "deployment/product-catalog", `product-catalog=${image}`);
    },
  },
  24: {
    object: "deployment/checkout",
    edit: () => inApp("set", "env", "deployment/checkout", "KAFKA_ADDR=kafka:9092"),
  },
  30: { object: "service/ad", edit: (healthy) => patch("service/ad", { spec: { ports: healthy.spec.ports } }) },
  58: {
    object: "deployment/accounting",
    edit: () => patch("deployment/accounting", { spec: { replicas: 1 } }),
    // The only revision is the one that runs: an undo has nothing to go back to.
    refused: { "rollout undo deployment/accounting": /no rollout history found/ },
  },
  105: {
    object: "deployment/product-catalog",
    edit: () =>
      patch("deployment/product-catalog", [{ op: "remove", path: "/spec/template/spec/containers/0/command" }], "json"),
  },
  114: {
    object: "service/product-catalog",
    edit: ({ metadata: { name, namespace, labels }, spec: { selector, ports } }) => {
      const spec = { selector, ports };
      const manifest = { apiVersion: "v1", kind: "Service", metadata: { name, namespace, labels }, spec };
      return { args: ["apply", "-f", "-"], stdin: JSON.stringify(manifest) };
    },
  },
};

const hasKubectl = (() => {
  try {
    execFileSync("kubectl", ["version", "--client"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();
const missing = !existsSync(DATA) ? "../shared is absent" : hasKubectl ? undefined : "kubectl is not on the PATH";

const environments: SimulatedEnvironment[] = [];
afterEach(async () => {
  await Promise.all(environments.splice(0).map((environment) => environment.stop()));
});

function read<T>(...parts: string[]): T {
  return JSON.parse(readFileSync(packageFile("..", "shared", "data", "itbench", ...parts), "utf8")) as T;
}

/** The alerts that the scenario and its fault mechanism name. */
function expectedAlerts(scenario: ScenarioFile): string[] {
  const names = new Set(scenario.alerts);
  for (const file of readdirSync(packageFile("..", "shared", "data", "itbench", "faults"))) {
    const fault = read<{ id: string; alerts?: Record<string, string[]> }>("faults", file);
    if (!scenario.disruptions.some((one) => one.injections.some((injection) => injection.id === fault.id))) continue;
    for (const name of Object.values(fault.alerts ?? {}).flat()) names.add(name);
  }
  return [...names].sort();
}

async function firing(environment: SimulatedEnvironment): Promise<string[]> {
  return (await environment.alerts()).filter((alert) => alert.state === "firing").map((alert) => alert.name);
}

/** Runs the real kubectl; the API that it talks to lives in this process, which must not block meanwhile. */
function kubectlWith(kubeconfig: string): (command: Command) => Promise<string> {
  return ({ args, stdin }) =>
    new Promise((resolve, reject) => {
      const options = { env: { ...process.env, KUBECONFIG: kubeconfig } };
      const child = execFile("kubectl", args, options, (error, stdout, stderr) =>
        error ? reject(new Error(`kubectl ${args.join(" ")}: ${stderr}`)) : resolve(stdout),
      );
      child.stdin?.end(stdin ?? "");
    });
}

/** A broken environment of scenario `n`, fifteen minutes after the injection, and what fired in that time. */
async function broken(n: number) {
  const scenario = read<ScenarioFile>("scenarios", `${n}.json`);
  const environment = createSimulatedEnvironment({ applications: [{ id: "opentelemetry-demo" }], seed: n });
  environments.push(environment);
  await environment.start();
  const kubectl = kubectlWith(environment.adminKubeconfig());
  const healthy = JSON.parse(await kubectl(inApp("get", CASES[n]!.object, "-o", "json")));
  const before = await firing(environment);
  await environment.inject(
    scenario.disruptions.map((one) => ({
      injections: one.injections,
      ...(one.waitFor?.postInjection ? { postInjection: one.waitFor.postInjection } : {}),
    })),
  );
  const fired = new Set<string>();
  for (let i = 0; i < 30; i++) {
    await environment.clock.sleep(MINUTE / 2);
    for (const name of await firing(environment)) fired.add(name);
  }
  return { scenario, environment, kubectl, healthy, before, fired };
}

/** Solutions of the file, each as a list of commands; `edit` stands for itself. */
function solutionsOf(n: number): string[][] {
  if (missing) return [];
  return read<ScenarioFile>("scenarios", `${n}.json`)
    .solutions.flat()
    .map((variant) => variant.steps.map((step) => step.command ?? "edit"));
}

describe.skipIf(missing).each(Object.keys(CASES).map(Number))(
  `ITBench scenario %i${missing ? ` (skipped: ${missing})` : ""}`,
  (n) => {
    it("fires the fault's own alerts, and keeps firing when nothing is done", async () => {
      const { scenario, environment, before, fired } = await broken(n);
      expect(before).toEqual([]);
      expect([...fired]).toEqual(expect.arrayContaining(expectedAlerts(scenario)));
      expect(fired.size).toBeGreaterThan(0);
      await environment.clock.sleep(30 * MINUTE);
      expect(await firing(environment)).not.toEqual([]);
    });

    it("is not healed by restarting everything", async () => {
      const { environment, kubectl } = await broken(n);
      await kubectl(inApp("rollout", "restart", "deployment"));
      await environment.clock.sleep(25 * MINUTE);
      expect(await firing(environment)).not.toEqual([]);
    });

    const solutions = solutionsOf(n);
    it.each(solutions.map((commands) => [commands.join("; "), commands] as const))(
      "is healed by: %s",
      async (_title, commands) => {
        const { environment, kubectl, healthy } = await broken(n);
        for (const command of commands) {
          const refusal = Object.entries(CASES[n]!.refused ?? {}).find(([text]) => command.includes(text))?.[1];
          const typed = /\bedit\b/.test(command) ? CASES[n]!.edit(healthy) : { args: command.split(" ").slice(1) };
          if (!refusal) {
            await kubectl(typed);
            continue;
          }
          await expect(kubectl(typed)).rejects.toThrow(refusal);
          return;
        }
        await environment.clock.sleep(15 * MINUTE);
        expect(await firing(environment)).toEqual([]);
        for (let minute = 0; minute < 15; minute++) {
          await environment.clock.sleep(MINUTE);
          expect(await firing(environment)).toEqual([]);
        }
        const unready = (await environment.workloads()).filter((one) => one.ready < one.desired);
        expect(unready).toEqual([]);
      },
    );
  },
);
