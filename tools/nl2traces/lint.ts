/** What is wrong with a trace query before it runs. */
import type { ToolContext } from "../context.js";
import { didYouMean, listing } from "../suggest.js";
import { type TracesQuery, traceOperations, traceServices } from "./client.js";

/** Service and operation must exist; a duration must be one. */
export async function lintTracesQuery(query: TracesQuery, context: ToolContext): Promise<string[]> {
  const findings: string[] = [];
  if (query.traceId !== undefined && !/^[0-9a-fA-F]{1,32}$/.test(query.traceId)) {
    findings.push(`"${query.traceId}" is not a trace id: 16 or 32 hexadecimal digits`);
  }
  if (query.minDuration !== undefined && !/^\d+(\.\d+)?(us|ms|s|m|h)$/.test(query.minDuration)) {
    findings.push(`"${query.minDuration}" is not a duration; write 500ms, 1.5s or 2m`);
  }
  if (query.traceId !== undefined || query.dependencies === true) return findings;
  const services = await traceServices(context);
  if (query.service === undefined) {
    findings.push(`"service" is missing; there are: ${listing(services, 60)}`);
  } else if (!services.includes(query.service)) {
    findings.push(
      `no service "${query.service}" sends traces${didYouMean(query.service, services)}; there are: ${listing(services, 60)}`,
    );
  } else if (query.operation !== undefined) {
    const operations = await traceOperations(context, query.service);
    if (!operations.includes(query.operation)) {
      findings.push(
        `${query.service} has no operation "${query.operation}"; its operations: ${listing(operations, 40)}`,
      );
    }
  }
  return findings;
}
