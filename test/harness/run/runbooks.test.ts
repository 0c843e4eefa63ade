import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { incidentNote, openIncidentsFolder, readRunbooks, saveIncident } from "../../../harness/run/index.js";
import { revealsScenario } from "../../../harness/run/runbooks.js";
import { libraryScenarios } from "../../../harness/scenario/index.js";
import { packageFile } from "../../../paths.js";
import { temporaryFolder } from "../support/fixtures.js";
import { SHARED, sharedIt } from "../support/shared.js";

/** A folder with these files. */
function folderWith(files: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const NOTE = "# Lag\nScale the consumers.";

describe("a folder of runbooks", () => {
  it("is read with its subfolders; what is no Markdown, and what is hidden, is left out", () => {
    const folder = folderWith({
      "b.md": NOTE,
      "a/x.markdown": "x",
      "c.txt": "t",
      ".git/d.md": "hidden",
      "v.yaml": "a: 1",
    });
    const { documents, hash } = readRunbooks(folder);
    expect(documents).toEqual([
      { source: "a/x.markdown", text: "x" },
      { source: "b.md", text: NOTE },
    ]);
    expect(hash).not.toBe(readRunbooks(folderWith({ "b.md": NOTE })).hash);
    expect(hash).toMatch(/^[0-9a-f]{16}$/);
  });

  const library = packageFile("scenarios");
  it.each([
    ["that is not there", () => "/nowhere/at/all", /there is no folder/],
    ["that is a file", () => join(folderWith({ "a.md": NOTE }), "a.md"), /is a file/],
    ["without Markdown", () => folderWith({ "a.txt": "x" }), /holds no Markdown/],
    ["that is the scenario library", () => library, /scenario library/],
    ["in the scenario library", () => join(library, "sre"), /scenario library/],
    ["around the scenario library", () => packageFile(), /scenario library/],
    ["that leads to the library by a link", () => linked(library), /scenario library/],
    ["with a link to a scenario", () => linkedFile(), /scenario library/],
    ["with a scenario of the library", () => copied(), /a scenario or a ground truth/],
    [
      "with a file of ground truths",
      () => folderWith({ "a.md": NOTE, "ground_truth.yaml": "x: 1" }),
      /ground_truth\.yaml/,
    ],
    ["with a ground truth in a subfolder", () => folderWith({ "a.md": NOTE, "s/1/gt.json": "{}" }), /s\/1\/gt\.json/],
    ["with the scores of a run", () => folderWith({ "a.md": NOTE, "scores.json": "{}" }), /scores\.json/],
    ["with a file too large", () => folderWith({ "a.md": "x".repeat(1_000_001) }), /larger than/],
  ])("%s is refused", (_what, make, message) => {
    expect(() => readRunbooks(make())).toThrow(message);
  });

  function linked(target: string): string {
    const link = join(temporaryFolder(), "link");
    symlinkSync(target, link);
    return link;
  }
  function linkedFile(): string {
    const folder = folderWith({ "a.md": NOTE });
    symlinkSync(libraryScenarios()[0]!.file, join(folder, "b.md"));
    return folder;
  }
  function copied(): string {
    const folder = folderWith({ "a.md": NOTE });
    cpSync(libraryScenarios()[0]!.file, join(folder, "notes.md"));
    return folder;
  }
});

describe("answers are recognized in any form", () => {
  it.each([
    ["a scenario of ours", "id: x\ndisruptions: []\n"],
    ["a ground truth, v1", "groups:\n- id: a\n  kind: Pod\n  root_cause: true\npropagations: []\n"],
    ["a ground truth with a spec", '{"apiVersion":"itbench.io/v1","spec":{"groups":[],"propagations":[]}}'],
    ["a ground truth, v2", "spec:\n  entities: []\n  propagations: []\n"],
    ["a list of them", '[{"id":1,"ground_truth":{}}]'],
    ["text in JSON", '{"1":{"groundTruth":"groups: []"}}'],
    ["a fenced block", "# Notes\n\nSome prose: with a colon.\n\n```yaml\ngroups: []\naliases: []\n```\n"],
    ["a fenced block of tildes", "Notes\n~~~\nfault: []\nalerts: []\n~~~\n"],
    ["front matter", "---\ndisruptions:\n- injections: []\n---\n# Text\n"],
    ["a line in prose", "As the author says:\n\n    root_cause: true\n"],
    ["a quoted line", '> "ground_truth": {'],
  ])("%s", (_what, text) => expect(revealsScenario(text)).toBe(true));

  it.each([
    ["prose", "# Root cause\nThe root cause: a wrong port. Fault: none. Alerts: two.\n"],
    ["alert rules", "```yaml\ngroups:\n- name: a\n  rules:\n  - alert: X\n    expr: up == 0\n```\n"],
    ["a manifest", "```yaml\nkind: Deployment\nspec:\n  replicas: 1\n```\n"],
    ["front matter", "---\ntitle: Lag\ntags: [kafka]\n---\nText\n"],
    ["broken YAML", "```yaml\na: [b\n: : :\n```\n"],
    ["nothing", ""],
  ])("not in %s", (_what, text) => expect(revealsScenario(text)).toBe(false));

  it("every scenario of the library, also inside of Markdown", () => {
    for (const { file } of libraryScenarios()) {
      const text = readFileSync(file, "utf8");
      expect([file, revealsScenario(text), revealsScenario(`# Notes\n\n\`\`\`\n${text}\n\`\`\`\n`)]).toEqual([
        file,
        true,
        true,
      ]);
    }
  });

  for (const name of ["groundtruth", "scenarios"])
    sharedIt(`every file of ITBench's ${name}`, () => {
      const folder = join(SHARED, "data", "itbench", name);
      const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
        /\.(ya?ml|json)$/.test(file),
      );
      expect(files.length).toBeGreaterThan(0);
      const missed = files.filter((file) => {
        const text = readFileSync(join(folder, file), "utf8");
        return !revealsScenario(text) || !revealsScenario(`# Note\n\n\`\`\`yaml\n${text}\n\`\`\`\n`);
      });
      expect(missed).toEqual([]);
    });
});

