import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import {
  complexityOf,
  findScenario,
  findScenarios,
  type Group,
  levelOfComplexity,
  libraryScenarios,
  loadScenario,
} from "../../../harness/scenario/index.js";
import { rootCauseEntity } from "../../../harness/score/index.js";
import { scenario, temporaryFolder } from "../support/fixtures.js";
import { SHARED, sharedIt } from "../support/shared.js";

/** A scenario of the index and its ground truths, in a folder laid out as ITBench's. */
function indexFolder(files: { scenario?: object; v1?: object; v2?: object }, id = 7): string {
  const root = temporaryFolder();
  mkdirSync(join(root, "scenarios"));
  mkdirSync(join(root, "groundtruth"));
  const file = join(root, "scenarios", `${id}.json`);
  writeFileSync(file, JSON.stringify({ ...INDEX, id, index: id, ...files.scenario }));
  for (const version of ["v1", "v2"] as const) {
    const truth = files[version];
    if (truth) writeFileSync(join(root, "groundtruth", `scenario_${id}.${version}.yaml`), stringify(truth));
  }
  return file;
}

const object = (kind: string, name: string) => ({ apiVersion: "v1", kind, metadata: { name, namespace: "shop" } });
const inject = (...objects: object[]) => [
  { injections: objects.map((kubernetesObject) => ({ id: "break-it", args: { kubernetesObject } })) },
];
const INDEX = {
  category: "sre",
  complexity: "low",
  description: "broken",
  alerts: ["KubePodNotReady"],
  environment: { applications: [{ id: "opentelemetry-demo" }] },
  disruptions: inject(object("Deployment", "cart")),
  solutions: [[{ steps: [{ command: "kubectl undo", text: "undo" }] }]],
  tags: ["Deployment"],
};
const group = (id: string, kind: string, filter: string, root_cause = false) => ({
  id,
  kind,
  namespace: "shop",
  filter: [filter],
  ...(root_cause ? { root_cause } : {}),
});
const v1 = (...groups: object[]) => ({
  groups,
  propagations: [{ source: "root", target: "web", condition: "", effect: "" }],
});
const v2 = (...entities: object[]) => ({ apiVersion: "itbench.io/v2", spec: { alerts: [], entities, solutions: [] } });
const WEB = group("web", "Service", "web");

