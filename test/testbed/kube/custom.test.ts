import { beforeEach, describe, expect, it } from "vitest";
import { APPLY, bareServer, MERGE, STRATEGIC, TABLE } from "./api-harness.js";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget", shortNames: ["wg"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" } },
        additionalPrinterColumns: [
          { name: "Size", type: "integer", jsonPath: ".spec.size" },
          { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
        ],
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                required: ["colour"],
                properties: {
                  colour: { type: "string", enum: ["red", "blue"] },
                  size: { type: "integer", minimum: 1, default: 3 },
                  free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                  parts: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    items: {
                      type: "object",
                      required: ["name"],
                      properties: { name: { type: "string" }, n: { type: "integer" } },
                    },
                  },
                },
              },
              status: { type: "object", properties: { size: { type: "integer" } } },
            },
          },
        },
      },
      {
        name: "v2",
        served: true,
        storage: false,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};
const widget = (name: string, spec: object): any => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name },
  spec,
});

let server: ReturnType<typeof bareServer>;
beforeEach(async () => {
  server = bareServer();
  expect((await server.ask("POST", CRDS, definition)).status).toBe(201);
  server.clock.settle();
});

describe("custom resources", () => {
  it("are served once defined, in discovery too", async () => {
    const { status } = (await server.ask("GET", `${CRDS}/widgets.example.com`)).body;
    expect(status.conditions.map((c: any) => [c.type, c.status])).toEqual([
      ["NamesAccepted", "True"],
      ["Established", "True"],
    ]);
    expect(status.storedVersions).toEqual(["v1"]);
    const { resources } = (await server.ask("GET", "/apis/example.com/v1")).body;
    expect(resources.map((r: any) => r.name)).toEqual(["widgets", "widgets/status", "widgets/scale"]);
    const { body } = await server.ask("GET", "/openapi/v3/apis/example.com/v1");
    expect(body.components.schemas["com.example.v1.Widget"].properties.spec.properties.size.default).toBe(3);
  });

  it("are defaulted, pruned and checked by their schema", async () => {
    const made = await server.ask("POST", WIDGETS, widget("a", { colour: "red", other: 1, free: { x: { y: 1 } } }));
    expect(made.body.spec).toEqual({ colour: "red", size: 3, free: { x: { y: 1 } } });
    expect(made.warnings).toEqual(['unknown field "spec.other"']);
    expect(made.body.metadata.generation).toBe(1);
    const bad = await server.ask("POST", WIDGETS, widget("b", { colour: "green", size: 0 }));
    expect(bad.status).toBe(422);
    expect(bad.body.message).toContain('spec.colour: Unsupported value: "green": supported values: "red", "blue"');
    expect(bad.body.message).toContain(
      "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1",
    );
    expect((await server.ask("POST", WIDGETS, widget("c", {}))).body.message).toContain("spec.colour: Required value");
  });

  it("have tables, doors for status and scale, and apply", async () => {
    await server.ask("POST", WIDGETS, widget("a", { colour: "red" }));
    const table = (await server.ask("GET", WIDGETS, undefined, { accept: TABLE })).body;
    expect(table.columnDefinitions.map((c: any) => c.name)).toEqual(["Name", "Size", "Age"]);
    expect(table.rows[0].cells).toEqual(["a", 3, "0s"]);
    await server.ask("PATCH", `${WIDGETS}/a/scale`, { spec: { replicas: 5 } }, { type: MERGE });
    await server.ask("PATCH", `${WIDGETS}/a/status`, { status: { size: 5 }, spec: { size: 9 } }, { type: MERGE });
    const { body } = await server.ask("GET", `${WIDGETS}/a`);
    expect([body.spec.size, body.status.size]).toEqual([5, 5]);
    expect((await server.ask("PATCH", `${WIDGETS}/a`, {}, { type: STRATEGIC })).status).toBe(415);
    await server.ask(
      "PATCH",
      `${WIDGETS}/a?fieldManager=x`,
      widget("a", { colour: "red", parts: [{ name: "p", n: 1 }] }),
      { type: APPLY },
    );
    await server.ask(
      "PATCH",
      `${WIDGETS}/a?fieldManager=y`,
      widget("a", { colour: "red", parts: [{ name: "q", n: 2 }] }),
      { type: APPLY },
    );
    expect((await server.ask("GET", `${WIDGETS}/a`)).body.spec.parts.map((p: any) => p.name)).toEqual(["p", "q"]);
  });

  it("are the same object in every version", async () => {
    await server.ask("POST", WIDGETS, widget("a", { colour: "red" }));
    const other = await server.ask("GET", "/apis/example.com/v2/namespaces/default/widgets/a");
    expect(other.body).toMatchObject({ apiVersion: "example.com/v2", spec: { colour: "red", size: 3 } });
  });

  it("go with their definition", async () => {
    await server.ask("POST", WIDGETS, widget("a", { colour: "red" }));
    await server.ask("DELETE", `${CRDS}/widgets.example.com`);
    expect((await server.ask("GET", WIDGETS)).status).toBe(404);
    await server.ask("POST", CRDS, definition);
    server.clock.settle();
    expect((await server.ask("GET", WIDGETS)).body.items).toEqual([]);
  });

  it.each<[string, (d: any) => void, string]>([
    ["whose name does not fit", (d) => (d.metadata.name = "x.example.com"), 'must be spec.names.plural+"."+spec.group'],
    [
      "without a stored version",
      (d) => (d.spec.versions[0].storage = false),
      "must have exactly one version marked as storage version",
    ],
    [
      "without a schema",
      (d) => delete d.spec.versions[0].schema,
      "spec.versions[0].schema.openAPIV3Schema: Required value",
    ],
  ])("need a definition: not one %s", async (_, spoil, message) => {
    const bad: any = structuredClone(definition);
    bad.metadata.name = "gadgets.example.com";
    bad.spec.names = { plural: "gadgets", kind: "Gadget" };
    spoil(bad);
    const answer = await server.ask("POST", CRDS, bad);
    expect(answer.status).toBe(422);
    expect(answer.body.message).toContain(message);
  });
});
