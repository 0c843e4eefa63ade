import { describe, expect, it } from "vitest";
import { bareServer, CORE, pod, START } from "../api-harness.js";

const lines = (n: number) =>
  Array.from({ length: n }, (_, i) => ({ timeMs: START - (n - i) * 1000, line: `line ${i}` }));

async function setup() {
  const log = { now: lines(10), before: lines(2) };
  const server = bareServer({
    podLogs: ({ previous, container }) => (container === "c" ? (previous ? log.before : log.now) : []),
  });
  await server.ask("POST", `${CORE}/pods`, pod("p", { nodeName: "n" }));
  await server.ask(
    "POST",
    `${CORE}/pods`,
    pod("two", {
      nodeName: "n",
      containers: [
        { name: "c", image: "i" },
        { name: "d", image: "i" },
      ],
      initContainers: [{ name: "e", image: "i" }],
    }),
  );
  const running = (name: string, extra: object = {}) =>
    server.api.modify(
      "pods",
      "default",
      name,
      (draft) => {
        draft.status = {
          phase: "Running",
          containerStatuses: [
            {
              name: "c",
              ready: true,
              restartCount: 0,
              image: "i",
              imageID: "",
              lastState: {},
              state: { running: { startedAt: "2026-12-01T11:00:00Z" } },
              ...extra,
            },
          ],
        };
      },
      { subresource: "status" },
    );
  return {
    server,
    log,
    running,
    get: (query: string, name = "p") => server.ask("GET", `${CORE}/pods/${name}/log${query}`),
  };
}

describe("logs", () => {
  it("are cut as asked", async () => {
    const { get, running } = await setup();
    running("p");
    expect((await get("")).body.split("\n")).toHaveLength(11);
    expect((await get("?tailLines=2")).body).toBe("line 8\nline 9\n");
    expect((await get("?tailLines=0")).body).toBe("");
    expect((await get("?sinceSeconds=3")).body).toBe("line 7\nline 8\nline 9\n");
    expect((await get("?sinceTime=2026-12-01T11:59:58Z")).body).toBe("line 8\nline 9\n");
    expect((await get("?limitBytes=9")).body).toBe("line 0\nli");
    expect((await get("?tailLines=1&timestamps=true")).body).toBe("2026-12-01T11:59:59.000000000Z line 9\n");
  });

  it("of the container before", async () => {
    const { get, running } = await setup();
    running("p");
    expect((await get("?previous=true")).body.message).toBe('previous terminated container "c" in pod "p" not found');
    running("p", { lastState: { terminated: { exitCode: 1 } } });
    expect((await get("?previous=true")).body).toBe("line 0\nline 1\n");
  });

  it.each<[string, string, object | undefined, string]>([
    ["p", "?container=x", undefined, "container x is not valid for pod p"],
    [
      "two",
      "",
      undefined,
      "a container name must be specified for pod two, choose one of: [c d] or one of the init containers: [e]",
    ],
    [
      "p",
      "",
      { state: { waiting: { reason: "ImagePullBackOff" } } },
      'container "c" in pod "p" is waiting to start: trying and failing to pull image',
    ],
    [
      "p",
      "",
      { state: { waiting: { reason: "ContainerCreating" } } },
      'container "c" in pod "p" is waiting to start: ContainerCreating',
    ],
  ])("of %s%s are refused", async (name, query, state, message) => {
    const { get, running } = await setup();
    if (state) running(name, state);
    expect(await get(query, name)).toMatchObject({ status: 400, body: { message } });
  });

  it("of no pod", async () => {
    const { get } = await setup();
    expect((await get("", "nope")).body.message).toBe('pods "nope" not found');
  });

  it("follow, without losing or repeating a line, until the container ends", async () => {
    const { server, log, running } = await setup();
    running("p");
    const response = await server.api.handle({
      method: "GET",
      path: `${CORE}/pods/p/log`,
      query: new URLSearchParams("follow=true&tailLines=1"),
      headers: { authorization: "Bearer admin" },
    });
    let text = "";
    let ended = false;
    response.stream!(
      (chunk) => {
        text += chunk;
      },
      () => {
        ended = true;
      },
    );
    expect(text).toBe("line 9\n");
    log.now.push({ timeMs: START, line: "a" }, { timeMs: START, line: "b" });
    server.clock.advance(600);
    log.now.push({ timeMs: START, line: "c" });
    log.now.splice(0, 5);
    server.clock.advance(600);
    expect(text).toBe("line 9\na\nb\nc\n");
    server.api.delete("pods", "default", "p", { gracePeriodSeconds: 0 });
    server.clock.advance(600);
    expect(ended).toBe(true);
  });
});
