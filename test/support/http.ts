/** Small HTTP servers for tests. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Recorded {
  method: string;
  url: URL;
  headers: IncomingMessage["headers"];
  body: any;
}

export interface TestServer {
  url: string;
  requests: Recorded[];
  close(): Promise<void>;
}

/** Serves with `handle` on a free port of 127.0.0.1; `n` counts requests from 1. */
export async function serve(
  handle: (request: Recorded, response: ServerResponse, n: number) => void | Promise<void>,
): Promise<TestServer> {
  const requests: Recorded[] = [];
  const server = createServer(async (message, response) => {
    let text = "";
    for await (const chunk of message) text += chunk;
    let body: unknown = text;
    try {
      body = JSON.parse(text);
    } catch {
      // Not every request has a JSON body.
    }
    const recorded = {
      method: message.method ?? "",
      url: new URL(message.url ?? "/", "http://test"),
      headers: message.headers,
      body,
    };
    requests.push(recorded);
    await handle(recorded, response, requests.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export function json(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(value));
}

/** An address where nothing listens. */
export async function closedPort(): Promise<string> {
  const server = await serve(() => undefined);
  await server.close();
  return server.url;
}
