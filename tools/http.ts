/** GET requests to the telemetry backends. */

import { ToolFailure } from "./context.js";
import type { ToolEndpoints } from "./endpoints.js";

export type Backend = "prometheus" | "alertmanager" | "loki" | "jaeger";

const TITLES: Record<Backend, string> = {
  prometheus: "Prometheus",
  alertmanager: "Alertmanager",
  loki: "Loki",
  jaeger: "Jaeger",
};

const TIMEOUT_MS = 30_000;
/** What is read of one answer; no tool shows as much. */
export const MAX_READ_BYTES = 32 * 1024 * 1024;

export type Parameters = Record<string, string | number | readonly string[] | undefined>;

/**
 * Reads `path` of a backend as JSON.
 *
 * @param parameters a list is sent as the same name several times
 * @throws ToolFailure with the backend's own message when it refuses, and without addresses: they are no news to anyone;
 * or when the answer is longer than `MAX_READ_BYTES`: the rest is not read
 */
export async function getJson(
  endpoints: ToolEndpoints,
  backend: Backend,
  path: string,
  parameters: Parameters = {},
  signal?: AbortSignal,
): Promise<any> {
  const url = new URL(endpoints[backend] + path);
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) continue;
    for (const one of typeof value === "object" ? value : [value]) url.searchParams.append(name, String(one));
  }
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  let status: number;
  let body: string;
  try {
    const response = await fetch(url, {
      headers: endpoints.token === undefined ? {} : { authorization: `Bearer ${endpoints.token}` },
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    status = response.status;
    body = await boundedText(response, backend);
  } catch (error) {
    if (signal?.aborted || error instanceof ToolFailure) throw error;
    const why = timeout.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : "connection failed";
    throw new ToolFailure(`${TITLES[backend]} is not reachable: ${why}`);
  }
  let json: any;
  try {
    json = JSON.parse(body);
  } catch {
    json = undefined;
  }
  if (status >= 400 || json?.status === "error") {
    const reason = json?.error ?? json?.message ?? json?.errors?.[0]?.msg ?? body.trim();
    throw new ToolFailure(`${TITLES[backend]}: ${String(reason).slice(0, 600) || `status ${status}`}`);
  }
  if (json === undefined) throw new ToolFailure(`${TITLES[backend]} did not answer with JSON`);
  return json;
}

/** The body, as long as it is within the bound; beyond that the connection is given up. */
async function boundedText(response: Response, backend: Backend): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (response.body === null) return "";
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_READ_BYTES) {
      const bound = `${MAX_READ_BYTES / 1024 / 1024} MiB`;
      throw new ToolFailure(
        `the answer of ${TITLES[backend]} is longer than ${bound}: ask for less, or a shorter time`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
