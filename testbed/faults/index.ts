/** The fault mechanisms. Adding one: a file beside this one and a line in the list. */
import { deleteWorkloadPods, restartWorkload, scaleWorkload } from "./actions.js";
import { deletedService } from "./deleted-service.js";
import { featureFlag } from "./feature-flag.js";
import { invalidCommand } from "./invalid-command.js";
import { invalidSelector } from "./invalid-selector.js";
import type { FaultMechanism } from "./mechanism.js";
import { modifiedEnvironmentVariable } from "./modified-environment-variable.js";
import { modifiedTargetPort } from "./modified-target-port.js";
import { nonexistentImage } from "./nonexistent-image.js";
import { scaledToZero } from "./scaled-to-zero.js";

export type { FaultContext, FaultMechanism, Injected } from "./mechanism.js";

/** Every mechanism, and the actions that scenarios ask for around an injection. */
export const mechanisms: readonly FaultMechanism[] = [
  deletedService,
  featureFlag,
  invalidCommand,
  invalidSelector,
  modifiedEnvironmentVariable,
  modifiedTargetPort,
  nonexistentImage,
  scaledToZero,
  deleteWorkloadPods,
  restartWorkload,
  scaleWorkload,
];

/** The mechanism with ITBench's id, or undefined. */
export function findMechanism(id: string): FaultMechanism | undefined {
  return mechanisms.find((mechanism) => mechanism.id === id);
}
