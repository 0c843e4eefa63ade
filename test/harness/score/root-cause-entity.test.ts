import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type Entity,
  formatEntity,
  type GroundTruth,
  type Group,
  readGroundTruth,
} from "../../../harness/scenario/index.js";
import { diagnosis, rootCauseEntity } from "../../../harness/score/index.js";
import { SHARED, sharedIt } from "../support/shared.js";

function truth(groups: Partial<Group>[], aliases: string[][] = []): GroundTruth {
  return {
    fault: [],
    alerts: [],
    groups: groups.map((group, index) => ({
      id: `g${index + 1}`,
      kind: "Deployment",
      namespace: "shop",
      root_cause: true,
      ...group,
    })),
    aliases,
    propagations: [],
    recommended_actions: [],
  };
}

const matching: [string, Partial<Group>, string, boolean][] = [
  ["kind in another case", { name: "cart" }, "shop/deployment/cart", true],
  ["another kind", { name: "cart" }, "shop/Service/cart", false],
  ["another namespace", { name: "cart" }, "other/Deployment/cart", false],
  ["no namespace said", { name: "cart" }, "Deployment/cart", false],
  ["a group without namespace", { name: "cart", namespace: undefined }, "other/Deployment/cart", true],
  ["a cluster-scoped kind", { kind: "Node", namespace: undefined, name: "node-1" }, "/Node/node-1", true],
  ["a name that only begins alike", { name: "cart" }, "shop/Deployment/cart-2", false],
  ["a filter that ends at a word's end", { filter: ["cart\\b"] }, "shop/Deployment/cart", true],
  ["a filter is anchored at its end", { filter: ["cart\\b"] }, "shop/Deployment/cart-2", false],
  ["a filter is anchored at its start", { filter: ["cart\\b"] }, "shop/Deployment/valkey-cart", false],
  ["a filter with a suffix", { filter: ["cart-.*"] }, "shop/Deployment/cart-7d9f", true],
  ["a filter with a suffix needs it", { filter: ["cart-.*"] }, "shop/Deployment/cart", false],
  ["either side of an alternation", { filter: ["cart|web"] }, "shop/Deployment/website", false],
  ["one filter of several", { filter: ["web", "cart"] }, "shop/Deployment/cart", true],
  ["filter or name", { name: "cart", filter: ["web"] }, "shop/Deployment/cart", true],
  ["anchors of its own", { filter: ["^cart-[a-z0-9]+$"] }, "shop/Deployment/cart-a1", true],
  ["an inline flag as Python has it", { filter: ["(?i)CART"] }, "shop/Deployment/cart", true],
  ["anchors as Python has them", { filter: ["\\Acart\\Z"] }, "shop/Deployment/cart", true],
  ["an invalid filter, literally", { filter: ["*.*"] }, "shop/Deployment/*.*", true],
  ["an invalid filter matches nothing else", { filter: ["*.*"] }, "shop/Deployment/cart", false],
  ["an unbalanced filter is invalid", { filter: ["a)(b"] }, "shop/Deployment/a", false],
  ["dots are dots in names", { name: "a.b" }, "shop/Deployment/axb", false],
  ["blanks around it", { name: "cart" }, " shop / Deployment / cart ", true],
  ["no entity at all", { name: "cart" }, "the cart", false],
];

