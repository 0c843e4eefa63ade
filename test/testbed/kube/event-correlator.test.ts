import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../../testbed/clock.js";
import { ApiServer } from "../../../testbed/kube/server.js";
import { Random } from "../../../testbed/random.js";

const START = Date.parse("2026-12-01T12:00:00Z");
const MINUTE = 60_000;

function server() {
  const clock = new VirtualClock(START);
  const api = new ApiServer({ clock, random: new Random("events") });
  const object = api.create("configmaps", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "x", namespace: "default" },
  });
  const say = (message: string, component = "kubelet") =>
    api.event(object, { type: "Normal", reason: "Said", message, component });
  const events = () =>
    api.list("events", "default").map(({ message, count, series }) => [message, count ?? series?.count ?? 1]);
  return { clock, api, say, events };
}

describe("events", () => {
  it("that are equal are counted, with the times of the first and the last", () => {
    const { clock, api, say } = server();
    say("a");
    clock.advance(MINUTE);
    say("a");
    expect(api.list("events", "default")).toMatchObject([
      { message: "a", count: 2, firstTimestamp: "2026-12-01T12:00:00Z", lastTimestamp: "2026-12-01T12:01:00Z" },
    ]);
  });

  it("that are similar are combined from the tenth message on", () => {
    const { say, events } = server();
    for (let i = 1; i <= 12; i++) say(`m${i}`);
    expect(events()).toHaveLength(10);
    expect(events()).toContainEqual(["m9", 1]);
    expect(events()).toContainEqual(["(combined from similar events): m12", 3]);
  });

  it("are held together only while they come close to each other", () => {
    const { clock, say, events } = server();
    for (let i = 1; i <= 9; i++) say(`m${i}`);
    clock.advance(11 * MINUTE);
    say("m10");
    expect(events()).toContainEqual(["m10", 1]);
  });

  it("of a component that talks too much are held back, and counted all the same", () => {
    const { clock, say, events } = server();
    for (let i = 0; i < 40; i++) say("a");
    expect(events()).toEqual([["a", 25]]);
    say("b", "job-controller");
    expect(events()).toContainEqual(["b", 1]);
    clock.advance(6 * MINUTE);
    say("a");
    expect(events()).toContainEqual(["a", 41]);
  });

  it("of the scheduler are neither combined nor held back, and carry a series", () => {
    const { say, events } = server();
    for (let i = 0; i < 40; i++) say("a", "default-scheduler");
    expect(events()).toEqual([["a", 40]]);
  });

  it("are gone an hour after they were last seen", () => {
    const { clock, say, events } = server();
    say("a");
    clock.advance(61 * MINUTE);
    say("b");
    expect(events()).toEqual([["b", 1]]);
  });
});
