/** The package's public face: scenarios, environments, agents and scores for use in code. */
export {
  type Agent,
  type AgentContext,
  DEFAULT_AGENT_OPTIONS,
  DEFAULT_LIMITS,
  type Outcome,
  sreAgent,
} from "./agents/index.js";
export * from "./harness/index.js";
export { type ResolvedModel, resolveModel } from "./models/index.js";
export {
  type Alert,
  createSimulatedEnvironment,
  type Disruption,
  type Endpoints,
  type Environment,
  EnvironmentError,
  type Injection,
  InjectionError,
  type SimulatedOptions,
} from "./testbed/index.js";