describe("root_cause_entity", () => {
  it.each(matching)("%s", (_what, group, predicted, right) => {
    const score = rootCauseEntity(truth([group]), [predicted]);
    expect([score.precision, score.recall, score.f1]).toEqual(right ? [1, 1, 1] : [0, 0, 0]);
  });

  it("reports filters that are no regular expressions", () => {
    expect(rootCauseEntity(truth([{ filter: ["*.*", "fine"] }]), []).warnings).toEqual([
      expect.stringContaining('group g1: "*.*" is no regular expression, matched literally'),
    ]);
  });

  const two = truth([{ name: "a" }, { name: "b" }]);
  const aliased = truth(
    [
      { id: "deployment", name: "a" },
      { id: "replicaset", kind: "ReplicaSet", filter: ["a-.*"], root_cause: false },
      { id: "pod", kind: "Pod", filter: ["a-.*-.*"], root_cause: false },
      { id: "b", name: "b" },
      { id: "c", name: "c", root_cause: false },
    ],
    [["deployment", "replicaset"], ["pod", "replicaset"], ["c"], ["b", "gone"]],
  );
  const figures: [string, GroundTruth, string[], [number, number]][] = [
    ["both", two, ["shop/Deployment/b", "shop/Deployment/a"], [1, 1]],
    ["one of two", two, ["shop/Deployment/a"], [1, 1 / 2]],
    ["one and a wrong one", two, ["shop/Deployment/a", "shop/Deployment/x"], [1 / 2, 1 / 2]],
    ["the same twice", two, ["shop/Deployment/a", "shop/deployment/a"], [1, 1 / 2]],
    ["an alias", aliased, ["shop/Pod/a-1-2"], [1, 1 / 2]],
    ["an alias of an alias, and the other", aliased, ["shop/Pod/a-1-2", "shop/Deployment/b"], [1, 1]],
    ["a root cause and its alias count once", aliased, ["shop/Pod/a-1-2", "shop/Deployment/a"], [1, 1 / 2]],
    [
      "one that two root causes match",
      truth([{ filter: ["a.*"] }, { filter: [".*b"] }]),
      ["shop/Deployment/ab"],
      [1, 1],
    ],
    ["a group that is no root cause", aliased, ["shop/Deployment/c"], [0, 0]],
    ["nothing", two, [], [0, 0]],
    ["something where there is nothing", truth([]), ["shop/Deployment/a"], [0, 0]],
  ];
  it.each(figures)("%s", (_what, ground, predicted, [precision, recall]) => {
    const score = rootCauseEntity(ground, predicted);
    expect(score.precision).toBeCloseTo(precision);
    expect(score.recall).toBeCloseTo(recall);
    expect(score.f1).toBeCloseTo(precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall));
  });

  it("takes the first k, and divides by the number taken", () => {
    const score = rootCauseEntity(two, ["x/Deployment/x", "shop/Deployment/a", "shop/Deployment/b"]);
    expect(score.at[1]).toEqual({ precision: 0, recall: 0, f1: 0 });
    expect(score.at[2]).toMatchObject({ precision: 1 / 2, recall: 1 / 2 });
    expect(score.at[3]).toMatchObject({ precision: 2 / 3, recall: 1 });
    expect(score.at[5]).toEqual(score.at[3]);
  });

  it("stays within bounds whatever is predicted, and never falls when a right one is added", () => {
    const names = ["shop/Deployment/a", "shop/Deployment/b", "shop/Pod/a-1-2", "x", "shop/Deployment/c", "shop/Pod/q"];
    for (let mask = 0; mask < 2 ** names.length; mask++) {
      const predicted = names.filter((_, bit) => mask & (1 << bit));
      for (const ground of [two, aliased]) {
        const score = rootCauseEntity(ground, predicted);
        for (const { precision, recall, f1 } of [score, ...Object.values(score.at)]) {
          for (const value of [precision, recall, f1]) expect(value >= 0 && value <= 1).toBe(true);
          expect(f1).toBeLessThanOrEqual(Math.max(precision, recall) + 1e-9);
        }
        const better = rootCauseEntity(ground, [...predicted, "shop/Deployment/a"]);
        expect(better.recall).toBeGreaterThanOrEqual(score.recall);
        const exact = diagnosis(ground, {
          entities: predicted.map((name) => ({ name, contributing_factor: true })),
        });
        expect(exact.value === 1).toBe(score.precision === 1 && score.recall === 1);
      }
    }
  });

  sharedIt("loads every real ground truth, and finds each root cause by a name of its own", () => {
    const folder = join(SHARED, "data/itbench/groundtruth");
    const files = readdirSync(folder);
    expect(files.length).toBeGreaterThan(50);
    for (const file of files) {
      const { truth: ground } = readGroundTruth(join(folder, file));
      const roots = ground.groups.filter((group) => group.root_cause);
      const predicted = roots.map((group) => formatEntity(exampleOf(group)));
      const score = rootCauseEntity(ground, predicted);
      expect([file, score.recall]).toEqual([file, roots.length > 0 ? 1 : 0]);
      expect([file, score.precision]).toEqual([file, roots.length > 0 ? 1 : 0]);
    }
  });
});

/** An entity that a group means: its name, or its first filter with the simple wildcards filled in. */
function exampleOf(group: Group): Entity {
  const filter = group.filter?.[0] ?? "";
  const literal = /^[*+?]/.test(filter);
  const name =
    group.name ?? (literal ? filter : filter.replaceAll("\\b", "").replaceAll(".*", "x1").replace(/-\*$/, ""));
  return { namespace: group.namespace ?? "anywhere", kind: group.kind, name };
}

describe("diagnosis", () => {
  const entity = (name: string, factor = true) => ({ name, contributing_factor: factor });
  const ground = truth([{ name: "a" }]);
  it.each([
    ["the root cause", { entities: [entity("shop/Deployment/a")] }, 1],
    ["symptoms beside it", { entities: [entity("shop/Deployment/a"), entity("shop/Service/web", false)] }, 1],
    ["a wrong one beside it", { entities: [entity("shop/Deployment/a"), entity("shop/Service/web")] }, 0],
    ["it named as a symptom", { entities: [entity("shop/Deployment/a", false)] }, 0],
    ["nothing", { entities: [] }, 0],
    ["no answer", undefined, 0],
  ] as const)("%s", (_what, output, value) => {
    expect(diagnosis(ground, output).value).toBe(value);
  });

  it("is right to name nothing where nothing is wrong", () => {
    expect(diagnosis(truth([]), { entities: [] }).value).toBe(1);
    expect(diagnosis(truth([]), { entities: [entity("shop/Deployment/a")] }).value).toBe(0);
    expect(diagnosis(truth([]), undefined).value).toBe(0);
  });
});
