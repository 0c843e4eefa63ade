/** The applications that the testbed can run. Adding one: a folder beside this file and a line here. */
import type { Application } from "./application.js";
import { opentelemetryDemo } from "./opentelemetry-demo/index.js";

export type { Application } from "./application.js";

export const applications: readonly Application[] = [opentelemetryDemo];

/** The application with this id (ITBench's), or undefined. */
export function findApplication(id: string): Application | undefined {
  return applications.find((application) => application.id === id);
}
