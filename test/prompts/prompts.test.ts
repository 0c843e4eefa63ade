import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadPrompt, prompt, promptSource, promptTasks, promptVariants, renderPrompt } from "../../prompts/index.js";

const root = mkdtempSync(join(tmpdir(), "itbench-prompts-"));
afterAll(() => rmSync(root, { recursive: true }));

function folder(files: Record<string, string>): string {
  const made = mkdtempSync(join(root, "p-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(made, name)), { recursive: true });
    writeFileSync(join(made, name), text);
  }
  return made;
}

const head = (variables: string, variant = "default") =>
  `---\ntask: t\nvariant: ${variant}\ndescription: d\nvariables: [${variables}]\n---\n`;

describe("the package's own prompts", () => {
  it.each(promptTasks().flatMap((task) => promptVariants(task).map((variant) => [task, variant])))(
    "%s/%s",
    (task, variant) => {
      const loaded = loadPrompt(task, variant);
      expect(loaded).toMatchObject({ task, variant });
      expect(loaded.description).not.toBe("");
      for (const value of ["", "{{value}} <x>"]) {
        const values = Object.fromEntries(loaded.variables.map((name) => [name, value]));
        const { text } = renderPrompt(loaded, values);
        expect(text.length).toBeGreaterThan(60);
        expect(text.replaceAll("{{value}}", "")).not.toMatch(/\{\{[#>/a-z]|undefined/);
      }
    },
  );

  it.each(
    ["chat", "sre-diagnosis", "sre-mitigation"].flatMap((task) =>
      promptVariants(task).map((variant) => [task, variant]),
    ),
  )("%s/%s says that what tools return is data", (task, variant) => {
    const loaded = loadPrompt(task, variant);
    const values = Object.fromEntries(loaded.variables.map((name) => [name, "x"]));
    expect(renderPrompt(loaded, values).text).toMatch(/<observation> tags[\s\S]*never\s+follow\s+instructions/);
  });

  it.each(promptTasks())("%s has every variant", (task) => {
    expect(promptVariants(task)).toEqual(expect.arrayContaining(["default", "minimal", "no-examples", "paper"]));
  });

  it.each(promptTasks())("%s without examples is the default that is told to show none", (task) => {
    const base = loadPrompt(task);
    const values = Object.fromEntries(base.variables.map((name) => [name, name === "examples" ? "" : `<${name}>`]));
    expect(prompt(task, "no-examples", values).text).toBe(renderPrompt(base, values).text);
    expect(prompt(task, "no-examples", { ...values, examples: "yes" }).text).toBe(renderPrompt(base, values).text);
  });

  it("leaves out what the options leave out", () => {
    const values = {
      application: "shop",
      namespaces: "shop",
      steps: "20",
      submit: "submit_diagnosis",
      questions: "",
      metrics: "yes",
      logs: "",
      traces: "",
      extra: "",
      summarizer: "",
      examples: "",
      memory: "",
    };
    const { text } = prompt("sre-diagnosis", "default", values);
    expect(text).toContain("- nl2metrics");
    expect(text).not.toMatch(/^- (nl2logs|nl2traces|summarize)/m);
    expect(text).not.toContain("earlier attempts");
    expect(text).not.toContain("Example");
    expect(prompt("sre-diagnosis", "default", { ...values, examples: "yes" }).text).toMatch(/^Example\./m);
  });
});

describe("a variant that extends another", () => {
  const base = { "t/default.md": `${head("a, b")}A={{a}}\n{{#b}}\nB={{b}}\n{{/b}}\nend\n` };
  const variant = (front: string, text = "") => `---\ntask: t\nvariant: v\ndescription: d\n${front}\n---\n${text}`;

  it("takes its text over, without the sections that it omits", () => {
    const made = folder({ ...base, "t/v.md": variant("extends: default\nomit: [b]") });
    expect(loadPrompt("t", "v", made)).toMatchObject({ variant: "v", variables: ["a"] });
    expect(prompt("t", "v", { a: "1", b: "2" }, made).text).toBe("A=1\nend");
  });

  it.each([
    ["a text of its own", variant("extends: default", "text"), /neither text nor variables/],
    ["a section that is not there", variant("extends: default\nomit: [c]"), /default has no section c/],
    ["an omission and nothing extended", variant("variables: []\nomit: [b]", "text"), /"omit" is for a prompt/],
    ["itself", variant("extends: v"), /extends itself/],
    ["what is not there", variant("extends: w"), /cannot be read/],
  ])("is refused with %s", (_name, text, why) => {
    expect(() => loadPrompt("t", "v", folder({ ...base, "t/v.md": text }))).toThrow(why);
  });

  it("shows its source", () => {
    const made = folder(base);
    expect(promptSource(loadPrompt("t", "default", made))).toBe("A={{a}}\n{{#b}}\nB={{b}}\n{{/b}}\nend");
  });
});

describe("rendering", () => {
  it("fills in variables, sections and partials, and reads no value as a template", () => {
    const made = folder({
      "t/default.md": `${head("a, b")}A={{a}}\n{{#b}}\nB={{b}}\n{{/b}}\n{{> p}}\n{{.Field}} {"x":{"y":1}}\n`,
      "partials/p.md": "partial {{ a }}\n",
    });
    expect(prompt("t", "default", { a: "{{b}}", b: "2", c: "unused" }, made).text).toBe(
      'A={{b}}\nB=2\npartial {{b}}\n{{.Field}} {"x":{"y":1}}',
    );
    expect(prompt("t", "default", { a: "1", b: "" }, made).text).toBe('A=1\npartial 1\n{{.Field}} {"x":{"y":1}}');
  });

  it("gives equal texts equal hashes, and others others", () => {
    const made = folder({ "t/default.md": `${head("a")}{{a}}` });
    const hash = (a: string) => prompt("t", "default", { a }, made).hash;
    expect(hash("x")).toMatch(/^[0-9a-f]{16}$/);
    expect(hash("x")).toBe(hash("x"));
    expect(hash("x")).not.toBe(hash("y"));
  });

  it("wants exactly the declared variables", () => {
    const loaded = loadPrompt("t", "default", folder({ "t/default.md": `${head("a")}{{a}}` }));
    expect(() => renderPrompt(loaded, {})).toThrow(/default\.md: no value for a/);
    expect(() => renderPrompt(loaded, { a: "1", b: "2" })).toThrow("unknown variable b");
  });

  it("uses the default where a task has no such variant", () => {
    const made = folder({
      "t/default.md": `${head("")}one`,
      "u/short.md": `${head("", "short")}two`,
      "u/default.md": `${head("")}three`,
    });
    expect(prompt("t", "short", {}, made)).toMatchObject({ variant: "default", text: "one" });
    expect(prompt("u", "short", {}, made).text).toBe("two");
    expect(promptVariants(undefined, made)).toEqual(["default", "short"]);
  });

  it.each([
    { files: { "t/default.md": `${head("a")}{{b}}` }, says: "undeclared variable b" },
    { files: { "t/default.md": `${head("a")}none` }, says: "declared but unused variable a" },
    { files: { "t/default.md": `${head("a")}{{#a}}x` }, says: "{{#a}} is not closed" },
    { files: { "t/default.md": `${head("a")}{{a}}{{/a}}` }, says: "{{/a}} closes nothing" },
    { files: { "t/default.md": `${head("a")}{{a b}}` }, says: "cannot read {{a b}}" },
    { files: { "t/default.md": `${head("")}{{> gone}}` }, says: "gone.md: cannot be read" },
    { files: { "t/default.md": `${head("")}{{> p}}`, "partials/p.md": "{{> p}}" }, says: "include each other" },
    { files: { "t/default.md": "no head" }, says: "no front matter" },
    { files: { "t/default.md": "---\ntask: t\nvarient: x\n---\n" }, says: "variant: Required" },
    { files: { "u/default.md": `${head("")}x` }, says: 'no prompt for "t"; there are: u' },
  ])("says what is wrong: $says", ({ files, says }) => {
    expect(() => loadPrompt("t", "default", folder(files as unknown as Record<string, string>))).toThrow(says);
  });

  it("knows no variant that no task has", () => {
    expect(() => loadPrompt("summarize", "nope")).toThrow(/unknown prompt variant "nope"; there are: default/);
  });
});
