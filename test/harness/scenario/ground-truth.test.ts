import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bareId, parseGroundTruth, readGroundTruth, readGroundTruths } from "../../../harness/scenario/index.js";
import { temporaryFolder } from "../support/fixtures.js";
import { SHARED, sharedIt } from "../support/shared.js";

const BODY = `
fault:
  - category: Change
    condition: wrong image
    fault_mechanism: image
    entity: { kind: Deployment, name: cart, group_id: cart }
alerts:
  - { id: HighRequestErrorRate, group_id: web, metadata: { description: errors } }
groups:
  - { id: cart, kind: Deployment, namespace: shop, filter: ["cart\\\\b"], root_cause: true }
  - { id: web, kind: Service, namespace: shop, name: web }
aliases:
  - [cart, web]
propagations:
  - { source: cart, target: web, condition: down, effect: errors }
`;
const indent = (text: string) => text.replace(/^(?=.)/gm, "  ");
const ACTIONS = "{ solution: { id: undo, actions: [undo it] } }";

const shapes: [string, string][] = [
  ["flat", `${BODY}recommended_actions: [${ACTIONS}]`],
  ["flat with metadata", `metadata: { version: v1 }\n${BODY}recommendedActions: [${ACTIONS}]`],
  [
    "with apiVersion and spec",
    `apiVersion: itbench.io/v1\nkind: GroundTruth\nmetadata: { name: scenario-1 }\nspec:${indent(BODY)}  recommendedActions: [${ACTIONS}]`,
  ],
];

