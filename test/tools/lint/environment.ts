/** The simulated OpenTelemetry demo, some minutes old, for linters to ask. */
import { createSimulatedEnvironment, type Environment } from "../../../testbed/index.js";
import { runKubectl } from "../../../tools/kubectl/index.js";
import { type TestToolContext, toolContext } from "../../support/tool-context.js";

export interface LintEnvironment {
  environment: Environment;
  context: TestToolContext;
  /** `POD(cart)` becomes the name of a pod of the deployment cart. */
  withPods(text: string): string;
  stop(): Promise<void>;
}

export async function lintEnvironment(applications = ["opentelemetry-demo"]): Promise<LintEnvironment> {
  const environment = createSimulatedEnvironment({ applications: applications.map((id) => ({ id })), seed: 11 });
  await environment.start();
  const endpoints = environment.endpoints("read-write");
  const ends: (() => Promise<void>)[] = [];
  const context = toolContext("", [], {
    endpoints,
    clock: environment.clock,
    namespaces: ["otel-demo"],
    writes: true,
    onEnd: (end) => void ends.push(end),
  });
  const pods = await runKubectl("kubectl get pods -n otel-demo -o name", {
    kubeconfig: endpoints.kubeconfig,
    mode: "read-only",
    kubectl: "builtin",
    now: () => environment.clock.now(),
    sleep: async () => {},
  });
  const names = pods.stdout
    .trim()
    .split("\n")
    .map((line) => line.replace(/^pod\//, ""));
  return {
    environment,
    context,
    withPods: (text) =>
      text.replace(/POD\(([\w-]+)\)/g, (_all, deployment: string) => {
        const found = names.find((name) => new RegExp(`^${deployment}-[a-z0-9]+(-[a-z0-9]{5})?$`).test(name));
        if (found === undefined) throw new Error(`no pod of ${deployment}; there are ${names.join(", ")}`);
        return found;
      }),
    async stop() {
      await Promise.all(ends.map((end) => end()));
      await environment.stop();
    },
  };
}
