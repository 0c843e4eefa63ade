/** Templates that make much of little are stopped; those that people write are not. */
import { describe, expect, it } from "vitest";
import { printGoTemplate } from "../../../tools/kubectl/printers/go-template.js";
import { JsonPath } from "../../../tools/kubectl/printers/jsonpath.js";

const labels = (i: number) => Object.fromEntries(Array.from({ length: 20 }, (_, j) => [`key${j}`, `value ${i}`]));
/** As many pods as a large namespace has. */
const list = {
  kind: "List",
  items: Array.from({ length: 1000 }, (_, i) => ({
    metadata: { name: `pod-${i}`, labels: labels(i) },
    spec: { containers: [{ name: "a", env: [{ name: "X", value: "y" }] }] },
  })),
};

describe("go-template", () => {
  it.each([
    "{{range .items}}{{range $.items}}{{.metadata}}{{end}}{{end}}",
    "{{range .items}}{{range $.items}}{{range $.items}}{{end}}{{end}}{{end}}",
  ])("stops %s", (template) => {
    expect(() => printGoTemplate(template, list)).toThrow(/more than .*: (choose|name)/);
  });

  it("lets a loop over all fields of all objects pass", () => {
    const template =
      "{{range .items}}{{.metadata.name}}{{range $k, $v := .metadata.labels}} {{$k}}={{$v}}{{end}}\n{{end}}";
    expect(printGoTemplate(template, list).split("\n")).toHaveLength(1001);
  });
});

describe("jsonpath", () => {
  it.each([
    ["all objects, time and again", "{.items}".repeat(200)],
    ["everything below them, time and again", "{..}".repeat(200)],
  ])("stops what prints %s", (_name, template) => {
    expect(() => new JsonPath(template).print(list)).toThrow(/more than .*: (choose|name)/);
  });

  it.each([
    "{..name}",
    "{range .items[*]}{.metadata.name} {.metadata.labels}\n{end}",
    "{.items[*].spec.containers[*].env[*].value}",
  ])("lets %s pass", (template) => expect(new JsonPath(template).print(list).length).toBeGreaterThan(1000));
});
