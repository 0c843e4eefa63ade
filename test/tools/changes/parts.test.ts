import { describe, expect, it } from "vitest";
import { differences } from "../../../tools/changes/diff.js";
import { ownedFields } from "../../../tools/changes/fields.js";

describe("ownedFields", () => {
  const object = {
    metadata: { labels: { a: "1", "b.c/d": "2" } },
    spec: {
      containers: [{ name: "x", env: [{ name: "E", value: "v" }], ports: [{ containerPort: 80 }] }],
      list: ["p", "q"],
    },
    data: { "flags.json": "{}" },
  };
  it.each<[string, unknown, [string, unknown][]]>([
    ["a leaf", { "f:spec": { "f:list": {} } }, [["spec.list", ["p", "q"]]]],
    ["keys of a map", { "f:metadata": { "f:labels": { ".": {}, "f:b.c/d": {} } } }, [["metadata.labels[b.c/d]", "2"]]],
    [
      "only the map itself",
      { "f:metadata": { "f:labels": { ".": {} } } },
      [["metadata.labels", { a: "1", "b.c/d": "2" }]],
    ],
    [
      "an item by its key",
      {
        "f:spec": {
          "f:containers": { 'k:{"name":"x"}': { "f:env": { 'k:{"name":"E"}': { ".": {}, "f:value": {} } } } },
        },
      },
      [["spec.containers[x].env[E].value", "v"]],
    ],
    [
      "a key with a default",
      {
        "f:spec": {
          "f:containers": {
            'k:{"name":"x"}': { "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { "f:containerPort": {} } } },
          },
        },
      },
      [["spec.containers[x].ports[80,TCP].containerPort", 80]],
    ],
    ["a value of a set", { "f:spec": { "f:list": { 'v:"q"': {} } } }, [['spec.list["q"]', "q"]]],
    ["a key with a dot", { "f:data": { "f:flags.json": {} } }, [["data[flags.json]", "{}"]]],
    ["what is no longer there", { "f:spec": { "f:gone": { "f:a": {} } } }, [["spec.gone.a", undefined]]],
    ["nothing", undefined, []],
    ["broken keys", { "f:spec": { "k:{oops": { "f:a": {} } } }, [["spec[{oops].a", undefined]]],
  ])("%s", (_name, fields, found) => {
    expect(ownedFields(object, fields).map(({ path, value }) => [path, value])).toEqual(found);
  });
});

describe("differences", () => {
  it.each<[string, unknown, unknown, object[]]>([
    ["equal", { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, []],
    ["a value", { a: 1 }, { a: 2 }, [{ path: "a", before: 1, after: 2 }]],
    [
      "more and less",
      { a: 1 },
      { b: null },
      [
        { path: "a", before: 1 },
        { path: "b", after: null },
      ],
    ],
    [
      "an item by name, whatever its place",
      { c: [{ name: "x", v: 1 }, { name: "y" }] },
      { c: [{ name: "y" }, { name: "x", v: 2 }] },
      [{ path: "c[x].v", before: 1, after: 2 }],
    ],
    ["an item that is new", { c: [] }, { c: [{ name: "x" }] }, [{ path: "c[x]", after: { name: "x" } }]],
    ["plain lists as a whole", { c: ["a", "b"] }, { c: ["a"] }, [{ path: "c", before: ["a", "b"], after: ["a"] }]],
    ["a key with dots", { "a.b/c": 1 }, { "a.b/c": 2 }, [{ path: "a.b/c", before: 1, after: 2 }]],
    [
      "a key with dots below",
      { x: { "a.b/c": 1 } },
      { x: { "a.b/c": 2 } },
      [{ path: "x[a.b/c]", before: 1, after: 2 }],
    ],
    [
      "names that repeat, by place",
      [
        { name: "x", v: 1 },
        { name: "x", v: 2 },
      ],
      [
        { name: "x", v: 1 },
        { name: "x", v: 3 },
      ],
      [{ path: "[1].v", before: 2, after: 3 }],
    ],
  ])("%s", (_name, before, after, found) => expect(differences(before, after)).toEqual(found));
});
