/** Values of options, checked. */
import { InvalidArgumentError } from "commander";

/** A whole number of at least `min`. */
export function integer(min: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isSafeInteger(value) || value < min) {
      throw new InvalidArgumentError(`must be a whole number, ${min} or more.`);
    }
    return value;
  };
}

/** A number above 0, or from 0 where `zero` is allowed. */
export function positive(zero = false): (text: string) => number {
  return (text) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (!Number.isFinite(value) || value < 0 || (value === 0 && !zero)) {
      throw new InvalidArgumentError(`must be a number ${zero ? "of 0 or more" : "above 0"}.`);
    }
    return value;
  };
}

export function port(text: string): number {
  const value = integer(1)(text);
  if (value > 65_000) throw new InvalidArgumentError("must be a TCP port from 1 to 65000.");
  return value;
}

/** For options that may be given several times. */
export function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value];
}
