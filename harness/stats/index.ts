export { meanOverScenarios, passAtK, passHatK, type ScenarioTally } from "./pass-at-k.js";
export { type Rate, wilson } from "./wilson.js";
