/** Exit codes, and which error means which. */

export const EXIT = { ok: 0, failure: 1, usage: 2, interrupted: 130 } as const;

/** What the user asked for cannot be done as asked; the message says what to do instead. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** Errors that say that input is wrong rather than that something broke. */
const USAGE_ERRORS = new Set([
  "UsageError",
  "ScenarioFileError",
  "UnknownScenarioError",
  "RunFolderError",
  "RunbookFolderError",
  "UnknownModelError",
  "MissingKeyError",
  "MissingPackageError",
  "ModelsFileError",
  "RecordingError",
  "UnknownPromptError",
]);

export function exitCodeOf(error: unknown): number {
  return error instanceof Error && USAGE_ERRORS.has(error.name) ? EXIT.usage : EXIT.failure;
}
