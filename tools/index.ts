/** The tools that agents are given. Each is a factory that takes the context of one task. */
export { fenced, objectAt, parseLoosely } from "./answers.js";
export { createChanges } from "./changes/index.js";
export { createCompareTraces } from "./compare-traces/index.js";
export {
  type Ask,
  type QuerySteps,
  type RunQuery,
  type ToolContext,
  ToolFailure,
  UnreadableQueryError,
} from "./context.js";
export type { ToolClock, ToolEndpoints } from "./endpoints.js";
export { createLogPatterns } from "./log-patterns/index.js";
export { createMetricAnomalies } from "./metric-anomalies/index.js";
export { type Alert, readAlerts } from "./nl2alerts/client.js";
export { createNl2Alerts } from "./nl2alerts/index.js";
export { createNl2Kubectl } from "./nl2kubectl/index.js";
export { createNl2Logs } from "./nl2logs/index.js";
export { createNl2Metrics } from "./nl2metrics/index.js";
export { createNl2Script } from "./nl2script/index.js";
export { createNl2Traces } from "./nl2traces/index.js";
export { type Cut, cutMiddle } from "./render/cut.js";
export { didYouMean, suggest } from "./suggest.js";
export { createSummarize } from "./summarize/index.js";
export { createTopology } from "./topology/index.js";
export { createWait } from "./wait/index.js";
