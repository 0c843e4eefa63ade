/** What a template may make of an object: loops in loops and `..` of `..` grow far beyond what anyone reads. */
import { KubectlError } from "../errors.js";

const MAX_CHARACTERS = 16 * 1024 * 1024;
const MAX_STEPS = 5_000_000;

/** Counts what one template prints and visits. */
export class PrintBudget {
  #characters = 0;
  #steps = 0;

  /** @throws KubectlError when there is too much of it */
  text(text: string): string {
    this.#characters += text.length;
    if (this.#characters > MAX_CHARACTERS) {
      throw new KubectlError(
        `error: the template prints more than ${MAX_CHARACTERS / 1024 / 1024} MiB: choose fewer fields, or fewer objects by name or selector`,
      );
    }
    return text;
  }

  /** @throws KubectlError when there are too many of them */
  steps(count = 1): void {
    this.#steps += count;
    if (this.#steps > MAX_STEPS) {
      throw new KubectlError(
        `error: the template visits more than ${MAX_STEPS} values: name the fields instead of going through all, or choose fewer objects`,
      );
    }
  }
}
