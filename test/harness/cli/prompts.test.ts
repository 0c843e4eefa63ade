import { describe, expect, it } from "vitest";
import { diffLines } from "../../../harness/cli/prompts.js";
import { cli } from "./support.js";

describe("itbench prompts", () => {
  it("lists tasks and variants", async () => {
    const { code, out } = await cli(["prompts", "list"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^TASK +VARIANT +WORDS +WHAT$/m);
    expect(out).toMatch(/^nl2kubectl +default +\d+ +A question/m);
    expect(out).toMatch(/^ +paper +\d+ /m);
    const listed = JSON.parse((await cli(["prompts", "list", "--json"])).out);
    expect(listed).toContainEqual(
      expect.objectContaining({ task: "sre-diagnosis", variant: "no-examples", extends: "default" }),
    );
  });

  it("shows a prompt with its variables", async () => {
    const { code, out } = await cli(["prompts", "show", "nl2metrics", "--variant", "paper"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^nl2metrics \/ paper/);
    expect(out).toContain("Utterance: {{question}}");
    const shown = JSON.parse((await cli(["prompts", "show", "nl2metrics", "--json"])).out);
    expect(shown).toMatchObject({ task: "nl2metrics", variant: "default", variables: expect.arrayContaining(["now"]) });
    expect(shown.text).toContain("{{#examples}}");
  });

  it("shows how variants differ", async () => {
    const { code, out } = await cli(["prompts", "diff", "nl2metrics", "default", "no-examples"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^--- nl2metrics\/default\n\+\+\+ nl2metrics\/no-examples$/m);
    expect(out).toMatch(/^-\{\{#examples\}\}$/m);
    expect(out).not.toMatch(/^\+(?!\+\+)/m);
    expect((await cli(["prompts", "diff", "reflect-lint", "default", "no-examples"])).out).toContain("are the same");
    const json = JSON.parse((await cli(["prompts", "diff", "nl2logs", "default", "paper", "--json"])).out);
    expect(json).toMatchObject({ same: false, task: "nl2logs" });
  });

  it.each([
    [["prompts", "show", "nl2sql"], /no prompt for "nl2sql"; there are: .*nl2logs/],
    [["prompts", "show", "nl2logs", "--variant", "long"], /nl2logs has no variant "long"; there are: default, /],
    [["prompts", "diff", "nl2logs", "default", "x"], /no variant "x"/],
  ])("%j ends with 2 and says what there is", async (args, why) => {
    const { code, err } = await cli(args);
    expect(code).toBe(2);
    expect(err).toMatch(why);
  });
});

describe("diffLines", () => {
  it.each([
    ["a b c", "a b c", "=a =b =c"],
    ["a b c", "a c", "=a -b =c"],
    ["a c", "a b c", "=a +b =c"],
    ["a b", "x y", "-a -b +x +y"],
    ["a b a", "b a", "-a =b =a"],
  ])("%j to %j", (a, b, expected) => {
    const lines = diffLines(a.split(" "), b.split(" "));
    expect(lines.map(({ sign, text }) => (sign === " " ? "=" : sign) + text).join(" ")).toBe(expected);
  });
});
