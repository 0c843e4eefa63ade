import { afterEach, describe, expect, it } from "vitest";
import { createNl2Traces } from "../../../tools/index.js";
import { json, serve, type TestServer } from "../../support/http.js";
import { toolContext } from "../../support/tool-context.js";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const trace = {
  traceID: "abc",
  spans: [{ traceID: "abc", spanID: "1", operationName: "GET /", startTime: 1e15, duration: 1000, processID: "p1" }],
  processes: { p1: { serviceName: "frontend" } },
};

async function jaeger(traces: (search: URLSearchParams) => unknown[]): Promise<string> {
  server = await serve(({ url }, response) => {
    const operations = /^\/api\/services\/(.*)\/operations$/.exec(url.pathname)?.[1];
    if (operations !== undefined) return json(response, { data: ["GET /", "POST /cart"] });
    if (url.pathname === "/api/services") return json(response, { data: ["frontend", "cart"] });
    if (url.pathname === "/api/dependencies") {
      return json(response, {
        data: [
          { parent: "frontend", child: "cart", callCount: 7 },
          { parent: "a", child: "b", callCount: 1 },
        ],
      });
    }
    return json(response, { data: traces(url.searchParams) });
  });
  return server.url;
}

describe("nl2traces", () => {
  it("searches with the parameters given", async () => {
    const context = toolContext(await jaeger(() => [trace]));
    const input = { service: "frontend", errors_only: true, minutes: 10, limit: 5, min_duration: "500ms" };
    const text = await createNl2Traces(context).invoke(input);
    expect(text).toContain("traces of service frontend, tags error=true, at least 500ms, last 10 minutes, at most 5");
    expect(text).toContain("frontend: GET /");
    const search = server!.requests.at(-1)!.url.searchParams;
    expect(Object.fromEntries(search)).toMatchObject({
      service: "frontend",
      tags: '{"error":"true"}',
      limit: "5",
      minDuration: "500ms",
    });
    expect(Number(search.get("end")) - Number(search.get("start"))).toBe(600_000_000);
  });

  it("has a question written as parameters", async () => {
    const context = toolContext(await jaeger(() => [trace]), [
      '{"service": "cart", "errors_only": true, "minutes": "30"}',
    ]);
    expect(await createNl2Traces(context).invoke({ question: "failing calls of cart?" })).toContain(
      "service cart, tags error=true, last 30 minutes",
    );
  });

  it("shows one trace, or who calls whom", async () => {
    const context = toolContext(await jaeger(() => [trace]));
    expect(await createNl2Traces(context).invoke({ trace_id: "abc" })).toContain("1 trace of this shape");
    expect(server!.requests.at(-1)!.url.pathname).toBe("/api/traces/abc");
    expect(await createNl2Traces(context).invoke({ dependencies: true, service: "cart" })).toBe("frontend -> cart (7)");
  });

  it.each([
    { input: { service: "front-end" }, says: 'no service "front-end" sends traces; did you mean frontend' },
    {
      input: { service: "frontend", operation: "GET" },
      says: 'frontend has no operation "GET"; did you mean GET /?; its operations: GET /, POST /cart',
    },
    { input: { service: "frontend", min_duration: "half a second" }, says: "is not a duration" },
    { input: { trace_id: "xyz" }, says: "is not a trace id" },
    { input: {}, says: '"question"' },
  ])("does not search for $input: $says", async ({ input, says }) => {
    const context = toolContext(await jaeger(() => []));
    await expect(createNl2Traces(context).invoke(input)).rejects.toThrow(says);
  });

  it("an empty result says whether the service has traces at all", async () => {
    const none = toolContext(await jaeger(() => []));
    expect(await createNl2Traces(none).invoke({ service: "cart" })).toContain("cart has none at all in the last 15m");
    await server!.close();
    const some = toolContext(await jaeger((search) => (search.has("tags") ? [] : [trace])));
    expect(await createNl2Traces(some).invoke({ service: "cart", errors_only: true })).toContain(
      "none that fit; its operations",
    );
  });
});