describe("a scenario of ITBench's index", () => {
  it("keeps what the file says", () => {
    const { scenario: loaded, format } = loadScenario(
      indexFolder({
        scenario: {
          disruptions: [
            {
              ...inject(object("Deployment", "cart"))[0],
              waitFor: { preInjection: [{ id: "before" }], postInjection: [{ id: "restart", args: { a: 1 } }] },
            },
          ],
        },
      }),
    );
    expect(format).toBe("itbench-index");
    expect(loaded).toMatchObject({
      id: "sre-7",
      persona: "sre",
      complexity: { level: "easy" },
      alerts: ["KubePodNotReady"],
      provenance: { itbench_scenario: 7 },
      solutions: [[{ steps: [{ command: "kubectl undo", text: "undo" }] }]],
      disruptions: [
        {
          preInjection: [{ id: "before", args: {} }],
          injections: [{ id: "break-it" }],
          postInjection: [{ id: "restart", args: { a: 1 } }],
        },
      ],
    });
  });

  const cart = (kind = "Deployment") => object(kind, "cart");
  /** Files; entities that are right; entities that are wrong; propagations kept; a warning. */
  const truths: [string, Parameters<typeof indexFolder>[0], string[], string[], number, string | undefined][] = [
    ["no ground truth", {}, ["shop/Deployment/cart"], ["shop/Pod/cart-1"], 0, "no ground truth file"],
    ["v2 alone", { v2: v2(cart()) }, ["shop/Deployment/cart"], ["shop/Deployment/web"], 0, undefined],
    [
      "v1 that agrees",
      { v1: v1(group("root", "Deployment", "cart\\b", true), WEB) },
      ["shop/Deployment/cart"],
      ["shop/Service/web"],
      1,
      undefined,
    ],
    [
      "v1 whose filter wants a suffix that Deployments have not",
      { v1: v1(group("root", "Deployment", "cart-.*", true), WEB), v2: v2(cart()) },
      ["shop/Deployment/cart"],
      ["shop/Deployment/web"],
      1,
      undefined,
    ],
    [
      "v1 that names the pods of the workload that was changed",
      { v1: v1(group("root", "Pod", "cart-.*", true), WEB), v2: v2(cart()) },
      ["shop/Deployment/cart", "shop/Pod/cart-5d8-x2"],
      ["shop/Pod/web-1"],
      1,
      undefined,
    ],
    [
      "v1 that speaks of another fault",
      { v1: v1(group("root", "ConfigMap", "features", true), WEB), v2: v2(cart()) },
      ["shop/Deployment/cart"],
      ["shop/ConfigMap/features"],
      0,
      "v1 is left out",
    ],
    [
      "v1 that speaks of another fault, without v2",
      { v1: v1(group("root", "ConfigMap", "features", true), WEB) },
      ["shop/Deployment/cart"],
      ["shop/ConfigMap/features"],
      0,
      "v1 is left out",
    ],
    [
      "v1 that knows the object and blames another",
      { v1: v1(group("root", "Namespace", "shop", true), WEB, group("own", "Deployment", "cart")), v2: v2(cart()) },
      ["shop/Deployment/cart"],
      ["shop/Namespace/shop"],
      1,
      "the latter counts",
    ],
    [
      "a Schedule and the chaos object that it makes",
      {
        scenario: { disruptions: inject(object("Schedule", "cart-delay")) },
        v1: v1(group("root", "NetworkChaos", ".*cart-delay", true), WEB),
        v2: v2(object("Schedule", "cart-delay")),
      },
      ["shop/Schedule/cart-delay", "shop/NetworkChaos/x-cart-delay"],
      ["shop/Schedule/other"],
      1,
      undefined,
    ],
    [
      "the same name in another namespace is another object",
      { v1: v1({ ...group("root", "Deployment", "cart", true), namespace: "other" }, WEB), v2: v2(cart()) },
      ["shop/Deployment/cart"],
      ["other/Deployment/cart"],
      0,
      "v1 is left out",
    ],
    [
      "a v1 file that is damaged",
      { v1: ["nothing"] as object, v2: v2(cart()) },
      ["shop/Deployment/cart"],
      ["shop/Deployment/web"],
      0,
      "is no ground truth",
    ],
  ];
  it.each(truths)("%s", (_what, files, right, wrong, propagations, warning) => {
    const { scenario: loaded, warnings } = loadScenario(indexFolder(files));
    const truth = loaded.ground_truth;
    for (const name of right) expect([name, rootCauseEntity(truth, [name]).f1]).toEqual([name, 1]);
    for (const name of wrong) expect([name, rootCauseEntity(truth, [name]).f1]).toEqual([name, 0]);
    expect(truth.propagations).toHaveLength(propagations);
    if (warning) expect(warnings.join("\n")).toContain(warning);
    else expect(warnings).toEqual([]);
  });

  it("two injections are two root causes, each once", () => {
    const both = inject(cart(), object("Service", "web"), cart());
    const { scenario: loaded } = loadScenario(indexFolder({ scenario: { disruptions: both } }));
    expect(rootCauseEntity(loaded.ground_truth, []).expected).toEqual(["deployment/cart", "service/web"]);
  });

  it("names file, line, field and fix of what is wrong", () => {
    const file = indexFolder({ scenario: { disruptions: [{ injections: [{ args: {} }] }] } });
    expect(() => loadScenario(file)).toThrow(
      /7\.json:1: disruptions\[0\]\.injections\[0\]\.id: is missing \(add a string\)/,
    );
    const app = indexFolder({ scenario: { environment: { applications: [] } } });
    expect(() => loadScenario(app)).toThrow(/environment\.applications: .*at least 1/i);
    const category = indexFolder({ scenario: { category: "sree" } });
    expect(() => loadScenario(category)).toThrow(
      /category: "sree" is not one of sre, ciso, finops \(did you mean `sre`\?\)/,
    );
  });

  it.each([
    ["cut off", '{"id": 7,\n "category": "sre"', /7\.json:2: not valid JSON/],
    ["a trailing comma", '{"id": 7,\n "category": "sre",\n}', /7\.json:3: not valid JSON/],
    ["YAML", "id: 7", /7\.json:1: not valid JSON/],
    ["nothing", "", /7\.json:1: not valid JSON/],
    ["a number", "7", /7\.json:1: is a number, must be an object/],
    ["wrong in an id", '{"id": [], "description": "x"}', /id: is an array, must be a number or a string/],
    ["an empty object", "{}", /7\.json:1: id: is missing \(add a number or a string\)[\s\S]*environment: is missing/],
  ])("a file that is %s", (_what, text, message) => {
    const file = indexFolder({});
    writeFileSync(file, text);
    expect(() => loadScenario(file)).toThrow(message);
  });

  sharedIt("reads every scenario that there is, each with the injected object or v2's entities as root causes", () => {
    const folder = join(SHARED, "data/itbench/scenarios");
    const files = readdirSync(folder);
    expect(files.length).toBeGreaterThan(60);
    for (const name of files) {
      const { scenario: loaded } = loadScenario(join(folder, name));
      const roots = loaded.ground_truth.groups.filter((one: Group) => one.root_cause);
      expect([name, roots.length > 0]).toEqual([name, loaded.disruptions.length > 0]);
    }
  });

  sharedIt("the library's scenarios are ITBench's: same faults, same root causes", () => {
    for (const { file } of libraryScenarios()) {
      const { scenario: own } = loadScenario(file);
      const number = own.provenance.itbench_scenario;
      const { scenario: theirs } = loadScenario(join(SHARED, "data/itbench/scenarios", `${number}.json`));
      expect(own.disruptions).toEqual(theirs.disruptions);
      expect(own.environment).toEqual(theirs.environment);
      expect(own.complexity.level).toBe(theirs.complexity.level);
      const roots = own.ground_truth.groups.filter((one) => one.root_cause);
      const names = roots.map((one) => `${one.namespace}/${one.kind}/${one.name}`);
      expect([own.id, rootCauseEntity(theirs.ground_truth, names)]).toMatchObject([
        own.id,
        { precision: 1, recall: 1 },
      ]);
    }
  });
});

