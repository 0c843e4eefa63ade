/** Errors of PromQL, with the `errorType` that Prometheus' API gives them. */

/** The text is no PromQL: where and why. API: 400 bad_data. */
export class PromqlParseError extends Error {
  override name = "PromqlParseError";
  readonly errorType = "bad_data";
  /** @param position offset of the offending text in the query */
  constructor(
    readonly reason: string,
    readonly query: string,
    readonly position: number,
  ) {
    super(`${place(query, position)}: parse error: ${reason}`);
  }
}

/** The query is well-formed but cannot be evaluated on this data. API: 422 execution. */
export class PromqlExecutionError extends Error {
  override name = "PromqlExecutionError";
  readonly errorType = "execution";
}

/** `line:column`, both from 1. */
export function place(query: string, position: number): string {
  const before = query.slice(0, position);
  const line = before.split("\n").length;
  return `${line}:${position - before.lastIndexOf("\n")}`;
}
