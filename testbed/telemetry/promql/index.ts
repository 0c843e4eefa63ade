/** PromQL: parse it, run it against a metric store. */
export type { Expr, VectorSelector } from "./ast.js";
export { selectors, walk } from "./ast.js";
export { formatDuration, parseDuration } from "./durations.js";
export type { EngineOptions, MatrixRow, PreparedQuery, QueryResult, QueryValue, VectorSample } from "./engine.js";
export { prepare } from "./engine.js";
export { PromqlExecutionError, PromqlParseError } from "./errors.js";
export { formatNumber } from "./format.js";
export type { Metric } from "./metric.js";
export { compute, isComparison, isSetOperator } from "./operators.js";
export { parse, parseSelector } from "./parser.js";
export { print } from "./print.js";
