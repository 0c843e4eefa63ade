/** What can be wrong with a LogQL query; messages are worded as Loki words them. */

/** The query is not LogQL. Loki's face answers 400 with the message as plain text. */
export class LogQLParseError extends Error {
  override name = "LogQLParseError";
  /**
   * @param reason without position
   * @param line 1-based; 0 when the error has no position
   * @param column 1-based, of the offending token
   */
  constructor(
    readonly reason: string,
    readonly line = 0,
    readonly column = 0,
  ) {
    super(line === 0 ? `parse error : ${reason}` : `parse error at line ${line}, col ${column}: ${reason}`);
  }
}

/** The query is LogQL, but cannot be evaluated over these lines (400). */
export class LogQLEvaluationError extends Error {
  override name = "LogQLEvaluationError";
}

/** A sample of a metric query carries `__error__`; says how to skip it. */
export function pipelineError(kind: string, series: string): LogQLEvaluationError {
  return new LogQLEvaluationError(
    `pipeline error: '${kind}' for series: '${series}'.\n` +
      `Use a label filter to intentionally skip this error. (e.g | __error__!="${kind}").\n` +
      `To skip all potential errors you can match empty errors.(e.g __error__="")\n` +
      `The label filter can also be specified after unwrap. (e.g | unwrap latency | __error__="" )\n`,
  );
}
