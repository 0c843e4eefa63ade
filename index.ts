/** The package's public face. */
export type { Alert, Disruption, Endpoints, Environment, Injection } from "./testbed/environment.js";
