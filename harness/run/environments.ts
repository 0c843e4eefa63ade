/** Makes the environments that scenarios run in: simulated ones, in this process. */
import type { SimulatedEnvironment } from "../../testbed/index.js";
import type { Scenario } from "../scenario/index.js";
import type { PreparedEnvironment } from "./trial.js";

/** Readable names for a task's text; an application that is not here goes by its id. */
const APPLICATION_NAMES: Record<string, string> = {
  "opentelemetry-demo": "OpenTelemetry Demo",
  "book-info": "Book Info",
};

/** The testbed lacks something that the scenario asks for. */
export class UnsupportedScenarioError extends Error {
  override name = "UnsupportedScenarioError";
}

export interface SimulatedSettings {
  nodes?: number;
  /** Virtual seconds a wall second; 0 lets time stand still between an agent's steps. */
  speed?: number;
  /** First TCP port of the interfaces. */
  port?: number;
}

/**
 * A simulated environment for `scenario`, not started yet.
 * @throws UnsupportedScenarioError for an application that the testbed does not have
 */
export async function createSimulated(
  scenario: Scenario,
  seed: string,
  settings: SimulatedSettings = {},
): Promise<PreparedEnvironment & { environment: SimulatedEnvironment }> {
  // The testbed is by far the largest part: only commands that run something load it.
  const [{ createSimulatedEnvironment }, { applications: known }] = await Promise.all([
    import("../../testbed/index.js"),
    import("../../testbed/apps/index.js"),
  ]);
  const { applications } = scenario.environment;
  return {
    namespaces: applications.map(({ id }) => {
      const found = known.find((application) => application.id === id);
      if (found) return found.namespace;
      const names = known.map((application) => application.id).join(", ");
      throw new UnsupportedScenarioError(`the simulated testbed has no application "${id}"; it has ${names}`);
    }),
    application: applications.map(({ id }) => APPLICATION_NAMES[id] ?? id).join(" and "),
    environment: createSimulatedEnvironment({
      applications: applications.map(({ id, args }) => (args ? { id, args } : { id })),
      seed,
      ...settings,
    }),
  };
}
