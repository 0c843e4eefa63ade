/** A prompt that does not exist, is malformed, or was given the wrong variables. */
export class PromptError extends Error {
  override readonly name = "PromptError";
}
