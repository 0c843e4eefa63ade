/** Traffic: programs that run in containers, the network between them, and the users' requests that travel through. */
export type { Behaviour } from "./behaviour.js";
export type { AppRuntime, AppRuntimeOptions } from "./runtime.js";
export { createAppRuntime } from "./runtime.js";
export type { Traffic, TrafficOptions } from "./traffic.js";
export { createTraffic } from "./traffic.js";
