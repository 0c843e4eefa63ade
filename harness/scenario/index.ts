/** Scenarios: what they are, and how they are found and read. */
export { COMPLEXITY_THRESHOLDS, type ComplexityFigures, complexityOf, levelOfComplexity } from "./complexity.js";
export { aliasSets, type Entity, formatEntity, type GroupMatcher, groupMatcher, parseEntity } from "./entity.js";
export { ScenarioFileError, type ScenarioProblem, UnknownScenarioError } from "./errors.js";
export {
  bareId,
  type LoadedGroundTruth,
  parseGroundTruth,
  readGroundTruth,
  readGroundTruths,
} from "./ground-truth.js";
export { healthyTwin, loadedTwin } from "./healthy-twin.js";
export { findScenario, findScenarios, libraryScenarios, loadScenario } from "./library.js";
export {
  COMPLEXITIES,
  type Complexity,
  type GroundTruth,
  type Group,
  type LoadedScenario,
  PERSONAS,
  type Persona,
  type Scenario,
  type Solution,
  scenarioSchema,
} from "./schema.js";
export { suggest } from "./suggest.js";