describe("notes of incidents", () => {
  const output = {
    entities: [
      { name: "shop/Service/cart", contributing_factor: true, reasoning: "wrong\nport", evidence: "targetPort 81" },
      { name: "shop/Pod/x", contributing_factor: false, reasoning: "suffers", evidence: "" },
    ],
    propagations: [{ source: "a", target: "b", condition: "c", effect: "d" }],
    alerts_explained: [
      { alert: "Errors", explanation: "calls fail", explained: true },
      { alert: "Disk", explanation: "", explained: false },
    ],
    mitigation: { plan: [], actions: [{ command: "kubectl patch svc cart", result: "patched" }], verified: true },
  };

  it("hold what the agent said, and can be read as runbooks again", () => {
    const folder = openIncidentsFolder(join(temporaryFolder(), "new", "folder"));
    const file = saveIncident(folder, output)!;
    expect(saveIncident(folder, output)).toBe(file);
    const { documents } = readRunbooks(folder);
    expect(documents).toHaveLength(1);
    for (const said of [
      "shop/Service/cart: wrong port",
      "targetPort 81",
      "kubectl patch svc cart",
      "Errors",
      "a -> b: c; d",
    ]) {
      expect(documents[0]!.text).toContain(said);
    }
  });

  it("say when nothing was verified, and are not written when nothing was found", () => {
    const { mitigation, ...diagnosis } = output;
    expect(incidentNote({ ...diagnosis, mitigation: { ...mitigation, verified: false } })).toContain(
      "do not rely on this",
    );
    expect(incidentNote(diagnosis)).toContain("No answer was given.");
    expect(incidentNote({ ...output, entities: [output.entities[1]!] })).toBeUndefined();
  });

  it("never go into the scenario library, nor into a file", () => {
    expect(() => openIncidentsFolder(packageFile("scenarios", "sre", "notes"))).toThrow(/scenario library/);
    expect(() => openIncidentsFolder(packageFile("package.json"))).toThrow(/is a file/);
  });
});
