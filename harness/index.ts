/** The harness: scenarios, running, scores, statistics. */
export * from "./run/index.js";
export * from "./scenario/index.js";
export * from "./score/index.js";
export * from "./stats/index.js";
