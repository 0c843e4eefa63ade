/** Runs jobs side by side, at most `concurrency` at a time, in order; starts none once the signal is aborted. */
export async function runPool(
  jobs: readonly (() => Promise<void>)[],
  concurrency: number,
  signal?: AbortSignal,
): Promise<void> {
  let next = 0;
  const failures: unknown[] = [];
  const worker = async () => {
    while (next < jobs.length && failures.length === 0 && !signal?.aborted) {
      try {
        await jobs[next++]!();
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(concurrency, jobs.length)) }, worker));
  if (failures.length > 0) throw failures[0];
}
