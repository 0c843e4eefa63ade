/** The testbed's public face. */
export * from "./environment.js";
export { EnvironmentError, InjectionError } from "./errors.js";
export { createSimulatedEnvironment, SimulatedEnvironment, type SimulatedOptions } from "./simulated/environment.js";
export type { CheckedRule, RuleFile } from "./simulated/rule-check.js";
export { RuleError } from "./telemetry/rules/index.js";
