/** Whether the simulated testbed has what a scenario asks for. */
import type { Scenario } from "../scenario/index.js";

/** What is missing, one line each: applications, fault mechanisms, arguments that a mechanism does not take. */
export async function missingSupport(scenario: Scenario): Promise<string[]> {
  const [{ applications }, { findMechanism }] = await Promise.all([
    import("../../testbed/apps/index.js"),
    import("../../testbed/faults/index.js"),
  ]);
  const missing = new Set<string>();
  for (const { id } of scenario.environment.applications) {
    if (!applications.some((application) => application.id === id)) missing.add(`application ${id}`);
  }
  for (const { preInjection = [], injections, postInjection = [] } of scenario.disruptions) {
    for (const { id, args } of [...preInjection, ...injections, ...postInjection]) {
      const mechanism = findMechanism(id);
      if (!mechanism) {
        missing.add(`fault mechanism ${id}`);
        continue;
      }
      const parsed = mechanism.args.safeParse(args);
      if (parsed.success) continue;
      for (const issue of parsed.error.issues) missing.add(`${id}: args.${issue.path.join(".")}: ${issue.message}`);
    }
  }
  return [...missing];
}