describe("a ground truth", () => {
  it.each(shapes)("%s", (_what, source) => {
    const { truth, warnings, version } = parseGroundTruth(source);
    expect(version).toBe("v1");
    expect(warnings).toEqual([]);
    expect(truth.groups).toEqual([
      { id: "cart", kind: "Deployment", namespace: "shop", filter: ["cart\\b"], root_cause: true },
      { id: "web", kind: "Service", namespace: "shop", name: "web", root_cause: false },
    ]);
    expect(truth.propagations).toEqual([{ source: "cart", target: "web", condition: "down", effect: "errors" }]);
    expect(truth.aliases).toEqual([["cart", "web"]]);
    expect(truth.alerts[0]).toMatchObject({ id: "HighRequestErrorRate", group_id: "web" });
    expect(truth.recommended_actions[0]?.solution).toEqual({ id: "undo", actions: ["undo it"] });
    expect(truth.fault[0]?.entity).toEqual({ kind: "Deployment", name: "cart", group_id: "cart" });
  });

  it("v2: entities are the root causes, solutions come with it", () => {
    const { truth, solutions, version } = parseGroundTruth(`
apiVersion: itbench.io/v2
kind: GroundTruth
metadata: { name: scenario-1 }
spec:
  alerts: [{ name: KubePodNotReady, labels: { severity: critical } }]
  entities:
    - { apiVersion: apps/v1, kind: Deployment, metadata: { name: cart, namespace: shop } }
    - { apiVersion: v1, kind: Node, metadata: { name: node-1 } }
  solutions:
    - - steps: [{ command: kubectl undo, text: undo }]
      - steps: [{ text: edit }]
`);
    expect(version).toBe("v2");
    expect(truth.groups).toEqual([
      { id: "deployment/cart", kind: "Deployment", namespace: "shop", name: "cart", root_cause: true },
      { id: "node/node-1", kind: "Node", name: "node-1", root_cause: true },
    ]);
    expect(truth.alerts).toEqual([{ id: "KubePodNotReady", labels: { severity: "critical" } }]);
    expect(solutions).toEqual([
      [{ steps: [{ command: "kubectl undo", text: "undo" }] }, { steps: [{ text: "edit" }] }],
    ]);
  });

  const oddities: [string, string, string][] = [
    [
      "a propagation to nowhere",
      "groups: []\npropagations: [{ source: a, target: b }]",
      'names "a", which is no group',
    ],
    ["an alias of nothing", "groups: []\naliases: [[a, b]]", 'aliases names "b"'],
    ["an alias alone", "groups: [{ id: a, kind: Pod, name: a }]\naliases: [[a]]", '"a" stands alone'],
    ["an alert of no group", "groups: []\nalerts: [{ id: X, group_id: a }]", 'alert X names "a"'],
    ["no regular expression", 'groups: [{ id: a, kind: Pod, filter: ["*.*"] }]', '"*.*" is no regular expression'],
    ["a group twice", "groups: [{ id: a, kind: Pod, name: a }, { id: a, kind: Pod, name: b }]", "a is there twice"],
    ["a group without kind", "groups: [{ id: a, name: a }]", "group a has no kind"],
    ["a group without name", "groups: [{ id: a, kind: Pod }]", "neither name nor filter"],
    ["a propagation without target", "groups: []\npropagations: [{ source: a }]", "without `source` or `target`"],
    ["an entity without name", "entities: [{ kind: Pod, metadata: {} }]", "entities[0] has no name"],
  ];
  it.each(oddities)("warns and goes on: %s", (_what, source, warning) => {
    expect(parseGroundTruth(source, "x.yaml").warnings.join("\n")).toContain(warning);
  });

  it.each([
    ["filter as text", "groups: [{ id: a, kind: Pod, filter: a-.* }]", { filter: ["a-.*"] }],
    ["names that are numbers", "groups: [{ id: 1, kind: Pod, name: 2 }]", { id: "1", name: "2" }],
    ["root cause as text", 'groups: [{ id: a, kind: Pod, name: a, root_cause: "true" }]', { root_cause: true }],
    ["no id", "groups: [{ kind: Pod, name: a }]", { id: "group-1" }],
  ])("takes %s", (_what, source, group) => {
    expect(parseGroundTruth(source).truth.groups[0]).toMatchObject(group);
  });

  it.each(["", "[]", "a: 1", "just text", "groups: {}"])("refuses what is none: %j", (source) => {
    expect(() => parseGroundTruth(source, "x.yaml")).toThrow(/x\.yaml: is no ground truth/);
  });
  it("names the line of a syntax error", () => {
    expect(() => parseGroundTruth("groups:\n  - id: [a\n", "x.yaml")).toThrow(/x\.yaml:\d+: not valid YAML/);
    expect(() => parseGroundTruth('{"groups": [}', "x.json")).toThrow(/x\.json:1: not valid JSON/);
  });

  it.each([
    ["Scenario-1", "1"],
    ["scenario_01", "1"],
    ["scenario1", "1"],
    ["Incident-12", "12"],
    ["scenario-i3", "3"],
    ["sre-24", "24"],
    ["7", "7"],
    ["my-own", "my-own"],
  ])("the folder %s holds scenario %s", (name, id) => {
    expect(bareId(name)).toBe(id);
  });

  describe("containers", () => {
    const json = (name: string) => ({ groups: [{ id: name, kind: "Pod", name, root_cause: true }] });
    const rootsOf = (path: string) =>
      Object.fromEntries([...readGroundTruths(path)].map(([id, { truth }]) => [id, truth.groups[0]?.name]));
    const write = (path: string, value: unknown) => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      writeFileSync(path, text);
      return path;
    };
    it("one file", () => {
      const folder = temporaryFolder();
      expect(rootsOf(write(join(folder, "scenario_4.v1.json"), json("a")))).toEqual({ "4": "a" });
      const named = { apiVersion: "itbench.io/v1", metadata: { name: "scenario-9" }, spec: json("b") };
      expect(rootsOf(write(join(folder, "x.json"), named))).toEqual({ "9": "b" });
    });
    it("a list with ids", () => {
      const file = join(temporaryFolder(), "list.json");
      const list = [
        { id: 3, ...json("a") },
        { id: "Scenario-5", ground_truth: json("b") },
      ];
      expect(rootsOf(write(file, list))).toEqual({ "3": "a", "5": "b" });
    });
    it("a map by id, also as text", () => {
      const folder = temporaryFolder();
      const texts = { "Scenario-2": JSON.stringify(json("b")), "3": "groups:\n  - { id: c, kind: Pod, name: c }\n" };
      write(join(folder, "ground_truths.json"), { "1": json("a"), ...texts });
      expect(rootsOf(folder)).toEqual({ "1": "a", "2": "b", "3": "c" });
    });
    it("a folder of scenario folders", () => {
      const folder = temporaryFolder();
      const names = ["ground_truth.yaml", "ground_truth.yml", "ground_truth.json", "gt.yaml", "gt.json"];
      names.forEach((name, index) => {
        mkdirSync(join(folder, `Scenario-${index}`));
        write(join(folder, `Scenario-${index}`, name), json(name));
      });
      mkdirSync(join(folder, "notes"));
      expect(rootsOf(folder)).toEqual(Object.fromEntries(names.map((name, index) => [String(index), name])));
    });
    it("nothing there, or nothing in it", () => {
      expect(() => readGroundTruths("/nowhere/at/all")).toThrow(/no such file or folder/);
      expect(() => readGroundTruths(temporaryFolder())).toThrow(/holds no ground truth/);
    });
  });

  sharedIt("reads every file that there is", () => {
    const folder = join(SHARED, "data/itbench/groundtruth");
    for (const file of readdirSync(folder)) {
      const { truth, version } = readGroundTruth(join(folder, file));
      expect([file, version]).toEqual([file, file.includes(".v1.") ? "v1" : "v2"]);
      if (version === "v1") expect(truth.groups.length).toBeGreaterThan(0);
    }
  });
});
