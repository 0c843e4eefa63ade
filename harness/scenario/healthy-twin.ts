/** The same environment without the fault: what an agent says there is a false alarm. */
import type { LoadedScenario, Scenario } from "./schema.js";

/** A scenario's healthy twin: `<id>-healthy`, nothing injected, nothing to find. Pure. */
export function healthyTwin(scenario: Scenario): Scenario {
  return {
    ...scenario,
    id: `${scenario.id}-healthy`,
    ...(scenario.title === undefined ? {} : { title: `Healthy twin of: ${scenario.title}` }),
    description: "Nothing is wrong in this environment. The right answer names no root cause.",
    complexity: {},
    disruptions: [],
    alerts: [],
    ground_truth: { fault: [], alerts: [], groups: [], aliases: [], propagations: [], recommended_actions: [] },
    solutions: [],
  };
}

export function loadedTwin(loaded: LoadedScenario): LoadedScenario {
  return { ...loaded, scenario: healthyTwin(loaded.scenario), warnings: [] };
}
