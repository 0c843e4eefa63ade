/** Errors of the testbed. Each says what is wrong and what would be right. */

/** A fault that cannot be injected: unknown, naming nothing, or without effect. */
export class InjectionError extends Error {
  override name = "InjectionError";
}

/** An environment that could not be brought up, or that broke. */
export class EnvironmentError extends Error {
  override name = "EnvironmentError";
}
