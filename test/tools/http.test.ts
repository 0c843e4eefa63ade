import { afterEach, expect, it } from "vitest";
import { getJson, MAX_READ_BYTES } from "../../tools/http.js";
import { closedPort, serve, type TestServer } from "../support/http.js";
import { toolContext } from "../support/tool-context.js";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

it.each([200, 500])("a backend that never stops sending is cut off (status %i)", async (status) => {
  let sent = 0;
  const block = "x".repeat(64 * 1024);
  server = await serve((_request, response) => {
    response.on("error", () => undefined);
    response.writeHead(status);
    const more = () => {
      for (let free = true; free && !response.destroyed; ) {
        sent += block.length;
        free = response.write(block);
      }
    };
    response.on("drain", more);
    more();
  });
  await expect(getJson(toolContext(server.url).endpoints, "loki", "/x")).rejects.toThrow(
    "the answer of Loki is longer than 32 MiB: ask for less, or a shorter time",
  );
  expect(sent).toBeLessThan(MAX_READ_BYTES + 8 * 1024 * 1024);
});

it("names the backend that is not there", async () => {
  const url = await closedPort();
  await expect(getJson(toolContext(url).endpoints, "jaeger", "/x")).rejects.toThrow(
    "Jaeger is not reachable: connection failed",
  );
});