describe("our YAML", () => {
  const write = (text: string) => {
    const file = join(temporaryFolder(), "mine.yaml");
    writeFileSync(file, text);
    return file;
  };
  const GOOD = stringify(scenario());

  it("reads back what a scenario is", () => {
    expect(loadScenario(write(GOOD)).scenario).toEqual(scenario());
  });

  const faulty: [string, string, RegExp][] = [
    [
      "a missing field",
      GOOD.replace(/^description:.*\n/m, ""),
      /mine\.yaml:1: description: is missing \(add a string\)/,
    ],
    [
      "a misspelt field",
      GOOD.replace("disruptions:", "disruption:"),
      /:\d+: disruption: unknown field \(did you mean `disruptions`\?\)/,
    ],
    ["an unknown field", `${GOOD}zzz: 1\n`, /zzz: unknown field \(remove it\)/],
    ["a wrong type", GOOD.replace("alerts:", "alerts: 3 #"), /mine\.yaml:\d+: /],
    ["a bad id", GOOD.replace("id: sre-1", "id: SRE 1"), /mine\.yaml:1: id: must be lower-case/],
    [
      "a bad persona",
      GOOD.replace("persona: sre", "persona: sres"),
      /mine\.yaml:2: persona: "sres" is not one of .*did you mean `sre`/,
    ],
    ["no YAML", "id: [1", /mine\.yaml:1: not valid YAML/],
    ["two documents", `${GOOD}---\n${GOOD}`, /mine\.yaml:\d+: .*a second document begins here/],
    ["a list", "- 1", /mine\.yaml:1: is an array, must be an object/],
    ["nothing", "", /mine\.yaml: is empty, must be an object/],
    ["a group without a name", GOOD.replace(/^ +name: cart\n/m, ""), /ground_truth\.groups\[0\]: names nothing/],
  ];
  it.each(faulty)("%s", (_what, text, message) => {
    expect(() => loadScenario(write(text))).toThrow(message);
  });

  it("warns of ids that name no group and of faults without a root cause", () => {
    const text = stringify(
      scenario("sre-1", {
        ground_truth: {
          ...scenario().ground_truth,
          groups: [],
          propagations: [{ source: "a", target: "b", condition: "", effect: "" }],
        },
      }),
    );
    expect(loadScenario(write(text)).warnings.join("\n")).toMatch(/"a", which is no group[\s\S]*names no root cause/);
  });
});

