/** The applications that the testbed can run. Adding one: a folder beside this file and a line here. */
import { EnvironmentError } from "../errors.js";
import type { Application } from "./application.js";
import { opentelemetryDemo } from "./opentelemetry-demo/index.js";

export type { Application } from "./application.js";

export const applications: readonly Application[] = [opentelemetryDemo];

/** The application with this id (ITBench's). @throws EnvironmentError that names those that there are. */
export function findApplication(id: string): Application {
  const found = applications.find((application) => application.id === id);
  if (found !== undefined) return found;
  const ids = applications.map((application) => application.id).join(", ");
  throw new EnvironmentError(`no application "${id}" in the simulated testbed; there are: ${ids}`);
}
