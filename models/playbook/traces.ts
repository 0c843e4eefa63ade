/** What failed traces say: where a failure comes from, and through whom it reached the users. */

/** One shape of failed trace, followed down its failed calls to the last one. */
export interface Failure {
  /** Services from the user's side down to the one whose own span failed last, each once. */
  path: string[];
  /** Host that the last failed call was meant for, where it says so and the host did not answer with a span. */
  peer?: string;
  /** What the last failed span says. */
  message: string;
}

const LINE = /^( {2,})(\S+): (.*?)\s{2,}\S+ ?\S*\s{2,}ERROR(.*)$/;

/**
 * Reads the trees of the trace tool: two spaces a level, `service: operation  duration  ERROR  tag=value ...`. For each
 * tree the deepest failed line counts, and the failed lines above it.
 */
export function parseFailures(text: string): Failure[] {
  const failures: Failure[] = [];
  let stack: { depth: number; service: string; tags: string }[] = [];
  let deepest: typeof stack = [];
  const close = () => {
    const last = deepest.at(-1);
    if (last)
      failures.push(
        failureOf(
          deepest.map((one) => one.service),
          last,
        ),
      );
    stack = [];
    deepest = [];
  };
  for (const row of text.split("\n")) {
    if (/ traces? of this shape\b/.test(row)) close();
    const line = LINE.exec(row);
    if (!line) continue;
    const depth = line[1]!.length;
    while (stack.length > 0 && stack.at(-1)!.depth >= depth) stack.pop();
    stack.push({ depth, service: line[2]!, tags: line[4]! });
    if (stack.length > deepest.length) deepest = [...stack];
  }
  close();
  return failures;
}

function failureOf(services: string[], last: { service: string; tags: string }): Failure {
  const path = services.filter((service, i) => service !== services[i - 1]);
  const host = /server\.address=([^\s:]+)/.exec(last.tags)?.[1];
  const message = /(?:exception\.message|otel\.status_description|error\.message)=(.*)$/.exec(last.tags)?.[1] ?? "";
  return { path, message, ...(host && host !== last.service ? { peer: host } : {}) };
}
