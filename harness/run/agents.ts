/** The agent for a scenario's persona. */
import type { Agent } from "../../agents/agent.js";
import type { Scenario } from "../scenario/index.js";

/** There is no agent for this persona yet. */
export class NoAgentError extends Error {
  override name = "NoAgentError";
}

/** @throws NoAgentError for a persona without an agent */
export async function agentFor(scenario: Scenario): Promise<Agent> {
  const { sreAgent } = await import("../../agents/index.js");
  // FinOps scenarios of the index are incidents with alerts and a root cause; the SRE agent's tasks fit them.
  if (scenario.persona === "sre" || scenario.persona === "finops") return sreAgent;
  throw new NoAgentError(`scenario ${scenario.id}: there is no agent for the persona "${scenario.persona}"`);
}
