import { describe, expect, it } from "vitest";
import { jsonPatch, mergePatch, PatchError } from "../../../../testbed/kube/patch/simple.js";
import { strategicPatch } from "../../../../testbed/kube/patch/strategic.js";
import { schemaTable } from "../../../../testbed/kube/schema/table.js";

describe("JSON patch", () => {
  const target = { a: { b: [1, 2, 3] }, "x/y": 1, "t~": 2 };
  it.each<[object[], object]>([
    // As a real server does: replacing what is not there adds it, and what stands before the first slash is ignored.
    [[{ op: "replace", path: "/new", value: 9 }], { ...target, new: 9 }],
    [[{ op: "add", path: "zzz/new", value: 9 }], { ...target, new: 9 }],
    [[{ op: "replace", path: "/a/b/0", value: 9 }], { ...target, a: { b: [9, 2, 3] } }],
    [[{ op: "add", path: "/a/b/-", value: 4 }], { ...target, a: { b: [1, 2, 3, 4] } }],
    [[{ op: "add", path: "/a/b/1", value: 7 }], { ...target, a: { b: [1, 7, 2, 3] } }],
    [[{ op: "remove", path: "/a/b/-1" }], { ...target, a: { b: [1, 2] } }],
    [[{ op: "remove", path: "/x~1y" }], { a: target.a, "t~": 2 }],
    [[{ op: "replace", path: "/t~0", value: 3 }], { ...target, "t~": 3 }],
    [[{ op: "move", from: "/t~0", path: "/m" }], { a: target.a, "x/y": 1, m: 2 }],
    [[{ op: "copy", from: "/a/b/0", path: "/c" }], { ...target, c: 1 }],
    [[{ op: "test", path: "/x~1y", value: 1 }], target],
  ])("%j", (operations, expected) => {
    expect(jsonPatch(target, operations as any)).toEqual(expected);
  });
  it.each<[object]>([
    [{ op: "test", path: "/x~1y", value: 2 }],
    [{ op: "remove", path: "/nope" }],
    [{ op: "add", path: "/no/way", value: 1 }],
    [{ op: "add", path: "/a/b/9", value: 1 }],
    [{ op: "move", from: "/nope", path: "/m" }],
    [{ op: "frobnicate", path: "/a" }],
  ])("%j does not apply, and changes nothing", (operation) => {
    const before = structuredClone(target);
    expect(() => jsonPatch(target, [operation as any])).toThrow(PatchError);
    expect(target).toEqual(before);
  });
});

describe("what objects inherit", () => {
  const target = { a: {} };
  it.each([
    ["/__proto__/x", "add"],
    ["/a/__proto__/x", "add"],
    ["/constructor/prototype/x", "add"],
    ["/a/constructor/prototype/x", "replace"],
    ["/toString/x", "add"],
    ["/__proto__", "add"],
    ["/a/__proto__", "replace"],
    ["/__proto__/toString", "remove"],
    ["/a/toString", "remove"],
  ])("cannot be reached by %s (%s)", (path, op) => {
    expect(() => jsonPatch(target, [{ op, path, value: { y: 1 } }])).toThrow(PatchError);
    expect(() => jsonPatch(target, [{ op: "copy", from: path, path: "/b" }])).toThrow(PatchError);
    expect(({} as any).x).toBeUndefined();
    expect({}.toString()).toBe("[object Object]");
  });

  it("cannot be reached by a merge patch", () => {
    const patch = JSON.parse('{"__proto__": {"x": 1}}');
    expect(() => mergePatch(target, patch)).toThrow(PatchError);
    expect(mergePatch(target, JSON.parse('{"constructor": {"prototype": {"x": 1}}}'))).toEqual({
      a: {},
      constructor: { prototype: { x: 1 } },
    });
    expect(({} as any).x).toBeUndefined();
  });
});

