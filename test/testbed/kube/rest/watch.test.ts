import { beforeEach, describe, expect, it } from "vitest";
import { bareServer, CORE, configMap, MERGE } from "../api-harness.js";

let server: ReturnType<typeof bareServer>;
const make = (name: string, labels: object = {}) =>
  server.ask("POST", `${CORE}/configmaps`, configMap(name, {}, { labels }));
const label = (name: string, labels: object) =>
  server.ask("PATCH", `${CORE}/configmaps/${name}`, { metadata: { labels } }, { type: MERGE });
const short = (events: any[]) => events.map((e) => `${e.type} ${e.object.metadata.name ?? ""}`.trim());

beforeEach(() => {
  server = bareServer();
});

describe("watch", () => {
  it("starts with what is there, then follows", async () => {
    await make("a");
    const w = await server.watch(`${CORE}/configmaps?watch=1`);
    await make("b");
    await label("a", { x: "1" });
    await server.ask("DELETE", `${CORE}/configmaps/b`);
    expect(short(w.events)).toEqual(["ADDED a", "ADDED b", "MODIFIED a", "DELETED b"]);
    w.stop();
    await make("c");
    expect(w.events).toHaveLength(4);
  });

  it("starts after a revision, and says so when that is too old", async () => {
    await make("a");
    const { resourceVersion } = (await server.ask("GET", `${CORE}/configmaps`)).body.metadata;
    await make("b");
    const w = await server.watch(`${CORE}/configmaps?watch=1&resourceVersion=${resourceVersion}`);
    expect(short(w.events)).toEqual(["ADDED b"]);
    for (let i = 0; i < 4200; i++)
      server.api.modify("configmaps", "default", "a", (d: any) => (d.data = { i: String(i) }));
    const old = await server.ask("GET", `${CORE}/configmaps?watch=1&resourceVersion=${resourceVersion}`);
    expect(old).toMatchObject({
      status: 410,
      body: { reason: "Expired", message: expect.stringContaining("too old resource version") },
    });
    w.stop();
  });

  it("turns a change of labels into coming and going", async () => {
    await make("a", { in: "no" });
    const w = await server.watch(`${CORE}/configmaps?watch=1&labelSelector=in%3Dyes`);
    await label("a", { in: "yes" });
    await label("a", { other: "1" });
    await label("a", { in: "no" });
    expect(short(w.events)).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
    w.stop();
  });

  it("marks the end of the initial events, sends bookmarks, and ends in time", async () => {
    await make("a");
    const w = await server.watch(
      `${CORE}/configmaps?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=150`,
    );
    expect(short(w.events)).toEqual(["ADDED a", "BOOKMARK"]);
    expect(w.events[1].object.metadata.annotations).toEqual({ "k8s.io/initial-events-end": "true" });
    server.clock.advance(61_000);
    expect(short(w.events).at(-1)).toBe("BOOKMARK");
    expect(w.ended()).toBe(false);
    server.clock.advance(100_000);
    expect(w.ended()).toBe(true);
  });

  it("sees one namespace only", async () => {
    await server.ask("POST", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "other" },
    });
    const w = await server.watch("/api/v1/namespaces/other/configmaps?watch=1");
    await make("a");
    await server.ask("POST", "/api/v1/namespaces/other/configmaps", configMap("b"));
    expect(short(w.events)).toEqual(["ADDED b"]);
    w.stop();
  });
});

describe("in process", () => {
  it("hears of every change in order, with what was before", () => {
    const heard: string[] = [];
    const stop = server.api.watch("configmaps", (e) =>
      heard.push(`${e.type} ${e.revision} ${(e.previous as any)?.data?.k ?? "-"}`),
    );
    const base = server.api.store.revision;
    server.api.create("configmaps", configMap("a", { k: "1" }, { namespace: "default" }));
    server.api.modify("configmaps", "default", "a", (d: any) => {
      d.data.k = "2";
    });
    server.api.modify("configmaps", "default", "a", () => {});
    server.api.delete("configmaps", "default", "a");
    expect(heard).toEqual([`ADDED ${base + 1} -`, `MODIFIED ${base + 2} 1`, `DELETED ${base + 3} 2`]);
    stop();
    expect(server.api.modify("configmaps", "default", "gone", () => {})).toBeUndefined();
    expect(server.api.delete("configmaps", "default", "gone")).toBeUndefined();
  });

  it("never changes an object that was handed out", () => {
    server.api.create("configmaps", configMap("a", { k: "1" }, { namespace: "default" }));
    const before = server.api.get("configmaps", "default", "a")!;
    const copy = structuredClone(before);
    const list = server.api.list("configmaps", "default");
    server.api.modify("configmaps", "default", "a", (d: any) => {
      d.data.k = "2";
      d.metadata.labels = { x: "y" };
    });
    expect(before).toEqual(copy);
    expect(list[0]).toBe(before);
    expect(server.api.list("configmaps", "default")[0]).not.toBe(before);
  });

  it("is the same for the same seed", () => {
    const run = () => {
      const { api } = bareServer();
      api.create("pods", {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { generateName: "p-", namespace: "default", name: "" },
        spec: { containers: [{ name: "c", image: "i" }] },
      });
      api.create("services", {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "s", namespace: "default" },
        spec: { type: "NodePort", ports: [{ port: 80 }] },
      });
      return JSON.stringify([...api.list("pods"), ...api.list("services"), ...api.list("namespaces")]);
    };
    expect(run()).toBe(run());
  });
});