describe("finding scenarios", () => {
  it("by id, whatever the case, or by path", () => {
    expect(findScenario("sre-24").scenario.id).toBe("sre-24");
    expect(findScenario("SRE-24").scenario.id).toBe("sre-24");
    const file = libraryScenarios()[0]!.file;
    expect(findScenario(file).file).toBe(file);
  });
  it.each([
    ["sre-42", /unknown scenario "sre-42"\. Did you mean .*sre-24/],
    ["24", /Did you mean sre-24/],
    ["sr-24", /Did you mean sre-24/],
    ["quite-another", /unknown scenario "quite-another"\. `itbench scenarios list`/],
    ["no/such/file.yaml", /no\/such\/file\.yaml: no such file/],
    ["missing.json", /missing\.json: no such file/],
  ])("says what %s may have meant", (reference, message) => {
    expect(() => findScenario(reference)).toThrow(message);
  });
  it("takes lists, patterns and folders, each file once", () => {
    const ids = (references: string[]) => findScenarios(references).map(({ scenario: one }) => one.id);
    expect(ids(["sre-24,sre-2", "sre-24"])).toEqual(["sre-24", "sre-2"]);
    expect(ids(["sre-1*"])).toEqual(["sre-105", "sre-114"]);
    expect(ids(["sre-??"])).toEqual(["sre-20", "sre-24", "sre-30", "sre-58"]);
    const folder = temporaryFolder();
    for (const id of ["sre-10", "sre-9"]) writeFileSync(join(folder, `${id}.yaml`), stringify(scenario(id)));
    expect(ids([folder])).toEqual(["sre-9", "sre-10"]);
    expect(ids([`${folder}/*-9.yaml`])).toEqual(["sre-9"]);
    expect(() => ids(["x-*"])).toThrow(/the pattern matches nothing/);
    expect(() => ids([temporaryFolder()])).toThrow(/holds no \.yaml or \.json file/);
  });
  it("refuses two files of one id", () => {
    const folder = temporaryFolder();
    for (const name of ["a", "b"]) writeFileSync(join(folder, `${name}.yaml`), stringify(scenario("sre-1")));
    expect(() => findScenarios([folder])).toThrow(/"sre-1" is also the id of .*a\.yaml/);
  });
});

describe("complexity", () => {
  it.each([
    [1.79, "easy"],
    [1.8, "medium"],
    [2.69, "medium"],
    [2.7, "hard"],
  ] as const)("%d is %s", (value, level) => {
    expect(levelOfComplexity(value)).toBe(level);
  });
  it("counts the longest chain over aliases, steps of each problem, and kinds", () => {
    const link = (source: string, target: string) => ({ source, target, condition: "", effect: "" });
    const one = scenario("sre-1", {
      ground_truth: {
        ...scenario().ground_truth,
        groups: ["a", "b", "b2", "c", "d"].map((id) => ({ id, kind: "Pod", name: id, root_cause: id === "a" })),
        aliases: [["b", "b2"]],
        propagations: [link("a", "b"), link("b2", "c"), link("b", "b2"), link("c", "a"), link("a", "d")],
      },
      solutions: [
        [{ steps: [{ text: "1" }, { text: "2" }] }, { steps: [{ text: "1" }] }],
        [{ steps: [{ text: "1" }, { text: "2" }] }],
      ],
    });
    expect(complexityOf(one)).toMatchObject({
      chainLength: 2,
      resolutionSteps: 3,
      technologies: 1,
      computed: "medium",
    });
    expect(complexityOf(one).value).toBeCloseTo(Math.cbrt(6));
  });
  it("lets the author's figures and level win", () => {
    const one = scenario("sre-1", {
      complexity: { level: "hard", chain_length: 3, resolution_steps: 2, technologies: 1 },
    });
    expect(complexityOf(one)).toMatchObject({ value: Math.cbrt(6), computed: "medium", level: "hard" });
  });
});