describe("merge patch", () => {
  it.each<[object, object, object]>([
    [{ a: 1 }, { a: null }, {}],
    [{ a: { b: 1, c: 2 } }, { a: { b: null } }, { a: { c: 2 } }],
    [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
    [{ a: "x" }, { a: { b: 1 } }, { a: { b: 1 } }],
    [{}, { a: { b: null } }, { a: {} }],
  ])("%j after %j", (target, patch, expected) => {
    expect(mergePatch(target, patch)).toEqual(expected);
  });
});

describe("strategic merge patch", () => {
  const pod = schemaTable().kind("", "v1", "Pod")!;
  const spec = (value: object): any => ({ spec: value });
  const two = spec({
    containers: [
      {
        name: "a",
        image: "1",
        env: [
          { name: "X", value: "1" },
          { name: "Y", value: "2" },
        ],
      },
      { name: "b", image: "2" },
    ],
  });
  it.each<[string, any, any, any]>([
    [
      "merges by key",
      two,
      spec({ containers: [{ name: "b", image: "3" }] }),
      spec({ containers: [{ ...two.spec.containers[0] }, { name: "b", image: "3" }] }),
    ],
    [
      "deletes an item",
      two,
      spec({ containers: [{ name: "a", $patch: "delete" }] }),
      spec({ containers: [{ name: "b", image: "2" }] }),
    ],
    [
      "replaces a list",
      two,
      spec({ containers: [{ $patch: "replace" }, { name: "c", image: "4" }] }),
      spec({ containers: [{ name: "c", image: "4" }] }),
    ],
    [
      "puts new items of a patch without an order first",
      spec({ containers: [{ name: "a" }] }),
      spec({ containers: [{ name: "n" }] }),
      spec({ containers: [{ name: "n" }, { name: "a" }] }),
    ],
    [
      "follows the order asked for",
      two,
      spec({ "$setElementOrder/containers": [{ name: "b" }, { name: "a" }], containers: [{ name: "b", image: "9" }] }),
      spec({ containers: [{ name: "b", image: "9" }, two.spec.containers[0]] }),
    ],
    [
      "follows an order alone",
      two,
      spec({ "$setElementOrder/containers": [{ name: "b" }, { name: "a" }] }),
      spec({ containers: [{ name: "b", image: "2" }, two.spec.containers[0]] }),
    ],
    [
      "deletes from a list of strings",
      { metadata: { finalizers: ["x", "y"] } },
      { metadata: { "$deleteFromPrimitiveList/finalizers": ["x"] } },
      { metadata: { finalizers: ["y"] } },
    ],
    [
      "adds to a merged list of strings",
      { metadata: { finalizers: ["x"] } },
      { metadata: { finalizers: ["y"], "$setElementOrder/finalizers": ["x", "y"] } },
      { metadata: { finalizers: ["x", "y"] } },
    ],
    [
      "replaces a list that does not merge",
      spec({ tolerations: [{ key: "a" }] }),
      spec({ tolerations: [{ key: "b" }] }),
      spec({ tolerations: [{ key: "b" }] }),
    ],
    [
      "removes with null",
      { metadata: { labels: { a: "1", b: "2" } } },
      { metadata: { labels: { a: null } } },
      { metadata: { labels: { b: "2" } } },
    ],
    [
      "replaces a map",
      { metadata: { labels: { a: "1" } } },
      { metadata: { labels: { $patch: "replace", b: "2" } } },
      { metadata: { labels: { b: "2" } } },
    ],
    [
      "keeps only retained keys",
      { spec: { volumes: [{ name: "v", emptyDir: {} }] } },
      { spec: { volumes: [{ name: "v", $retainKeys: ["name", "configMap"], configMap: { name: "c" } }] } },
      { spec: { volumes: [{ name: "v", configMap: { name: "c" } }] } },
    ],
  ])("%s", (_, original, patch, expected) => {
    const before = structuredClone(original);
    expect(strategicPatch(original, patch, pod)).toEqual(expected);
    expect(original).toEqual(before);
  });
  it("refuses an item without its key", () => {
    expect(() => strategicPatch(two, spec({ containers: [{ image: "x" }] }), pod)).toThrow(
      /does not contain declared merge key: name/,
    );
  });
});
