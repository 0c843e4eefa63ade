/** Values of options, checked. */
import { InvalidArgumentError } from "commander";
import { EXTRA_TOOLS, type ExtraTool } from "../../agents/agent.js";

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

/** An address that a request can go to, without the slashes at its end. */
export function url(text: string): string {
  const protocol = URL.canParse(text) ? new URL(text).protocol : "";
  if (protocol !== "http:" && protocol !== "https:") {
    throw new InvalidArgumentError("must be an address that starts with http:// or https://.");
  }
  return text.replace(/\/+$/, "");
}

/** For options that may be given several times. */
export function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value];
}

/** `all`, `none`, or names with commas; `log-patterns` is `log_patterns`. In the order in which the tools are listed. */
export function extraTools(text: string): ExtraTool[] {
  const names = text
    .split(",")
    .map((name) => name.trim().toLowerCase().replaceAll("-", "_"))
    .filter((name) => name !== "");
  if (names.length === 1 && names[0] === "all") return [...EXTRA_TOOLS];
  if (names.length === 1 && names[0] === "none") return [];
  const unknown = names.filter((name) => !(EXTRA_TOOLS as readonly string[]).includes(name));
  if (names.length === 0 || unknown.length > 0) {
    const what = unknown.length > 0 ? `there is no tool ${unknown.join(", ")}; ` : "";
    throw new InvalidArgumentError(`${what}give all, none, or some of ${EXTRA_TOOLS.join(", ")}.`);
  }
  return EXTRA_TOOLS.filter((name) => names.includes(name));
}
