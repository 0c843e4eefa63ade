import { expect, it } from "vitest";
import { createSimulatedEnvironment, diagnosis, findScenario } from "../index.js";

it("the package's parts work together in code, as the guide shows", async () => {
  const { scenario } = findScenario("sre-24");
  const environment = createSimulatedEnvironment({ applications: scenario.environment.applications, seed: 1 });
  try {
    await environment.start();
    await environment.inject(scenario.disruptions);
    const alerts = await environment.waitForAlerts(scenario.alerts, 900);
    expect(alerts?.length).toBeGreaterThan(0);
    const { prometheus } = environment.endpoints("read-only");
    expect((await fetch(`${prometheus}/api/v1/alerts`)).ok).toBe(true);
    const answer = { entities: [{ name: "otel-demo/Deployment/checkout", contributing_factor: true }] };
    expect(diagnosis(scenario.ground_truth, answer).value).toBe(1);
  } finally {
    await environment.stop();
  }
});
